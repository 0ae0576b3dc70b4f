// SPDX-License-Identifier: Apache-2.0
// The SIMT engine by itself: a grid run to its end, its accesses performed by the test.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "gpu_api/simt/device.hpp"

namespace ggas::simt {

class fixed_environment : public environment {
 public:
  uint64_t now_ns() const override { return 7; }
  const void* device_context() const override { return this; }
};

// Runs every block of a grid to its end. Accesses are performed at once, in the order of pending(). Returns the fault,
// or an empty text; "stuck" if no warp can make progress.
inline std::string run(launch l) {
  fixed_environment env;
  grid g(std::move(l), env);
  for (unsigned i = 0; i < g.blocks(); ++i) {
    auto b = g.make_block(i);
    while (!b->finished()) {
      bool moved = false;
      for (auto& w : b->warps()) {
        if (w->runnable()) {
          w->step();
          moved = true;
        }
        for (access* a : w->pending()) {
          apply(*a);
          w->complete(*a);
          moved = true;
        }
      }
      if (!b->fault().empty()) return b->fault();
      if (!moved) return "stuck";
    }
  }
  return {};
}

inline std::string run(dim3 grid, dim3 block, std::function<void()> kernel) {
  return run({grid, block, std::move(kernel)});
}

}  // namespace ggas::simt
