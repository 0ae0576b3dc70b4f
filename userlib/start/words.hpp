// SPDX-License-Identifier: Apache-2.0
// What the two files of the bootstrap share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ggas::userlib::words {

// Rank 0 knows best what is wrong: the others wait a little longer, so that it can see them.
inline constexpr std::chrono::milliseconds grace{500};

// Why a process cannot take a file descriptor of another one.
inline constexpr const char* no_room = "has no room for another file descriptor (ulimit -n)";

inline std::string seconds(uint64_t ns) {
  const std::string s = std::to_string(static_cast<double>(ns) * 1e-9);
  return s.substr(0, s.find('.') + 2) + " s";
}

// "rank 3", "ranks 1, 2"
inline std::string ranks(const std::vector<int>& which) {
  std::string text = which.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < which.size(); ++i) text += (i ? ", " : "") + std::to_string(which[i]);
  return text;
}

}  // namespace ggas::userlib::words
