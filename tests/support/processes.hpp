// SPDX-License-Identifier: Apache-2.0
// Tests of programs of several processes: forks them, receives what they say, kills them, waits with a time-out. C++20.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ggas::test {

// File descriptors that this process has open.
size_t open_files();

// What a forked process has of its parent: a line to it.
class voice {
 public:
  explicit voice(int fd) : fd_(fd) {}
  void say(const std::string& line) const;

 private:
  int fd_;
};

class processes {
 public:
  using body = std::function<void(int rank, const voice& parent)>;
  using duration = std::chrono::milliseconds;

  processes() = default;
  processes(const processes&) = delete;
  ~processes();  // kills those that are left

  // Forks a process for each rank; it ends with status 0 when the body returns, 23 if memory has leaked (if the build
  // checks that).
  void start(int rank, const body& b);
  void start_all(int count, const body& b);
  int count() const { return static_cast<int>(all_.size()); }
  int pid(int rank) const;
  void kill(int rank);  // SIGKILL

  // The next line that a process says; "" if it ended without one, "(silent)" after the time-out.
  std::string next(int rank, duration timeout);
  // How a process ended: "0", "exit 3", "signal 9", or "(still there)" after the time-out.
  std::string ending(int rank, duration timeout);

 private:
  struct child {
    int rank, pid, pipe;
    std::string heard;
  };
  child& of(int rank);
  std::vector<child> all_;
};

}  // namespace ggas::test
