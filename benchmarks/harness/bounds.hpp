// SPDX-License-Identifier: Apache-2.0
// What a figure is compared with.
#pragma once

#include <string>

namespace ggas::bench {

// A published measurement this figure may be compared with.
struct reference {
  double value;
  std::string source;
};

// What physics or the platform allows at best, or a goal that was set.
struct limit {
  double value;
  bool at_most = true;  // a ceiling (bandwidth); false: a floor (latency)
  std::string source;
  bool goal = false;  // can be missed and surpassed
};

}  // namespace ggas::bench
