// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the heap: random calls, and a list of the blocks that must be allocated. Number of calls:
// GGAS_TEST_SEQUENCES; first seed: GGAS_SEED.
#pragma once

#include <iterator>
#include <map>
#include <random>
#include <string>

#include "ggas/heap.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::heap_rig {

// Makes calls at random and says what is wrong with an answer.
class player {
 public:
  player(heap& h, heap_config range, uint64_t seed) : heap_(h), range_(range), random_(seed) {}

  // One call. What it returned becomes part of digest(), the same for the one that makes the same calls.
  std::string step() {
    const bool free = !book_.empty() && below(100) < (book_.size() > 200 ? 70 : 45);
    return free ? give_back(std::next(book_.begin(), static_cast<long>(below(book_.size())))) : take();
  }
  std::string give_all_back() {
    std::string wrong;
    while (wrong.empty() && !book_.empty()) wrong = give_back(book_.begin());
    const heap_statistics s = heap_.statistics();
    if (wrong.empty() && (s.used != 0 || s.allocations != 0 || s.free_blocks != 1 || s.largest_free != s.bytes))
      wrong = "something has leaked";
    return wrong;
  }
  const std::map<uint64_t, uint64_t>& book() const { return book_; }
  uint64_t last() const { return last_; }  // offset of the last allocation; 0: the last call made none
  uint64_t digest() const { return digest_; }
  uint64_t refused() const { return refused_; }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  std::string take() {
    const uint64_t bytes = 1 + random_() % (uint64_t{1} << (1 + below(16)));
    const uint64_t alignment = below(4) == 0 ? uint64_t{1} << below(14) : heap::unit;
    std::string why;
    const auto at = heap_.allocate(bytes, why, alignment);
    last_ = at.value_or(0);
    digest_ = digest_ * 0x9e3779b97f4a7c15 + last_ + 1;
    if (!at) {
      ++refused_;
      const bool reported = why.find(std::to_string(bytes) + " bytes") != std::string::npos;
      return reported && heap_.statistics().largest_free < bytes + alignment ? "" : "refused without need: " + why;
    }
    const auto next = book_.lower_bound(*at);
    const bool hits = (next != book_.end() && *at + bytes > next->first) ||
                      (next != book_.begin() && std::prev(next)->first + std::prev(next)->second > *at);
    if (hits || *at % alignment != 0 || *at < range_.begin || *at + bytes > range_.end)
      return "a block of " + std::to_string(bytes) + " bytes at " + std::to_string(*at) + " does not belong there";
    book_[*at] = bytes;
    return heap_.statistics().allocations == book_.size() ? "" : "wrong number of blocks";
  }
  std::string give_back(std::map<uint64_t, uint64_t>::iterator block) {
    const uint64_t at = block->first;
    last_ = 0;
    book_.erase(block);
    return heap_.free(at);
  }

  heap& heap_;
  const heap_config range_;
  std::mt19937_64 random_;
  std::map<uint64_t, uint64_t> book_;
  uint64_t last_ = 0, digest_ = 0, refused_ = 0;
};

}  // namespace ggas::heap_rig
