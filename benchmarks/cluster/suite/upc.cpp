// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks, several on each node, in three modes, and the references of UPC.
#include "benchmarks/plans/upc_plan.hpp"

#include <fmt/format.h>

#include <cstring>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"

namespace ggas::bench {

namespace {

upc_args plan_upc(session& s, const upc_kind& k, const upc_variant& v, uint64_t elements) {
  layout_plan room(s.data_offset());
  const ggas_ranks ranks = place_ranks(room, s.nodes(), upc_blocks);
  upc_args a = place_upc(room, ranks, k, v, elements, s.opts().sized(2u, 5u, 10u), upc_threads);
  a.seed = s.opts().cluster.seed;
  a.timeout_ns = s.opts().timeout_ns / 4;
  for (int node = 0; node < s.nodes(); ++node)
    std::memset(at_offset<std::byte>(s, node, ranks.place), 0, detail::layout_of(ranks).bytes());
  return a;
}

result<> upc_point(session& s, const upc_kind& k, const upc_variant& v, uint64_t elements) {
  const std::string what = fmt::format("{} {} of {} floats", k.name, v.name, elements);
  const upc_args a = plan_upc(s, k, v, elements);
  GGAS_TRY(s.launch_together(
      {upc_blocks}, {upc_threads}, [&](int) { return [a] { upc_loop(a); }; }, what));
  GGAS_TRY(s.run(what));
  std::vector<double> slowest(a.rounds, 0);
  for (int node = 0; node < s.nodes(); ++node) {
    if (auto o = join_outcomes(s, node, a.outcomes, size_t{upc_blocks} * upc_threads, what); !o) return o.error();
    std::vector<double> mine;
    read_samples(s, node, a.samples, upc_blocks * a.rounds, 1, mine);
    join_ranks(mine, slowest);
  }
  record r = s.begin(v.name, "time", "ns");
  r.params = {
      {"elements", elements}, {"bytes", elements * sizeof(float)}, {"threads", upc_threads}, {"method", k.name}};
  summarise(r, slowest);
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_upc(session& s) {
  const uint64_t first = s.opts().quick ? 64 : 1, most = s.opts().sized(64u, 64u, 1024u);
  const uint64_t step = s.opts().sized(64u, 64u, 4u);
  GGAS_TRY(s.start(upc_bytes(s.nodes(), upc_blocks, most)));
  for (const upc_kind& k : upc_kinds)
    for (uint64_t n = first; n <= most; n *= step)
      for (const upc_variant& v : upc_variants) GGAS_TRY(upc_point(s, k, v, n));
  return {};
}

}  // namespace ggas::bench
