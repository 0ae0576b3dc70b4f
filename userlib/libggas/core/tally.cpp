// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/core/tally.hpp"

#include <exception>

namespace ggas::library {

// Releases a thread's part when the thread ends, or when it works for another process object, because the object may
// end first.
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

std::shared_ptr<tally::part> tally::free_part() {
  const std::lock_guard guard(lock_);
  for (const auto& p : parts_) {
    bool taken = false;
    if (p->taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) return p;
  }
  auto p = std::make_shared<part>();
  p->next = first_.load(std::memory_order_relaxed);
  parts_.push_back(p);
  first_.store(p.get(), std::memory_order_release);
  return p;
}

tally::part& tally::enlist() noexcept {
  static thread_local holder held;
  held.give();
  try {
    held.kept = free_part();
  } catch (const std::exception&) {
    return without_memory_;
  }
  of_thread_ = {id_, held.kept.get()};
  return *held.kept;
}

}  // namespace ggas::library
