// SPDX-License-Identifier: Apache-2.0
// Reconvergence after polling loops. On a GPU the lanes of a warp that leave a loop wait at its end for those that
// still spin, then continue together; without that, the stores after a loop would not coalesce. The engine has no
// program counter, so a loop is recognised by its behaviour: a lane that loads the same address again, with nothing but
// sleep in between, spins. Lanes that entered the loop with the same instruction are a cohort; a lane that does
// something else waits while another one of its cohort spins.
#include <bit>

#include "sim/gpu/gpu.hpp"

namespace ggas::gpu {

using pcie::now_ps;

// Lanes whose operation may issue now.
uint32_t gpu::ready_lanes(warp_state& w, const lanes& waiting) {
  uint32_t fresh = 0, spinning = 0;
  for (unsigned i = 0; i < simt::warp_size; ++i) {
    lane_state& l = w.lane[i];
    const simt::access* a = waiting[i];
    const uint32_t bit = 1u << i;
    if (!a) {
      l.repeats = false;
      continue;
    }
    if (!(w.issued & bit)) {
      fresh |= bit;
      const bool again = a->kind == simt::op::load && uint64_t(a->addr) == l.load_addr;
      l.repeats = l.load_addr != 0 && (again || a->kind == simt::op::sleep);
    }
    if (l.repeats) spinning |= bit;
  }
  const bool patient = cfg_.lockstep_ns == 0 || !w.held || now_ps() - w.held_since_ps < cfg_.lockstep_ns * 1000ull;
  uint32_t hold = 0;
  if (spinning && patient) {
    for (uint32_t left = fresh & ~spinning; left; left &= left - 1) {
      const unsigned i = unsigned(std::countr_zero(left));
      if (w.lane[i].load_addr == 0) continue;
      for (uint32_t s = spinning; s; s &= s - 1)
        if (w.lane[unsigned(std::countr_zero(s))].cohort == w.lane[i].cohort) hold |= 1u << i;
    }
  }
  if (hold && !w.held) w.held_since_ps = now_ps();
  w.held = hold;
  return fresh & ~hold;
}

// What these lanes did last.
void gpu::remember(warp_state& w, const group& g) {
  uint32_t cohort = 0;
  for (const simt::access* a : g.lanes) {
    lane_state& l = w.lane[a->lane];
    if (g.kind == simt::op::sleep) continue;
    if (g.kind != simt::op::load) {
      l = {};
      continue;
    }
    if (l.repeats) continue;
    if (!cohort) cohort = ++cohorts_;
    l.cohort = cohort;
    l.load_addr = uint64_t(a->addr);
  }
}

}  // namespace ggas::gpu
