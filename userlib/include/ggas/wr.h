// SPDX-License-Identifier: Apache-2.0
// Requests of work by the names of the Hybrid API for Charm++ (2008), on top of ggas/work.hpp (docs/work.md). A file
// with kernels defines kernelSelect(), which launches the kernel that `id` means: with <<<>>> on GPUs, or on every
// provider with
//   ggas::launch(wrCluster(), wrStream(), wr->dimGrid, ggas::with_shared(wr->dimBlock, wr->smemSize), kernel, ...)
#pragma once

#include "ggas/detail/work/charm_callback.hpp"
#include "ggas/work.hpp"

#ifdef __CUDACC__
using wrDim = ::dim3;
#else
using wrDim = ggas::extent;  // laid out alike
#endif

// Zero at first. It belongs to the caller until it is enqueued and after its callback was called; the library never
// frees it.
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
  void* callbackFn;  // CkCallback*; may be null
  int executing;     // 1 from enqueue() to the end
  int id;            // of the kernel
};

struct workRequestQueue;
extern workRequestQueue* wrQueue;  // of the dispatcher that was opened; null: none

// Later requests go to that dispatcher and node. With executor::fifo there is one queue for each processor, as in the
// original. Call wrClose() before the dispatcher ends.
void wrOpen(ggas::dispatcher& work, int node);
void wrClose();

// Returns at once; errors are passed to the callback.
void enqueue(workRequestQueue* queue, workRequest* wr);

// The program defines it.
void kernelSelect(workRequest* wr);

// For kernelSelect(). They return the place of the launch, report that no kernel has this id, and report that a launch
// was refused (the result of ggas::launch).
ggas::cluster& wrCluster();
const ggas::stream& wrStream();
void wrUnknownId(const workRequest* wr);
void wrLaunched(const ggas::result<>& launched);
