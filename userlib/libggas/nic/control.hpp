// SPDX-License-Identifier: Apache-2.0
// Memory of this rank that other ranks write and it reads: the segments that it may access, the ranks that are ready
// for each group, the messages that were taken. An entry is written by one put of 32 bytes, so it is complete or
// absent.
#pragma once

#include <optional>

#include "userlib/libggas/nic/access.hpp"

namespace ggas::library::nic {

// A segment of a rank that this one may reach.
struct alignas(32) segment_entry {
  uint64_t nla, bytes, slots;  // slots: network logical address of slot 0
  uint64_t there;              // 0: it is not
  static constexpr uint64_t on_host = 1, on_gpu = 2;

  static uint64_t at(std::optional<uint64_t> place_on_gpu) {
    return place_on_gpu ? on_gpu | *place_on_gpu << 2 : on_host;
  }
  std::optional<uint64_t> place_on_gpu() const volatile {
    return (there & 3) == on_gpu ? std::optional(there >> 2) : std::nullopt;
  }
};

// A group that a rank has begun to commit, at its place in that rank's table.
struct alignas(32) group_entry {
  uint64_t key;    // of its set of members
  uint64_t id;     // given by the leader, its lowest rank; 0: none
  uint64_t board;  // network logical address
  uint64_t unused;
};

// An atomic's answer, as the NIC writes it.
struct alignas(16) result_record {
  uint64_t old, cookie;
};

// Where things are in the control memory of a rank in a job of `ranks`.
struct control_layout {
  uint64_t ranks;

  static constexpr uint64_t result() { return 0; }
  static constexpr uint64_t landed() { return 32; }  // of a read that pushes writes to the GPU before it
  uint64_t taken(unsigned of) const { return 64 + of * sizeof(uint64_t); }  // messages that rank `of` has taken
  uint64_t groups(unsigned of) const { return up(taken(unsigned(ranks))) + of * (GGAS_GROUPS * sizeof(group_entry)); }
  uint64_t segments(unsigned of) const {
    return up(groups(unsigned(ranks))) + of * (GGAS_SEGMENTS * sizeof(segment_entry));
  }
  uint64_t bytes() const { return segments(unsigned(ranks)); }

 private:
  static constexpr uint64_t up(uint64_t n) { return (n + 63) / 64 * 64; }
};

}  // namespace ggas::library::nic
