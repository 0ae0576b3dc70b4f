// SPDX-License-Identifier: Apache-2.0
// CUDA without a GPU, with the functions that the cuda provider calls: the provider can be tested anywhere, also with
// GPUs and drivers that are not available. Memory of a GPU is a file in memory, mapped for the host. A program that is
// linked with fake_cuda.cpp uses it instead of CUDA. Any thread may call it.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace ggas::test {

// What this process sees. Fork before the first use of the provider, and change it in the child.
struct fake_cuda {
  int driver_version = 13000;  // 0: none
  int gpus = 4;
  int first_gpu = 0;                    // which one of the computer GPU 0 is
  size_t memory = size_t{1} << 30;      // of a GPU, bytes
  std::set<std::pair<int, int>> cut;    // GPUs of the computer, the smaller number first: they do not reach each other
  std::set<std::pair<int, int>> plain;  // these reach each other, but not with atomics
  bool files = true, fabric = false;    // how memory may be passed on
  bool virtual_memory = true;           // its management
  bool knows_fabric = true;             // the driver has learned of it
  std::string missing;                  // a function of the driver
  std::atomic<bool> busy = false;       // a kernel runs on every stream
  bool slow = false;                    // what is queued makes them busy
  int fails_at = -1;                    // this call, counted from now, fails; -1: none
  bool dies = false;                    // instead: the process is killed
  bool falls = false;                   // and so do all after it, those that give something back too: the GPU is lost
  std::string failed;                   // the name of what did
  unsigned stream_flags = ~0u;          // of the last stream that was made without a priority
  int priority = 0;                     // of the last one that was made with one: 0 to -5, as CUDA counts

  std::set<int> pool_users;  // GPUs that reach the last pool of memory

  // What is held.
  int addresses = 0, mappings = 0, streams = 0, pieces = 0, blocks = 0, events = 0, pinned = 0, graphs = 0,
      contexts = 0, pools = 0;
  bool holds_nothing() const {
    return addresses + mappings + streams + pieces + blocks + events + pinned + graphs + contexts + pools == 0;
  }

  static fake_cuda& here();
  static inline thread_local cudaError_t last = cudaSuccess;  // what cudaGetLastError() says
  static inline std::mutex lock;                              // of calls
};

}  // namespace ggas::test
