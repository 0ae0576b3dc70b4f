// SPDX-License-Identifier: Apache-2.0
// Native scheduler: the owner of warps that has no timing model. Every access is performed at once on host memory. It
// runs the kernels of many GPUs (one stream each) side by side, in one thread or in one thread a stream.
#pragma once

#include <atomic>
#include <deque>
#include <expected>
#include <vector>

#include "gpu_api/simt/engine.hpp"

namespace ggas::simt {

struct native_config {
  unsigned resident_blocks = 0;    // of one stream at a time; 0: no limit. Blocks are not preempted, as on a GPU.
  bool thread_per_stream = false;  // real concurrency; default is one thread and turns
};

struct native_error {
  enum class kind { failed, timed_out, cancelled } why = kind::failed;  // failed: also if all wait at barriers for ever
  std::string text;  // names the kernel, the blocks and what their warps wait for
};

class native_scheduler {
 public:
  native_scheduler(const native_config& cfg, unsigned streams);
  ~native_scheduler();

  // Kernels of one stream run one after the other. `l` has passed grid::check.
  void enqueue(unsigned stream, launch l, const void* device_context);
  // Runs everything queued. After an error nothing is left in any queue. `go_on`, if any, is called a few times a
  // second by the calling thread; false cancels the run.
  std::expected<void, native_error> run(uint64_t timeout_ns, const std::function<bool()>& go_on = {});

 private:
  class stream;
  std::expected<void, native_error> run_turns(uint64_t deadline_ns, const std::function<bool()>& go_on);
  std::expected<void, native_error> run_threads(uint64_t deadline_ns, const std::function<bool()>& go_on);

  native_config cfg_;
  std::vector<std::unique_ptr<stream>> streams_;
};

}  // namespace ggas::simt
