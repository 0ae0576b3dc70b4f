// SPDX-License-Identifier: Apache-2.0
// Steps of calls.cuh whose elements have a type: loads, stores, values, strided copies. For one translation unit.
#pragma once

#include "tests/gpu_api/calls.cuh"

namespace ggas::calls {

struct alignas(16) sixteen {
  uint64_t lo, hi;
};

template <class T>
GGAS_DEVICE ggas_status access_as(const step& s) {
  T *const own = here<T>(s), *const far = there<T>(s);
  switch (s.what) {
    case call::store:
      return ggas_store(far, *own), ggas_ok;
    case call::store_warp:
      return ggas_store_warp(far, own, s.n), ggas_ok;
    case call::store_block:
      return ggas_store_block(far, own, s.n), ggas_ok;
    case call::load:
      return *own = ggas_load(far), ggas_ok;
    case call::load_warp:
      return ggas_load_warp(own, far, s.n), ggas_ok;
    case call::load_block:
      return ggas_load_block(own, far, s.n), ggas_ok;
    default:
      return ggas_no_queue;
  }
}

template <class T>
GGAS_DEVICE ggas_status strided_as(const step& s, uint64_t timeout_ns) {
  T *const own = here<T>(s), *const far = there<T>(s);
  const ggas_queue q = queue_of(s);
  switch (s.what) {
    case call::iput:
      return ggas_iput(far, own, s.there_stride, s.here_stride, s.n, timeout_ns, q);
    case call::iput_warp:
      return ggas_iput_warp(far, own, s.there_stride, s.here_stride, s.n, timeout_ns, q);
    case call::iput_block:
      return ggas_iput_block(far, own, s.there_stride, s.here_stride, s.n, timeout_ns, q);
    case call::iput_nbi:
      return ggas_iput_nbi(far, own, s.there_stride, s.here_stride, s.n, timeout_ns, q);
    case call::iput_nbi_warp:
      return ggas_iput_nbi_warp(far, own, s.there_stride, s.here_stride, s.n, timeout_ns, q);
    case call::iput_nbi_block:
      return ggas_iput_nbi_block(far, own, s.there_stride, s.here_stride, s.n, timeout_ns, q);
    case call::iget:
      return ggas_iget(own, far, s.here_stride, s.there_stride, s.n, timeout_ns, q);
    case call::iget_warp:
      return ggas_iget_warp(own, far, s.here_stride, s.there_stride, s.n, timeout_ns, q);
    case call::iget_block:
      return ggas_iget_block(own, far, s.here_stride, s.there_stride, s.n, timeout_ns, q);
    case call::iget_nbi:
      return ggas_iget_nbi(own, far, s.here_stride, s.there_stride, s.n, timeout_ns, q);
    case call::iget_nbi_warp:
      return ggas_iget_nbi_warp(own, far, s.here_stride, s.there_stride, s.n, timeout_ns, q);
    case call::iget_nbi_block:
      return ggas_iget_nbi_block(own, far, s.here_stride, s.there_stride, s.n, timeout_ns, q);
    default:
      return access_as<T>(s);
  }
}

template <class T>
GGAS_DEVICE ggas_status element_as(const step& s, uint64_t timeout_ns) {
  T* const far = there<T>(s);
  const auto value = static_cast<T>(s.value);
  const ggas_queue q = queue_of(s);
  switch (s.what) {
    case call::put_value:
      return ggas_put_value(far, value, timeout_ns, q);
    case call::put_value_nbi:
      return ggas_put_value_nbi(far, value, timeout_ns, q);
    case call::put_value_nbi_warp:
      return ggas_put_value_nbi_warp(far, value, timeout_ns, q);
    case call::put_value_nbi_block:
      return ggas_put_value_nbi_block(far, value, timeout_ns, q);
    case call::put_value_warp:
      return ggas_put_value_warp(far, value, timeout_ns, q);
    case call::put_value_block:
      return ggas_put_value_block(far, value, timeout_ns, q);
    default:
      return strided_as<T>(s, timeout_ns);
  }
}

__global__ void GGAS_LAUNCH_BOUNDS(96) elements(args a) {
  go_through(a, [&](const step& s) {
    switch (s.bytes) {
      case 1:
        return element_as<uint8_t>(s, a.timeout_ns);
      case 2:
        return element_as<uint16_t>(s, a.timeout_ns);
      case 4:
        return element_as<uint32_t>(s, a.timeout_ns);
      case 8:
        return element_as<uint64_t>(s, a.timeout_ns);
      default:
        return access_as<sixteen>(s);
    }
  });
}

}  // namespace ggas::calls
