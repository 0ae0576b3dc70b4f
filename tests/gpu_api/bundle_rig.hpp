// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of reductions over a bundle of channels: lengths around those of a slot and of the bundle,
// numbers of threads that differ from member to member, teams.
#pragma once

#include <bit>

#include "tests/gpu_api/allreduce_rig.hpp"

namespace ggas::test {

class Bundle : public Allreduce {
 protected:
  // The number of elements in a slot of a bundle, and in all its slots.
  template <class T>
  size_t in_slot() const {
    return std::bit_floor(shape().channel_bytes / 16) * 8 / sizeof(T);
  }
  template <class T>
  size_t in_bundle() const {
    return std::min<size_t>(shape().channels, detail::most_bundled) * in_slot<T>();
  }
  // Around what takes one channel more, and anything.
  template <class T>
  size_t some_length() {
    const size_t slot = in_slot<T>(), all = in_bundle<T>(), near = random_() % 3;
    switch (random_() % 4) {
      case 0:
        return slot * (1 + random_() % (all / slot)) + near - 1;
      case 1:
        return all + near - 1;
      case 2:
        return slot_elements<T>() + near - 1;
      default:
        return 1 + random_() % (all + slot);
    }
  }
  unsigned some_threads() {
    constexpr unsigned counts[] = {1, 7, 31, 32, 33, 64, 100, 128, 1024};
    return counts[random_() % (nodes() > 4 ? std::size(counts) - 1 : std::size(counts))];
  }
  // An id stands for the same members in every call.
  ggas_team some_team() {
    const ggas_team teams[] = {
        world(), {nodes() > 1, 1, std::max(nodes() - 1, 1), 1}, {0, 2, (nodes() + 1) / 2, 2}, {nodes() - 1, 1, 1, 3}};
    return teams[random_() % std::size(teams)];
  }

  // The number of the last exchange of channel `c` of all nodes, for a test that begins there; and what it is now.
  uint64_t& number_of(int node, uint64_t channel) {
    return *reinterpret_cast<uint64_t*>(cluster_->segment(node) + shape().channel_seq(0, channel));
  }
  // Every line of the first channels is as young as `from` at least.
  void expect_refreshed(uint64_t channels, uint64_t from) {
    const layout l = shape();
    for (int node = 0; node < nodes(); ++node) {
      for (int source = 0; source < nodes(); ++source) {
        for (uint64_t turn = 0; turn < channels * layout::channel_depth && source != node; ++turn) {
          const uint64_t slot = l.channel_slot(0, turn / 4, turn, static_cast<uint64_t>(source));
          const auto* const words = reinterpret_cast<const uint32_t*>(cluster_->segment(node) + slot);
          for (uint64_t i = 0; i < l.channel_bytes / 4; i += 4) {
            ASSERT_GE(words[i + 1], from) << "line " << i / 4 << " from " << source << " to " << node;
            ASSERT_EQ(words[i + 1], words[i + 3]);
          }
        }
      }
    }
  }

  // Slots of 128 lines and more, as bundles have.
  void renew() {
    cluster_config large = GetParam().config();
    large.segment_bytes = static_cast<size_t>(nodes()) << 22;
    make(large);
    ASSERT_GE(shape().channel_bytes / 16, 128u);
    ASSERT_GT(shape().channels, 4u);
  }
};

}  // namespace ggas::test
