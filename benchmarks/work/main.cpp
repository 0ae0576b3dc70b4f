// SPDX-License-Identifier: Apache-2.0
// ggas-bench-work: the cost of messages between objects, of launches and of requests of work (docs/work.md#measured).
// All times are wall-clock times.
#include <CLI/CLI.hpp>

#include "benchmarks/work/rig.hpp"

namespace ggas::bench {
namespace {

// ---- messages

struct in_array {
  const object_array<in_array>** all;
  explicit in_array(const object_array<in_array>** a) : all(a) {}
  void pass(uint64_t left, uint64_t to) {
    if (left > 0) (**all)[to].send<&in_array::pass>(left - 1, 1 - to);
  }
};

struct in_group {
  const object_group<in_group>** all;
  runtime& rt;
  explicit in_group(const object_group<in_group>** a, runtime* r) : all(a), rt(*r) {}
  void pass(uint64_t left, uint64_t) {
    if (left > 0) (*all)->send<&in_group::pass>((rt.here() + 1) % rt.processors(), left - 1, left);
  }
};

// 16 bytes there and back, in ns.
void ping_pong(const options& o, results& out) {
  const int samples = o.quick ? 5 : 21;
  for (const int processors : {1, 2}) {
    const auto rt = good(runtime::create({.processors = processors}));
    const uint64_t messages = processors == 1 ? 200'000 : o.quick ? 2'000 : 20'000;
    const object_array<in_array>* array = nullptr;
    const auto objects = good(rt->make_array<in_array>(2, {}, &array));
    array = &objects;
    const object_group<in_group>* group = nullptr;
    const auto members = rt->make_group<in_group>(&group, rt.get());
    group = &members;
    const auto measure = [&](const std::string& variant, const std::function<void()>& begin) {
      std::vector<double> all;
      for (int i = 0; i <= samples; ++i) {
        const auto t = clock::now();
        stop_if_signalled();
        begin();
        good(rt->run(enough));
        if (i > 0) all.push_back(2 * ns_since(t) / static_cast<double>(messages));
      }
      out.add("ping_pong", variant + (processors == 1 ? ", one processor" : ", two"), "there_and_back", "ns", all);
    };
    measure("array", [&] { objects[0].send<&in_array::pass>(messages, uint64_t{1}); });
    measure("group", [&] { members.send<&in_group::pass>(0, messages, messages); });
  }
}

// ---- launches and requests

// Empty kernels on a stream, and their end, seen by an event that is polled by hand.
class launches {
 public:
  explicit launches(const options& o)
      : cluster_(make_cluster(o)), stream_(good(cluster_->make_stream(0))), event_(good(cluster_->make_event(0))) {}

  bool of_engine() const { return cluster_->device(0) < 0; }
  void queue(int blocks, int threads) { good(launch(*cluster_, stream_, blocks, threads, nothing, nullptr)); }
  void wait() {
    stop_if_signalled();
    good(cluster_->record(event_, stream_));
    good(cluster_->start());
    while (!good(cluster_->reached(event_)))
      if (of_engine()) good(cluster_->poll());
  }

