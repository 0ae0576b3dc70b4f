// SPDX-License-Identifier: Apache-2.0
// Loads and stores of the NIC's window: transactions of the coalescer become TLPs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/gpu/gpu.hpp"

namespace ggas::gpu {

using pcie::now_ps;

namespace {

// Calls f(where in the transactions' bytes, where in the lane's data, how many) for each part of a lane's access.
template <class F>
void for_each_part(const transactions& all, const simt::access& a, F&& f) {
  const uint64_t begin = uint64_t(a.addr), end = begin + a.size;
  size_t offset = 0;
  for (const transaction& t : all) {
    const uint64_t from = std::max(begin, t.addr), to = std::min(end, t.addr + t.bytes);
    if (from < to) f(offset + (from - t.addr), from - begin, to - from);
    offset += t.bytes;
  }
}

size_t total_bytes(const transactions& all) {
  size_t n = 0;
  for (const transaction& t : all) n += t.bytes;
  return n;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ loads

void gpu::send_loads(group& g) {
  g.bytes.assign(total_bytes(g.requests), std::byte{0xff});
  g.open = unsigned(g.requests.size());
  totals_.remote_loads += g.requests.size();
  unsigned offset = 0;
  for (unsigned i = 0; i < g.requests.size(); ++i) {
    const transaction& t = g.requests[i];
    host.read(addresses.find(t.addr, t.bytes).bus, t.bytes,
              [this, &g, i, offset, epoch = epoch_](pcie::read_result&& r) {
                if (epoch == epoch_) load_answered(g, i, offset, r);
              });
    offset += t.bytes;
  }
}

// A read that failed leaves all ones after: a kernel never hangs on it, and sees what a processor sees.
void gpu::load_answered(group& g, unsigned request, unsigned offset, const pcie::read_result& r) {
  const transaction& t = g.requests[request];
  if (r.ok()) {
    std::memcpy(g.bytes.data() + offset, reinterpret_cast<const std::byte*>(r.dws.data()) + (t.addr & 3), t.bytes);
  } else {
    const char* why = r.timed_out                        ? "completion time-out"
                      : r.poisoned                       ? "poisoned completion"
                      : r.status == pcie::cpl_status::ur ? "completion status UR"
                                                         : "completion status CA";
    record_fault(fmt::format("remote load of {} bytes ({})", t.bytes, why), t.addr);
  }
  if (--g.open) return;
  g.next = group::phase::answered;
  agenda_.at(now_ps() + cfg_.ingress_ns * 1000ull, g);
}

void gpu::deliver(group& g) {
  for (simt::access* a : g.lanes)
    for_each_part(g.requests, *a, [&](size_t at, size_t in_lane, size_t n) {
      std::memcpy(a->data.data() + in_lane, g.bytes.data() + at, n);
    });
}

// ------------------------------------------------------------------------------------------------ stores

// The instruction's bytes; where lanes overlap the last one wins.
void gpu::pack_stores(group& g) {
  g.requests = coalesce_stores(g.touched(), cfg_.coalesce_bytes);
  g.bytes.resize(total_bytes(g.requests));
  for (const simt::access* a : g.lanes)
    for_each_part(g.requests, *a, [&](size_t at, size_t in_lane, size_t n) {
      std::memcpy(g.bytes.data() + at, a->data.data() + in_lane, n);
    });
}

// Stores are posted: the lanes go on once the queue has taken them all.
void gpu::send_stores(group& g) {
  if (!stalled_.empty() || !push_stores(g)) {
    ++totals_.store_stalls;
    stalled_.push_back(&g);
    return;
  }
  finish(g);
}

bool gpu::push_stores(group& g) {
  while (g.sent < g.requests.size() && host.room()) {
    const transaction& t = g.requests[g.sent++];
    ++g.warp->remote_stores;
    ++totals_.remote_stores;
    host.store(addresses.find(t.addr, t.bytes).bus, std::span(g.bytes).subspan(g.sent_bytes, t.bytes), g.warp);
    g.sent_bytes += t.bytes;
  }
  return g.sent == g.requests.size();
}

void gpu::resume_stalled() {
  while (!stalled_.empty() && host.room()) {
    group& g = *stalled_.front();
    if (!push_stores(g)) return;
    stalled_.pop_front();
    finish(g);
  }
}

}  // namespace ggas::gpu
