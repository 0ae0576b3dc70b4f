// SPDX-License-Identifier: Apache-2.0
// Counters of a process for its transfers. Each thread has a separate part, which only it writes, so that a short
// transfer has no locked operation. The part of a thread that has ended goes to the next new one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ggas/ggas.h"

namespace ggas::library {

class tally {
 public:
  // A counter with one writer.
  struct counter {
    std::atomic<uint64_t> n{0};
    void add(uint64_t more) { n.store(n.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }
    uint64_t get() const { return n.load(std::memory_order_relaxed); }
  };
  struct alignas(64) part {
    counter writes, written_bytes, reads, read_bytes, notifications, collectives;
    std::array<counter, GGAS_QUEUES> posted;
    std::atomic<bool> taken{true};
    part* next = nullptr;
  };

  tally();
  tally(const tally&) = delete;
  // This thread's.
  part& here() noexcept { return of_thread_.id == id_ ? *of_thread_.mine : enlist(); }
  // The sum over all threads.
  uint64_t sum(counter part::*of) const {
    return sum([=](const part& p) -> const counter& { return p.*of; });
  }
  uint64_t posted(uint32_t queue) const {
    return sum([=](const part& p) -> const counter& { return p.posted[queue]; });
  }

 private:
  struct fast {
    uint64_t id;  // of the tally that the part is of; 0: none
    part* mine;
  };
  struct holder;
  // Without a constructor, so that looking is one load.
  static thread_local constinit inline fast of_thread_ [[gnu::tls_model("initial-exec")]]{};

  template <class Of>
  uint64_t sum(Of&& of) const {
    uint64_t all = 0;
    for (const part* p = first_.load(std::memory_order_acquire); p; p = p->next) all += of(*p).get();
    return all;
  }
  part& enlist() noexcept;
  std::shared_ptr<part> free_part();

  const uint64_t id_;
  std::atomic<part*> first_{nullptr};
  std::mutex lock_;  // of the list
  std::vector<std::shared_ptr<part>> parts_;
  part without_memory_;  // of threads for which there is none: not counted
};

}  // namespace ggas::library
