// SPDX-License-Identifier: Apache-2.0
#include "userlib/start/launcher.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace ggas::userlib {

namespace {

std::string contents(int process, const char* file) {
  std::ifstream in("/proc/" + std::to_string(process) + "/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool started_with(int process, std::string_view variable) {
  std::istringstream all(contents(process, "environ"));
  for (std::string one; std::getline(all, one, '\0');)
    if (one.starts_with(variable) && one.substr(variable.size(), 1) == "=") return true;
  return false;
}

// The parent of another process; 0: not known.
int parent_of(int process) {
  const std::string stat = contents(process, "stat");  // number (name) state parent ...
  const size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 4 > stat.size() ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

// Which processes the numbers are of: containers count their own.
std::string numbering() {
  char text[PATH_MAX];
  const ssize_t n = readlink("/proc/self/ns/pid", text, sizeof text);
  std::string digits;
  for (ssize_t i = 0; i < n; ++i)
    if (text[i] >= '0' && text[i] <= '9') digits += text[i];
  return digits;
}

}  // namespace

std::string launcher_without(const char* variable) {
  int launcher = getppid();
  while (launcher > 1 && started_with(launcher, variable)) {
    const int parent = parent_of(launcher);
    if (parent <= 0) break;
    launcher = parent;
  }
  return std::to_string(launcher).append(1, '.').append(numbering());
}

}  // namespace ggas::userlib
