// SPDX-License-Identifier: Apache-2.0
// Messages between ranks over TCP. Received data are not trusted: an invalid message, or one without the proof that its
// sender knows the secret, is `garbage`. Messages are authenticated, not encrypted.
#pragma once

#include <cstdint>
#include <string>

#include "userlib/start/message.hpp"
#include "userlib/start/secret.hpp"

namespace ggas::library::start {

using userlib::deadline;
using userlib::file;
using userlib::io;

struct frame {
  enum class kind : uint8_t { hello, challenge, proof, welcome, part, parts, stop };
  kind type = kind::hello;
  uint32_t rank = 0, size = 0;
  std::string bytes = {};
};

// A connection. Each end's frames are numbered, so that none can be left out, sent again or sent back.
class line {
 public:
  static constexpr size_t head_bytes = 20, proof_bytes = 8;
  static constexpr size_t most_unproved = 64;  // bytes of a frame of a unauthenticated peer

  line() = default;
  explicit line(file socket);
  const file& socket() const { return socket_; }
  explicit operator bool() const { return static_cast<bool>(socket_); }

  // From now on every frame bears a proof, and may have so many bytes. session: what both have said that is new.
  void prove(const userlib::secret& s, const std::string& session, bool is_rank_0, size_t most);
  io send(const frame& f, deadline until);
  // What has come. timed_out: not a whole frame yet.
  io take(frame& f);
  io receive(frame& f, deadline until);

 private:
  std::string proof_of(bool of_rank_0, uint64_t number, const std::string& text) const;
  io fill(size_t bytes);

  file socket_;
  std::string come_;
  size_t most_ = most_unproved;
  userlib::secret secret_;  // none: nothing is proved yet
  std::string session_;
  bool is_rank_0_ = false;
  uint64_t sent_ = 0, taken_ = 0;
};

// What both ends of a handshake make of their nonces and the secret.
struct handshake {
  std::string newcomers, rank_0s;  // nonces
  uint32_t rank, size;             // the newcomer's

  std::string session() const;
  std::string proof(const userlib::secret& s, bool of_rank_0) const;
};
inline constexpr size_t nonce_bytes = 16;

}  // namespace ggas::library::start
