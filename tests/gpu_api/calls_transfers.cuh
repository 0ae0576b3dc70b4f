// SPDX-License-Identifier: Apache-2.0
// Steps of calls.cuh that move bytes: puts, gets, puts with a signal. For one translation unit.
#pragma once

#include "tests/gpu_api/calls.cuh"

namespace ggas::calls {

GGAS_DEVICE ggas_status put_of(const step& s, uint64_t timeout_ns) {
  char* const far = there<char>(s);
  const char* const own = here<char>(s);
  const ggas_queue q = queue_of(s);
  switch (s.what) {
    case call::put:
      return ggas_put(far, own, s.n, timeout_ns, q);
    case call::put_warp:
      return ggas_put_warp(far, own, s.n, timeout_ns, q);
    case call::put_block:
      return ggas_put_block(far, own, s.n, timeout_ns, q);
    case call::put_nbi:
      return ggas_put_nbi(far, own, s.n, timeout_ns, q);
    case call::put_nbi_warp:
      return ggas_put_nbi_warp(far, own, s.n, timeout_ns, q);
    case call::put_nbi_block:
      return ggas_put_nbi_block(far, own, s.n, timeout_ns, q);
    default:
      return ggas_no_queue;
  }
}

GGAS_DEVICE ggas_status get_of(const step& s, uint64_t timeout_ns) {
  char* const own = here<char>(s);
  const char* const far = there<char>(s);
  const ggas_queue q = queue_of(s);
  switch (s.what) {
    case call::get:
      return ggas_get(own, far, s.n, timeout_ns, q);
    case call::get_warp:
      return ggas_get_warp(own, far, s.n, timeout_ns, q);
    case call::get_block:
      return ggas_get_block(own, far, s.n, timeout_ns, q);
    case call::get_nbi:
      return ggas_get_nbi(own, far, s.n, timeout_ns, q);
    case call::get_nbi_warp:
      return ggas_get_nbi_warp(own, far, s.n, timeout_ns, q);
    case call::get_nbi_block:
      return ggas_get_nbi_block(own, far, s.n, timeout_ns, q);
    default:
      return put_of(s, timeout_ns);
  }
}

GGAS_DEVICE ggas_status signal_of(const step& s, uint64_t timeout_ns) {
  char* const far = there<char>(s);
  const char* const own = here<char>(s);
  auto* const word = reinterpret_cast<uint64_t*>(ggas_pointer_of_node<char>(s.signal_node, s.signal));
  const auto op = static_cast<ggas_signal_op>(s.operation);
  const ggas_queue q = queue_of(s);
  switch (s.what) {
    case call::put_signal:
      return ggas_put_signal(far, own, s.n, word, s.value, op, timeout_ns, q);
    case call::put_signal_warp:
      return ggas_put_signal_warp(far, own, s.n, word, s.value, op, timeout_ns, q);
    case call::put_signal_block:
      return ggas_put_signal_block(far, own, s.n, word, s.value, op, timeout_ns, q);
    case call::put_signal_nbi:
      return ggas_put_signal_nbi(far, own, s.n, word, s.value, op, timeout_ns, q);
    case call::put_signal_nbi_warp:
      return ggas_put_signal_nbi_warp(far, own, s.n, word, s.value, op, timeout_ns, q);
    case call::put_signal_nbi_block:
      return ggas_put_signal_nbi_block(far, own, s.n, word, s.value, op, timeout_ns, q);
    default:
      return get_of(s, timeout_ns);
  }
}

__global__ void GGAS_LAUNCH_BOUNDS(96) transfers(args a) {
  go_through(a, [&](const step& s) { return signal_of(s, a.timeout_ns); });
}

}  // namespace ggas::calls
