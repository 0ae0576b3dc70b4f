// SPDX-License-Identifier: Apache-2.0
// Messages of vfio-user, read from and written to a stream of bytes. Nothing here trusts the bytes: a breach of the
// protocol's framing is an error with a text, and the stream cannot be used any more.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/vfio_user/protocol.hpp"

namespace ggas::device {

// A file descriptor that is closed with its owner.
class file {
 public:
  explicit file(int fd = -1) : fd_(fd) {}
  file(file&& other) noexcept : fd_(other.release()) {}
  file& operator=(file&& other) noexcept;
  ~file();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

struct message {
  wire::header head{};
  std::vector<std::byte> body;
  std::vector<file> files;

  wire::command command() const { return static_cast<wire::command>(head.command); }
  bool reply() const { return (head.flags & wire::type_mask) == wire::type_reply; }

  // The fixed part of the body; the error says that the body is too short.
  template <class T>
  std::expected<T, std::string> fixed() const {
    T value;
    if (body.size() < sizeof value) return std::unexpected(too_short(sizeof value));
    std::memcpy(&value, body.data(), sizeof value);
    return value;
  }
  // What follows a fixed part.
  template <class T>
  std::span<const std::byte> behind() const {
    return std::span(body).subspan(std::min(body.size(), sizeof(T)));
  }

 private:
  std::string too_short(size_t want) const;
};

// Cuts a stream into messages. Bytes and descriptors come as the socket gives them.
class message_reader {
 public:
  // Adds the result of one read of the socket. Bytes with descriptors end a read. So the descriptors belong to the last
  // message that begins or continues in this read. The error: the stream is broken.
  std::expected<void, std::string> feed(std::span<const std::byte> bytes, std::vector<file> files);
  // The next whole message.
  std::optional<message> next();

 private:
  std::expected<void, std::string> check(const wire::header& head) const;

  std::vector<std::byte> buffer_;
  std::vector<file> files_;  // of the message that is not whole yet
  std::deque<message> done_;
};

// A message with that body as bytes.
std::vector<std::byte> encode(const wire::header& head, std::span<const std::byte> body);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace ggas::device
