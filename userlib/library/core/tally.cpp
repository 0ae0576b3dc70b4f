// SPDX-License-Identifier: Apache-2.0
#include "userlib/library/core/tally.hpp"

namespace ggas::library {

// Gives a thread's part back when the thread ends, or when it works for another process object: that may be gone
// before.
struct tally::holder {
  std::shared_ptr<part> kept;
  void give() {
    if (kept) kept->taken.store(false, std::memory_order_release);
    kept.reset();
    of_thread_ = {};
  }
  ~holder() { give(); }
};

namespace {
std::atomic<uint64_t> made{0};
}

tally::tally() : id_(++made) {}

tally::part& tally::enlist() {
  static thread_local holder held;
  held.give();
  const std::lock_guard guard(lock_);
  for (const auto& p : parts_) {
    bool taken = false;
    if (!p->taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) continue;
    held.kept = p;
    break;
  }
  if (!held.kept) {
    held.kept = std::make_shared<part>();
    held.kept->next = first_.load(std::memory_order_relaxed);
    parts_.push_back(held.kept);
    first_.store(held.kept.get(), std::memory_order_release);
  }
  of_thread_ = {id_, held.kept.get()};
  return *held.kept;
}

}  // namespace ggas::library
