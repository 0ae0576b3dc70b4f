// SPDX-License-Identifier: Apache-2.0
// Expected results of the divergent loops, for any rig. Rig: nodes(), read<T>(node, offset, n), write(node, offset,
// vector) of user memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/gpu_api/divergent.cuh"

namespace ggas::divergent {

inline bool reads(int number) { return number >= first_that_reads; }

// The cells of a node before a call that reads: the value that is asked for there, and where it is not, none.
inline std::vector<std::vector<words>> cells_with_values(uint64_t threads, uint64_t items, int nodes, call what) {
  std::vector<std::vector<words>> all(static_cast<size_t>(nodes), std::vector<words>(cells_of(threads, items)));
  for_each_probe(threads, items, nodes,
                 [&](const probe& at) { all[static_cast<size_t>(at.owner)][at.cell] = left_by(what, at.value); });
  return all;
}

// Cells that are not as `want` says.
inline uint64_t wrong_cells(const std::vector<words>& got, const std::vector<words>& want) {
  uint64_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) wrong += std::memcmp(&got[i], &want[i], sizeof(words)) != 0;
  return wrong;
}

// Every key occurs once, in the part of its owner, and every slot between its hashed slot and its own is occupied.
// `parts`: the parts of all nodes.
inline void check_table(const std::vector<std::vector<uint64_t>>& parts, uint64_t threads, uint64_t keys) {
  const int nodes = static_cast<int>(parts.size());
  const uint64_t mask = parts[0].size() - 1;
  uint64_t held = 0, intruders = 0, lost = 0;
  for (int n = 0; n < nodes; ++n) {
    for (uint64_t key : parts[static_cast<size_t>(n)]) {
      held += key != 0;
      intruders += key != 0 && owner_of(key, nodes) != n;
    }
  }
  for (uint64_t t = 0; t < threads; t += 2) {
    for (uint64_t k = 0; k < keys; ++k) {
      const uint64_t key = key_of(t, keys, k);
      const auto& part = parts[static_cast<size_t>(owner_of(key, nodes))];
      uint64_t at = key & mask;
      while (part[at] != 0 && part[at] != key) at = (at + 1) & mask;
      lost += part[at] == 0;
    }
  }
  EXPECT_EQ(intruders, 0u) << "keys that lie at another node";
  EXPECT_EQ(lost, 0u) << "keys that are not found";
  EXPECT_EQ(held, (threads + 1) / 2 * keys) << "keys in the table";
}

}  // namespace ggas::divergent
