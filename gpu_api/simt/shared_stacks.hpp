// SPDX-License-Identifier: Apache-2.0
// Few stacks for many fibers. A fiber always uses the same stack; when another fiber uses it, the first one's data move
// to the heap, and back before it continues. So a waiting thread costs its used stack, some hundred bytes, and not
// separate pages; and few stacks stay in the caches. As long as there are no more fibers than stacks nothing moves.
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

// The fibers of a set run one at a time, and never inside each other. Other threads must not use addresses of a fiber's
// variables: while the fiber waits, its variables may lie at another address.
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

// Lets the threads of a block share their stacks with others; none of them may have begun. Sanitizers need to know each
// fiber's stack: with them every thread has a separate one.
void share_stacks(block& b, std::shared_ptr<shared_stacks> stacks);

}  // namespace ggas::simt
