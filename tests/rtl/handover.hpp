// SPDX-License-Identifier: Apache-2.0
// Tests the state that an owner leaves to the next one: a unit is run twice, with the former owner's secrets as the
// only difference, passed on as documented, and used by the next owner. From then on all outputs of the unit must be
// the same, bit by bit and cycle by cycle.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace ggas::test {

// What a unit showed.
class view {
 public:
  // Pins that mean something only while `valid`.
  template <class... Pins>
  void see(bool valid, const Pins&... pins) {
    words_.push_back(valid);
    if (valid) (add(pins), ...);
  }
  bool operator==(const view&) const = default;
  size_t size() const { return words_.size(); }
  size_t differs_at(const view& other) const {
    return size_t(std::ranges::mismatch(words_, other.words_).in1 - words_.begin());
  }

 private:
  template <class Pin>
  void add(const Pin& pin) {
    if constexpr (std::is_integral_v<Pin>)
      words_.push_back(pin);
    else
      for (size_t i = 0; i < sizeof(pin) / sizeof(pin[0]); ++i) words_.push_back(pin[i]);
  }
  std::vector<uint64_t> words_;
};

struct two_owners {
  view former, next;
};

// `play` runs the unit with a secret of the former owner.
template <class Play>
void expect_nothing_left(Play&& play) {
  const two_owners a = play(uint64_t{0}), b = play(0x5ec2'e7da'7a0b'5c3full);
  EXPECT_FALSE(a.former == b.former) << "the secret was not used";
  EXPECT_TRUE(a.next == b.next) << "the next owner sees it: word " << a.next.differs_at(b.next) << " of "
                                << a.next.size();
}

// The same test for a unit in its bench. The bench has the random generator `d`. `begin` gives the unit to an owner,
// and starts work with data that depend on `key`. `see` is called after each of a number of cycles. `end` takes the
// unit back.
template <class Bench, class Begin, class See, class End>
void expect_nothing_left(uint64_t seed, unsigned cycles, Begin&& begin, See&& see, End&& end) {
  constexpr unsigned turns = 20;
  for (unsigned turn = 0; turn < turns; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      const auto b = std::make_unique<Bench>();
      b->d = decltype(b->d)(seed + turn);
      two_owners seen;
      for (view* now : {&seen.former, &seen.next}) {
        begin(*b, now == &seen.former ? secret : 0, now == &seen.next);
        for (unsigned c = 0; c < cycles; ++c) {
          b->step();
          see(*b, *now);
        }
        end(*b);
      }
      return seen;
    });
}

}  // namespace ggas::test
