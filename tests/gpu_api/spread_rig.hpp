// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of broadcast, allgather and alltoall: vectors at places that differ from node to node, teams of
// every kind, values that distinguish round, source and place.
#pragma once

#include <functional>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {

inline uint32_t value_of(uint32_t round, int from, int to, size_t i) {
  return (round * 1000003u + static_cast<uint32_t>(from) * 8191u + static_cast<uint32_t>(to) * 131u +
          static_cast<uint32_t>(i)) *
             2654435761u |
         1u;
}

class spread_test : public api_test {
 public:
  static constexpr uint64_t in_offset = 0, out_offset = 320 * 1024;

  void SetUp() override {
    cluster_config cfg = GetParam().config();
    const bool few = simulated() && cfg.nodes <= 2;
    cfg.segment_bytes = (few ? 2u : 4u * static_cast<unsigned>(cfg.nodes)) << 20;  // 4: slots that hold rows
    make(cfg);
  }

  // Words of a part: around a line, a slot, what goes in lines at all, odd.
  std::vector<size_t> lengths() const {
    if (simulated()) return {1, 7, 300};
    const layout l = layout::of(static_cast<uint64_t>(nodes()), cluster_->device_context(0).reserved);
    const size_t slot = l.channel_bytes / 8;
    return {1, 2, 3, 31, slot - 1, slot, slot + 1, 3 * slot + 1, 1023, 1024, 1025, 1031, 4099};
  }

  // The teams that contain the calling node: all nodes, those of even and of odd number, pairs, the node alone.
  static std::vector<std::function<ggas_team()>> teams() {
    return {[] { return ggas_world(); },
            [] {
              const int odd = ggas_node() % 2;
              return ggas_team_strided(1, odd, 2, (ggas_nodes() - odd + 1) / 2);
            },
            [] {
              const int first = ggas_node() / 2 * 2;
              return ggas_team_strided(2, first, 1, first + 1 < ggas_nodes() ? 2 : 1);
            },
            [] { return ggas_team_strided(3, ggas_node(), 1, 1); }};
  }

  // Device: a vector `shift` words after an aligned place, plus the node's own number.
  uint32_t* place(uint64_t offset, size_t shift) const {
    return ggas_pointer_of_node<uint32_t>(ggas_node(), base() + offset) + shift + static_cast<size_t>(ggas_node());
  }
  uint32_t* in(size_t shift = 0) const { return place(in_offset, shift); }
  uint32_t* out(size_t shift = 0) const { return place(out_offset, shift); }
};

}  // namespace ggas::test

#define GGAS_SPREAD_SUITE(suite)                                                      \
  class suite : public ggas::test::spread_test {};                                    \
  INSTANTIATE_TEST_SUITE_P(Provider, suite, testing::ValuesIn(ggas::test::targets()), \
                           [](const auto& i) { return i.param.name(); })
