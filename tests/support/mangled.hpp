// SPDX-License-Identifier: Apache-2.0
// Random damage of a text, for tests of parsers: the parser accepts it or reports the error, and never crashes (run
// them under the sanitizers too). The same for the same seed on any computer.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace ggas::test {

// What readers of numbers and of TOML trip over.
inline constexpr std::string_view stumbling_blocks[] = {
    // clang-format off
    "[", "]", "{", "}", "=", ":", ",", "\"", "'''", "#", ".", "-", "+", " ", "\t", "\r", "\n", "\xff", {"\0", 1}, "0x",
    "nan", "inf", "e999", "1e308", "9223372036854775807", "18446744073709551616", "1979-05-27", "[x]\n", "[[x]]\n",
    // clang-format on
};

// One to `most` changes: a letter, a part left out, one of `blocks` put in, a part said twice.
inline std::string mangled(std::string text, std::mt19937& random, unsigned most,
                           std::span<const std::string_view> blocks = stumbling_blocks) {
  const auto below = [&](size_t n) { return n ? random() % n : 0; };
  for (size_t changes = 1 + below(most); changes--;) {
    const size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(40));
        break;
      case 2:
        text.insert(at, blocks[below(blocks.size())]);
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(60)));
    }
  }
  return text;
}

}  // namespace ggas::test
