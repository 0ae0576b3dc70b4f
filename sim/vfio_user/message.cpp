// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/message.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace ggas::device {

file& file::operator=(file&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

file::~file() {
  if (fd_ >= 0) ::close(fd_);
}

std::string message::too_short(size_t want) const {
  return fmt::format("command {}: {} bytes of body, at least {} expected", head.command, body.size(), want);
}

std::expected<void, std::string> message_reader::check(const wire::header& head) const {
  if (head.bytes < sizeof head || head.bytes > wire::message_limit)
    return std::unexpected(
        fmt::format("message of {} bytes: must have {} to {}", head.bytes, sizeof head, wire::message_limit));
  const uint32_t type = head.flags & wire::type_mask;
  if (type != wire::type_command && type != wire::type_reply)
    return std::unexpected(fmt::format("message of type {}: neither command nor reply", type));
  return {};
}

std::expected<void, std::string> message_reader::feed(std::span<const std::byte> bytes, std::vector<file> files) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  size_t at = 0;
  message* last = nullptr;
  while (buffer_.size() - at >= sizeof(wire::header)) {
    message m;
    std::memcpy(&m.head, buffer_.data() + at, sizeof m.head);
    if (auto r = check(m.head); !r) return r;
    if (buffer_.size() - at < m.head.bytes) break;
    const auto begin = buffer_.begin() + static_cast<ptrdiff_t>(at + sizeof m.head);
    m.body.assign(begin, begin + static_cast<ptrdiff_t>(m.head.bytes - sizeof m.head));
    m.files = std::exchange(files_, {});
    at += m.head.bytes;
    last = &done_.emplace_back(std::move(m));
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(at));
  auto& owner = buffer_.empty() && last ? last->files : files_;
  std::ranges::move(files, std::back_inserter(owner));
  if (owner.size() > wire::file_limit)
    return std::unexpected(
        fmt::format("{} file descriptors in one message: at most {}", owner.size(), wire::file_limit));
  return {};
}

std::optional<message> message_reader::next() {
  if (done_.empty()) return std::nullopt;
  message m = std::move(done_.front());
  done_.pop_front();
  return m;
}

std::vector<std::byte> encode(const wire::header& head, std::span<const std::byte> body) {
  wire::header h = head;
  h.bytes = static_cast<uint32_t>(sizeof h + body.size());
  std::vector<std::byte> out;
  out.reserve(h.bytes);
  std::ranges::copy(bytes_of(h), std::back_inserter(out));
  std::ranges::copy(body, std::back_inserter(out));
  return out;
}

}  // namespace ggas::device
