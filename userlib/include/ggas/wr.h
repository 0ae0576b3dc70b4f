// SPDX-License-Identifier: Apache-2.0
// Requests of work by the names of the Hybrid API for Charm++ (2008), on top of ggas/work.hpp (docs/work.md). A file
// with kernels defines kernelSelect(), which launches the kernel that `id` means: with <<<>>> on GPUs, or on every
// provider with
//   ggas::launch(wrCluster(), wrStream(), wr->dimGrid, ggas::with_shared(wr->dimBlock, wr->smemSize), kernel, ...)
#pragma once

#include <functional>

#include "ggas/work.hpp"

#ifdef __CUDACC__
using wrDim = ::dim3;
#else
using wrDim = ggas::extent;  // laid out alike
#endif

// What becomes of a request; an error names it. A copy of it is not needed: it stays until it was called.
struct CkCallback {
  std::function<void(const ggas::result<>&)> send;
};

// Zero at first. The caller's until its callback has been called, and again afterwards; no process frees it.
struct workRequest {
  wrDim dimGrid, dimBlock;
  int smemSize;              // dynamic shared bytes of a block
  void* readWriteHostPtr;    // copied in before the kernel, and over it afterwards
  void* readWriteDevicePtr;  // these three are set before kernelSelect() is called
  int readWriteLen;          // bytes; 0: no such buffer
  void* readOnlyHostPtr;     // copied in
  void* readOnlyDevicePtr;
  int readOnlyLen;
  void* writeOnlyHostPtr;  // copied out
  void* writeOnlyDevicePtr;
  int writeOnlyLen;
  void* callbackFn;  // CkCallback*; null: no process is informed
  int executing;     // 1 from enqueue() to the end
  int id;            // of the kernel
};

struct workRequestQueue;
extern workRequestQueue* wrQueue;  // of the dispatcher that was opened; null: none

// Requests go to that dispatcher and node from now on. With executor::fifo the queue is the original's: one for each
// processor. wrClose() before the dispatcher ends.
void wrOpen(ggas::dispatcher& work, int node);
void wrClose();

// Returns at once; what is wrong comes by the callback.
void enqueue(workRequestQueue* queue, workRequest* wr);

// Of the program.
void kernelSelect(workRequest* wr);

// In kernelSelect(): where to launch; no kernel has that id; a launch that was refused (what ggas::launch returned).
ggas::cluster& wrCluster();
const ggas::stream& wrStream();
void wrUnknownId(const workRequest* wr);
void wrLaunched(const ggas::result<>& launched);
