// SPDX-License-Identifier: Apache-2.0
// Time of a kernel over its blocks, and state that is kept over a barrier or stored between two launches.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/kernels/virtualization.cuh"
#include "benchmarks/plans/virtualization_plan.hpp"

namespace ggas::bench {

namespace {

result<> micro_point(session& s, const char* variant, unsigned blocks, void (*kernel)(micro_args), int launches) {
  const std::string what = fmt::format("{} of {} blocks", variant, blocks);
  layout_plan room(s.data_offset());
  micro_args a = place_micro(room, blocks);
  a.iterations = s.opts().sized(20u, 100u, 1000u);
  a.timeout_ns = s.opts().timeout_ns / 4;
  std::memset(at_offset<char>(s, 0, a.x), 0, room.place<char>(0) - a.x);
  std::fill_n(at_offset<float>(s, 0, a.y), size_t{blocks} * micro_threads, 1.0f);
  for (int i = 0; i < launches; ++i) {
    const micro_args one = launch_of(a, i);
    GGAS_TRY(s.machine().launch(0, {blocks}, {micro_threads}, [=] { kernel(one); }));
  }
  GGAS_TRY(s.run(what));
  const auto o = join_outcomes(s, 0, a.outcomes, size_t{blocks} * micro_threads * static_cast<size_t>(launches), what);
  if (!o) return o.error();
  if (auto text = wrong_micro(a, *at_offset<float>(s, 0, a.x), *at_offset<float>(s, 0, a.state),
                              kernel == state_kept || kernel == state_stored);
      !text.empty())
    return failed(errc::device_fault, what + ": " + text);
  record r = s.begin(variant, "time", "ns");
  r.params = {{"blocks", blocks}, {"threads", micro_threads}};
  summarise(r, std::vector<double>{static_cast<double>(o->end_ns - o->begin_ns)});
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_virtualization(session& s) {
  const auto counts = s.opts().sized(std::vector<unsigned>{13, 14}, std::vector<unsigned>{13, 14, 26, 27},
                                     std::vector<unsigned>{2, 13, 14, 26, 27, 52, 53, 104, 105});
  GGAS_TRY(s.start(micro_bytes(counts.back())));
  for (const unsigned blocks : counts) {
    GGAS_TRY(micro_point(s, "registers", blocks, micro_registers, 1));
    GGAS_TRY(micro_point(s, "shared", blocks, micro_shared, 1));
  }
  GGAS_TRY(micro_point(s, "state_kept", counts.front(), state_kept, 1));
  return micro_point(s, "state_stored", counts.front(), state_stored, 2);
}

}  // namespace ggas::bench
