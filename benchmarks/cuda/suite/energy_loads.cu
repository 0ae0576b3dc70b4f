// SPDX-License-Identifier: Apache-2.0
// Loads of the energy benchmark that communicate and do nothing else: collectives and puts, called in running kernels;
// and those that wait.
#include "benchmarks/kernels/energy.cuh"

#include "benchmarks/cuda/energy.hpp"
#include "benchmarks/cuda/rigs/rig.cuh"

namespace ggas::bench {

namespace {

struct shape {
  unsigned blocks, threads;
  uint64_t calls;  // of a job, which takes some tens of ms
};

// `work`: of a call, of all nodes together.
template <repeated What>
fault repeat_calls(gpu_session& s, work_meter& m, uint64_t elements, const shape& k, double work) {
  const unsigned total = k.blocks * k.threads;
  energy_args a{};
  a.elements = elements;
  a.parts = What == repeated::alltoall ? static_cast<uint64_t>(s.nodes()) : 1;
  GGAS_GPU_TRY(start(s, (2 * elements * a.parts + 4096) * sizeof(float) + total * sizeof(outcome)));
  layout_plan room(s.data_offset());
  a.from = room.place<float>(elements * a.parts);
  a.to = room.place<float>(elements * a.parts);
  a.outcomes = room.place<outcome>(total);
  a.calls = k.calls;
  a.timeout_ns = s.wait_ns();
  launch_all(s, 32, 256, energy_fill, a);
  GGAS_GPU_TRY(s.run("fill"));
  while (m.more()) {
    clear_outcomes(s, a.outcomes, total);
    launch_all(s, k.blocks, k.threads, energy_loop<What>, a);
    GGAS_GPU_TRY(s.run("energy"));
    GGAS_GPU_TRY(check_all_outcomes(s, a.outcomes, total, "energy"));
    m.add(static_cast<double>(k.calls) * work);
  }
  clear_outcomes(s, a.outcomes, total);
  launch_all(s, k.blocks, k.threads, energy_check<What>, a);
  GGAS_GPU_TRY(s.run("check"));
  return check_all_outcomes(s, a.outcomes, total, "energy");
}

// The first thread of each block waits for a word that never comes, the others for it, until the time is up.
template <bool BackOff>
__global__ void energy_wait(energy_args a) {
  constexpr unsigned most_pause_ns = 1024;
  const uint64_t end = time_ns() + a.timeout_ns;
  if (threadIdx.x == 0) {
    const volatile uint64_t* const word = own<uint64_t>(a.to);
    for (unsigned pause_ns = 32; *word == 0 && time_ns() < end;) {
      if constexpr (!BackOff) continue;
      __nanosleep(pause_ns);
      pause_ns = pause_ns < most_pause_ns ? 2 * pause_ns : most_pause_ns;
    }
  }
  __syncthreads();
  own<outcome>(a.outcomes)[global_thread()] = {0, 0, 0, ggas_ok};
}

constexpr uint64_t wait_ns = 100'000'000;

template <bool BackOff>
fault repeat_waits(gpu_session& s, work_meter& m, unsigned blocks) {
  constexpr unsigned threads = 256;
  const unsigned total = blocks * threads;
  GGAS_GPU_TRY(start(s, 4096 + total * sizeof(outcome)));
  layout_plan room(s.data_offset());
  energy_args a{};
  a.to = room.place<uint64_t>(1);
  a.outcomes = room.place<outcome>(total);
  a.timeout_ns = wait_ns;
  while (m.more()) {
    clear_outcomes(s, a.outcomes, total);
    launch_all(s, blocks, threads, energy_wait<BackOff>, a);
    GGAS_GPU_TRY(s.run("wait"));
    GGAS_GPU_TRY(check_all_outcomes(s, a.outcomes, total, "wait"));
    m.add(1);
  }
  return {};
}

unsigned multiprocessors(const gpu_session& s) { return static_cast<unsigned>(s.limits().multiprocessors); }

constexpr uint64_t put_elements = uint64_t{16} << 20;

}  // namespace

fault barrier_load(gpu_session& s, work_meter& m) {
  return repeat_calls<repeated::barrier>(s, m, 1, {1, 256, 20000}, 1);
}
fault alltoall_load(gpu_session& s, work_meter& m) {
  return repeat_calls<repeated::alltoall>(s, m, 1024, {1, 256, 10000}, 1);
}
fault allreduce_load(gpu_session& s, work_meter& m) {
  return repeat_calls<repeated::allreduce>(s, m, 1024, {1, 256, 10000}, 1);
}
fault wait_spin_load(gpu_session& s, work_meter& m) { return repeat_waits<false>(s, m, 1); }
fault wait_back_off_load(gpu_session& s, work_meter& m) { return repeat_waits<true>(s, m, 1); }
fault workers_spin_load(gpu_session& s, work_meter& m) { return repeat_waits<false>(s, m, multiprocessors(s)); }
fault workers_back_off_load(gpu_session& s, work_meter& m) { return repeat_waits<true>(s, m, multiprocessors(s)); }
fault put_load(gpu_session& s, work_meter& m) {
  const double bytes = static_cast<double>(put_elements * sizeof(float)) * s.nodes();
  return repeat_calls<repeated::put>(s, m, put_elements, {16, 512, 200}, bytes);
}

}  // namespace ggas::bench
