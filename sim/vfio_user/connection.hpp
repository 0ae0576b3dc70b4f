// SPDX-License-Identifier: Apache-2.0
// One client of a device: a UNIX stream socket that never blocks the server.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/vfio_user/message.hpp"

namespace ggas::device {

class connection {
 public:
  explicit connection(file socket);

  int fd() const { return socket_.get(); }
  // Takes what has arrived, at most some hundred kilobytes. The error: the client is gone ("" as text) or broke a rule.
  std::expected<void, std::string> receive();
  std::optional<message> next() { return reader_.next(); }

  // Queues a message. The error: the client does not take what it is sent.
  std::expected<void, std::string> send(const wire::header& head, std::span<const std::byte> body);
  // Sends what the socket takes now.
  std::expected<void, std::string> flush();
  bool unsent() const { return !out_.empty(); }

 private:
  static constexpr size_t unsent_limit = 16 << 20;  // bytes; a client that reads never has so much before it
  file socket_;
  message_reader reader_;
  std::vector<std::byte> out_;
};

}  // namespace ggas::device
