// SPDX-License-Identifier: Apache-2.0
// Rank 0 of blobs over TCP: lets in who knows the secret, gives every member's blobs to every member.
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "userlib/start/modules/tcp.hpp"
#include "userlib/start/words.hpp"

namespace ggas::library::start {

namespace {

using clock = std::chrono::steady_clock;
namespace words = userlib::words;

std::string name(size_t rank) { return "rank " + std::to_string(rank); }

// Something to read, or an end; time is up: false.
bool any(std::vector<pollfd>& polls, deadline until) {
  for (;;) {
    const int n = poll(polls.data(), polls.size(), userlib::milliseconds_to(until));
    if (n >= 0 || errno != EINTR) return n > 0;
  }
}

}  // namespace

// Takes in who proves to be of the job, until no process is missing.
attempt<> tcp_blobs::accept_all(const std::vector<file>& doors, deadline until) {
  for (;;) {
    std::vector<int> missing;
    for (int r = 1; r < size(); ++r)
      if (!lines_[size_t(r)]) missing.push_back(r);
    if (missing.empty()) break;
    if (clock::now() >= until)
      return stop(
          "of " + std::to_string(size()) + " ranks " + words::ranks(missing) + " did not arrive in time" +
          (refused_ ? "; " + std::to_string(refused_) + " connections that were no part of the job were closed" : ""));
    std::vector<pollfd> polls;
    deadline next = until;
    for (const file& door : doors) polls.push_back({door.fd(), POLLIN, 0});
    for (const line& l : lines_) polls.push_back({l.socket().fd(), POLLIN, 0});
    for (const unproved_peer& s : unproved_) {
      polls.push_back({s.to.socket().fd(), POLLIN, 0});
      next = std::min(next, s.until);
    }
    any(polls, next);
    if (auto good = look_at_members(); !good) return good;
    std::vector<unproved_peer> still;
    for (unproved_peer& s : unproved_) {
      attempt<> outcome;
      if (receive(s, outcome)) still.push_back(std::move(s));
      if (!outcome) return outcome;
    }
    unproved_ = std::move(still);
    for (size_t i = 0; i < doors.size(); ++i)
      if (polls[i].revents)
        if (auto good = accept_one(doors[i]); !good) return good;
  }
  unproved_.clear();
  for (size_t r = 1; r < lines_.size(); ++r)
    if (lines_[r].send({frame::kind::welcome, 0, uint32_t(size()), ""}, until) != io::ok)
      return stop(name(r) + " ended while the job began");
  return {};
}

attempt<> tcp_blobs::accept_one(const file& door) {
  file s(accept4(door.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!s && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
    return stop(std::string("rank 0: ") + std::strerror(errno));  // they would stay at the door
  if (!s) return {};
  if (unproved_.size() == most_newcomers) {
    unproved_.erase(unproved_.begin());
    ++refused_;
  }
  unproved_.push_back({line(std::move(s)), clock::now() + handshake, {}});
  return {};
}

// A member has nothing to say before all are there.
attempt<> tcp_blobs::look_at_members() {
  for (size_t r = 1; r < lines_.size(); ++r) {
    frame f;
    if (lines_[r] && lines_[r].take(f) != io::timed_out)
      return stop(name(r) + " ended while others were still missing");
  }
  return {};
}

bool tcp_blobs::receive(unproved_peer& s, attempt<>& outcome) {
  frame f;
  const io came = s.to.take(f);
  if (came == io::timed_out && clock::now() < s.until) return true;
  ++refused_;
  if (came != io::ok) return false;
  if (s.said.rank_0s.empty()) {
    if (f.type != frame::kind::hello || f.bytes.size() != nonce_bytes) return false;
    s.said = {f.bytes, userlib::nonce(), f.rank, f.size};
    if (s.said.rank_0s.empty()) return false;
    const frame question{frame::kind::challenge, 0, uint32_t(size()), s.said.rank_0s + s.said.proof(job_.secret, true)};
    if (s.to.send(question, clock::now()) != io::ok) return false;
    --refused_;
    return true;
  }
  if (f.type != frame::kind::proof || !userlib::equal_bytes(f.bytes, s.said.proof(job_.secret, false))) return false;
  --refused_;
  outcome = let_in(s);
  return false;
}

// Accepts a peer that has proved the secret.
attempt<> tcp_blobs::let_in(unproved_peer& s) {
  s.to.prove(job_.secret, s.said.session(), true, most_packed);
  const uint32_t r = s.said.rank;
  const auto turn_away = [&](const std::string& why) {
    s.to.send({frame::kind::stop, 0, uint32_t(size()), why}, clock::now());
  };
  if (s.said.size != uint32_t(size())) {
    const std::string why = name(r) + " says that the job has " + std::to_string(s.said.size) + " ranks, rank 0 says " +
                            std::to_string(size());
    turn_away(why);
    return stop(why);
  }
  if (r < 1 || r >= uint32_t(size()))
    turn_away("rank = " + std::to_string(r) + ": must be from 0 to " + std::to_string(size() - 1));
  else if (lines_[r])
    turn_away(name(r) + " is in the job already");
  else
    lines_[r] = std::move(s.to);
  return {};
}

attempt<> tcp_blobs::collect(deadline until) {
  std::vector<std::string> parts(lines_.size());
  parts[0] = packed(mine_);
  for (size_t r = 1; r < lines_.size(); ++r) {
    frame f;
    const io came = lines_[r].receive(f, until);
    if (came == io::timed_out) return stop(name(r) + " did not tell its blobs in time");
    if (came == io::ended) return stop(name(r) + " ended while the job began");
    if (came != io::ok || f.type != frame::kind::part) return stop(name(r) + " sent an invalid part");
    parts[r] = std::move(f.bytes);
  }
  frame all{frame::kind::parts, 0, uint32_t(size()), ""};
  for (size_t r = 0; r < parts.size(); ++r) {
    if (auto good = store(int(r), parts[r]); !good) return stop(good.error());
    for (int i = 0; i < 4; ++i) all.bytes += static_cast<char>(parts[r].size() >> (8 * i));
    all.bytes += parts[r];
  }
  for (size_t r = 1; r < lines_.size(); ++r)
    if (lines_[r].send(all, until) != io::ok) return stop(name(r) + " ended or hangs while the job began");
  return {};
}

}  // namespace ggas::library::start
