// SPDX-License-Identifier: Apache-2.0
// Workers compared with what they stand for: the control array of the original, launches, requests next to a long one.
#include "benchmarks/work/rig.hpp"

namespace ggas::bench {
namespace {

// A kernel whose blocks each poll a word of pinned memory, and answer in another one.
class polled_words {
 public:
  polled_words(const options& o, unsigned blocks)
      : cluster_(make_cluster(o)),
        stream_(good(cluster_->make_stream(0))),
        blocks_(blocks),
        words_(reinterpret_cast<uint64_t*>(cluster_->host_memory(0).base)) {
    good(launch(*cluster_, stream_, blocks, 32, answer_words, words_, words_ + blocks));
    good(cluster_->start());
  }
  ~polled_words() {
    order(~uint64_t{0});
    static_cast<void>(cluster_->run(enough));
  }
  polled_words(const polled_words&) = delete;
  polled_words& operator=(const polled_words&) = delete;

  // From the order to the answers of all blocks, in ns.
  double there_and_back() {
    const auto t = clock::now();
    order(++number_);
    for (unsigned b = 0; b < blocks_; ++b)
      while (__atomic_load_n(words_ + blocks_ + b, __ATOMIC_ACQUIRE) != number_)
        if (cluster_->device(0) < 0) good(cluster_->poll());
    return ns_since(t);
  }

 private:
  void order(uint64_t what) {
    for (unsigned b = 0; b < blocks_; ++b) __atomic_store_n(words_ + b, what, __ATOMIC_RELEASE);
  }

