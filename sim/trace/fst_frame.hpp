// SPDX-License-Identifier: Apache-2.0
// An FST file that was not ended cannot be read, because its signals follow the last change. An incomplete file on a
// full disk is converted into a shorter file that can be read.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace ggas::trace {

// What every file of one model has in common: its head, and its signals, which stand at the end.
struct fst_frame {
  std::string head, signals;
  bool empty() const { return head.empty() || signals.empty(); }
};
// Reads a file that is complete. Empty if it is no such file.
fst_frame read_fst_frame(const std::string& path);

// Ends a file whose first `good` bytes were written without an error. The file then has the largest number of whole
// blocks of changes that leaves room for the signals, and then the signals. Returns the time of the last change in it,
// or nothing if there is no room for any change.
std::expected<uint64_t, std::string> end_fst_early(const std::string& path, uint64_t good, const fst_frame& frame);

}  // namespace ggas::trace
