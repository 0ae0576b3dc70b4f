// SPDX-License-Identifier: Apache-2.0
// A queue of events in order of time; equal times in the order in which they were entered. No event is entered for a
// time before that of the last one taken: so a radix heap works, which with thousands of entries is faster than a
// binary one, and needs no sequence number.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace ggas::fabric {

template <class T>
class monotone_queue {
 public:
  static constexpr uint64_t never = ~uint64_t{0};

  void push(uint64_t at_ps, const T& value) {
    put({at_ps, value});
    least_ = std::min(least_, at_ps);
  }
  // Time of the next one; never: there is none.
  uint64_t next() const { return least_; }
  // Only if there is one.
  T pop() {
    if (taken_ == buckets_[0].size()) spread();
    const T out = buckets_[0][taken_++].value;
    if (taken_ < buckets_[0].size()) return out;
    buckets_[0].clear();
    taken_ = 0;
    used_ &= ~uint64_t{1};
    least_ = used_ == 0 ? never : least_of_[unsigned(std::countr_zero(used_))];
    return out;
  }

 private:
  struct entry {
    uint64_t at_ps;
    T value;
  };
  // By the highest bit in which a time differs from the last one. Equal times are in the same one.
  unsigned bucket_of(uint64_t at_ps) const { return unsigned(std::bit_width(at_ps ^ last_)); }
  void put(const entry& e) {
    const unsigned b = bucket_of(e.at_ps);
    least_of_[b] = buckets_[b].empty() ? e.at_ps : std::min(least_of_[b], e.at_ps);
    buckets_[b].push_back(e);
    used_ |= uint64_t{1} << b;
  }
  void spread() {
    const auto b = unsigned(std::countr_zero(used_));
    last_ = least_of_[b];
    used_ &= ~(uint64_t{1} << b);
    spreading_.swap(buckets_[b]);
    for (const entry& e : spreading_) put(e);
    spreading_.clear();
  }

  static constexpr unsigned most = 64;            // times are below 2^63
  std::array<std::vector<entry>, most> buckets_;  // 0: the last time
  std::array<uint64_t, most> least_of_{};
  std::vector<entry> spreading_;
  uint64_t used_ = 0;  // bits: buckets that are not empty
  uint64_t last_ = 0, least_ = never;
  size_t taken_ = 0;  // of bucket 0
};

}  // namespace ggas::fabric
