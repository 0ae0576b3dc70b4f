// SPDX-License-Identifier: Apache-2.0
// The program's own memory as segments. It is not moved: the simulator gets a descriptor of this process's memory
// (/proc/self/mem), by which it reads and writes the bytes when a NIC does. In the node they have addresses in a part
// of the rank's memory that nothing else uses, always from a whole page on, so that times do not depend on their
// address in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userlib/start/message.hpp"

namespace ggas::library::sim {

class bound_memory {
 public:
  struct part {
    const std::byte* start;
    uint64_t bytes, offset;  // offset: in the rank's memory
  };
  // The file of this process's memory; empty, with errno, if the system gives none.
  const userlib::file& descriptor();
  // Not empty: why NICs cannot reach these bytes.
  static std::string obstacle(const void* start, uint64_t bytes);

  void add(const part& p) { parts_.push_back(p); }
  bool holds(uint64_t offset) const;
  void remove(uint64_t offset);
  // Where bytes are in the rank's memory; of several parts that have them all, the first.
  std::optional<uint64_t> offset_of(const void* at, uint64_t bytes) const;

 private:
  userlib::file file_;
  std::vector<part> parts_;
};

}  // namespace ggas::library::sim
