// SPDX-License-Identifier: Apache-2.0
// ggas::launch(target, node, grid, block, kernel, arguments ...): one way to start a kernel, whatever runs it. On the
// host engine and in the simulator `target` is a ggas::cluster. With nvcc it is anything with `int device(int node)`
// and `cudaStream_t stream(int node)`; the result is what CUDA says of this launch, not of calls before it, and the GPU
// of the node is the thread's current one afterwards.
#pragma once

#include <type_traits>

#include "ggas/ggas.cuh"

namespace ggas {

#ifdef __CUDACC__

template <class Target, class... P>
cudaError_t launch(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...),
                   std::type_identity_t<P>... args) {
  if (cudaError_t e = cudaSetDevice(target.device(node)); e != cudaSuccess) return e;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = target.stream(node);
  return cudaLaunchKernelEx(&config, kernel, args...);
}

#else

template <class Target, class... P>
auto launch(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...), std::type_identity_t<P>... args) {
  return target.launch(node, grid, block, [=] { kernel(args...); });
}

#endif

}  // namespace ggas
