// SPDX-License-Identifier: Apache-2.0
// Host SIMT engine: runs CUDA-style kernels on the CPU. A thread is a Boost.Context fiber; 32 of them make a warp. A
// lane runs natively until it reaches a barrier, or an operation that the owner must perform (memory access through the
// ggas accessors, fence, declared compute, sleep), and waits there. The thread that owns the warp decides the cost of
// the operation: the native scheduler (native.hpp) performs it at once, the GPU model (sim/gpu) passes it through its
// timing model. The engine depends on neither.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace ggas::simt {

inline constexpr unsigned warp_size = 32;

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr unsigned count() const { return x * y * z; }
};

enum class scope : uint8_t { block, gpu, sys };
enum class op : uint8_t { load, store, atomic, fence, compute, sleep };
enum class rmw : uint8_t { add, exch, cas, bit_and, bit_or, bit_xor, min, max };

// One lane's pending operation.
struct access {
  op kind = op::load;
  scope sc = scope::sys;
  rmw fn = rmw::add;
  uint8_t lane = 0;
  uint8_t size = 0;                            // load, store: 1, 2, 4, 8, 16; atomic: 4, 8
  bool is_volatile = false;                    // must reach the point of coherence (L2), never a first-level cache
  bool poll = false;                           // load of a wait loop: repeated until the value changes or time is up
  uint32_t owner = 0;                          // free for the owner of the warp; 0 in a new access
  void* addr = nullptr;                        // device address
  alignas(16) std::array<std::byte, 16> data;  // store value, atomic operand; result of load and atomic
  uint64_t a = 0;                              // compute: flops; sleep: ns; atomic cas: expected value
  uint64_t b = 0;                              // compute: bytes moved
};

class block;

class warp {
 public:
  // Runs every runnable lane until it waits or ends. After that pending() lists the operations of waiting lanes, oldest
  // step first and in lane order within a step; it is empty if all lanes wait at a barrier or have ended. An access
  // stays at its address and in the list until complete(). Lanes that leave a loop early run on to their next
  // operation: kernels call __syncwarp() to synchronise a warp again.
  void step();
  std::span<access* const> pending() const;  // valid until the next step() or pending(); complete() leaves it alone
  // The operation was performed (result in a.data): its lane may run at the next step().
  void complete(access& a);
  bool runnable() const;  // step() would run something
  bool finished() const;
  block& parent() const;
  unsigned index() const;  // in the block
  unsigned lanes() const;  // that have not ended

  struct impl;
  explicit warp(std::unique_ptr<impl>);
  ~warp();
  impl& get() const { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

// A block and its threads live on the thread that first steps one of its warps. Destroying an unfinished block abandons
// its threads: destructors of objects on their stacks do not run.
class block {
 public:
  std::span<const std::unique_ptr<warp>> warps() const;
  bool finished() const;
  unsigned linear_index() const;
  // Not empty once a thread overflowed its stack or let an exception escape. The owner stops the kernel and reports the
  // text.
  const std::string& fault() const;
  // What the threads wait for, for people: one line a warp, at most `lines`.
  std::string describe(size_t lines = 8) const;
  // Called when a barrier makes a warp runnable that was not. Not called for the warp inside step().
  std::function<void(warp&)> on_runnable;

  struct impl;
  explicit block(std::unique_ptr<impl>);
  ~block();
  impl& get() const { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

// What the owner offers to running lanes next to operations.
class environment {
 public:
  virtual ~environment() = default;
  virtual uint64_t now_ns() const = 0;             // the device's global timer
  virtual const void* device_context() const = 0;  // what CUDA keeps in constant memory: the node's ggas context
};

struct launch {
  dim3 grid, block;
  std::function<void()> kernel;  // body of one thread
  std::string name = "kernel";   // for messages
  size_t stack_bytes = 32 * 1024;
  size_t shared_bytes = 0;  // of a block: dynamic shared memory
};

// Performs a load, store, atomic or fence at once on host memory at a.addr, with relaxed atomics (a fence is
// sequentially consistent); compute and sleep do nothing. Owners without a timing model of a location use it.
void apply(access& a);

inline constexpr unsigned max_block_threads = 1024;
inline constexpr size_t max_shared_bytes = 227 * 1024;  // of a block: what GPUs since 2022 have

// A kernel on its way: blocks are made when the owner has room for them, so a thread without room costs nothing.
class grid {
 public:
  grid(launch l, environment& env);  // env outlives every block
  unsigned blocks() const;
  std::unique_ptr<simt::block> make_block(unsigned linear_index);
  const launch& config() const;
  // What is wrong with a launch (too many threads, no threads, no kernel), or empty.
  static std::string check(const launch& l);

 private:
  std::shared_ptr<const launch> launch_;
  environment& env_;
};

}  // namespace ggas::simt
