// SPDX-License-Identifier: Apache-2.0
// What went wrong in a run, in order; the first few are kept in words.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace ggas::test {

class failures {
 public:
  template <class... A>
  void add(fmt::format_string<A...> f, A&&... args) {
    if (++count_ <= kept) text_ += fmt::format("[{}] ", now) + fmt::format(f, std::forward<A>(args)...) + "\n";
  }
  bool none() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  const std::string& text() const { return text_; }
  uint64_t now = 0;  // cycle, kept by the rig

 private:
  static constexpr uint64_t kept = 12;
  uint64_t count_ = 0;
  std::string text_;
};

}  // namespace ggas::test
