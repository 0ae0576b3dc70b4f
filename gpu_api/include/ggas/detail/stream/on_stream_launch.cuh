// SPDX-License-Identifier: Apache-2.0
// How on-stream calls get into a stream. On a GPU their kernels may be loaded while the one before still runs
// (programmatic dependent launch) and wait inside for its end: that hides most of a launch. Included by on_stream.cuh.
#pragma once

#include "ggas/launch.hpp"

namespace ggas {

#ifdef __CUDACC__

// A stream of the user's in place of the cluster's own. The stream belongs to the GPU of the node the calls are for.
template <class Cluster>
class stream_of {
 public:
  stream_of(Cluster& cluster, cudaStream_t stream) : cluster_(cluster), stream_(stream) {}
  int device(int node) const { return cluster_.device(node); }
  cudaStream_t stream(int) const { return stream_; }
  const context& device_context(int node) const { return cluster_.device_context(node); }

 private:
  Cluster& cluster_;
  cudaStream_t stream_;
};
template <class Cluster>
stream_of<Cluster> user_stream(Cluster& cluster, cudaStream_t stream) {
  return {cluster, stream};
}

namespace detail {

// `cluster` blocks of neighbouring numbers run at once, on neighbouring multiprocessors, and may wait for each other.
template <class Target, class... P>
cudaError_t launch_clusters(Target& target, int node, dim3 grid, dim3 block, unsigned cluster, void (*kernel)(P...),
                            std::type_identity_t<P>... args) {
  if (cudaError_t e = cudaSetDevice(target.device(node)); e != cudaSuccess) return e;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = target.stream(node);
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, args...);
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

template <class Target, class... P>
auto launch_dependent(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...),
                      std::type_identity_t<P>... args) {
  return detail::launch_clusters(target, node, grid, block, 1, kernel, args...);
}

#else

template <class Target, class... P>
auto launch_dependent(Target& target, int node, dim3 grid, dim3 block, void (*kernel)(P...),
                      std::type_identity_t<P>... args) {
  return launch(target, node, grid, block, kernel, args...);
}

#endif

}  // namespace ggas

GGAS_DEVICE void ggas_after_stream() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
