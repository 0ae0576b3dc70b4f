// SPDX-License-Identifier: Apache-2.0
// How the processes of a job prove to each other that they know its secret, without sending it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ggas::userlib {

class secret {
 public:
  // 32 hexadecimal digits; empty: the job has none. Nothing: it is neither.
  static std::optional<secret> read(std::string_view digits);

  explicit operator bool() const { return known_; }
  // Eight bytes that only those can make who know the secret: SipHash-2-4 of the words.
  std::string proof(std::string_view words) const;

 private:
  bool known_ = false;
  uint64_t key_[2] = {};
};

// 16 bytes that no process has seen before.
std::string nonce();
// The same bytes, in a time that says nothing of them.
bool equal_bytes(std::string_view a, std::string_view b);

}  // namespace ggas::userlib
