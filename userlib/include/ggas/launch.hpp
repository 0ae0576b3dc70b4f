// SPDX-License-Identifier: Apache-2.0
// For files with kernels: ggas::launch(cluster, stream or node, grid, block, kernel, arguments ...) starts a kernel of
// the file, and GGAS_DEFINE_KERNEL registers it for host programs (ggas/kernel.hpp).
//
// * Kernels compiled by nvcc are for provider cuda, others for shm and sim; on a cluster of another provider a
//   launch is errc::unsupported.
// * All functions have internal linkage: a program may be linked with the same file compiled both ways.
// * With nvcc the GPU of the node is the thread's current one afterwards.
#pragma once

#include <type_traits>

#ifdef __CUDACC__
#include <array>
#include <atomic>
#endif

#include "ggas/ggas.cuh"
#include "ggas/kernel.hpp"

namespace ggas {

struct grid_size {
  unsigned blocks, threads;  // of a block
};

#ifdef __CUDACC__

// A stream that the program made on the node's GPU.
inline stream user_stream(int node, cudaStream_t s) { return {node, reinterpret_cast<uintptr_t>(s)}; }

namespace detail {

// The cluster whose constants the kernels of this translation unit see, by GPU; shared by all units that nvlink links.
#ifdef __CUDACC_RDC__
inline std::array<std::atomic<uint64_t>, 64> given_constants;
#else
static std::array<std::atomic<uint64_t>, 64> given_constants;
#endif

[[maybe_unused]] static error cuda_error(cudaError_t e, const char* what, const stream& s) {
  const bool ours = e == cudaErrorInvalidValue || e == cudaErrorInvalidConfiguration;
  return {ours ? errc::bad_argument : errc::device_fault, std::string(what) + " on node " + std::to_string(s.node) +
                                                              ": " + cudaGetErrorName(e) + ": " +
                                                              cudaGetErrorString(e)};
}

[[maybe_unused]] static result<> queued(cudaError_t e, const char* what, const stream& s) {
  return e == cudaSuccess ? result<>() : cuda_error(e, what, s);
}

[[maybe_unused]] static result<> give_constants(cluster& c, int node) {
  void* constants = nullptr;
  cudaError_t e = cudaSetDevice(c.device(node));
  if (e == cudaSuccess) e = cudaGetSymbolAddress(&constants, ggas_node_constants);
  if (e != cudaSuccess) return cuda_error(e, "constants", node);
  if (auto ok = c.write_constants(node, constants); !ok) return ok;
  const auto gpu = static_cast<size_t>(c.device(node));
  if (gpu < given_constants.size()) given_constants[gpu].store(c.constants_number(), std::memory_order_relaxed);
  return {};
}

}  // namespace detail

// Makes the cluster known to kernels of this file, on the GPUs of all local nodes; the GPU of the stream's node becomes
// the thread's current one. ggas::launch and calls on a stream do that automatically. Call it before <<<...>>>, and
// where the first launch must not take longer than the others. It does not wait for kernels: with several clusters on a
// GPU, kernels of this file must end before the program launches the first kernel of another cluster.
[[maybe_unused]] static result<> prepare(cluster& c, const stream& s) {
  const int gpu = c.device(s.node);
  if (c.config().provider != "cuda")
    return error{errc::unsupported, "kernels compiled by nvcc: not with provider '" + c.config().provider + "'"};
  if (gpu < 0)
    return error{errc::bad_argument, "launch on node " + std::to_string(s.node) + ": not a node of this process"};
  const auto at = static_cast<size_t>(gpu);
  const bool known = at < detail::given_constants.size() &&
                     detail::given_constants[at].load(std::memory_order_relaxed) == c.constants_number();
  if (!known)
    for (const int node : c.local_nodes())
      if (auto ok = detail::give_constants(c, node); !ok) return ok;
  return detail::queued(cudaSetDevice(gpu), "cudaSetDevice", s);
}

namespace detail {

// A kernel must be allowed to use more than 48 KB of dynamic shared memory.
template <class... P>
static cudaError_t allow_shared(void (*kernel)(P...), size_t bytes) {
  if (bytes <= 48 * 1024) return cudaSuccess;
  const cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (e != cudaSuccess) cudaGetLastError();  // it is reported here, and does not stay after
  return e;
}

// As many as registers, shared memory and threads of a multiprocessor allow.
template <class... P>
static result<block_room> room_of(cluster& c, const stream& s, const block_shape& block, void (*kernel)(P...)) {
  if (auto ok = prepare(c, s); !ok) return std::move(ok.error());
  int each = 0, multiprocessors = 0;
  const auto threads = static_cast<int>(block.x * block.y * block.z);
  cudaError_t e = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, c.device(s.node));
  if (const unsigned own = c.multiprocessors(s); own != 0) multiprocessors = static_cast<int>(own);
  if (e == cudaSuccess) e = allow_shared(kernel, block.shared_bytes);
  if (e == cudaSuccess) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, block.shared_bytes);
  if (e != cudaSuccess) return cuda_error(e, "blocks_at_once", s);
  return block_room{static_cast<unsigned>(each * multiprocessors),
                    std::to_string(multiprocessors) + " multiprocessors, " + std::to_string(each) + " blocks of " +
                        std::to_string(threads) + " threads of this kernel on each"};
}

