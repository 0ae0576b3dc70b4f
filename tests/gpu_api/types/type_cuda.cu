// SPDX-License-Identifier: Apache-2.0
// Every call with datatypes, so that nvcc checks all of it. Compiled, never run.
#include "ggas/type.cuh"

__global__ void typed(int* result, ggas_type here, ggas_type there, uint64_t n) {
  constexpr uint64_t t = 1000;
  char* const own = ggas_pointer_of_node(ggas_node(), ggas_reserved_bytes());
  char* const far = ggas_pointer_of_node(1, ggas_reserved_bytes());
  auto* const word = reinterpret_cast<uint64_t*>(far);
  const ggas_queue q = ggas_queue_of(0);
  int s = ggas_pack(own, own + n, n, here) + ggas_pack_warp(own, own + n, n, here, 0, n) +
          ggas_pack_block(own, own + n, n, here) + ggas_pack_grid(own, own + n, n, here, n, n);
  s += ggas_unpack(own, n, here, own + n) + ggas_unpack_warp(own, n, here, own + n, 0, n) +
       ggas_unpack_block(own, n, here, own + n) + ggas_unpack_grid(own, n, here, own + n, n, n);
  s += ggas_put_typed(far, n, there, own, n, here, t) + ggas_put_typed_warp(far, n, there, own, n, here, t, q) +
       ggas_put_typed_block(far, n, there, own, n, here, t) + ggas_put_typed_grid(far, n, there, own, n, here, t, q);
  s += ggas_get_typed(own, n, here, far, n, there, t) + ggas_get_typed_warp(own, n, here, far, n, there, t, q) +
       ggas_get_typed_block(own, n, here, far, n, there, t) + ggas_get_typed_grid(own, n, here, far, n, there, t, q);
  s += ggas_put_signal_typed(far, n, there, own, n, here, word, 1, ggas_signal_set, t) +
       ggas_put_signal_typed_warp(far, n, there, own, n, here, word, 1, ggas_signal_set, t, q) +
       ggas_put_signal_typed_block(far, n, there, own, n, here, word, 1, ggas_signal_add, t) +
       ggas_put_signal_typed_grid(far, n, there, own, n, here, word, 1, ggas_signal_add,
                                  reinterpret_cast<uint64_t*>(own), t, q);
  *result = s;
}
