// SPDX-License-Identifier: Apache-2.0
// Few stacks for many fibers. A fiber has its place on one stack; when another one that shares it runs, what is on the
// stack moves to the heap, and back before the fiber goes on. So a thread that waits costs what it has on its stack,
// some hundred bytes, and not pages of its own; and few stacks stay in the caches. As long as there are no more fibers
// than stacks nothing moves.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "gpu_api/simt/engine.hpp"
#include "gpu_api/simt/stack_pool.hpp"

namespace ggas::simt {

class fiber;

struct shared_stack {
  stack memory;
  std::vector<shared_stack*>* unused;  // where it goes without users
  fiber* here = nullptr;               // whose bytes are on it
  unsigned users = 0;                  // fibers that have their place here
};

// The fibers of a set run one at a time, and none within another one. A fiber's variables have no address for others:
// they may lie elsewhere while it waits.
class shared_stacks {
 public:
  // Stacks of a size; more than a block has threads, so that no two of a block share one as long as few blocks run.
  static constexpr size_t most = 4096;
  shared_stacks() = default;
  ~shared_stacks();
  shared_stacks(const shared_stacks&) = delete;
  shared_stacks& operator=(const shared_stacks&) = delete;

  // nullptr: memory is short.
  shared_stack* take(size_t bytes);
  static void give(shared_stack& s);
  size_t stacks() const;

 private:
  struct ring {
    std::deque<shared_stack> all;  // places stay where they are
    std::vector<shared_stack*> unused;
    size_t next = 0;
  };
  std::map<size_t, ring> rings_;  // by size
};

// The threads of a block, none of which has begun, share their stacks with others. Sanitizers know where each fiber's
// stack lies: with them every thread has its own.
void share_stacks(block& b, std::shared_ptr<shared_stacks> stacks);

}  // namespace ggas::simt
