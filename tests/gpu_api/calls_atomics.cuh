// SPDX-License-Identifier: Apache-2.0
// Steps of calls.cuh that are atomics. For one translation unit.
#pragma once

#include <type_traits>

#include "tests/gpu_api/calls.cuh"

namespace ggas::calls {

template <class T>
GGAS_DEVICE T number_of(uint64_t v) {
  return std::is_floating_point_v<T> ? static_cast<T>(static_cast<int64_t>(v)) : static_cast<T>(v);
}

// What fetching ones return goes to `here`.
template <class T>
GGAS_DEVICE ggas_status atomic_as(const step& s, uint64_t timeout_ns) {
  T* const word = there<T>(s);
  const auto v = number_of<T>(s.value), compare = number_of<T>(s.compare);
  const auto what = static_cast<ggas_atomic>(s.operation);
  const ggas_queue q = queue_of(s);
  T old{};
  ggas_status r = ggas_no_queue;
  switch (s.what) {
    case call::fetch:
      r = ggas_atomic_fetch(what, word, v, compare, &old, timeout_ns, q);
      break;
    case call::fetch_warp:
      r = ggas_atomic_fetch_warp(what, word, v, compare, &old, timeout_ns, q);
      break;
    case call::fetch_add:
      r = ggas_fetch_add(word, v, &old, timeout_ns, q);
      break;
    case call::fetch_swap:
      r = ggas_fetch_swap(word, v, &old, timeout_ns, q);
      break;
    case call::compare_swap:
      r = ggas_compare_swap(word, compare, v, &old, timeout_ns, q);
      break;
    case call::post:
      return ggas_atomic_post(what, word, v, compare, timeout_ns, q);
    case call::add:
      return ggas_add(word, v, timeout_ns, q);
    default:
      return ggas_no_queue;
  }
  if (r == ggas_ok && detail::thread_rank() == s.actor) *here<T>(s) = old;
  return r;
}

__global__ void GGAS_LAUNCH_BOUNDS(96) atomics(args a) {
  go_through(a, [&](const step& s) {
    if (s.is_floating) return s.bytes == 4 ? atomic_as<float>(s, a.timeout_ns) : atomic_as<double>(s, a.timeout_ns);
    if (s.bytes == 4) return s.is_signed ? atomic_as<int32_t>(s, a.timeout_ns) : atomic_as<uint32_t>(s, a.timeout_ns);
    return s.is_signed ? atomic_as<int64_t>(s, a.timeout_ns) : atomic_as<uint64_t>(s, a.timeout_ns);
  });
}

}  // namespace ggas::calls
