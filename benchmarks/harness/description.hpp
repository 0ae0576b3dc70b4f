// SPDX-License-Identifier: Apache-2.0
// What is said of a benchmark, whichever program runs it.
#pragma once

#include <vector>

namespace ggas::bench {

struct variant_info {
  const char* name;
  const char* text;
};

struct description {
  const char* name;
  const char* text;    // one line
  const char* params;  // keys of params
  std::vector<variant_info> variants;
  bool needs_nic = false;  // reads NIC counters: provider sim or hw
  bool needs_peer = true;  // at least two nodes
};

}  // namespace ggas::bench
