// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of ggas-bench-work share: options, the list of figures, a runtime with a dispatcher.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/harness/computer.hpp"
#include "benchmarks/harness/record.hpp"
#include "benchmarks/harness/signals.hpp"
#include "benchmarks/work/gpus.hpp"
#include "benchmarks/work/kernels.hpp"
#include "ggas/work.hpp"

namespace ggas::bench {

using clock = std::chrono::steady_clock;
inline constexpr uint64_t enough = 120'000'000'000;

struct options {
  std::string provider = "shm", json;
  std::vector<std::string> names;  // none: all
  bool quick = false;
  run_facts run = {};  // of the command line
};

inline double ns_since(clock::time_point t) {
  return std::chrono::duration<double, std::nano>(clock::now() - t).count();
}

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// SIGINT or SIGTERM came: the benchmark ends, and figures that are complete are kept.
struct interrupted {};
inline void stop_if_signalled() {
  if (caught_signal() != 0) throw interrupted{};
}
template <class T>
T good(result<T> r) {
  if (!r) throw failure(r.error().text);
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}
inline void good(const result<>& r) {
  if (!r) throw failure(r.error().text);
}

inline const char* name_of(executor e) {
  constexpr const char* names[] = {"fifo", "streams", "blocking", "by_hand", "graph", "workers"};
  return names[static_cast<int>(e)];
}
inline constexpr executor executors[] = {executor::fifo,    executor::streams, executor::blocking,
                                         executor::by_hand, executor::graph,   executor::workers};

// Prints each figure, and keeps it for the file.
class results {
 public:
  explicit results(const options& o) : options_(o), platform_(o.provider == "cuda" ? gpu_text() : computer_text()) {
    std::printf("%-12s %-22s %-18s %10s %10s %10s %10s  %s\n", "benchmark", "variant", "metric", "median", "least",
                "most", "deviation", "samples");
  }
  void add(const char* benchmark, const std::string& variant, const char* metric, const char* unit,
           std::vector<double> samples, int nodes = 1) {
    std::ranges::sort(samples);
    double mean = 0, squares = 0;
    for (const double v : samples) mean += v / static_cast<double>(samples.size());
    for (const double v : samples) squares += (v - mean) * (v - mean) / static_cast<double>(samples.size());
    record r;
    r.benchmark = benchmark;
    r.variant = variant;
    r.provider = options_.provider;
    r.platform = platform_;
    r.nic = "none";
    r.nodes = nodes;
    r.run = options_.run;
    r.metric = metric;
    r.unit = unit;
    r.value = percentile(samples, 0.5);
    r.p50 = r.value;
    r.p99 = percentile(samples, 0.99);
    r.n = samples.size();
    r.wall_clock = true;
    std::printf("%-12s %-22s %-18s %10s %10s %10s %10s  %zu\n", benchmark, variant.c_str(), metric,
                human(r.value, unit).c_str(), human(samples.front(), unit).c_str(), human(samples.back(), unit).c_str(),
                human(std::sqrt(squares), unit).c_str(), samples.size());
    std::fflush(stdout);
    all_ += to_json(r, true).dump() + "\n";
  }
  // What has no figure, and why.
  void note(const char* benchmark, const std::string& why) const {
    std::printf("%-12s %s\n", benchmark, why.c_str());
    std::fflush(stdout);
  }
  void save() const {
    if (options_.json.empty()) return;
    std::ofstream file(options_.json);
    file << all_;
    if (!file.flush()) throw failure("cannot write " + options_.json);
  }

 private:
  const options& options_;
  const std::string platform_;
  std::string all_;
};

inline cluster_config config_of_cluster(const options& o, int nodes) {
  cluster_config cfg;
  cfg.provider = o.provider;
  cfg.nodes = nodes;
  cfg.segment_bytes = 512u << 20;
  cfg.host_bytes = 256u << 20;
  return cfg;
}
inline std::unique_ptr<ggas::cluster> make_cluster(const options& o) {
  return good(cluster::create(config_of_cluster(o, 1)));
}

inline constexpr size_t copied_bytes = 128u << 20;  // of pinned memory, for the requests that copy

// With `groups` of workers, of one block each.
inline dispatcher_config config_of(executor e, unsigned groups = 8, uint32_t longest_pause_ns = 1000) {
  dispatcher_config cfg{.how = e, .pinned_by_hand = copied_bytes};
  cfg.workers = {.table = &bench_work, .groups = groups, .longest_pause_ns = longest_pause_ns};
  return cfg;
}

struct rig {
  std::unique_ptr<runtime> rt;
  std::unique_ptr<dispatcher> work;
  rig(const options& o, executor e) : rig(o, config_of(e)) {}
  rig(const options& o, const dispatcher_config& cfg) : rig(make_cluster(o), cfg) {}
  rig(std::unique_ptr<ggas::cluster> c, const dispatcher_config& cfg)
      : rt(good(runtime::create({.processors = 1}, std::move(c)))), work(good(dispatcher::create(*rt, cfg))) {}
  // On processor 0, until nothing is left.
  void run(std::function<void()> begin) {
    stop_if_signalled();
    rt->post(0, std::move(begin));
    good(rt->run(enough));
  }
};

// Workers (workers.cpp).
void control_array(const options& o, results& out);
void short_kernels(const options& o, results& out);
void next_to_a_long_one(const options& o, results& out);
void idle_workers(const options& o, results& out);
void stop_of_workers(const options& o, results& out);
void requests_of_kernels(const options& o, results& out);
void merged_requests(const options& o, results& out);

// The host's side (host_side.cpp).
void noticed_ends(const options& o, results& out);
void busy_gpus(const options& o, results& out);
void memory_of_requests(const options& o, results& out);

}  // namespace ggas::bench
