// SPDX-License-Identifier: Apache-2.0
// broadcast, allgather, alltoall, gather, scatter, permute and scan, called by a block of a running kernel.
#include "benchmarks/kernels/exchange.cuh"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned exchange_threads = 256;

exchange_args plan_exchange(session& s, moved what, uint64_t elements) {
  layout_plan room(s.data_offset());
  const auto parts = static_cast<size_t>(s.nodes());
  exchange_args a{};
  a.what = what;
  a.elements = elements;
  a.input = room.place<float>(elements_in(what, elements, s.nodes()));
  a.output = room.place<float>(elements * (many_out(what) ? parts : 1));
  a.outcomes = room.place<outcome>(exchange_threads);
  a.checks = 1;
  a.rounds = s.opts().rounds_of(3, 5, 10);
  a.seed = s.opts().cluster.seed;
  a.timeout_ns = s.opts().timeout_ns / 4;
  return a;
}

// Runs a kernel on every node; the outcome of the node that took longest.
result<outcome> run_everywhere(session& s, const exchange_args& a, exchange_kernel kernel, const std::string& what) {
  GGAS_TRY(s.launch_all({1}, {exchange_threads}, [&](int) { return [=] { kernel(a); }; }));
  GGAS_TRY(s.run(what));
  outcome slowest{};
  for (int node = 0; node < s.nodes(); ++node) {
    const auto o = join_outcomes(s, node, a.outcomes, exchange_threads, what);
    if (!o) return o.error();
    if (o->end_ns - o->begin_ns >= slowest.end_ns - slowest.begin_ns) slowest = *o;
  }
  return slowest;
}

result<> exchange_point(session& s, const char* variant, moved what, exchange_kernel loop, uint64_t elements) {
  const std::string text = fmt::format("{} {} elements", variant, elements);
  const exchange_args a = plan_exchange(s, what, elements);
  GGAS_TRY(s.launch_all({1}, {exchange_threads}, [&](int) { return [a] { exchange_fill(a); }; }));
  GGAS_TRY(s.run(text));
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    const auto o = run_everywhere(s, a, loop, text);
    if (!o) return o.error();
    samples.push_back(static_cast<double>(o->end_ns - o->begin_ns) / static_cast<double>(a.rounds));
  }
  if (const auto o = run_everywhere(s, a, exchange_check, text); !o) return o.error();
  record r = s.begin(variant, "time", "ns");
  r.params = {{"elements", elements}, {"bytes", elements * sizeof(float)}, {"threads", exchange_threads}};
  summarise(r, samples);
  s.emit(std::move(r));
  return {};
}

result<> exchange_points(session& s, moved what) {
  const uint64_t most = s.opts().sized(1024u, 4096u, 16384u), step = s.opts().sized(32u, 64u, 4u);
  GGAS_TRY(s.start((2 * static_cast<size_t>(s.nodes()) * most * sizeof(float)) + (1u << 20)));
  const bool both = what == moved::broadcast && s.machine().device_context(0).others != nullptr;
  for (uint64_t n = 1; n <= most; n *= step) {
    GGAS_TRY(exchange_point(s, "block", what, exchange_loop_of<false>(what), n));
    if (both) GGAS_TRY(exchange_point(s, "team", what, exchange_loop<moved::broadcast, false, true>, n));
  }
  return {};
}

}  // namespace

result<> run_broadcast(session& s) { return exchange_points(s, moved::broadcast); }
result<> run_allgather(session& s) { return exchange_points(s, moved::allgather); }
result<> run_alltoall(session& s) { return exchange_points(s, moved::alltoall); }
result<> run_gather(session& s) { return exchange_points(s, moved::gather); }
result<> run_scatter(session& s) { return exchange_points(s, moved::scatter); }
result<> run_permute(session& s) { return exchange_points(s, moved::permute); }
result<> run_scan(session& s) { return exchange_points(s, moved::scan); }

}  // namespace ggas::bench
