// SPDX-License-Identifier: Apache-2.0
// Native scheduler: the owner of warps without a timing model. Every access is performed at once on host memory. It
// runs the kernels of many GPUs (one stream each) concurrently, in one thread or in one thread a stream.
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
  size_t stack_bytes = 32 * 1024;  // of a thread of a kernel
};

struct native_error {
  enum class kind { failed, timed_out, cancelled } why = kind::failed;  // failed: also if all wait at barriers for ever
  std::string text;  // names the kernel, the blocks and what their warps wait for
};

// Used by one thread at a time.
class native_scheduler {
 public:
  // Stream g is GPU g's own.
  native_scheduler(const native_config& cfg, unsigned gpus);
  ~native_scheduler();

  // A stream more of a GPU; its number. Not while kernels run.
  unsigned add_stream(unsigned gpu);
  // Kernels of one stream run one after the other. `l` has passed grid::check.
  void enqueue(unsigned stream, launch l, const void* device_context);
  // Later work in the stream waits until `passed` returns true; the stream's thread calls it repeatedly.
  void enqueue_gate(unsigned stream, std::function<bool()> passed);

  // Lets what is queued begin.
  void start();
  // Works for at most `slice_ns`, or until all kernels sleep (with a thread for each stream it only checks). Returns
  // whether all work has ended. After an error all queues are empty.
  std::expected<bool, native_error> poll(uint64_t slice_ns);
  // start(), and then works until all work has ended or the time-out, which is an error. The calling thread calls
  // `go_on`, if any, a few times a second; false cancels the run.
  std::expected<void, native_error> run(uint64_t timeout_ns, const std::function<bool()>& go_on = {});
  // Ends what runs; nothing is left then.
  void stop();

 private:
  class stream;
  class crew;
  std::expected<bool, native_error> turns(uint64_t deadline_ns, const std::function<bool()>& go_on, bool until_idle);
  std::expected<bool, native_error> watch(uint64_t deadline_ns, const std::function<bool()>& go_on);
  std::expected<bool, native_error> work(uint64_t deadline_ns, const std::function<bool()>& go_on);
  native_error stopped(native_error::kind why, std::string text);
  std::string where() const;

  native_config cfg_;
  std::vector<std::unique_ptr<stream>> streams_;
  std::unique_ptr<crew> crew_;  // threads that run the streams
};

}  // namespace ggas::simt
