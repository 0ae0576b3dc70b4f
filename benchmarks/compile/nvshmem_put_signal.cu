// SPDX-License-Identifier: Apache-2.0
// put_signal.cu with NVSHMEM.
#include <nvshmem.h>
#include <nvshmemx.h>

__global__ void __launch_bounds__(256, 1)
    put_signal(char* remote, const char* local, size_t n, uint64_t* signal, int peer) {
  nvshmemx_putmem_signal_nbi_block(remote, local, n, signal, 1, NVSHMEM_SIGNAL_ADD, peer);
}
