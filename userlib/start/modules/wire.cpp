// SPDX-License-Identifier: Apache-2.0
#include "userlib/start/modules/wire.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace ggas::library::start {

namespace {

constexpr uint32_t magic = 0x54474747;  // "GGGT"
constexpr uint32_t version = 1;

void put(std::string& to, uint32_t word) {
  for (int i = 0; i < 4; ++i) to += static_cast<char>(word >> (8 * i));
}

uint32_t word_at(const std::string& text, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word |= uint32_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
  return word;
}

// ok: something may be done.
io wait_for(const file& f, short events, deadline until) {
  for (;;) {
    pollfd p{f.fd(), events, 0};
    const int n = poll(&p, 1, userlib::milliseconds_to(until));
    if (n > 0) return io::ok;
    if (n == 0 || errno != EINTR) return io::timed_out;
  }
}

}  // namespace

line::line(file socket) : socket_(std::move(socket)) {
  const int on = 1;
  setsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void line::prove(const userlib::secret& s, const std::string& session, bool is_rank_0, size_t most) {
  secret_ = s;
  session_ = session;
  is_rank_0_ = is_rank_0;
  most_ = most;
}

std::string line::proof_of(bool of_rank_0, uint64_t number, const std::string& text) const {
  return secret_.proof((of_rank_0 ? "tcp from 0 " : "tcp to 0 ") + std::to_string(number) + session_ + text);
}

io line::send(const frame& f, deadline until) {
  std::string text;
  for (const uint32_t word :
       {magic, version << 16 | uint32_t(f.type), f.rank, f.size, static_cast<uint32_t>(f.bytes.size())})
    put(text, word);
  text += f.bytes;
  if (secret_) text += proof_of(is_rank_0_, sent_++, text);
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::send(socket_.fd(), text.data() + done, text.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0)
      done += static_cast<size_t>(n);
    else if (errno == EAGAIN) {
      if (const io ready = wait_for(socket_, POLLOUT, until); ready != io::ok) return ready;
    } else if (errno != EINTR)
      return io::ended;
  }
  return io::ok;
}

// Until so many bytes have come.
io line::fill(size_t bytes) {
  while (come_.size() < bytes) {
    char part[4096];
    const ssize_t n = recv(socket_.fd(), part, std::min(sizeof part, bytes - come_.size()), MSG_DONTWAIT);
    if (n == 0) return io::ended;
    if (n > 0)
      come_.append(part, static_cast<size_t>(n));
    else if (errno == EAGAIN)
      return io::timed_out;
    else if (errno != EINTR)
      return io::ended;
  }
  return io::ok;
}

io line::take(frame& f) {
  if (const io some = fill(head_bytes); some != io::ok) return some;
  const uint32_t kind = word_at(come_, 4) & 0xffff, bytes = word_at(come_, 16);
  if (word_at(come_, 0) != magic || word_at(come_, 4) >> 16 != version ||
      kind > static_cast<uint32_t>(frame::kind::stop) || bytes > most_)
    return io::garbage;
  const size_t text = head_bytes + bytes;
  if (const io all = fill(text + (secret_ ? proof_bytes : 0)); all != io::ok) return all;
  if (secret_) {
    const std::string proof = come_.substr(text);
    come_.resize(text);
    if (!userlib::equal_bytes(proof, proof_of(!is_rank_0_, taken_++, come_))) return io::garbage;
  }
  f = {static_cast<frame::kind>(kind), word_at(come_, 8), word_at(come_, 12), come_.substr(head_bytes)};
  come_.clear();
  return io::ok;
}

io line::receive(frame& f, deadline until) {
  for (;;) {
    if (const io whole = take(f); whole != io::timed_out) return whole;
    if (const io ready = wait_for(socket_, POLLIN, until); ready != io::ok) return ready;
  }
}

std::string handshake::session() const {
  return newcomers + rank_0s + std::to_string(rank) + " " + std::to_string(size) + " ";
}

std::string handshake::proof(const userlib::secret& s, bool of_rank_0) const {
  return s.proof((of_rank_0 ? "tcp rank 0 " : "tcp newcomer ") + session());
}

}  // namespace ggas::library::start