  const std::unique_ptr<ggas::cluster> cluster_;
  const stream stream_;
  const unsigned blocks_;
  uint64_t* const words_;
  uint64_t number_ = 0;
};

}  // namespace

// The original's way to give blocks work; of one block a bare ping-pong of processor and kernel.
void control_array(const options& o, results& out) {
  const int samples = o.quick ? 50 : 1000;
  for (const unsigned blocks : {1u, 8u}) {
    polled_words all(o, blocks);
    std::vector<double> times;
    for (int i = -10; i < samples; ++i) {
      const double t = all.there_and_back();
      if (i >= 0) times.push_back(t);
    }
    out.add("control", std::to_string(blocks) + (blocks == 1 ? " block" : " blocks"), "there_and_back", "ns", times);
  }
}

// Many requests at once, each of one block that is busy for so long.
void short_kernels(const options& o, results& out) {
  const size_t count = o.quick ? 50 : 2000;
  for (const executor e : {executor::streams, executor::workers}) {
    rig g(o, e);
    for (const uint64_t ns : {1000, 2000, 5000}) {
      std::vector<request> all;
      for (size_t i = 0; i < count; ++i) all.emplace_back(0, 1, 32, busy, ns);
      std::vector<double> rates;
      for (int i = 0; i < 6; ++i) {
        const auto t = clock::now();
        g.run([&] {
          for (const request& r : all) good(g.work->enqueue(r));
        });
        if (i > 0) rates.push_back(static_cast<double>(count) / (ns_since(t) * 1e-9));
      }
      out.add("short", std::string(name_of(e)) + ", " + human(static_cast<double>(ns), "ns"), "rate", "1/s", rates);
    }
  }
}

// Empty requests one after the other while another one is busy: from enqueue to the callback.
void next_to_a_long_one(const options& o, results& out) {
  const uint64_t long_ns = o.quick ? 20'000'000 : 1'000'000'000;
  for (const executor e : {executor::fifo, executor::streams, executor::workers}) {
    rig g(o, config_of(e, 2));
    std::vector<double> ends;
    request shorter(0, 1, 32, nothing, nullptr), longer(0, 1, 32, busy, long_ns);
    clock::time_point begin;
    bool ended = false;
    std::function<void()> next = [&] {
      begin = clock::now();
      good(g.work->enqueue(shorter));
    };
    longer.then([&](const result<>& end) { good(end), ended = true; });
    shorter.then([&](const result<>& end) {
      good(end);
      ends.push_back(ns_since(begin));
      if (!ended) next();
    });
    // With fifo one sample a round: the short request waits for the long one.
    for (int round = 0; round < (e == executor::fifo && !o.quick ? 5 : 1); ++round) {
      ended = false;
      g.run([&] {
        good(g.work->enqueue(longer));
        next();
      });
    }
    out.add("next_to_long", name_of(e), "enqueue_to_callback", "ns", ends);
  }
}

// From enqueue to the callback of an empty request to workers that have had none for 100 us.
void idle_workers(const options& o, results& out) {
  const size_t samples = o.quick ? 20 : 1000;
  for (const uint32_t pause_ns : {0u, 1000u}) {
    rig g(o, config_of(executor::workers, 8, pause_ns));
    std::vector<double> ends;
    request r(0, 1, 32, nothing, nullptr);
    clock::time_point begin;
    const std::function<void()> next = [&] {
      const auto idle = clock::now();
      while (ns_since(idle) < 100'000) {
      }
      begin = clock::now();
      good(g.work->enqueue(r));
    };
    r.then([&](const result<>& end) {
      good(end);
      ends.push_back(ns_since(begin));
      if (ends.size() < samples) next();
    });
    g.run(next);
    out.add("idle", pause_ns == 0 ? "workers that spin" : "workers that pause", "enqueue_to_callback", "ns", ends);
  }
}

// From stop() to its end: of workers that wait, and of workers with 64 requests of 10 us, eight of them under way.
void stop_of_workers(const options& o, results& out) {
  struct variant {
    const char* name;
    uint32_t pause_ns;
    size_t requests;
  };
  for (const variant& v : {variant{"workers that spin", 0, 1}, {"workers that pause", 1000, 1}, {"loaded", 1000, 64}}) {
    std::vector<double> times;
    for (int i = 0; i < (o.quick ? 2 : 11); ++i) {
      rig g(o, config_of(executor::workers, 8, v.pause_ns));
      std::vector<request> all;
      for (size_t k = 0; k < v.requests; ++k) all.emplace_back(0, 1, 32, busy, uint64_t{10'000});
      g.run([&] {
        for (const request& r : all) good(g.work->enqueue(r));
        if (v.requests > 1) g.rt->exit();
      });
      const auto t = clock::now();
      g.work->stop();
      times.push_back(ns_since(t));
    }
    out.add("stop", v.name, "time", "ns", times);
  }
}

// Orders that a kernel gives to the workers of the other node and to those of its own, and a put with signal to the
// other node. Times of the GPU's clock; a sample is the mean of several in sequence.
void requests_of_kernels(const options& o, results& out) {
  auto two = cluster::create(config_of_cluster(o, 2));
  if (!two) return out.note("remote", "left out, it needs two nodes: " + two.error().text);
  rig g(std::move(*two), config_of(executor::workers, 2, 0));
  const auto zeroed = [&](int node, size_t words) {
    const std::vector<uint64_t> zero(words);
    auto m = good(g.work->allocate(node, 8 * words));
    good(g.rt->with_cluster([&](cluster& c) { return c.write(node, m.block()->offset, zero.data(), m.bytes()); }));
    return m;
  };
  const gpu_memory done = zeroed(0, 1), room[] = {zeroed(0, signal_words), zeroed(1, signal_words)};
  const uint64_t times = o.quick ? 10 : 100;
  uint64_t ns[2] = {};
  uint64_t last = 0;
  const auto measure = [&](const char* variant, double trips, const std::function<void()>& enqueue) {
    std::vector<double> all;
    for (int i = 0; i < (o.quick ? 3 : 51); ++i) {
      g.run(enqueue);
      last += times + 1;
      if (i > 0) all.push_back(static_cast<double>(ns[0]) / (static_cast<double>(times) * trips));
    }
    out.add("remote", variant, "time", "ns", all, 2);
  };
  const auto enqueue = [&](request r) { good(g.work->enqueue(r.then([](const result<>& end) { good(end); }))); };
  const auto order_to = [&](int node) {
    enqueue({0, 1, 32, order_in_turn, g.work->workers(), node, g.work->function(nothing), kept<uint64_t>(done), last,
             times, ggas::out(std::span(ns, 1))});
  };
  const auto pass = [&](int node) {
    enqueue({node, 1, 32, pass_signal, kept<uint64_t>(room[node]), 1 - node, room[1 - node].block()->offset,
             node == 0 ? 1 : 0, last, times, ggas::out(std::span(ns + node, 1))});
  };
  measure("from_kernel", 1, [&] { order_to(1); });
  measure("local", 1, [&] { order_to(0); });
  measure("put_with_signal", 2, [&] { pass(0), pass(1); });
}

// 256 small requests at once, with buffers of their own, launched one by one and merged.
void merged_requests(const options& o, results& out) {
  constexpr size_t count = 256;
  for (const bool merged : {false, true}) {
    dispatcher_config cfg = config_of(executor::streams);
    if (merged) cfg.merged = &bench_work;
    rig g(o, cfg);
    std::vector<std::vector<uint32_t>> data(count, std::vector<uint32_t>(32));
    std::vector<request> all;
    for (auto& one : data) all.emplace_back(0, 1, 32, increment, both(one), uint64_t{32});
    std::vector<double> times;
    const uint32_t rounds = o.quick ? 3 : 21;
    for (uint32_t i = 0; i < rounds; ++i) {
      const auto t = clock::now();
      g.run([&] {
        for (const request& r : all) good(g.work->enqueue(r));
      });
      if (i > 0) times.push_back(ns_since(t) / count);
    }
    for (const auto& one : data)
      if (std::ranges::count(one, rounds) != 32) throw failure("merge: the data are wrong");
    out.add("merge", merged ? "one launch" : "single", "time_of_a_request", "ns", times);
  }
}

}  // namespace ggas::bench
