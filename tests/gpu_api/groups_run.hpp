// SPDX-License-Identifier: Apache-2.0
// What the calls of groups must leave in memory, whichever rig runs them. Rig: nodes(), read<T>(node, offset, n).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/gpu_api/groups.cuh"

namespace ggas::groups {

inline std::vector<uint8_t> source_of(int node) {
  std::vector<uint8_t> all(area_bytes);
  for (uint64_t i = 0; i < area_bytes; ++i) all[i] = source_byte(node, i);
  return all;
}

// What a node gets by the calls of one number, of its own groups and of those of the neighbour that writes to it.
class expectation {
 public:
  expectation(int node, int nodes, acting who, unsigned groups)
      : right_((node + 1) % nodes), left_((node + nodes - 1) % nodes), who_(who), groups_(groups) {}

  std::vector<uint8_t> area(call what) const {
    std::vector<uint8_t> all(area_bytes);
    for (unsigned k = 0; k < groups_; ++k)
      if (acts(who_, k, groups_)) leave(what, share(static_cast<unsigned>(what), k, groups_), k, all.data());
    return all;
  }
  std::vector<uint8_t> taken() const {
    std::vector<uint8_t> all(area_bytes);
    for (unsigned k = 0; k < groups_; ++k) {
      const share s(static_cast<unsigned>(call::put_tagged), k, groups_);
      if (acts(who_, k, groups_)) copy(all.data() + s.begin + s.to, left_, s.begin + s.from, s.bytes / 2);
    }
    return all;
  }
  uint64_t word(call what, unsigned group) const {
    if (!acts(who_, group, groups_)) return 0;
    switch (what) {
      case call::put_signal:
      case call::put_signal_nbi:
        return 1;
      case call::atomic_fetch:
        return 3;
      case call::wait_until:
        return 5;
      default:
        return 0;
    }
  }

 private:
  static void copy(uint8_t* to, int node, uint64_t from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i) to[i] = source_byte(node, from + i);
  }
  void leave(call what, const share& s, unsigned group, uint8_t* all) const {
    uint8_t* const begin = all + s.begin;
    const uint64_t value = value_of(left_, static_cast<unsigned>(what), group);
    switch (what) {
      case call::put:
      case call::put_nbi:
      case call::put_signal:
      case call::put_signal_nbi:
      case call::put_notify:
        return copy(begin + s.to, left_, s.begin + s.from, s.bytes);
      case call::get:
      case call::get_nbi:
        return copy(begin + s.to, right_, s.begin + s.from, s.bytes);
      case call::put_value:
      case call::put_value_nbi:
      case call::put_value_notify:
        std::memcpy(begin, &value, sizeof value);
        return;
      case call::iput:
      case call::iput_nbi:
        for (uint64_t e = 0; e < s.elements(); ++e) copy(begin + 12 * e, left_, s.begin + 4 * e, 4);
        return;
      case call::iget:
      case call::iget_nbi:
        for (uint64_t e = 0; e < s.elements(); ++e) copy(begin + 4 * e, right_, s.begin + 12 * e, 4);
        return;
      case call::wait_until_all:
      case call::wait_until_all_masked:
        return copy(begin, left_, s.begin, s.bytes / 4 * 4);
      case call::put_tagged:  // lines are the library's affair: taken()
      case call::notify:
      case call::atomic_fetch:
      case call::wait_until:
        return;
    }
  }

  int right_, left_;
  acting who_;
  unsigned groups_;
};

template <class Rig>
void check_node(Rig& rig, const args& a, int node, unsigned groups) {
  for (const bench::outcome& o : rig.template read<bench::outcome>(node, a.outcomes(), threads)) {
    ASSERT_EQ(o.status, ggas_ok) << "node " << node << ", call " << o.begin_ns;
    ASSERT_EQ(o.errors, 0u) << "node " << node;
  }
  const expectation want(node, rig.nodes(), a.who, groups);
  EXPECT_EQ(rig.template read<uint8_t>(node, a.taken(), area_bytes), want.taken()) << "node " << node;
  for (unsigned c = 0; c < calls; ++c) {
    const auto what = static_cast<call>(c);
    if (what != call::put_tagged)
      EXPECT_TRUE(rig.template read<uint8_t>(node, a.target(c), area_bytes) == want.area(what))
          << "node " << node << ", call " << c;
    const auto words = rig.template read<uint64_t>(node, a.word(c, 0), groups);
    for (unsigned k = 0; k < groups; ++k)
      EXPECT_EQ(words[k], want.word(what, k)) << "node " << node << ", call " << c << ", group " << k;
  }
}

}  // namespace ggas::groups
