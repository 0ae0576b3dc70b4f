// SPDX-License-Identifier: Apache-2.0
// Messages between processes of one computer over Unix-domain sockets, with a file descriptor if one is passed. Every
// wait has a deadline. Received data are not trusted: an invalid message is `garbage`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace ggas::userlib {

// A file descriptor that closes itself.
class file {
 public:
  file() = default;
  explicit file(int fd) : fd_(fd) {}
  file(file&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  file& operator=(file&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~file();
  static file copy_of(int fd);  // empty if it cannot be made
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

using deadline = std::chrono::steady_clock::time_point;
deadline after(uint64_t ns);  // from now; at most 20 days, which stand for ever

struct message {
  enum class kind : uint16_t { hello, challenge, proof, welcome, part, stop };
  static constexpr size_t most_bytes = 8192, most_what = 48;

  kind type = kind::hello;
  int rank = 0, size = 0;  // of the sender; of a part: whose it is
  uint64_t round = 0;      // exchanges of the sender before
  std::string what = {};   // what the exchange is for
  std::string bytes = {};
  file handle = {};
};

// ended: the other process closed its end; no_room: this process has no room for another file descriptor.
enum class io { ok, timed_out, ended, garbage, no_room };

// The process number at the other end of a socket; 0 if it is not known here (containers with their own numbers).
struct other_end {
  int pid = 0;
  unsigned user = ~0u;
};
other_end other_end_of(const file& socket);
// A file to poll that becomes readable when a process ends. Empty if the kernel has none (before Linux 5.3) or no
// descriptor is free.
file end_of(int pid);
// The same for this process, for use by others. It is not empty where the kernel, or valgrind before 3.21, has no such
// files. Then it is a pipe, which children that this process forks keep open.
file own_end();

// `process`: end_of() the one at the other end. A child of its may have the socket open for longer.
io send(const file& to, const message& m, int handle, deadline until, const file& process = {});
io receive(const file& from, message& m, deadline until, const file& process = {});

// How long poll() may wait: 0 once the deadline has passed.
int milliseconds_to(deadline until);

}  // namespace ggas::userlib
