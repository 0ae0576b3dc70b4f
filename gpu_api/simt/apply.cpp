// SPDX-License-Identifier: Apache-2.0
// One access performed at once on host memory, and one described in words.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>

#include "gpu_api/simt/lane.hpp"

namespace ggas::simt {
namespace {

// ThreadSanitizer does not model fences: for it every access is ordered, so that data before a flag count as
// synchronised.
#ifdef GGAS_TSAN
constexpr auto load_order = std::memory_order_acquire;
constexpr auto store_order = std::memory_order_release;
constexpr auto rmw_order = std::memory_order_acq_rel;
#else
constexpr auto load_order = std::memory_order_relaxed;
constexpr auto store_order = std::memory_order_relaxed;
constexpr auto rmw_order = std::memory_order_relaxed;
#endif

// 16 bytes are two accesses of 8, as PTX has it for vectors.
template <class T>
void do_load(const access& a, std::byte* out, unsigned part = 0) {
  const T v = std::atomic_ref<T>(static_cast<T*>(a.addr)[part]).load(load_order);
  std::memcpy(out + part * sizeof(T), &v, sizeof(T));
}
template <class T>
void do_store(const access& a, unsigned part = 0) {
  T v;
  std::memcpy(&v, a.data.data() + part * sizeof(T), sizeof(T));
  std::atomic_ref<T>(static_cast<T*>(a.addr)[part]).store(v, store_order);
}

template <class T>
T modify(T old, T v, const access& a) {
  switch (a.fn) {
    case rmw::add:
      return old + v;
    case rmw::exch:
      return v;
    case rmw::cas:
      return old == static_cast<T>(a.a) ? v : old;
    case rmw::bit_and:
      return old & v;
    case rmw::bit_or:
      return old | v;
    case rmw::bit_xor:
      return old ^ v;
    case rmw::min:
      return std::min(old, v);
    case rmw::max:
      return std::max(old, v);
  }
  return old;
}

template <class T>
void do_atomic(access& a) {
  T v;
  std::memcpy(&v, a.data.data(), sizeof(T));
  std::atomic_ref<T> cell(*static_cast<T*>(a.addr));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, modify(old, v, a), rmw_order, std::memory_order_relaxed)) {
  }
  std::memcpy(a.data.data(), &old, sizeof(T));
}

}  // namespace

void apply(access& a) {
  switch (a.kind) {
    case op::load:
      switch (a.size) {
        case 1:
          return do_load<uint8_t>(a, a.data.data());
        case 2:
          return do_load<uint16_t>(a, a.data.data());
        case 4:
          return do_load<uint32_t>(a, a.data.data());
        case 8:
          return do_load<uint64_t>(a, a.data.data());
        case 16:
          do_load<uint64_t>(a, a.data.data(), 0);
          return do_load<uint64_t>(a, a.data.data(), 1);
      }
      return;
    case op::store:
      switch (a.size) {
        case 1:
          return do_store<uint8_t>(a);
        case 2:
          return do_store<uint16_t>(a);
        case 4:
          return do_store<uint32_t>(a);
        case 8:
          return do_store<uint64_t>(a);
        case 16:
          do_store<uint64_t>(a, 0);
          return do_store<uint64_t>(a, 1);
      }
      return;
    case op::atomic:
      return a.size == 4 ? do_atomic<uint32_t>(a) : do_atomic<uint64_t>(a);
    case op::fence:
      return std::atomic_thread_fence(std::memory_order_seq_cst);
    case op::compute:
    case op::sleep:
      return;
  }
}

// ---------------------------------------------------------------------------------------------- in words

namespace {

std::string hex(uint64_t v) {
  char s[20];
  std::snprintf(s, sizeof s, "0x%llx", static_cast<unsigned long long>(v));
  return s;
}

std::string lanes_text(uint32_t set) {
  std::string s;
  for (int i = 0; i < 32; ++i) {
    if (!(set >> i & 1)) continue;
    int last = i;
    while (last < 31 && (set >> (last + 1) & 1)) ++last;
    if (!s.empty()) s += ',';
    s += std::to_string(i);
    if (last > i) s += '-' + std::to_string(last);
    i = last;
  }
  return s;
}

std::string operation_text(const access& a) {
  const std::string at = std::to_string(a.size) + " B at " + hex(reinterpret_cast<uintptr_t>(a.addr));
  switch (a.kind) {
    case op::load:
      return (a.poll ? "poll " : "load ") + at;
    case op::store:
      return "store " + at;
    case op::atomic:
      return "atomic " + at;
    case op::fence:
      return "fence";
    case op::compute:
      return "compute";
    case op::sleep:
      return "sleep";
  }
  return "?";
}

std::string describe_warp(const warp::impl& w) {
  std::string s;
  auto add = [&](uint32_t set, const std::string& what) {
    if (set) s += (s.empty() ? "" : "; ") + std::string("lanes ") + lanes_text(set) + " " + what;
  };
  if (w.op) {
    const access& a = w.lanes[std::countr_zero(w.op)].acc;
    uint32_t same = 0;
    for (uint32_t m = w.op; m; m &= m - 1) {
      if (w.lanes[std::countr_zero(m)].acc.kind == a.kind) same |= m & -m;
    }
    add(same, operation_text(a));
    add(w.op & ~same, "in other operations");
  }
  if (w.wait_warp)
    add(w.wait_warp, "in __syncwarp, shuffle or vote of mask " + hex(w.lanes[std::countr_zero(w.wait_warp)].mask));
  add(w.wait_block, "in __syncthreads");
  if (w.ready) {
    const access& last = w.lanes[std::countr_zero(w.ready)].acc;
    add(w.ready, last.addr ? "running, last " + operation_text(last) : "running");
  }
  return s;
}

}  // namespace

std::string block::describe(size_t lines) const {
  std::string s;
  size_t more = 0;
  for (const auto& w : warps()) {
    if (w->finished()) continue;
    if (lines == 0) {
      ++more;
      continue;
    }
    --lines;
    s += "  block " + std::to_string(linear_index()) + " warp " + std::to_string(w->index()) + ": " +
         describe_warp(w->get()) + "\n";
  }
  if (more) s += "  block " + std::to_string(linear_index()) + ": and " + std::to_string(more) + " more warps\n";
  return s;
}

}  // namespace ggas::simt
