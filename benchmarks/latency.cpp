// SPDX-License-Identifier: Apache-2.0
// store_latency and load_latency.
#include "benchmarks/kernels/latency.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned most_threads = 8192;
// The published store latency holds up to 4 KB.
constexpr unsigned flat_threads = 512;

struct plan {
  latency_args args{};
  unsigned threads;
  shape where;
};

plan make_plan(session& s, unsigned threads) {
  plan p{.threads = threads, .where = usual_shape(threads)};
  layout_plan room(s.data_offset());
  p.args.slots = room.place<uint64_t>(most_threads);
  p.args.copies = room.place<uint64_t>(most_threads);
  p.args.outcomes = room.place<outcome>(most_threads);
  p.args.rounds = s.opts().quick ? (threads <= flat_threads ? 20 : 4) : (threads <= flat_threads ? 200 : 20);
  p.args.samples = room.place<uint64_t>(p.args.rounds * p.where.grid.x);
  p.args.seed = s.opts().cluster.seed;
  p.args.timeout_ns = s.opts().timeout_ns / 4;
  return p;
}

std::vector<unsigned> thread_counts(bool quick) {
  if (quick) return {1, 8, 32, 128, 512, 2048, 8192};
  std::vector<unsigned> out;
  for (unsigned t = 1; t <= most_threads; t *= 2) out.push_back(t);
  return out;
}

// Figures of the measuring nodes (the first of each pair): the mean over whole runs of threads, percentiles over rounds.
result<> report(session& s, const plan& p, record r, double factor, const std::string& what) {
  std::vector<double> rounds;
  double sum = 0;
  uint64_t threads = 0;
  for (int node = 0; node + 1 < s.nodes(); node += 2) {
    auto o = join_outcomes(s, node, p.args.outcomes, p.threads, what);
    if (!o) return std::unexpected(o.error());
    const outcome* each = at_offset<outcome>(s, node, p.args.outcomes);
    for (unsigned t = 0; t < p.threads; ++t) sum += static_cast<double>(each[t].end_ns - each[t].begin_ns);
    threads += p.threads;
    read_samples(s, node, p.args.samples, p.args.rounds * p.where.grid.x, factor, rounds);
  }
  summarise(r, rounds);
  r.value = sum * factor / static_cast<double>(threads * p.args.rounds);
  r.n = threads * p.args.rounds;
  r.params = {{"threads", p.threads}, {"bytes", p.threads * sizeof(uint64_t)}};
  s.emit(std::move(r));
  return {};
}

constexpr size_t room_needed = most_threads * (2 * sizeof(uint64_t) + sizeof(outcome)) + 4096 * 1024;

}  // namespace

result<> run_store_latency(session& s) {
  GGAS_TRY(s.start(room_needed));
  for (const unsigned threads : thread_counts(s.opts().quick)) {
    const plan p = make_plan(s, threads);
    const std::string what = fmt::format("{} threads", threads);
    for (int node = 0; node < s.nodes(); ++node) std::fill_n(at_offset<uint64_t>(s, node, p.args.slots), threads, 0);
    GGAS_TRY(s.launch_all(p.where.grid, p.where.block, [&](int) { return [args = p.args] { store_pingpong(args); }; }));
    GGAS_TRY(s.run(what));
    for (int node = 1; node < s.nodes(); node += 2) {
      if (auto o = join_outcomes(s, node, p.args.outcomes, threads, what); !o) return std::unexpected(o.error());
    }
    record r = s.begin("store", "half_round_trip", "ns");
    if (s.calibrated() && threads <= flat_threads) r.reference = reference{3000, "C1"};
    GGAS_TRY(report(s, p, std::move(r), 0.5, what));
  }
  return {};
}

result<> run_load_latency(session& s) {
  GGAS_TRY(s.start(room_needed));
  for (const unsigned threads : thread_counts(s.opts().quick)) {
    const plan p = make_plan(s, threads);
    const std::string what = fmt::format("{} threads", threads);
    for (int node = 0; node < s.nodes(); ++node) {
      for (unsigned t = 0; t < threads; ++t) at_offset<uint64_t>(s, node, p.args.slots)[t] = pattern(p.args.seed, 0, t);
      std::fill_n(at_offset<uint64_t>(s, node, p.args.copies), threads, 0);
    }
    GGAS_TRY(s.launch_all(p.where.grid, p.where.block, [&](int) { return [args = p.args] { load_rounds(args); }; }));
    GGAS_TRY(s.run(what));
    for (int node = 0; node + 1 < s.nodes(); node += 2) {
      const uint64_t* from = at_offset<uint64_t>(s, node + 1, p.args.slots);
      if (!std::equal(from, from + threads, at_offset<uint64_t>(s, node, p.args.copies))) {
        return failed(errc::device_fault, fmt::format("{}: node {}: verification failed, copies differ", what, node));
      }
    }
    record r = s.begin("load", "round", "ns");
    if (s.calibrated() && threads == 1) r.reference = reference{5600, "C2"};
    GGAS_TRY(report(s, p, std::move(r), 1, what));
  }
  return {};
}

}  // namespace ggas::bench
