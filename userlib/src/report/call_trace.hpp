// SPDX-License-Identifier: Apache-2.0
// The trace of the calls of a cluster's kernels, as a file for ui.perfetto.dev (docs/tracing.md). On where the variable
// GGAS_TRACE names a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ggas/detail/platform/call.hpp"

namespace ggas::userlib {

constexpr uint64_t traced_events = uint64_t{1} << 18;  // of a node that are kept: the last ones

// A node's ring when its kernels have ended.
struct traced_node {
  int node;
  uint64_t events;  // that there were; more than the ring holds: the first are gone
  std::vector<call_event> ring;
};

// The file of a cluster's trace; empty: calls are not traced. The second cluster of a process gets "name.2.json" of
// "name.json"; rank r of a job (-1: none) "name.rank<r>.json".
std::filesystem::path next_trace_file(int rank);
// Empty, or why the file is not whole.
std::string write_call_trace(const std::filesystem::path& file, const std::vector<traced_node>& nodes);

}  // namespace ggas::userlib
