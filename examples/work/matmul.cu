// SPDX-License-Identifier: Apache-2.0
// The side of the GPU: the kernel, which kernel an id means, and the work request. M and N are copied in, P out.
#include "matmul.hpp"

#include <cstdlib>
#include <cstring>

#include "ggas/launch.hpp"
#include "ggas/wr.h"

static GGAS_DEVICE float* elements_of(matrix* m) { return reinterpret_cast<float*>(m + 1); }

// M follows N in the read-only buffer. The kernel writes the header of P, too.
static __global__ void multiply(matrix* n, matrix* m, matrix* p) {
  GGAS_SHARED_ARRAY(float, of_m, block_size* block_size);
  GGAS_SHARED_ARRAY(float, of_n, block_size* block_size);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * block_size + x, row = static_cast<int>(blockIdx.y) * block_size + y;
  float sum = 0;
  for (int tile = 0; tile < m->width; tile += block_size) {
    of_m[y * block_size + x] = elements_of(m)[row * m->width + tile + x];
    of_n[y * block_size + x] = elements_of(n)[(tile + y) * n->width + column];
    __syncthreads();
    for (int k = 0; k < block_size; ++k) sum += of_m[y * block_size + k] * of_n[k * block_size + x];
    __syncthreads();
  }
  elements_of(p)[row * n->width + column] = sum;
  if (row == 0 && column == 0) {
    p->width = n->width;
    p->height = m->height;
  }
}

void kernelSelect(workRequest* wr) {
  switch (wr->id) {
    case matmul_id: {
      auto* const n = static_cast<matrix*>(wr->readWriteDevicePtr);
      auto* const m = static_cast<matrix*>(wr->readOnlyDevicePtr);
      auto* const p = static_cast<matrix*>(wr->writeOnlyDevicePtr);
      wrLaunched(ggas::launch(wrCluster(), wrStream(), wr->dimGrid,
                              ggas::with_shared(wr->dimBlock, static_cast<size_t>(wr->smemSize)), multiply, n, m, p));
      break;
    }
    default:
      wrUnknownId(wr);
  }
}

// The request lives until the callback has been called: here until the program ends.
void kernelSetup(matrix* m, matrix* n, matrix* p, void* callback, int id) {
  static workRequest matmul;
  std::memset(static_cast<void*>(&matmul), 0, sizeof matmul);
  matmul.dimGrid = {static_cast<unsigned>(n->width / block_size), static_cast<unsigned>(m->height / block_size), 1};
  matmul.dimBlock = {block_size, block_size, 1};
  matmul.readWriteHostPtr = n;
  matmul.readWriteLen = bytes_of(n->width, n->height);
  matmul.readOnlyHostPtr = m;
  matmul.readOnlyLen = bytes_of(m->width, m->height);
  matmul.writeOnlyHostPtr = p;
  matmul.writeOnlyLen = bytes_of(n->width, m->height);
  matmul.callbackFn = callback;
  matmul.id = id;
  enqueue(wrQueue, &matmul);
}
