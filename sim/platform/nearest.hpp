// SPDX-License-Identifier: Apache-2.0
// Which word of a list a misspelled one may have meant.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace ggas::sim {

// Letters to insert, remove or replace until `a` is `b`.
inline size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // of the first letters of a, to each beginning of b
  std::iota(row.begin(), row.end(), size_t{0});
  for (const char letter : a) {
    size_t diagonal = row[0]++;
    for (size_t i = 0; i < b.size(); ++i) {
      const size_t replaced = diagonal + (letter == b[i] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({row[i] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

// The first of the nearest ones; empty where the list is.
template <class Words>
std::string nearest(std::string_view word, const Words& all) {
  std::string best;
  size_t least = ~size_t{0};
  for (const auto& one : all)
    if (const size_t apart = letters_apart(word, one); apart < least) {
      least = apart;
      best = std::string(one);
    }
  return best;
}

}  // namespace ggas::sim