template <class... P>
static result<grid_size> recommended_size(cluster& c, const stream& s, void (*kernel)(P...)) {
  if (auto ok = prepare(c, s); !ok) return std::move(ok.error());
  int blocks = 0, threads = 0;
  const cudaError_t e = cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel);
  if (e != cudaSuccess) return cuda_error(e, "recommended_grid", s);
  return grid_size{static_cast<unsigned>(blocks), static_cast<unsigned>(threads)};
}

}  // namespace detail

namespace detail {

// The work between a launch and CUDA: the context, and attributes of the launch.
template <class... P>
static result<> launch_with(cluster& c, const stream& s, extent grid, const block_shape& block,
                            cudaLaunchAttribute* attributes, unsigned count, void (*kernel)(P...),
                            std::type_identity_t<P>... args) {
  if (auto ok = prepare(c, s); !ok) return ok;
  if (auto ok = queued(allow_shared(kernel, block.shared_bytes), "shared memory of a launch", s); !ok) return ok;
  cudaLaunchConfig_t config{};
  config.gridDim = {grid.x, grid.y, grid.z};
  config.blockDim = {block.x, block.y, block.z};
  config.dynamicSmemBytes = block.shared_bytes;
  config.stream = c.cuda_stream(s);
  config.attrs = attributes;
  config.numAttrs = count;
  return queued(cudaLaunchKernelEx(&config, kernel, args...), "launch", s);
}

}  // namespace detail

// The result is CUDA's error of this launch, not of earlier calls.
template <class... P>
static result<> launch(cluster& c, const stream& s, extent grid, const block_shape& block, void (*kernel)(P...),
                       std::type_identity_t<P>... args) {
  return detail::launch_with(c, s, grid, block, nullptr, 0, kernel, args...);
}

#else

template <class... P>
static result<> launch(cluster& c, const stream& s, extent grid, const block_shape& block, void (*kernel)(P...),
                       std::type_identity_t<P>... args) {
  return c.launch(s, grid, block, [=] { kernel(args...); });
}

namespace detail {

template <class... P>
static result<block_room> room_of(cluster& c, const stream& s, const block_shape& block, void (*)(P...)) {
  return c.room_for(s, block);
}

// A thread is a fiber: use few of them.
template <class... P>
static result<grid_size> recommended_size(cluster& c, const stream& s, void (*)(P...)) {
  constexpr unsigned blocks = 2, threads = 64;
  const auto room = c.room_for(s, threads);
  if (!room) return room.error();
  return grid_size{room->blocks < blocks ? room->blocks : blocks, threads};
}

}  // namespace detail

#endif

// The number of blocks of a kernel that run at once on an idle GPU.
template <class... P>
static result<unsigned> blocks_at_once(cluster& c, const stream& s, const block_shape& block, void (*kernel)(P...)) {
  const auto room = detail::room_of(c, s, block, kernel);
  if (!room) return room.error();
  return room->blocks;
}

// A grid of a kernel that uses the whole GPU, and whose blocks run at once.
template <class... P>
static result<grid_size> recommended_grid(cluster& c, const stream& s, void (*kernel)(P...)) {
  return detail::recommended_size(c, s, kernel);
}

template <class... P>
static result<> launch_grid(cluster& c, const stream& s, extent grid, const block_shape& block, void (*kernel)(P...),
                            std::type_identity_t<P>... args) {
  const auto room = detail::room_of(c, s, block, kernel);
  if (!room) return room.error();
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  if (blocks <= room->blocks) return launch(c, s, grid, block, kernel, args...);
  return error{errc::bad_argument, "launch_grid on node " + std::to_string(s.node) + ": " + std::to_string(blocks) +
                                       " blocks that wait for each other; this GPU runs " +
                                       std::to_string(room->blocks) + " of them at once (" + room->limit + ")"};
}

// For GGAS_DEFINE_KERNEL. Internal linkage, as the kernel's.
namespace {
template <auto Kernel>
struct made_here;
template <class... P, void (*Kernel)(P...)>
struct made_here<Kernel> {
  static result<> queue(cluster& c, const stream& s, extent grid, const block_shape& block, bool whole, P... args) {
    return whole ? launch_grid(c, s, grid, block, Kernel, args...) : launch(c, s, grid, block, Kernel, args...);
  }
};
}  // namespace

}  // namespace ggas

// At the namespace scope of GGAS_KERNEL(name, ...). `function` is a __global__ function with these parameters; it must
// be static if the file is compiled both ways.
#ifdef __CUDACC__
#define GGAS_DEFINE_KERNEL(name, function) \
  const decltype(name##_on_cuda) name##_on_cuda { ::ggas::made_here<function>::queue }
#else
#define GGAS_DEFINE_KERNEL(name, function) \
  const decltype(name##_on_engine) name##_on_engine { ::ggas::made_here<function>::queue }
#endif
