// SPDX-License-Identifier: Apache-2.0
// What a benchmark sees of the program: its cluster, the options and a place for results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/cluster/limits.hpp"
#include "benchmarks/cluster/size_options.hpp"
#include "benchmarks/harness/description.hpp"
#include "benchmarks/harness/record.hpp"
#include "ggas/cluster.hpp"

namespace ggas::bench {

struct schedule;

struct options {
  cluster_config cluster;
  std::shared_ptr<const bench::schedule> schedule;  // that trace runs
  std::string schedule_name;
  size_options sizes;
  run_facts run;
  bool energy = false;                               // of every point, too (sim)
  bool ranks = false;                                // --ranks: results must not depend on their number
  bool quick = false, middle = false;                // fewer points and repetitions; some of the large points, too
  std::function<void(const std::string&)> on_state;  // gets what the cluster has come to (state.hpp); may be empty
  uint64_t timeout_ns = 2'000'000'000;               // of one point, simulated (sim) or real (shm) time

  unsigned rounds = 0;  // of a point; 0: what its size has

  template <class T>
  T sized(const T& if_quick, const T& if_middle, const T& if_full) const {
    return quick ? if_quick : middle ? if_middle : if_full;
  }
  unsigned rounds_of(unsigned if_quick, unsigned if_middle, unsigned if_full) const {
    return rounds != 0 ? rounds : sized(if_quick, if_middle, if_full);
  }
};

// Sums over a whole run of the program, for the closing lines.
struct totals {
  uint64_t cycles = 0, sim_ns = 0;
  double wall_s = 0;
};

struct benchmark;

// A running benchmark.
class session {
 public:
  using sink = std::function<void(const record&)>;
  using observer = std::function<void(const std::string& what, uint64_t sim_ns, double wall_s)>;
  session(const benchmark& b, const options& o, const link_limits& l, totals& t, sink s, observer p);

  const options& opts() const { return options_; }
  const link_limits& limits() const { return limits_; }
  int nodes() const { return options_.cluster.nodes; }
  bool simulated() const { return options_.cluster.provider == "sim"; }
  // The published figures are valid for the testbed as published: two simulated nodes of galibier-k20 with the NIC's
  // RTL, nothing overridden.
  bool calibrated() const;

  // Makes the cluster, or a fresh one. Segments hold `bytes` of benchmark data in addition to the reserved part.
  result<> start(size_t bytes) { return start({.bytes = bytes}); }
  struct wish {
    size_t bytes;
    std::string part = {};  // what this cluster is for, if a benchmark makes several: stands in the names of its traces
    queue_config queues = {};
    std::vector<std::string> overrides = {};  // after those of the command line
    size_t host_bytes = 1u << 20;
  };
  result<> start(const wish& w);
  cluster& machine() { return *cluster_; }
  // Ends the traces of the last cluster; the benchmark is done.
  void end_observation();
  // Traces so far, and what is to be said of those that are not whole: a line each.
  const std::vector<std::string>& traces() const { return traces_; }
  const std::string& incomplete() const { return incomplete_; }
  // The option that ends a point, for messages about waits that took too long.
  std::string timeout_text() const;
  // The point at work.
  const std::string& what() const { return what_; }
  // First byte of a node's segment after the reserved part.
  std::byte* data(int node);
  // Offset of data() in the segment.
  size_t data_offset() const;

  // Queues a kernel on every node: body(node) returns the kernel of one thread.
  result<> launch_all(extent grid, extent block, const std::function<std::function<void()>(int node)>& body);
  // The same for blocks that wait for each other: bad_argument where a GPU has no room for all of them at once.
  result<> launch_together(extent grid, extent block, const std::function<std::function<void()>(int node)>& body,
                           const std::string& what);
  result<> check_room(unsigned blocks, unsigned threads, const std::string& what) const;
  // Runs what is queued; `what` names the point. Its cost is kept for the next emit().
  result<> run(const std::string& what);

  // A record of this benchmark with everything known beforehand filled in.
  record begin(std::string variant, std::string metric, std::string unit) const;
  // Adds the cost of the runs since the last record and hands the record on, then records of their energy.
  void emit(record r);
  void charge(uint64_t cycles, uint64_t sim_ns, double wall_s);

 private:
  // Energy of the cluster until now.
  struct spent {
    std::vector<energy_part> parts;
    std::map<std::string, uint64_t> toggles;  // of the NICs, by unit
  };
  spent spent_so_far() const;
  void charge_energy(const spent& before);
  void emit_energy(record r);
  void emit_units(record r, const spent& point);
  std::vector<std::string> name_traces(cluster_config& cfg, const std::string& part) const;

  const benchmark& benchmark_;
  const options& options_;
  const link_limits& limits_;
  totals& totals_;
  sink sink_;
  observer observer_;
  std::unique_ptr<cluster> cluster_;
  totals point_;
  spent point_energy_;
  std::string what_, incomplete_;
  std::vector<std::string> traces_;
};

struct benchmark : description {
  result<> (*run)(session& s);
};

// In the order of a suite.
std::span<const benchmark> all_benchmarks();
const benchmark* find_benchmark(std::string_view name);
// Runs a file, so it is in no suite.
const benchmark& trace_benchmark();

inline error failed(errc code, std::string text) { return {code, std::move(text)}; }

}  // namespace ggas::bench

// Returns the error of a result<> expression from the enclosing function.
#define GGAS_TRY(expression)                       \
  do {                                             \
    if (auto outcome_ = (expression); !outcome_) { \
      return std::move(outcome_.error());          \
    }                                              \
  } while (0)
