// SPDX-License-Identifier: Apache-2.0
// Launches of on-stream calls. On a GPU their kernels may be loaded while the one before still runs (programmatic
// dependent launch) and wait inside for its end: that hides most of a launch. Included by on_stream.cuh.
#pragma once

#include "ggas/launch.hpp"

namespace ggas {

#ifdef __CUDACC__

namespace detail {

// `together` blocks of neighbouring numbers run at once, on neighbouring multiprocessors, and may wait for each other.
template <class... P>
static result<> launch_clusters(cluster& c, const stream& s, extent grid, const block_shape& block, unsigned together,
                                void (*kernel)(P...), std::type_identity_t<P>... args) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {together, 1, 1};
  return launch_with(c, s, grid, block, attributes, together > 1 ? 2 : 1, kernel, args...);
}

// Blocks of a cluster on this GPU that share a copy, at most `wanted`.
inline unsigned cluster_of(int device, unsigned wanted) {
  int clusters = 0;
  const cudaError_t e = cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device);
  return e == cudaSuccess && clusters ? wanted : 1;
}

// All threads of a cluster; as a block barrier, with what was stored before.
__device__ __forceinline__ void cluster_barrier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

}  // namespace detail

template <class... P>
static result<> launch_dependent(cluster& c, const stream& s, extent grid, const block_shape& block,
                                 void (*kernel)(P...), std::type_identity_t<P>... args) {
  return detail::launch_clusters(c, s, grid, block, 1, kernel, args...);
}

#else

template <class... P>
static result<> launch_dependent(cluster& c, const stream& s, extent grid, const block_shape& block,
                                 void (*kernel)(P...), std::type_identity_t<P>... args) {
  return launch(c, s, grid, block, kernel, args...);
}

#endif

}  // namespace ggas

GGAS_DEVICE void ggas_after_stream() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
