// SPDX-License-Identifier: Apache-2.0
// Stacks of fibers, kept and reused: a kernel of many blocks touches only as much memory as its resident threads need.
#pragma once

#include <cstddef>

namespace ggas::simt {

struct stack {
  std::byte* bottom = nullptr;  // lowest usable byte
  size_t bytes = 0;
  explicit operator bool() const { return bottom; }
};

// Thread-safe. `bytes` is rounded up to pages. Returns null when memory is short. A build without NDEBUG puts an
// inaccessible page below each stack.
stack take_stack(size_t bytes);
void give_stack(stack s);

}  // namespace ggas::simt
