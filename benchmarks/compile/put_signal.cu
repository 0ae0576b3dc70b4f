// SPDX-License-Identifier: Apache-2.0
// One put with a signal by a block.
#include "ggas/ggas.cuh"

__global__ void GGAS_LAUNCH_BOUNDS(256)
    put_signal(char* remote, const char* local, size_t n, uint64_t* signal, ggas_status* result) {
  *result = ggas_put_signal_nbi_block(remote, local, n, signal, 1, ggas_signal_add, 1000000000);
}
