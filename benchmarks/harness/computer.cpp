// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/computer.hpp"

#include <sys/utsname.h>

#include <fstream>

namespace ggas::bench {

std::string computer_text() {
  std::ifstream in("/proc/cpuinfo");
  std::string processor = "unknown processor";
  for (std::string text; std::getline(in, text);) {
    if (!text.starts_with("model name")) continue;
    processor = text.substr(text.find(':') + 2);
    break;
  }
  utsname kernel{};
  uname(&kernel);
  return processor + ", Linux " + kernel.release;
}

}  // namespace ggas::bench
