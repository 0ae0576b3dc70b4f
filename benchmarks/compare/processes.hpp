// SPDX-License-Identifier: Apache-2.0
// One process a GPU, by fork: what a program needs to bring up NVSHMEM or NCCL on one computer, and no more.
#pragma once

#include <cstddef>
#include <functional>

namespace ggas::compare {

// The processes of a run, as one of them sees it. Memory is shared by all; it was mapped before the fork.
class crew {
 public:
  static constexpr size_t most = 64, board_bytes = 4096;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // Returns when all processes are here.
  void meet();
  // Copies `bytes` (at most board_bytes) of rank 0 to all. All call it.
  void share(void* data, size_t bytes);
  // The largest value of all processes, at all of them. All call it.
  double largest(double value);

 private:
  friend int run_crew(int size, unsigned timeout_s, const std::function<int(crew&)>& work);
  struct shared_memory;
  int rank_ = 0, size_ = 1;
  shared_memory* memory_ = nullptr;
};

// Runs `work` in `size` processes. Returns 0 if all of them returned 0. If one fails or the time-out passes, the others
// are killed, stderr names the reason, and the status is 1.
int run_crew(int size, unsigned timeout_s, const std::function<int(crew&)>& work);

// The main program of a measurement with one process a GPU: its only argument is the number of GPUs (0 or none: all).
// The exit status: 77 without a GPU, 2 for a bad number, else that of run_crew.
int run_on_gpus(int argc, char** argv, unsigned timeout_s, const std::function<int(crew&)>& work);

}  // namespace ggas::compare