 private:
  const std::unique_ptr<ggas::cluster> cluster_;
  const stream stream_;
  const event event_;
};

// Launch and end of an empty kernel, and launches a second of many at once.
void launch_and_event(const options& o, results& out) {
  launches all(o);
  const int samples = o.quick ? 50 : 1000;
  for (const bool large : {false, true}) {
    if (large && all.of_engine()) continue;  // a million fibers are no figure of a GPU
    const int blocks = large ? 4096 : 1, threads = large ? 256 : 1;
    std::vector<double> queued, ended, rates;
    for (int i = -10; i < samples; ++i) {
      const auto t = clock::now();
      all.queue(blocks, threads);
      const double after_launch = ns_since(t);
      all.wait();
      if (i < 0) continue;
      queued.push_back(after_launch);
      ended.push_back(ns_since(t));
    }
    for (int i = 0; i < 5; ++i) {
      const auto t = clock::now();
      for (int k = 0; k < samples; ++k) all.queue(blocks, threads);
      all.wait();
      rates.push_back(samples / (ns_since(t) * 1e-9));
    }
    const std::string variant = large ? "4096 x 256" : "1 x 1";
    out.add("launch", variant, "launch_call", "ns", queued);
    out.add("launch", variant, "launch_and_end", "ns", ended);
    out.add("launch", variant, "rate", "1/s", rates);
  }
}

// Empty requests one after the other (each by the callback of the one before), and many at once.
void empty_requests(const options& o, results& out, const std::string& variant, const dispatcher_config& cfg) {
  const int samples = o.quick ? 50 : 1000;
  const executor e = cfg.how;
  rig g(o, cfg);
  std::vector<double> calls, ends;
  request r(0, 1, 1, nothing, nullptr);
  clock::time_point begin;
  std::function<void()> next = [&] {
    begin = clock::now();
    good(g.work->enqueue(r));
    calls.push_back(ns_since(begin));
    while (e == executor::by_hand && g.work->poll()) {
    }
  };
  r.then([&](const result<>& end) {
    good(end);
    ends.push_back(ns_since(begin));
    if (ends.size() < static_cast<size_t>(samples) + 10) next();
  });
  g.run(next);
  calls.erase(calls.begin(), calls.begin() + 10);
  ends.erase(ends.begin(), ends.begin() + 10);
  out.add("request", variant, "enqueue_call", "ns", calls);
  out.add("request", variant, "enqueue_to_callback", "ns", ends);
  std::vector<request> many;
  for (int i = 0; i < samples; ++i) many.emplace_back(0, 1, 1, nothing, nullptr);
  std::vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    const auto t = clock::now();
    g.run([&] {
      for (const request& one : many) good(g.work->enqueue(one));
      while (e == executor::by_hand && g.work->poll()) {
      }
    });
    rates.push_back(samples / (ns_since(t) * 1e-9));
  }
  out.add("request", variant, "rate", "1/s", rates);
}

void all_empty_requests(const options& o, results& out) {
  for (const executor e : executors) empty_requests(o, out, name_of(e), config_of(e));
  dispatcher_config runs = config_of(executor::streams);
  runs.most_in_run = 16;
  empty_requests(o, out, "streams, runs", runs);
}

// Requests of which each depends on the one before: until the last callback. A graph is recorded before that.
void chains(const options& o, results& out) {
  const int length = o.quick ? 50 : 1000;
  for (const executor e : executors) {
    if (e == executor::blocking) continue;  // it would wait for what is not enqueued yet
    rig g(o, e);
    std::vector<request> all;
    int ended = 0;
    for (int i = 0; i < length; ++i) {
      all.emplace_back(0, 1, 1, nothing, nullptr).then([&](const result<>& end) { good(end), ++ended; });
      if (i > 0) all.back().after(all[static_cast<size_t>(i) - 1]);
    }
    std::vector<double> times;
    for (int i = 0; i < 6; ++i) {
      const auto t = clock::now();
      g.run([&] {
        for (const request& one : all) good(g.work->enqueue(one));
        while (e == executor::by_hand && g.work->poll()) {
        }
      });
      if (i > 0) times.push_back(ns_since(t) / length);
    }
    if (ended != 6 * length) throw failure("chain: callbacks are missing");
    out.add("chain", name_of(e), "time_of_a_request", "ns", times);
  }
}

// A kernel of 100 ms, and 100 ms of methods.
void overlap(const options& o, results& out) {
  static constexpr uint64_t ns = 100'000'000;
  for (const executor e : {executor::fifo, executor::streams, executor::blocking}) {
    rig g(o, e);
    std::vector<double> all;
    for (int i = 0; i < (o.quick ? 1 : 5); ++i) {
      const auto t = clock::now();
      g.run([&] {
        good(g.work->enqueue(request(0, 1, 1, stay, ns)));
        for (int m = 0; m < 1000; ++m)
          g.rt->post(0, [] {
            const auto begin = clock::now();
            while (ns_since(begin) < ns / 1000) {
            }
          });
      });
      all.push_back(ns_since(t));
    }
    out.add("overlap", name_of(e), "kernel_and_methods", "ns", all);
  }
}

// Series of requests that copy much in and out and change 32 elements: pinned memory, memory that is kept.
void copies(const options& o, results& out) {
  const size_t most = o.quick ? 1 << 20 : 16 << 20;
  constexpr size_t requests = 8;
  for (const executor e : executors) {
    rig g(o, e);
    std::byte* const pinned = g.rt->with_cluster([](cluster& c) { return c.host_memory(0).base; });
    for (size_t bytes = 1024; bytes <= most; bytes = bytes == most ? most + 1 : std::min(32 * bytes, most)) {
      std::vector<gpu_memory> memory;
      std::vector<std::span<uint32_t>> parts;
      std::vector<request> all;
      for (size_t i = 0; i < requests; ++i) {
        const std::span<uint32_t> part(reinterpret_cast<uint32_t*>(pinned + i * bytes), bytes / 4);
        memory.push_back(good(g.work->allocate(0, bytes)));
        std::ranges::fill(part, 0u);
        parts.push_back(part);
        all.emplace_back(0, 1, 32, increment, both(part).in_memory(memory.back()), uint64_t{32});
      }
      std::vector<double> rates;
      const uint32_t rounds = o.quick ? 3 : 11;
      for (uint32_t i = 0; i < rounds; ++i) {
        const auto t = clock::now();
        g.run([&] {
          for (const request& r : all) good(g.work->enqueue(r));
          while (e == executor::by_hand && g.work->poll()) {
          }
        });
        if (i > 0) rates.push_back(2 * static_cast<double>(requests * bytes) / (ns_since(t) * 1e-9));
      }
      for (const auto& part : parts)
        if (std::ranges::count(part.first(32), rounds) != 32) throw failure("copies: the data are wrong");
      out.add("copies", std::string(name_of(e)) + ", " + human(static_cast<double>(bytes), "B"), "both_ways", "B/s",
              rates);
    }
  }
}

struct benchmark {
  const char* name;
  void (*run)(const options&, results&);
};
constexpr benchmark benchmarks[] = {
    {"ping_pong", ping_pong},   {"launch", launch_and_event}, {"request", all_empty_requests},
    {"chain", chains},          {"overlap", overlap},         {"copies", copies},
    {"period", noticed_ends},   {"busy", busy_gpus},          {"memory", memory_of_requests},
    {"control", control_array}, {"short", short_kernels},     {"next_to_long", next_to_a_long_one},
    {"idle", idle_workers},     {"stop", stop_of_workers},    {"remote", requests_of_kernels},
    {"merge", merged_requests}};

// Those that a signal left out, or cut short.
std::string measure(const options& o, results& out) {
  std::string left;
  for (const benchmark& b : benchmarks) {
    if (!o.names.empty() && std::ranges::find(o.names, b.name) == o.names.end()) continue;
    try {
      stop_if_signalled();
      b.run(o, out);
    } catch (const interrupted&) {
      left += " " + std::string(b.name);
    }
  }
  return left;
}

int run(int argc, char** argv) {
  options o;
  CLI::App app{"Messages, launches and requests of work.", "ggas-bench-work"};
  std::vector<std::string> names;
  for (const benchmark& b : benchmarks) names.emplace_back(b.name);
  app.add_option("names", o.names, "benchmarks; all if there is none")->check(CLI::IsMember(names));
  app.add_option("--provider", o.provider, "shm | cuda")->check(CLI::IsMember({"shm", "cuda"}))->capture_default_str();
  app.add_option("--json", o.json, "records, a line each")->group(output_options);
  bool no_report = false;
  app.add_flag("--no-report", no_report, "as the other benchmarks; there is no report")->group(output_options);
  app.add_flag("--quick", o.quick, "fewer samples");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return end_parse(app, e);
  }
  o.run.command = command_text(app);
  o.run.environment = switches_of_environment(measures::gpus);
  catch_signals();
  try {
    results out(o);
    const std::string not_run = measure(o, out);
    out.save();
    return caught_signal() != 0 ? ended_by_signal({}, not_run) : 0;
  } catch (const failure& f) {
    std::fprintf(stderr, "ggas-bench-work: %s\n", f.what());
    return 1;
  }
}

}  // namespace
}  // namespace ggas::bench

int main(int argc, char** argv) { return ggas::bench::run(argc, argv); }
