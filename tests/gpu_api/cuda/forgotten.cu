// SPDX-License-Identifier: Apache-2.0
// Kernels of a translation unit that no one prepared: every call says so, none touches memory.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

constexpr uint64_t brief_ns = second / 100;

// Number of the first call, from 1, that did not refuse; 0: all did.
__global__ void GGAS_LAUNCH_BOUNDS(64) call_everything(float* memory, uint64_t* words, uint64_t* first) {
  unsigned calls = 0, wrong = 0;
  const auto refuses = [&](ggas_status s) {
    ++calls;
    if (s != ggas_bad_argument && wrong == 0) wrong = calls;
  };
  refuses(ggas_barrier_grid(brief_ns));
  refuses(ggas_barrier_block(brief_ns));
  refuses(ggas_sync_grid(brief_ns));
  refuses(ggas_sync_block(brief_ns));
  for (size_t n : {size_t{1}, size_t{100}, size_t{4000}}) {
    refuses(ggas_allreduce_block(memory, memory, n, ggas_sum, ggas_auto, brief_ns));
    refuses(ggas_allreduce_grid(memory, memory, n, ggas_sum, ggas_direct, brief_ns));
    refuses(ggas_reduce_block(memory, memory, n, ggas_sum, 0, ggas_auto, brief_ns));
    refuses(ggas_broadcast_block(memory, memory, n, 0, brief_ns));
    refuses(ggas_allgather_block(memory, memory, n, brief_ns));
    refuses(ggas_alltoall_block(memory, memory, n, brief_ns));
    refuses(ggas_put_block(memory, memory, n, brief_ns));
    refuses(ggas_get_block(memory, memory, n, brief_ns));
    refuses(ggas_put_signal_nbi_block(memory, memory, n, words, 1, ggas_signal_add, brief_ns));
  }
  uint64_t old = 0;
  size_t taken = 0;
  ggas_notification note{};
  refuses(ggas_fetch_add(words, uint64_t{1}, &old, brief_ns));
  refuses(ggas_add(words, uint64_t{1}, brief_ns));
  refuses(ggas_put_value(words, uint64_t{1}, brief_ns));
  refuses(ggas_iput_nbi(words, words, 1, 1, 2, brief_ns));
  refuses(ggas_notify(0, 1, 0, brief_ns));
  refuses(ggas_notification_wait(&note, 0, ggas_default_queue()));
  refuses(ggas_notification_wait_some(&note, 1, &taken, 0, ggas_queue::of_block()));
  refuses(ggas_notification_wait(&note, 0, ggas_queue_of(0, ggas_exclusive)));
  if (ggas_pointer_of_node<char>(0) || ggas_queues() != 0 || ggas_queue_of(0).good()) wrong = calls + 1;
  if (detail::thread_rank() == 0) *first = wrong;
}

TEST_F(rig, calls_without_a_context_are_refused) {
  char* const mine = segment(0);
  auto* const first = reinterpret_cast<uint64_t*>(mine + at.outcomes);
  write(0, at.outcomes, std::vector<uint64_t>{99});
  ok(cudaSetDevice(machine().device(0)), "cudaSetDevice");
  call_everything<<<1, 64, 0, machine().cuda_stream(0)>>>(reinterpret_cast<float*>(mine + at.data),
                                                          reinterpret_cast<uint64_t*>(mine + at.copy), first);
  ok(cudaGetLastError(), "launch");
  run("call_everything");
  EXPECT_EQ(read<uint64_t>(0, at.outcomes, 1)[0], 0u);
}

}  // namespace
}  // namespace ggas::gpu_test
