// SPDX-License-Identifier: Apache-2.0
// Insides of the engine: what a block, a warp and a lane consist of. Only the engine and device.hpp include this.
#pragma once

#include <vector>

#include "gpu_api/simt/engine.hpp"
#include "gpu_api/simt/fiber.hpp"

namespace ggas::simt {

enum class collective : uint8_t { sync, shuffle, ballot };

struct lane {
  access acc;  // pending operation, or the last one
  fiber fib;
  dim3 idx;  // threadIdx
  unsigned linear = 0;
  warp::impl* parent = nullptr;
  uint8_t number = 0;  // in the warp
  // Warp collective the lane waits in.
  collective kind = collective::sync;
  uint8_t source = 0;
  uint32_t mask = 0;
  uint8_t barrier = 0;  // of the block, where it waits at one
  uint64_t in = 0, out = 0;
  // In place of its own variables, which others cannot reach on a shared stack: what is read, what is written.
  alignas(16) std::array<std::byte, 16> variable, sink;
};

// Sets of lanes are bit masks. Every lane of `exist` is in exactly one of ready, op, wait_warp, wait_block, done; the
// running one is in none.
struct warp::impl {
  block::impl* parent = nullptr;
  unsigned index = 0;
  uint32_t exist = 0, ready = 0, op = 0, wait_warp = 0, wait_block = 0, done = 0;
  uint32_t fresh = 0;  // operations begun in this step
  bool stepping = false;
  std::array<access*, warp_size> list;  // pending operations; completed ones leave at compact()
  unsigned listed = 0;
  std::array<lane, warp_size> lanes;

  void step();
  void run(lane& l);
  void release_groups();
  void compact();
};

struct shared_slot {
  const void* key;
  std::unique_ptr<std::byte[]> bytes;
  void* data;
  size_t size;
};

// See take_place(): threads that are inside, or, of a place that another block has, that were informed of it.
struct place_of_block {
  uintptr_t begin;
  bool ours;
  unsigned threads;
};

struct block::impl {
  std::shared_ptr<const launch> cfg;
  environment* env = nullptr;
  block* self = nullptr;
  dim3 idx;  // blockIdx
  unsigned linear = 0;
  unsigned live = 0;  // threads that have not ended
  struct barrier {
    unsigned arrived = 0, votes = 0, result = 0;
  };
  std::array<barrier, 16> barriers;       // 0: of all threads
  std::shared_ptr<shared_stacks> stacks;  // empty: each thread has its own
  std::vector<std::unique_ptr<warp>> warps;
  std::vector<shared_slot> shared;
  std::vector<place_of_block> places;
  std::string fault;

  ~impl();
  void release_barrier(unsigned id);
  void release_if_all_are_here();
  void give_places();
  void set_fault(const lane& l, const std::string& why);
};

inline thread_local constinit lane* current = nullptr;  // the running lane

}  // namespace ggas::simt
