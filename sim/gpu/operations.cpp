// SPDX-License-Identifier: Apache-2.0
// Cost and effect of an instruction. An access to local memory takes effect a round trip to L2 before its answer is
// back at the SM: a store when it issues. Every effect in L2 is early by the same time, which does not change their
// order or any measurable interval. So whenever a lane's code runs, memory has its accesses in program order, and plain
// accesses of that code, which the model does not see, read and write the right values.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/gpu/gpu.hpp"

namespace ggas::gpu {

using pcie::now_ps;
using simt::op;

void group::run() { owner.run(*this); }

group::footprint group::touched() const {
  footprint f;
  for (const simt::access* a : lanes) f.lanes[f.count++] = {uint64_t(a->addr), a->size};
  return f;
}

void gpu::run(group& g) {
  bury();
  switch (g.next) {
    case group::phase::issue:
      return run_issued(g);
    case group::phase::perform:
      return perform(g);
    case group::phase::answered:
      if (g.kind == op::load) g.where == region::local ? add_late_writes(g) : deliver(g);
      return finish(g);
  }
}

// Decides where the time of an instruction goes; it has just become the warp's next one.
void gpu::begin(group& g) {
  warp_state& w = *g.warp;
  g.next = group::phase::issue;
  uint64_t at = 0;
  if (g.where == region::local && (g.kind == op::load || g.kind == op::atomic)) {
    const bool load = g.kind == op::load;
    const unsigned sectors = load ? count_sectors(g.touched(), cfg_.sector_bytes) : unsigned(g.lanes.size());
    g.answer_ps = reserve_l2(take_slot(w, sectors), sectors, load ? cfg_.l2_latency_ns : cfg_.atomic_latency_ns);
    at = g.answer_ps - l2_latency_ps() - 1;  // a store that issues just then comes to L2 after it
    g.next = group::phase::perform;
    ++(load ? totals_.local_loads : totals_.atomics);
  } else if (g.where == region::remote && g.kind == op::load) {
    g.requests = coalesce_loads(g.touched(), cfg_.coalesce_bytes);
    at = take_slot(w, unsigned(g.requests.size()));
  } else if (g.where == region::remote && g.kind == op::store) {
    pack_stores(g);
    at = take_slot(w, unsigned(g.requests.size()));
  } else if (g.kind == op::compute) {
    computing_.change(1, now_ps());
    at = compute_end(g, take_slot(w, 1));
    g.next = group::phase::answered;
  } else if (g.kind == op::sleep) {
    uint64_t ns = 0;
    for (const simt::access* a : g.lanes) ns = std::max(ns, a->a);
    at = take_slot(w, 1) + ns * 1000;
    g.next = group::phase::answered;
  } else {
    at = take_slot(w, 1);
    // A fence asks L2 itself, after the stores.
    if (g.kind == op::fence && g.sc != simt::scope::block) at += cfg_.l2_latency_ns * 1000ull;
  }
  agenda_.at(at, g);
}

void gpu::run_issued(group& g) {
  if (g.kind == op::fence) return run_fence(g);
  if (g.where == region::remote && g.kind == op::load) return send_loads(g);
  if (g.where == region::remote && g.kind == op::store) return send_stores(g);
  if (g.where != region::local || g.kind != op::store) return fail(g);

  // A local store: the lanes go on at once; fences and the end of the kernel wait until it is in L2.
  warp_state& w = *g.warp;
  ++totals_.local_stores;
  const uint64_t done = reserve_l2(now_ps(), count_sectors(g.touched(), cfg_.sector_bytes), cfg_.l2_latency_ns);
  w.stores_done_ps = std::max(w.stores_done_ps, done);
  for (simt::access* a : g.lanes) simt::apply(*a);
  finish(g);
}

// A load or an atomic of local memory takes effect; its answer is on the way.
void gpu::perform(group& g) {
  host.bring_in(g.answer_ps);
  for (simt::access* a : g.lanes) simt::apply(*a);
  g.effect_ps = now_ps();
  g.next = group::phase::answered;
  agenda_.at(g.answer_ps, g);
}

// After the load's effect writes may have come to the aperture that are in L2 before the answer would be back.
void gpu::add_late_writes(group& g) {
  if (!host.has_late_writes()) return;
  for (simt::access* a : g.lanes)
    host.add_writes_since(g.effect_ps, {static_cast<std::byte*>(a->addr), a->size}, a->data);
}

// The lanes have what they waited for.
void gpu::finish(group& g) {
  warp_state& w = *g.warp;
  if (g.kind == op::compute) computing_.change(-1, now_ps());
  for (simt::access* a : g.lanes) {
    w.issued &= ~(1u << a->lane);
    w.code->complete(*a);
  }
  recycle(g);
  step(w);
}

// A gpu-scope fence is a round trip to L2 after the warp's local stores, and it waits until the warp's remote stores
// have their place in the port's order. A system-scope fence then also reads host memory after them, unless the
// platform specifies its time.
void gpu::run_fence(group& g) {
  warp_state& w = *g.warp;
  if (g.sc == simt::scope::block) return ++totals_.fences, finish(g);
  if (now_ps() < w.stores_done_ps) return agenda_.at(w.stores_done_ps, g);
  if (w.remote_stores) return w.fences.push_back(&g);
  ++totals_.fences;
  if (g.sc == simt::scope::gpu) return finish(g);
  ++totals_.system_fences;
  if (cfg_.system_fence_ns) {
    g.next = group::phase::answered;
    return agenda_.at(now_ps() + cfg_.system_fence_ns * 1000ull, g);
  }
  host.flush([this, &g, epoch = epoch_](bool ok) {
    if (epoch != epoch_) return;
    if (!ok) record_fault("system fence not answered by host memory", 0);
    g.next = group::phase::answered;
    agenda_.at(now_ps() + cfg_.ingress_ns * 1000ull, g);
  });
}

void warp_state::store_handed() {
  if (--remote_stores) return;
  for (group* f : fences) owner->agenda_.at(now_ps(), *f);
  fences.clear();
  owner->maybe_end(*this);
}

// An access nothing answers: reads as all ones, like a read that fails on the bus.
void gpu::fail(group& g) {
  for (simt::access* a : g.lanes) {
    const char* what = g.kind == op::load ? "load" : g.kind == op::store ? "store" : "atomic";
    const char* why =
        g.where == region::remote ? "remote memory takes loads and stores only" : "this GPU has no such memory";
    record_fault(fmt::format("{} of {} bytes ({})", what, a->size, why), uint64_t(a->addr));
    a->data.fill(std::byte{0xff});
  }
  finish(g);
}

// Bandwidth is reserved now, latency counts from the instruction's slot: a long queue at one scheduler does not delay
// accesses of others.
uint64_t gpu::reserve_l2(uint64_t at_ps, unsigned sectors, unsigned latency_ns) {
  return std::max<uint64_t>(at_ps, host.l2.reserve(uint64_t{sectors} * cfg_.sector_bytes)) + latency_ns * 1000ull;
}

// Roofline of three limits: the warp's own rate; the rate of its multiprocessor, shared by all warps resident there;
// and memory bandwidth, shared by all warps.
uint64_t gpu::compute_end(const group& g, uint64_t at_ps) {
  double flops = 0, bytes = 0;
  for (const simt::access* a : g.lanes) {
    flops += double(a->a);
    bytes += double(a->b);
  }
  totals_.flops += uint64_t(flops);
  totals_.memory_bytes += uint64_t(bytes);
  sm& s = sms_[g.warp->block->sm];
  s.flops_free_ps = std::max(s.flops_free_ps, now_ps()) + cfg_.cycles(flops / cfg_.flops_per_cycle_sm);
  memory_free_ps_ = std::max(memory_free_ps_, now_ps()) + uint64_t(bytes * 1e12 / cfg_.memory_bytes_per_second);
  const uint64_t own = at_ps + cfg_.cycles(flops / cfg_.flops_per_cycle_warp);
  return std::max({own, flops > 0 ? s.flops_free_ps : 0, bytes > 0 ? memory_free_ps_ : 0});
}

}  // namespace ggas::gpu
