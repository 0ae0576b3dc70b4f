// SPDX-License-Identifier: Apache-2.0
#include "userlib/start/launcher.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
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

// The ranks that have ended, as ggas-run writes them to a socket that its processes inherit. They stay there for the
// others. A process that has closed the socket may have another file at its number: the inode shows that.
std::vector<int> ended_ranks() {
  const char* const text = std::getenv("GGAS_ENDED");
  int fd = -1;
  unsigned long inode = 0;
  struct stat s {};
  if (!text || std::sscanf(text, "%d:%lu", &fd, &inode) != 2) return {};
  if (fstat(fd, &s) != 0 || !S_ISSOCK(s.st_mode) || s.st_ino != inode) return {};
  std::string words(8192, 0);  // 1024 ranks
  words.resize(
      static_cast<size_t>(std::max<ssize_t>(0, recv(fd, words.data(), words.size(), MSG_PEEK | MSG_DONTWAIT))));
  std::istringstream all(words);
  return {std::istream_iterator<int>(all), {}};
}

}  // namespace

int ended_of(const std::vector<int>& numbers, int size) {
  const char* const launched = std::getenv("GGAS_SIZE");
  const int first = size - (launched ? std::atoi(launched) : 0);
  if (first != 0 && first != 1) return -1;  // another job than that of the launcher
  if (first == 1 && numbers.size() == static_cast<size_t>(size - 1)) return -1;  // no rank waits, only a simulator
  for (const int r : ended_ranks())
    if (std::ranges::count(numbers, r + first)) return r;
  return -1;
}

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
