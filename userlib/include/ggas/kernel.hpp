// SPDX-License-Identifier: Apache-2.0
// Kernels as a host program sees them: names. The file with the kernel is compiled for the host engine (shm, sim), by
// nvcc (cuda), or by both, and the program is linked with what came of it; the host program is compiled once, by any
// compiler (docs/host.md). C++20.
//
//   header:   GGAS_KERNEL(mark, uint64_t place, int* found);        // what the host program starts
//   kernels:  static __global__ void mark_all(uint64_t place, int* found) { ... }
//             GGAS_DEFINE_KERNEL(mark, mark_all);                   // needs ggas/launch.hpp
//   program:  ggas::launch(*cluster, node, 1, 32, mark, place, found);
#pragma once

#include <string>
#include <type_traits>

#include "ggas/cluster.hpp"

namespace ggas {

// The compiled forms of a kernel, as functions that queue it. `whole`: all blocks must run at once.
template <class Function>
struct made_kernel;
template <class... P>
struct made_kernel<void(P...)> {
  result<> (*queue)(cluster& c, const stream& s, extent grid, const block_shape& block, bool whole, P... args);
};

template <class Function>
struct kernel {
  const char* name;
  // Null: the program is not linked with it.
  const made_kernel<Function>* engine;
  const made_kernel<Function>* cuda;
};

namespace detail {
template <class... P>
result<> queue_made(cluster& c, const stream& s, extent grid, const block_shape& block, bool whole,
                    const kernel<void(P...)>& k, std::type_identity_t<P>... args) {
  const std::string& provider = c.config().provider;
  const auto* const made = provider == "cuda" ? k.cuda : k.engine;
  if (made) return made->queue(c, s, grid, block, whole, args...);
  return error{errc::unsupported, std::string("kernel '") + k.name + "': this program has it not for provider '" +
                                      provider + "': compile its file with " +
                                      (provider == "cuda" ? "nvcc" : "the C++ compiler") + ", too"};
}
}  // namespace detail

// Queues a kernel on a stream, or, if the number of a node is passed, on the node's own stream. The arguments are
// copied. Errors of the launch are returned here, errors of the kernel by cluster::run.
template <class... P>
result<> launch(cluster& c, const stream& s, extent grid, const block_shape& block, const kernel<void(P...)>& k,
                std::type_identity_t<P>... args) {
  return detail::queue_made(c, s, grid, block, false, k, args...);
}
// For a kernel whose blocks wait for each other, because it calls forms of the grid: on a GPU all blocks must be
// resident at once, or they wait until their time-outs. A grid that does not fit is refused before it starts.
template <class... P>
result<> launch_grid(cluster& c, const stream& s, extent grid, const block_shape& block, const kernel<void(P...)>& k,
                     std::type_identity_t<P>... args) {
  return detail::queue_made(c, s, grid, block, true, k, args...);
}

}  // namespace ggas

// At namespace scope, in a header. Weak: null if the program is not linked with it.
#define GGAS_KERNEL(name, ...)                                                                \
  extern const ::ggas::made_kernel<void(__VA_ARGS__)> name##_on_engine __attribute__((weak)); \
  extern const ::ggas::made_kernel<void(__VA_ARGS__)> name##_on_cuda __attribute__((weak));   \
  inline const ::ggas::kernel<void(__VA_ARGS__)> name { #name, &name##_on_engine, &name##_on_cuda }
