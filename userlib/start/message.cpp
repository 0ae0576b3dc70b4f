// SPDX-License-Identifier: Apache-2.0
#include "userlib/start/message.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <thread>
#include <vector>

namespace ggas::userlib {

namespace {

// What travels before the bytes. Sockets of type SOCK_SEQPACKET keep a message in one piece.
struct header {
  uint32_t magic;
  uint16_t version;
  uint16_t type;
  int32_t rank, size;
  uint64_t round;
  char what[message::most_what];
};
constexpr uint32_t magic = 0x53414747;  // "GGAS"
constexpr uint16_t version = 2;

constexpr size_t most_handles = 4;  // that are received; all but one are garbage
union control {
  cmsghdr align;
  char bytes[CMSG_SPACE(most_handles * sizeof(int))];
};

// ok: something may be sent or received. What a process has said before it ended comes first.
io wait_for(const file& f, short events, deadline until, const file& process) {
  for (;;) {
    pollfd p[2] = {{f.fd(), events, 0}, {process.fd(), POLLIN, 0}};  // -1: poll passes over it
    const int n = poll(p, 2, milliseconds_to(until));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return io::timed_out;
    if (p[0].revents || poll(p, 1, 0) > 0) return io::ok;
    return io::ended;
  }
}

std::vector<file> handles_of(msghdr& m) {
  std::vector<file> handles;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      handles.emplace_back(fd);
    }
  }
  return handles;
}

// Fills m from a message of n bytes; false: it is none.
bool decode(const char* data, size_t n, message& m) {
  header h;
  if (n < sizeof h) return false;
  std::memcpy(&h, data, sizeof h);
  if (h.magic != magic || h.version != version || h.type > static_cast<uint16_t>(message::kind::stop)) return false;
  m.type = static_cast<message::kind>(h.type);
  m.rank = h.rank;
  m.size = h.size;
  m.round = h.round;
  m.what.assign(h.what, std::find(h.what, h.what + sizeof h.what, '\0'));
  m.bytes.assign(data + sizeof h, n - sizeof h);
  return true;
}

}  // namespace

file::~file() {
  if (fd_ >= 0) close(fd_);
}

file file::copy_of(int fd) { return file(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

deadline after(uint64_t ns) {
  constexpr uint64_t most = std::chrono::nanoseconds(std::chrono::hours(20 * 24)).count();
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::min(ns, most));
}

int milliseconds_to(deadline until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, INT_MAX));
}

other_end other_end_of(const file& socket) {
  ucred who{};
  socklen_t length = sizeof who;
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return {};
  return {who.pid, who.uid};
}

file end_of(int pid) { return file(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

file own_end() {
  file self = end_of(getpid());
  int ends[2];  // the second one stays open until the process ends
  if (self || errno != ENOSYS || pipe2(ends, O_CLOEXEC) != 0) return self;
  return file(ends[0]);
}

io send(const file& to, const message& m, int handle, deadline until, const file& process) {
  header h{magic, version, static_cast<uint16_t>(m.type), m.rank, m.size, m.round, {}};
  m.what.copy(h.what, sizeof h.what);
  iovec parts[2] = {{&h, sizeof h}, {const_cast<char*>(m.bytes.data()), m.bytes.size()}};
  control c{};
  msghdr out{};
  out.msg_iov = parts;
  out.msg_iovlen = 2;
  if (handle >= 0) {
    out.msg_control = &c;
    out.msg_controllen = CMSG_SPACE(sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&out);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &handle, sizeof(int));
  }
  for (;;) {
    if (sendmsg(to.fd(), &out, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return io::ok;
    if (errno == EINTR) continue;
    if (errno == ETOOMANYREFS || errno == ENOBUFS) {
      // This user has as many descriptors in flight as one process may open, or the kernel is short of memory: waits
      // until others have received theirs.
      if (std::chrono::steady_clock::now() >= until) return io::timed_out;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else if (errno != EAGAIN) {
      return io::ended;
    } else if (const io ready = wait_for(to, POLLOUT, until, process); ready != io::ok) {
      return ready;
    }
  }
}

io receive(const file& from, message& m, deadline until, const file& process) {
  std::array<char, sizeof(header) + message::most_bytes> data;
  for (;;) {
    if (const io ready = wait_for(from, POLLIN, until, process); ready != io::ok) return ready;
    iovec part{data.data(), data.size()};
    control c{};
    msghdr in{};
    in.msg_iov = &part;
    in.msg_iovlen = 1;
    in.msg_control = &c;
    in.msg_controllen = sizeof c;
    const ssize_t n = recvmsg(from.fd(), &in, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    // ECONNRESET comes once, where the other end closed before it had read everything; what it had said comes next.
    if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNRESET)) continue;
    if (n < 0) return io::ended;
    std::vector<file> handles = handles_of(in);
    if (n == 0 && handles.empty()) return io::ended;
    if (in.msg_flags & MSG_TRUNC || handles.size() > 1) return io::garbage;
    if (!decode(data.data(), static_cast<size_t>(n), m)) return io::garbage;
    if (in.msg_flags & MSG_CTRUNC) return io::no_room;
    m.handle = handles.empty() ? file() : std::move(handles[0]);
    return io::ok;
  }
}

}  // namespace ggas::userlib
