// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/sim/bound.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace ggas::library::sim {

const userlib::file& bound_memory::descriptor() {
  if (!file_) file_ = userlib::file(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  return file_;
}

// By the process's list of its memory, in ascending order: a copy by the descriptor would not mind protection.
std::string bound_memory::obstacle(const void* start, uint64_t bytes) {
  uint64_t next = reinterpret_cast<uint64_t>(start);
  if (bytes > UINT64_MAX - next) return "ends behind the last address";
  const uint64_t end = next + bytes;
  std::ifstream list("/proc/self/maps");
  for (std::string line; next < end && std::getline(list, line);) {
    uint64_t from = 0, to = 0;
    char may[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, may) != 3 || to <= next) continue;
    if (from > next || may[0] != 'r' || may[1] != 'w') break;
    next = to;
  }
  return next >= end ? "" : "is not all there, to be read and written";
}

bool bound_memory::holds(uint64_t offset) const {
  return std::ranges::any_of(parts_, [&](const part& p) { return p.offset == offset; });
}

void bound_memory::remove(uint64_t offset) {
  std::erase_if(parts_, [&](const part& p) { return p.offset == offset; });
}

std::optional<uint64_t> bound_memory::offset_of(const void* at, uint64_t bytes) const {
  const auto a = reinterpret_cast<uint64_t>(at);
  for (const part& p : parts_) {
    const auto begin = reinterpret_cast<uint64_t>(p.start);
    if (a >= begin && a - begin <= p.bytes && bytes <= p.bytes - (a - begin)) return p.offset + (a - begin);
  }
  return {};
}

}  // namespace ggas::library::sim
