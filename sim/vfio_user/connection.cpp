// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace ggas::device {

namespace {

// The descriptors that came with some bytes.
std::vector<file> files_of(msghdr& m) {
  std::vector<file> files;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::array<int, wire::file_limit> fds{};
    std::memcpy(fds.data(), CMSG_DATA(c), std::min(n, fds.size()) * sizeof(int));
    for (size_t i = 0; i < std::min(n, fds.size()); ++i) files.emplace_back(fds[i]);
  }
  return files;
}

}  // namespace

connection::connection(file socket) : socket_(std::move(socket)) {
  fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

std::expected<void, std::string> connection::receive() {
  for (int turn = 0; turn < 16; ++turn) {
    std::array<std::byte, 16384> bytes;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * wire::file_limit)> control;
    iovec part{bytes.data(), bytes.size()};
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    m.msg_control = control.data();
    m.msg_controllen = control.size();
    const ssize_t n = recvmsg(socket_.get(), &m, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (n < 0) return std::unexpected(fmt::format("cannot read from the client: {}", std::strerror(errno)));
    std::vector<file> files = files_of(m);
    if (n == 0) return std::unexpected(std::string());
    if (m.msg_flags & MSG_CTRUNC)
      return std::unexpected(fmt::format("more than {} file descriptors in one message", wire::file_limit));
    if (auto r = reader_.feed(std::span(bytes).first(static_cast<size_t>(n)), std::move(files)); !r) return r;
  }
  return {};
}

std::expected<void, std::string> connection::send(const wire::header& head, std::span<const std::byte> body) {
  const auto bytes = encode(head, body);
  if (out_.size() + bytes.size() > unsent_limit)
    return std::unexpected(fmt::format("the client has not read the last {} bytes it was sent", out_.size()));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  return flush();
}

std::expected<void, std::string> connection::flush() {
  size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t n = ::send(socket_.get(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return std::unexpected(std::string());
    if (n < 0) return std::unexpected(fmt::format("cannot write to the client: {}", std::strerror(errno)));
    sent += static_cast<size_t>(n);
  }
  out_.erase(out_.begin(), out_.begin() + static_cast<ptrdiff_t>(sent));
  return {};
}

}  // namespace ggas::device
