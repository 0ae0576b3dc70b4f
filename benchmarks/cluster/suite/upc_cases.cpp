// SPDX-License-Identifier: Apache-2.0
// The thirteen cases of the testbed of UPC's collectives (upc_case_plan.hpp), by 8 ranks of a node.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/plans/upc_case_plan.hpp"

namespace ggas::bench {

namespace {

upc_case_args plan_point(session& s, const upc_case& c, const upc_kind& k, uint64_t elements) {
  layout_plan room(s.data_offset());
  upc_case_args a = plan_case(room, s.nodes(), upc_blocks, upc_threads, c, k, elements, s.opts().sized(3u, 3u, 50u));
  a.call.seed = s.opts().cluster.seed;
  a.call.timeout_ns = s.opts().timeout_ns / 4;
  for (int node = 0; node < s.nodes(); ++node)
    std::memset(at_offset<std::byte>(s, node, a.call.ranks.place), 0, detail::layout_of(a.call.ranks).bytes());
  return a;
}

// Writes the time of the slowest rank; its number is in the record.
void emit_slowest(session& s, const upc_case& c, const upc_kind& k, uint64_t elements, const char* metric,
                  const std::vector<double>& of_ranks) {
  const size_t slowest = slowest_of(of_ranks);
  record r = s.begin(c.name, metric, "ns");
  r.params = {{"elements", elements},   {"bytes", elements * sizeof(float)},
              {"threads", upc_threads}, {"method", k.name},
              {"scheme", scheme_of(c)}, {"slowest", slowest}};
  summarise(r, std::array{of_ranks[slowest]});
  s.emit(std::move(r));
}

result<> case_point(session& s, const upc_case& c, const upc_kind& k, uint64_t elements) {
  const std::string what = fmt::format("{} {} of {} floats", c.name, k.name, elements);
  const upc_case_args a = plan_point(s, c, k, elements);
  GGAS_TRY(s.launch_together(
      {upc_blocks}, {upc_threads}, [&](int) { return [a] { upc_case_loop(a); }; }, what));
  GGAS_TRY(s.run(what));
  std::array<std::vector<double>, upc_times> times;
  for (int node = 0; node < s.nodes(); ++node) {
    if (auto o = join_outcomes(s, node, a.call.outcomes, size_t{upc_blocks} * upc_threads, what); !o) return o.error();
    std::vector<double> of_node;
    read_samples(s, node, a.call.samples, upc_blocks * upc_times, 1, of_node);
    for (size_t i = 0; i < of_node.size(); ++i) times[i % upc_times].push_back(of_node[i]);
  }
  for (size_t i = 0; i < upc_times; ++i) emit_slowest(s, c, k, elements, upc_time_names[i], times[i]);
  return {};
}

}  // namespace

result<> run_upc_cases(session& s) {
  const uint64_t first = s.opts().sized(16u, 16u, 2u), most = s.opts().sized(16u, 256u, 1024u), step = 16;
  GGAS_TRY(s.start(upc_case_bytes(s.nodes(), upc_blocks, most)));
  for (const upc_case& c : upc_cases)
    for (const upc_kind& k : upc_kinds)
      for (uint64_t n = first; n <= most && runs(c, k, n, s.opts().quick); n *= step) GGAS_TRY(case_point(s, c, k, n));
  return {};
}

}  // namespace ggas::bench
