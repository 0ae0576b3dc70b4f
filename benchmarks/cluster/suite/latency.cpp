// SPDX-License-Identifier: Apache-2.0
// store_latency and load_latency.
#include "benchmarks/kernels/latency.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned most_threads = 8192;
// The published store latency holds up to 4 KB.
constexpr unsigned flat_threads = 512;

struct plan {
  latency_args args{};
  unsigned threads;
  unsigned launches;  // a kernel's rounds keep the phase in which it began; several kernels show several phases
  shape where;
};

plan make_plan(session& s, unsigned threads) {
  const unsigned launches = threads <= flat_threads ? s.opts().sized(5u, 5u, 20u) : s.opts().sized(1u, 2u, 4u);
  plan p{.threads = threads, .launches = launches, .where = usual_shape(threads)};
  layout_plan room(s.data_offset());
  p.args.slots = room.place<uint64_t>(most_threads);
  p.args.copies = room.place<uint64_t>(most_threads);
  p.args.outcomes = room.place<outcome>(most_threads);
  p.args.rounds = s.opts().quick ? 4 : 10;
  p.args.samples = room.place<uint64_t>(p.args.rounds * p.where.grid.x);
  p.args.seed = s.opts().cluster.seed;
  p.args.timeout_ns = s.opts().timeout_ns / 4;
  return p;
}

std::vector<unsigned> thread_counts(const options& o) {
  if (o.quick) return {1, 8, 32, 128, 512, 2048, 8192};
  if (o.middle) return {2, 64, 1024, 4096};
  std::vector<unsigned> out;
  for (unsigned t = 1; t <= most_threads; t *= 2) out.push_back(t);
  return out;
}

// Findings of the measuring nodes (the first of each pair) over all launches.
struct findings {
  std::vector<double> rounds;  // ns, of the first thread of each block
  double sum_ns = 0;           // over threads, of all their rounds
  uint64_t count = 0;          // rounds of all threads
};

result<> gather(session& s, const plan& p, double factor, const std::string& what, findings& f) {
  for (int node = 0; node + 1 < s.nodes(); node += 2) {
    if (auto o = join_outcomes(s, node, p.args.outcomes, p.threads, what); !o) return o.error();
    const outcome* each = at_offset<outcome>(s, node, p.args.outcomes);
    for (unsigned t = 0; t < p.threads; ++t)
      f.sum_ns += static_cast<double>(each[t].end_ns - each[t].begin_ns) * factor;
    f.count += p.threads * p.args.rounds;
    read_samples(s, node, p.args.samples, p.args.rounds * p.where.grid.x, factor, f.rounds);
  }
  return {};
}

// The mean over whole runs of threads, percentiles over rounds.
void report(session& s, const plan& p, record r, const findings& f) {
  summarise(r, f.rounds);
  r.value = f.sum_ns / static_cast<double>(f.count);
  r.n = f.count;
  r.params = {{"threads", p.threads}, {"bytes", p.threads * sizeof(uint64_t)}};
  s.emit(std::move(r));
}

constexpr size_t room_needed = most_threads * (2 * sizeof(uint64_t) + sizeof(outcome)) + 4096 * 1024;

result<> pingpong_once(session& s, const plan& p, const std::string& what, findings& f) {
  for (int node = 0; node < s.nodes(); ++node) std::fill_n(at_offset<uint64_t>(s, node, p.args.slots), p.threads, 0);
  GGAS_TRY(s.launch_all(p.where.grid, p.where.block, [&](int) { return [args = p.args] { store_pingpong(args); }; }));
  GGAS_TRY(s.run(what));
  for (int node = 1; node < s.nodes(); node += 2) {
    if (auto o = join_outcomes(s, node, p.args.outcomes, p.threads, what); !o) return o.error();
  }
  return gather(s, p, 0.5, what, f);
}

result<> loads_once(session& s, const plan& p, const std::string& what, findings& f) {
  for (int node = 0; node < s.nodes(); ++node) {
    for (unsigned t = 0; t < p.threads; ++t) at_offset<uint64_t>(s, node, p.args.slots)[t] = pattern(p.args.seed, 0, t);
    std::fill_n(at_offset<uint64_t>(s, node, p.args.copies), p.threads, 0);
  }
  GGAS_TRY(s.launch_all(p.where.grid, p.where.block, [&](int) { return [args = p.args] { load_rounds(args); }; }));
  GGAS_TRY(s.run(what));
  for (int node = 0; node + 1 < s.nodes(); node += 2) {
    const uint64_t* from = at_offset<uint64_t>(s, node + 1, p.args.slots);
    if (!std::equal(from, from + p.threads, at_offset<uint64_t>(s, node, p.args.copies))) {
      return failed(errc::device_fault, fmt::format("{}: node {}: verification failed, copies differ", what, node));
    }
  }
  return gather(s, p, 1, what, f);
}

}  // namespace

result<> run_store_latency(session& s) {
  GGAS_TRY(s.start(room_needed));
  for (const unsigned threads : thread_counts(s.opts())) {
    const plan p = make_plan(s, threads);
    findings f;
    for (unsigned i = 0; i < p.launches; ++i) GGAS_TRY(pingpong_once(s, p, fmt::format("{} threads", threads), f));
    record r = s.begin("store", "half_round_trip", "ns");
    if (s.calibrated() && threads <= flat_threads) r.reference = reference{3000, "C1"};
    report(s, p, std::move(r), f);
  }
  return {};
}

result<> run_load_latency(session& s) {
  GGAS_TRY(s.start(room_needed));
  for (const unsigned threads : thread_counts(s.opts())) {
    const plan p = make_plan(s, threads);
    findings f;
    for (unsigned i = 0; i < p.launches; ++i) GGAS_TRY(loads_once(s, p, fmt::format("{} threads", threads), f));
    record r = s.begin("load", "round", "ns");
    if (s.calibrated() && threads == 1) r.reference = reference{5600, "C2"};
    report(s, p, std::move(r), f);
  }
  return {};
}

}  // namespace ggas::bench
