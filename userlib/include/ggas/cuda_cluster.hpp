// SPDX-License-Identifier: Apache-2.0
// The GPUs of this computer as one global address space: provider `cuda`. A node is a GPU with a segment of its own
// memory; all segments lie in one range of addresses, so that the window of the device API is plain memory. One process
// drives all GPUs, or one process each (docs/cuda-provider.md). C++20, so that nvcc can include it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggas/detail/platform/context.hpp"
#include "ggas/job.hpp"
#include "ggas/report.hpp"

namespace ggas {

struct cuda_config {
  // One process: GPUs to use, the first ones of CUDA's order; 0: all. A process for each node: 0 or the job's size.
  int nodes = 0;
  size_t segment_bytes = 64u << 20;  // of every node, a multiple of 4 KB; the same in all processes
  size_t most_segment_bytes = 0;     // that grow() may reach; addresses are kept free for it; 0: segments do not grow
  job processes = {};                // node = rank; alone: this process runs all nodes. See job::from_environment
};

// Used by one thread at a time; threads may use clusters of their own side by side. Calls may change the thread's
// current GPU (cudaSetDevice). A node out of 0 ... nodes() - 1 is std::out_of_range; everything else that goes wrong is
// a text. Calls marked `all` are made by every process of the job, in the same order; they wait for each other, at most
// processes.timeout_ns, and fail in all processes if they fail in one. Errors are texts; empty: all is well.
class cuda_cluster {
 public:
  // all. Null if it cannot be made; `why` then names the input or the GPUs and the rule.
  static std::unique_ptr<cuda_cluster> create(const cuda_config& cfg, std::string& why);
  // Not `all`: a process that leaves takes nothing from the others; memory goes back to the system when the last
  // process has left. If kernels still run, everything stays as it is until the process ends: it cannot be taken away
  // from below them. That is known of the nodes' streams; streams of your own must be idle.
  ~cuda_cluster();
  cuda_cluster(const cuda_cluster&) = delete;
  cuda_cluster& operator=(const cuda_cluster&) = delete;

  int nodes() const { return static_cast<int>(contexts_.size()); }
  // The nodes that this process runs: all, or one.
  std::span<const int> local_nodes() const { return local_; }
  bool local(int node) const { return device(node) != cudaInvalidDeviceId; }
  // CUDA's number of the node's GPU and a stream of it; of a node of another process cudaInvalidDeviceId and null. The
  // stream is in order with the GPU's default stream, as those of cudaStreamCreate are: a cudaMemcpy before a launch is
  // seen by the kernel, and one behind it waits for the kernel. Work that must run beside the default stream's takes a
  // stream of its own (cudaStreamNonBlocking, user_stream() of ggas/on_stream.cuh) and orders what it reads itself.
  int device(int node) const { return devices_.at(static_cast<size_t>(node)); }
  cudaStream_t stream(int node) const { return streams_.at(static_cast<size_t>(node)); }
  // Whether another node has the same GPU: the processes then take turns on it, and every wait is long.
  bool shares_gpu(int node) const { return shared_.at(static_cast<size_t>(node)); }

  // Why remote atomics, ggas_signal_add and notifications return ggas_no_queue in kernels: two GPUs that have no
  // atomics on each other's memory. Empty: all of them have. Not known of GPUs that CUDA_VISIBLE_DEVICES hides from a
  // process.
  const std::string& lacks_atomics() const { return lacks_atomics_; }

  // What kernels of a node see; hand it to set_device_context() of each translation unit with kernels. A unit's kernels
  // see one context on each GPU, the last one: with two clusters on a GPU set it anew between kernels of the one and
  // the other, in their order.
  const context& device_context(int node) const { return contexts_.at(static_cast<size_t>(node)); }
  // The segment of a node: device memory of its GPU, at this address for all GPUs and copies of this process.
  char* segment(int node) const { return contexts_.at(static_cast<size_t>(node)).local; }
  size_t segment_bytes() const { return contexts_.at(0).segment_bytes; }
  size_t most_segment_bytes() const;  // that grow() may reach; 0: segments do not grow

  // Copies `bytes` bytes to an offset of the segments of the local nodes, in order with their GPUs' default streams.
  std::string write(uint64_t offset, const void* from, size_t bytes);

  // Waits until the streams of the local nodes are idle. Empty: all is well; else what went wrong, or which nodes still
  // run after timeout_ns (20 days or more: for ever). Kernels that still run are not stopped: CUDA has no way to but
  // ending the process. `cancelled`, if any, is asked all the time; true ends the waiting like a time-out.
  std::string run(uint64_t timeout_ns, const std::function<bool()>& cancelled = {});
  // all. Waits until every process has come here; `where` is for messages, at most 48 letters.
  std::string meet(const std::string& where);
  // all. Says who brings what unless all processes bring the same text, of at most 8 KiB. For what must be the same
  // everywhere (ggas/heap.hpp).
  std::string same(const std::string& text);
  // all. Segments get `bytes` bytes, a multiple of 4 KB, not less than now and at most most_segment_bytes. What is in
  // them stays, at the same addresses; what is new is zero. The streams must be idle. Afterwards hand the contexts of
  // the local nodes to set_device_context() again in every translation unit: kernels elsewhere see the old size. On an
  // error segments are as before.
  std::string grow(size_t bytes);
  // Ends the waits of all kernels on all nodes, those of other processes and those with GGAS_FOREVER too: with
  // ggas_aborted, some polls after the copy engine has told the GPUs, unless what they wait for has come. So it goes on
  // until reset(). Returns at once; by any thread, also while another one is in run().
  std::string abort();
  // Waits of kernels of the local nodes that ended in vain, until now or the last reset(): by a time-out or abort(). At
  // any time, also while kernels run. Why there is none: `why`.
  hang_report report(std::string& why);
  // all. After a failure: every barrier and collective works again as in a new cluster, nothing is broken or aborted,
  // rings of notifications are empty; what lies behind the reserved area stays. The streams of the nodes, and your own
  // with work on segments, must be idle: so all puts have arrived. On an error call it again before anything else.
  std::string reset();

 private:
  struct parts;
  explicit cuda_cluster(const cuda_config& cfg);
  std::string open();

  std::unique_ptr<parts> parts_;
  std::vector<int> local_, devices_;
  std::vector<bool> shared_;
  std::vector<cudaStream_t> streams_;
  std::vector<context> contexts_;
  std::string lacks_atomics_;
};

}  // namespace ggas
