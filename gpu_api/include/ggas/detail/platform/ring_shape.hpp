// SPDX-License-Identifier: Apache-2.0
// Addresses of the rings of docs/ring.md: at the same offset of every segment, one for each pair of nodes. Host and
// device.
#pragma once

#include "ggas/detail/platform/call.hpp"
#include "ggas/detail/platform/integers.hpp"

namespace ggas {

// What lies before the lines of a ring: the words of ring_shape.
struct alignas(16) ring_words {
  uint64_t claimed, taken, beginning[2], released[4];
};

// A value, the same on all nodes. All of its bytes are zero at first.
struct ring_shape {
  uint64_t at;          // offset in every segment, a multiple of 64
  uint32_t nodes;       // of the cluster
  uint32_t lines_log2;  // of each ring, 2 ... 28

  static constexpr uint64_t line_bytes = 16, data_bytes = 8, words_bytes = 64;

  GGAS_LAYOUT_FN uint64_t bytes() const { return nodes * pair_bytes(); }  // of every segment
  GGAS_LAYOUT_FN uint64_t lines() const { return uint64_t{1} << lines_log2; }
  // Largest record that fits at any position: the quarter where it begins may be written in part already.
  GGAS_LAYOUT_FN uint64_t most_lines() const { return lines() - lines() / 4 + 1; }
  GGAS_LAYOUT_FN uint64_t largest_record() const { return (most_lines() - 1) * data_bytes; }

  // Words of a sender: lines claimed of the ring at `receiver`, and, written by it, laps of a quarter that it has read.
  GGAS_LAYOUT_FN uint64_t claimed(int receiver) const { return pair(receiver); }
  GGAS_LAYOUT_FN uint64_t released(int receiver, uint64_t quarter) const {
    return pair(receiver) + words_bytes / 2 + quarter % 4 * 8;
  }
  // Words of a receiver: lines taken of the ring of `source`, and, written by that one, where a launch begins.
  GGAS_LAYOUT_FN uint64_t taken(int source) const { return pair(source) + 8; }
  GGAS_LAYOUT_FN uint64_t beginning(int source) const { return pair(source) + 16; }
  GGAS_LAYOUT_FN uint64_t line(int source, uint64_t position) const {
    return pair(source) + words_bytes + (position & (lines() - 1)) * line_bytes;
  }
  // Tag of the line at that position. A line of an earlier lap has another tag.
  GGAS_LAYOUT_FN uint32_t tag(uint64_t position) const { return static_cast<uint32_t>(position >> lines_log2) + 1; }

 private:
  GGAS_LAYOUT_FN uint64_t pair_bytes() const { return words_bytes + lines() * line_bytes; }
  GGAS_LAYOUT_FN uint64_t pair(int node) const { return at + static_cast<uint32_t>(node) * pair_bytes(); }
};

static_assert(sizeof(ring_words) == ring_shape::words_bytes);

}  // namespace ggas
