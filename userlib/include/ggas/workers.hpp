// SPDX-License-Identifier: Apache-2.0
// For files with functions of workers (docs/work.md), compiled for the host engine, by nvcc, or both.
//
//   header:   GGAS_KERNEL(scale, float* x, float by, uint64_t n);
//             GGAS_WORKERS(my_work);
//   kernels:  static GGAS_DEVICE ggas_status scale_part(const ggas::work_block& b, float* x, float by, uint64_t n)
//   {...}
//             GGAS_DEFINE_WORK(scale, scale_part);        // the kernel `scale`, and a function of workers
//             GGAS_DEFINE_WORKERS(my_work, scale_work);   // their table, and the resident kernel
#pragma once

#include <array>

#include "ggas/launch.hpp"
#include "ggas/work_table.hpp"
#include "ggas/worker.cuh"

namespace ggas::detail {

template <class Kernel>
struct parameters_of_kernel;
template <class Function>
struct parameters_of_kernel<kernel<Function>> {
  using type = Function;
};
template <class Kernel>
using parameters_of = typename parameters_of_kernel<std::remove_const_t<Kernel>>::type;

// A function launched as a kernel: virtual blocks are the real ones, the status is not looked at.
template <class W, class... P>
static __global__ void work_alone(P... arguments) {
  const work_block b{blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z, {block_rank(), 1, nullptr}};
  static_cast<void>(W::run(b, arguments...));
}
template <class W, class Function = typename W::parameters>
struct alone;
template <class W, class... P>
struct alone<W, void(P...)> {
  static constexpr void (*kernel)(P...) = &work_alone<W, P...>;
};

template <class... W>
constexpr std::array<const void*, sizeof...(W)> functions_of() {
  return {W::kernel()...};
}

}  // namespace ggas::detail

// At the namespace scope of GGAS_KERNEL(name, ...). `function` has a ggas::work_block and these parameters, and returns
// a ggas_status; it must be static if the file is compiled both ways.
#define GGAS_DEFINE_WORK(name, function)                                                     \
  namespace {                                                                                \
  struct name##_work {                                                                       \
    using parameters = ::ggas::detail::parameters_of<decltype(name)>;                        \
    template <class... A>                                                                    \
    GGAS_DEVICE static ggas_status run(const ::ggas::work_block& b, const A&... arguments) { \
      return function(b, arguments...);                                                      \
    }                                                                                        \
    template <class = void> /* or nvcc warns where no table has it */                        \
    static constexpr const void* kernel() {                                                  \
      return &name;                                                                          \
    }                                                                                        \
  };                                                                                         \
  }                                                                                          \
  GGAS_DEFINE_KERNEL(name, ::ggas::detail::alone<name##_work>::kernel)

#ifdef __CUDACC__
#define GGAS_MADE_WORKERS(name) name##_workers_on_cuda
#else
#define GGAS_MADE_WORKERS(name) name##_workers_on_engine
#endif

// At the namespace scope of GGAS_WORKERS(name), after the functions, which it names as <name>_work.
#define GGAS_DEFINE_WORKERS(name, ...)                                                                                 \
  static __global__ void name##_resident(const ::ggas::worker_launch l) { ::ggas::run_workers<__VA_ARGS__>(l); }       \
  static __global__ void name##_merged(const uint64_t* orders, uint64_t words, uint32_t blocks) {                      \
    ::ggas::detail::run_merged<__VA_ARGS__>(orders, words, blocks);                                                    \
  }                                                                                                                    \
  static constexpr auto name##_functions = ::ggas::detail::functions_of<__VA_ARGS__>();                                \
  static ::ggas::result<> name##_launch(::ggas::cluster& c, const ::ggas::stream& s, const ::ggas::block_shape& block, \
                                        const ::ggas::worker_launch& l) {                                              \
    return ::ggas::launch_grid(c, s, l.shape.groups * l.blocks, block, name##_resident, l);                            \
  }                                                                                                                    \
  static ::ggas::result<> name##_launch_merged(::ggas::cluster& c, const ::ggas::stream& s,                            \
                                               const ::ggas::block_shape& block, const ::ggas::merged_launch& l) {     \
    return ::ggas::launch(c, s, l.count * l.blocks, block, name##_merged, l.orders, l.words, l.blocks);                \
  }                                                                                                                    \
  const ::ggas::made_workers GGAS_MADE_WORKERS(name) { name##_functions, name##_launch, name##_launch_merged }
