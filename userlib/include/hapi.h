// SPDX-License-Identifier: Apache-2.0
// The Hybrid API of today's Charm++ by its names (docs/work.md): work in CUDA streams, and callbacks as messages to
// objects. CUDA sources that use it compile unchanged; with the host engine the same names have streams of a cluster.
// hapiOpen() says which dispatcher and node are meant. Calls may be made by any thread, but where it is said otherwise.
#pragma once

#include <mutex>
#include <vector>

#include "ggas/detail/work/charm_callback.hpp"
#include "ggas/detail/work/cuda_names.hpp"
#include "ggas/launch.hpp"
#include "ggas/work.hpp"

using hapiStream_t = cudaStream_t;
using hapiError_t = cudaError_t;

// Later calls are for that node of the dispatcher's cluster, with `streams` streams for hapiGetStream(). Called by a
// thread of the program, and hapiClose() before the dispatcher ends. Error: bad_argument for the node or the number;
// executors that run only kernels of their table.
ggas::result<> hapiOpen(ggas::dispatcher& work, int node, int streams = 16);
void hapiClose();

// The number of streams; they were made by hapiOpen(). 0: it was not called.
int hapiCreateStreams();
// One of them, in turn; the null stream before hapiOpen().
hapiStream_t hapiGetStream();

// When all that is in the stream now has ended, the callback is sent, once, on the processor of the caller; it gets an
// error if the GPU has failed. `message` goes to CkCallback::send_message. The first form copies the callback, the
// second takes a CkCallback*, which must live until then. An error of the call throws, as hapiCheck() does.
void hapiAddCallback(hapiStream_t stream, const CkCallback& callback, void* message = nullptr);
void hapiAddCallback(hapiStream_t stream, void* callback, void* message = nullptr);

// Memory of the node's GPU, and pinned memory, out of the dispatcher's pools. cudaErrorMemoryAllocation: there is not
// enough; cudaErrorInvalidValue: this memory was not given out.
hapiError_t hapiMalloc(void** address, size_t bytes);
hapiError_t hapiFree(void* address);
hapiError_t hapiMallocHost(void** address, size_t bytes);
hapiError_t hapiFreeHost(void* address);
template <class T>
hapiError_t hapiMalloc(T** address, size_t bytes) {
  return hapiMalloc(reinterpret_cast<void**>(address), bytes);
}
template <class T>
hapiError_t hapiMallocHost(T** address, size_t bytes) {
  return hapiMallocHost(reinterpret_cast<void**>(address), bytes);
}
// Queues a copy. With CUDA any memory may be meant; with the host engine the host's must be pinned.
hapiError_t hapiMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, hapiStream_t stream);

// Throws std::runtime_error with the code, the expression and its place, so that runtime::run() returns the text.
#ifdef HAPI_CHECK_OFF
#define hapiCheck(code) code
#else
#define hapiCheck(code) hapiErrorDie(code, #code, __FILE__, __LINE__)
#endif
void hapiErrorDie(hapiError_t code, const char* expression, const char* file, int line);

// Not of Charm++: a launch in a stream, on every provider. CUDA sources may as well write <<<>>>.
ggas::runtime& hapiRuntime();
ggas::stream hapiStreamOf(hapiStream_t stream);
template <class... P, class... A>
hapiError_t hapiLaunch(ggas::extent grid, const ggas::block_shape& block, hapiStream_t stream, void (*kernel)(P...),
                       A&&... arguments) {
  const auto ok = hapiRuntime().with_cluster([&](ggas::cluster& c) {
    return ggas::launch(c, hapiStreamOf(stream), grid, block, kernel, std::forward<A>(arguments)...);
  });
  return ok ? cudaSuccess : cudaErrorInvalidValue;
}
