// SPDX-License-Identifier: Apache-2.0
// From the operations a warp's lanes wait for to instructions: lanes with the same operation issue together.
#include <algorithm>
#include <bit>

#include "sim/gpu/gpu.hpp"

namespace ggas::gpu {

using pcie::now_ps;

void warp_state::run() {
  woken = false;
  owner->bury();
  if (code->runnable())
    owner->step(*this);
  else
    owner->maybe_end(*this);
}

void gpu::wake(warp_state& w, uint64_t at_ps) {
  if (w.woken) return;
  w.woken = true;
  agenda_.at(at_ps, w);
}

// Lanes run natively up to their next operation. This takes no simulated time; the operation is charged for the
// instructions before it.
void gpu::step(warp_state& w) {
  w.code->step();
  if (const std::string& f = w.block->code->fault(); !f.empty() && kernel_fault_.empty()) {
    kernel_fault_ = f;
    if (on_idle) on_idle();
  }
  issue(w);
  maybe_end(w);
}

void gpu::issue(warp_state& w) {
  lanes waiting{};
  for (simt::access* a : w.code->pending()) waiting[a->lane] = a;
  boost::container::small_vector<group*, 4> groups;
  for (uint32_t ready = ready_lanes(w, waiting); ready; ready &= ready - 1) {
    simt::access& a = *waiting[unsigned(std::countr_zero(ready))];
    const bool memory = a.kind == simt::op::load || a.kind == simt::op::store || a.kind == simt::op::atomic;
    const region where = memory ? addresses.find(uint64_t(a.addr), a.size).where : region::local;
    const auto same = [&](const group* g) {
      const simt::access& b = *g->lanes.front();
      return g->where == where && a.kind == b.kind && a.size == b.size && a.sc == b.sc && a.fn == b.fn &&
             a.is_volatile == b.is_volatile;
    };
    const auto i = std::ranges::find_if(groups, same);
    group& g = i != groups.end() ? **i : new_group(w, a, where);
    if (i == groups.end()) groups.push_back(&g);
    g.lanes.push_back(&a);
    w.issued |= 1u << a.lane;
  }
  for (group* g : groups) {
    remember(w, *g);
    ++totals_.instructions;
    begin(*g);
  }
}

// The time at which the instruction issues. It issues some instructions after the result that the warp waited for, and
// only when its scheduler has a slot.
uint64_t gpu::take_slot(warp_state& w, unsigned transactions) {
  uint64_t& free = sms_[w.block->sm].scheduler_free_ps[w.scheduler];
  const uint64_t at = std::max(now_ps() + cfg_.cycles(cfg_.op_cycles), free);
  free = at + cfg_.cycles(cfg_.issue_cycles + std::max(transactions, 1u) - 1);
  return at;
}

group& gpu::new_group(warp_state& w, const simt::access& first, region where) {
  if (free_groups_.empty()) {
    groups_.push_back(std::make_unique<group>(*this));
    free_groups_.push_back(groups_.back().get());
  }
  group& g = *free_groups_.back();
  free_groups_.pop_back();
  g.warp = &w;
  g.kind = first.kind;
  g.sc = first.sc;
  g.where = where;
  g.next = group::phase::issue;
  return g;
}

void gpu::recycle(group& g) {
  g.warp = nullptr;
  g.lanes.clear();
  g.requests.clear();
  g.bytes.clear();
  g.sent = g.sent_bytes = g.open = 0;
  free_groups_.push_back(&g);
}

}  // namespace ggas::gpu
