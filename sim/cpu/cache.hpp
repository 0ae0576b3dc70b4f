// SPDX-License-Identifier: Apache-2.0
// The processor's caches for pinned memory: the lines that a device has written since the processor last accessed them,
// and the pollers. Coherent: no access ever sees old bytes, only the time differs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/cpu/cpu.hpp"
#include "sim/cpu/thread.hpp"

namespace ggas::cpu {

class cache {
 public:
  cache(uint64_t base, uint64_t bytes) : base_(base), stale_((bytes + line_bytes - 1) / line_bytes) {}

  bool holds(uint64_t addr, uint64_t bytes) const {
    const uint64_t size = stale_.size() * uint64_t{line_bytes};
    return addr >= base_ && bytes <= size && addr - base_ <= size - bytes;
  }
  void device_wrote(uint64_t addr, uint64_t bytes) {
    if (!holds(addr, bytes)) return;
    for_each_line(addr, bytes, [this](uint64_t line) { stale_[line] = true; });
    changed();
  }
  // Someone's write is visible: the one that polls looks again.
  void changed() {
    ++version_;
    for (thread* t : pollers_) t->wake(pcie::now_ps());
  }
  uint64_t version() const { return version_; }
  uint64_t accesses() const { return accesses_; }  // of the processor

  struct touched {
    unsigned lines = 0, stale = 0;
  };
  // The processor has these lines now.
  touched touch(uint64_t addr, uint64_t bytes) {
    touched n;
    ++accesses_;
    for_each_line(addr, bytes, [&](uint64_t line) {
      ++n.lines;
      n.stale += stale_[line];
      stale_[line] = false;
    });
    return n;
  }

  void join(thread& t) { pollers_.push_back(&t); }
  void leave(thread& t) { std::erase(pollers_, &t); }

 private:
  template <class F>
  void for_each_line(uint64_t addr, uint64_t bytes, F&& f) {
    if (bytes == 0) return;
    for (uint64_t l = (addr - base_) / line_bytes; l <= (addr - base_ + bytes - 1) / line_bytes; ++l) f(l);
  }

  uint64_t base_, version_ = 0, accesses_ = 0;
  std::vector<bool> stale_;
  std::vector<thread*> pollers_;
};

}  // namespace ggas::cpu
