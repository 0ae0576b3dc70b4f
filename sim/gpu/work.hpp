// SPDX-License-Identifier: Apache-2.0
// What runs on a GPU: kernels in streams, their resident blocks, warps, and the operations warps wait for.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu_api/simt/engine.hpp"
#include "sim/gpu/address_map.hpp"
#include "sim/gpu/coalescer.hpp"
#include "sim/gpu/copy_engine.hpp"
#include "sim/gpu/device.hpp"
#include "sim/gpu/host_interface.hpp"
#include "sim/kernel/agenda.hpp"

namespace ggas::gpu {

using sim::agenda;
using sim::task;

class gpu;
struct resident_block;
struct warp_state;

// What the host starts by a call.
struct command {
  explicit command(unsigned number) : number(number) {}
  unsigned number;        // of this GPU, from 1
  bool called = false;    // the host has made the launching call, or is about to
  uint64_t ready_ps = 0;  // not before that, then
};

struct kernel : command {
  kernel(simt::launch l, simt::environment& env, unsigned number) : command(number), grid(std::move(l), env) {}
  simt::grid grid;
  unsigned started = 0, ended = 0;  // blocks
  int priority = 0;                 // of its stream
};

struct transfer : command {
  transfer(copy_engine::job j, unsigned number) : command(number), job(std::move(j)) {}
  copy_engine::job job;
};

// What a stream holds: a kernel, a copy, or a place that is reached, or waited for.
struct queued {
  std::unique_ptr<kernel> work = {};
  std::unique_ptr<transfer> copy = {};
  std::shared_ptr<mark> reaches = {}, waits = {};
  // Null: a place.
  command* call() const { return work ? static_cast<command*>(work.get()) : copy.get(); }
};

struct sm {
  unsigned threads = 0, warps = 0, blocks = 0;  // resident
  unsigned next_scheduler = 0;
  std::vector<uint64_t> scheduler_free_ps;
  uint64_t flops_free_ps = 0;
};

// One memory instruction (or fence, compute, sleep) of a warp: the lanes that issue it together. Recycled.
struct group final : task {
  enum class phase : uint8_t { issue, perform, answered };
  explicit group(gpu& g) : owner(g) {}
  void run() override;

  struct footprint {
    std::array<lane_span, simt::warp_size> lanes;
    unsigned count = 0;
    operator std::span<const lane_span>() const { return {lanes.data(), count}; }
  };
  footprint touched() const;

  gpu& owner;
  warp_state* warp = nullptr;
  simt::op kind = simt::op::load;
  simt::scope sc = simt::scope::sys;
  region where = region::local;
  phase next = phase::issue;
  boost::container::small_vector<simt::access*, simt::warp_size> lanes;  // waiting for it

  uint64_t effect_ps = 0, answer_ps = 0;  // local load or atomic: takes effect, its answer is back
  transactions requests;                  // remote: what goes over PCIe
  std::vector<std::byte> bytes;           // of the requests, one after another
  unsigned sent = 0, sent_bytes = 0;      // of them, stores in the store queue
  unsigned open = 0;                      // of them, reads not answered
};

// What is remembered of a lane to see polling loops (see convergence.cpp).
struct lane_state {
  uint64_t load_addr = 0;  // of its last load, if nothing but sleep came after
  uint32_t cohort = 0;     // lanes that began their loop with the same instruction
  bool repeats = false;
};

struct warp_state final : task, store_owner {
  void run() override;
  void store_handed() override;

  gpu* owner = nullptr;
  simt::warp* code = nullptr;
  resident_block* block = nullptr;
  unsigned scheduler = 0;
  bool woken = false;   // on the agenda
  bool ended = false;   // code and stores
  uint32_t issued = 0;  // lanes whose operation is under way
  uint32_t held = 0;    // lanes that wait for the rest of their cohort
  uint64_t held_since_ps = 0;
  std::array<lane_state, simt::warp_size> lane{};
  uint64_t stores_done_ps = 0;  // when the last local store is in L2
  unsigned remote_stores = 0;   // not yet handed to the PCIe port
  std::vector<group*> fences;   // wait for those
};

struct resident_block {
  kernel* of = nullptr;
  unsigned sm = 0;
  std::unique_ptr<simt::block> code;
  std::vector<warp_state> warps;
  unsigned live = 0;  // warps that have not ended
};

}  // namespace ggas::gpu
