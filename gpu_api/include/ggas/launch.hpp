// SPDX-License-Identifier: Apache-2.0
// ggas::launch(target, node, grid, block, kernel, arguments ...): one way to start a kernel, whatever runs it. On the
// host engine and in the simulator `target` is a ggas::cluster. With nvcc it is anything with `int device(int node)`
// and `cudaStream_t stream(int node)`; the result is what CUDA says of this launch, not of calls before it, and the GPU
// of the node is the thread's current one afterwards.
#pragma once

#include <type_traits>

#include "ggas/ggas.cuh"

namespace ggas {

// launch_grid: the same for a kernel whose blocks wait for each other, because it calls forms of the grid. On a GPU all
// blocks must be there at once, or they wait until their time-outs; a grid that does not fit is refused with
// cudaErrorCooperativeLaunchTooLarge before it starts, and blocks_at_once() says how many do.

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

// How many blocks of a kernel run at once on a GPU that runs nothing else: `blocks`, as registers, shared memory and
// threads of a multiprocessor allow.
template <class... P>
cudaError_t blocks_at_once(int device, dim3 block, void (*kernel)(P...), unsigned& blocks) {
  int each = 0, multiprocessors = 0;
  cudaError_t e = cudaSetDevice(device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const auto threads = static_cast<int>(block.x * block.y * block.z);
  if (e == cudaSuccess) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);
  blocks = e == cudaSuccess ? static_cast<unsigned>(each * multiprocessors) : 0;
  return e;
}

template <class Target, class... P>
cudaError_t launch_grid(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...),
                        std::type_identity_t<P>... args) {
  unsigned fit = 0;
  if (cudaError_t e = blocks_at_once(target.device(node), block, kernel, fit); e != cudaSuccess) return e;
  if (uint64_t{grid.x} * grid.y * grid.z > fit) return cudaErrorCooperativeLaunchTooLarge;
  return launch(target, node, grid, block, kernel, args...);
}

#else

template <class Target, class... P>
auto launch(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...), std::type_identity_t<P>... args) {
  return target.launch(node, grid, block, [=] { kernel(args...); });
}

template <class Target, class... P>
auto launch_grid(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...),
                 std::type_identity_t<P>... args) {
  return launch(target, node, grid, block, kernel, args...);
}

#endif

}  // namespace ggas
