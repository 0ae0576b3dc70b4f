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
