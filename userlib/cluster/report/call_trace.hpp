// SPDX-License-Identifier: Apache-2.0
// The trace of the calls of a cluster's kernels, as a file for ui.perfetto.dev (docs/tracing.md). Active if the
// variable GGAS_TRACE names a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ggas/detail/platform/call.hpp"

namespace ggas::userlib {

constexpr uint32_t traced_calls = uint32_t{1} << 17;  // of a node and a kind that have a place, a power of two

// A node's records when its kernels have ended, in any order, two kinds of as many; places without one are zero.
struct traced_node {
  int node;
  std::vector<call_record> records;
};

// The file of a cluster's trace, or an empty path if calls are not traced. If the name is "name.json", the second
// cluster of a process gets "name.2.json", and rank r of a job (-1: none) gets "name.rank<r>.json".
std::filesystem::path next_trace_file(int rank);
// Empty, or why the file is not whole.
std::string write_call_trace(const std::filesystem::path& file, const std::vector<traced_node>& nodes);

}  // namespace ggas::userlib
