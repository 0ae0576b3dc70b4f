// SPDX-License-Identifier: Apache-2.0
#include "tests/userlib/libggas/gpu/kernels.hpp"

#include "ggas/ggas.cuh"

#ifndef __CUDACC__
#include <cstdlib>

#include "gpu_api/simt/native.hpp"
#endif

namespace ggas::library_test {

namespace {

constexpr uint64_t timeout = 20'000'000'000;  // ns

// Where kernels of the test leave their status: after the words.
GGAS_DEVICE void leave(uint64_t word, ggas_status s) {
  ggas_store(ggas_pointer_of_node<uint64_t>(ggas_node(), word + 8), static_cast<uint64_t>(s) + 1);
}

__global__ void answer(talk t) {
  if (threadIdx.x != 0) return;
  ggas_status s = ggas_ok;
  for (uint32_t round = 1; round <= t.rounds && s == ggas_ok; ++round) {
    const uint64_t end = detail::clock_ns() + timeout;
    while (s == ggas_ok && detail::load_poll(t.slot_here) != round)
      if (detail::clock_ns() > end) s = ggas_timed_out;
    detail::fence_acq_rel_system();
    const uint64_t got = ggas_load(ggas_pointer_of_node<uint64_t>(ggas_node(), t.here));
    ggas_store(ggas_pointer_of_node<uint64_t>(t.peer, t.there), 2 * got + 1);
    detail::store_release(t.slot_there, round);
  }
  leave(t.here, s);
}

__global__ void meet(meeting m) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes();
  if (threadIdx.x == 0) ggas_store(ggas_pointer_of_node<uint64_t>(right, m.word), static_cast<uint64_t>(me) + 100);
  ggas_status s = ggas_barrier_block(timeout);
  if (s == ggas_ok)
    s = ggas_allreduce_block(ggas_pointer_of_node<uint64_t>(me, m.sum), ggas_pointer_of_node<uint64_t>(me, m.word), 1,
                             ggas_sum, ggas_auto, timeout);
  if (threadIdx.x == 0) leave(m.sum, s);
}

__global__ void double_words(doubling d) {
  for (uint64_t i = threadIdx.x; i < d.n; i += blockDim.x) {
    uint64_t* const word = ggas_pointer_of_node<uint64_t>(ggas_node(), d.first + 8 * i);
    ggas_store(word, 2 * ggas_load(word) + 1);
  }
}

}  // namespace

#ifdef __CUDACC__

const char* module_name() { return "cuda"; }

static std::string reported(cudaError_t e) { return e == cudaSuccess ? "" : cudaGetErrorString(e); }

// On the GPU of this process, which ggas_gpu_open() has chosen by rank.
static std::string choose(const context& c) {
  int gpus = 0;
  cudaError_t e = cudaGetDeviceCount(&gpus);
  if (e == cudaSuccess) e = cudaSetDevice(c.node % gpus);
  return reported(e);
}

template <class Kernel, class Argument>
static std::string run(const context& c, Kernel kernel, const Argument& argument) {
  if (const std::string why = choose(c); !why.empty()) return why;
  cudaError_t e = set_device_context(c, nullptr);
  if (e == cudaSuccess) {
    kernel<<<1, 32>>>(argument);
    e = cudaGetLastError();
  }
  if (e == cudaSuccess) e = cudaDeviceSynchronize();
  return reported(e);
}

void* own_memory(const context& c, uint64_t bytes) {
  void* memory = nullptr;
  return choose(c).empty() && cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}
void free_own_memory(void* memory) { cudaFree(memory); }

#else

const char* module_name() { return "simt"; }

template <class Kernel, class Argument>
static std::string run(const context& c, Kernel kernel, const Argument& argument) {
  simt::native_scheduler engine({}, 1);
  engine.enqueue(0, {1, 32, [=] { kernel(argument); }, "kernel"}, &c);
  const auto ran = engine.run(2 * timeout);
  return ran ? "" : ran.error().text;
}

void* own_memory(const context&, uint64_t bytes) { return std::malloc(bytes); }
void free_own_memory(void* memory) { std::free(memory); }

#endif

std::string run_answer(const context& c, const talk& t) { return run(c, answer, t); }
std::string run_meeting(const context& c, const meeting& m) { return run(c, meet, m); }
std::string run_doubling(const context& c, const doubling& d) { return run(c, double_words, d); }

}  // namespace ggas::library_test
