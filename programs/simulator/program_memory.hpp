// SPDX-License-Identifier: Apache-2.0
// Memory of a rank's program, in its process, as memory of its node.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "sim/mem/memory.hpp"
#include "userlib/start/message.hpp"

namespace ggas::simulator {

class program_memory final : public mem::backing {
 public:
  // process: a descriptor of its memory. Of a process that has ended the bytes are 0.
  program_memory(userlib::file process, uint64_t address, uint64_t bytes, std::function<void(const std::string&)> say)
      : process_(std::move(process)), address_(address), bytes_(bytes), say_(std::move(say)) {}
  void read(uint64_t at, std::span<std::byte> to) override;
  void write(uint64_t at, std::span<const std::byte> from) override;

 private:
  uint64_t within(uint64_t at, uint64_t bytes) const { return at >= bytes_ ? 0 : std::min(bytes, bytes_ - at); }
  void taken_away(uint64_t at);

  userlib::file process_;
  uint64_t address_, bytes_;
  std::function<void(const std::string&)> say_;
  bool said_ = false;
};

}  // namespace ggas::simulator
