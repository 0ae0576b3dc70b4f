// SPDX-License-Identifier: Apache-2.0
// Exchanges between processes that have joined; joining: join.cpp.
#include "userlib/start/bootstrap.hpp"

#include <poll.h>

#include <cerrno>
#include <map>

#include "userlib/start/words.hpp"

namespace ggas::userlib {

std::string bootstrap::name(int rank) const {
  const int pid = peers_[static_cast<size_t>(rank)].pid;
  return "rank " + std::to_string(rank) + (pid ? " (process " + std::to_string(pid) + ")" : "");
}

bootstrap::~bootstrap() {
  if (rank() != 0 || !broken_.empty()) return;
  for (int r = 1; r < size(); ++r) {
    const peer& p = peers_[static_cast<size_t>(r)];
    pollfd ends[2] = {{p.socket.fd(), 0, 0}, {p.process.fd(), POLLIN, 0}};  // without events: POLLHUP alone
    if (poll(ends, 2, 0) <= 0) continue;
    static_cast<void>(stop(name(r) + " ended before the others"));
    return;
  }
}

// Ends the bootstrap: all later calls fail, and rank 0 informs the others of the reason.
std::unexpected<std::string> bootstrap::stop(const std::string& why) {
  broken_ = why.substr(0, message::most_bytes);
  for (peer& p : peers_) {
    if (p.socket && rank() == 0)
      send(p.socket, {.type = message::kind::stop, .rank = 0, .size = size(), .bytes = broken_}, -1,
           std::chrono::steady_clock::now());
    p.socket = file();
  }
  return std::unexpected(broken_);
}

attempt<std::vector<bootstrap::part>> bootstrap::gather(std::string_view what, std::string_view bytes, int handle) {
  if (!broken_.empty()) return std::unexpected(broken_);
  message mine{.type = message::kind::part,
               .rank = rank(),
               .size = size(),
               .round = ++round_,
               .what = std::string(what),
               .bytes = std::string(bytes)};
  if (mine.what.size() > message::most_what)
    return std::unexpected("'" + mine.what + "': must have at most " + std::to_string(message::most_what) + " letters");
  if (mine.bytes.size() > message::most_bytes)
    return std::unexpected(mine.what + ": a part of " + std::to_string(mine.bytes.size()) + " bytes is too long");
  return rank() == 0 ? collect(std::move(mine), handle, until()) : ask(std::move(mine), handle, until() + words::grace);
}

// Rank 0: takes a part from every member, then gives all of them to every member.
attempt<std::vector<bootstrap::part>> bootstrap::collect(message mine, int handle, deadline until) {
  std::vector<part> parts(peers_.size());
  std::vector<int> waiting;
  for (int r = 1; r < size(); ++r) waiting.push_back(r);
  while (!waiting.empty()) {
    std::vector<pollfd> polls;
    for (int r : waiting)
      for (const file* f : {&peers_[static_cast<size_t>(r)].socket, &peers_[static_cast<size_t>(r)].process})
        polls.push_back({f->fd(), POLLIN, 0});
    const int n = poll(polls.data(), polls.size(), milliseconds_to(until));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return stop(words::ranks(waiting) + " did not arrive at '" + mine.what + "' within " +
                  words::seconds(job_.timeout_ns));
    std::vector<int> still;
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (!polls[2 * i].revents && !polls[2 * i + 1].revents)
        still.push_back(waiting[i]);
      else if (auto taken = take(mine, waiting[i], parts, until); !taken)
        return std::unexpected(taken.error());
    }
    waiting = std::move(still);
  }
  parts[0].bytes = mine.bytes;
  for (int to = 1; to < size(); ++to) {
    for (int r = 0; r < size(); ++r) {
      const part& p = parts[static_cast<size_t>(r)];
      mine.rank = r;
      mine.bytes = p.bytes;
      const peer& other = peers_[static_cast<size_t>(to)];
      if (send(other.socket, mine, r == 0 ? handle : p.handle.fd(), until, other.process) != io::ok)
        return stop(name(to) + " ended or hangs in '" + mine.what + "'");
    }
  }
  if (handle >= 0) parts[0].handle = file::copy_of(handle);
  return parts;
}

// The part of a rank that has something to say.
attempt<> bootstrap::take(const message& mine, int rank, std::vector<part>& parts, deadline until) {
  message m;
  const peer& other = peers_[static_cast<size_t>(rank)];
  switch (receive(other.socket, m, until, other.process)) {
    case io::ok:
      break;
    case io::garbage:
      return stop(name(rank) + " sent an invalid message");
    case io::no_room:
      return stop(std::string("rank 0 ") + words::no_room);
    default:
      return stop(name(rank) + " ended while the others were at '" + mine.what + "'");
  }
  if (m.type != message::kind::part || m.rank != rank) return stop(name(rank) + " sent a message out of turn");
  if (m.round != mine.round || m.what != mine.what)
    return stop(name(rank) + " is at '" + m.what + "' (exchange " + std::to_string(m.round) + "), rank 0 at '" +
                mine.what + "' (exchange " + std::to_string(mine.round) + ")");
  parts[static_cast<size_t>(rank)] = {std::move(m.bytes), std::move(m.handle)};
  return {};
}

// Other ranks: give the own part to rank 0 and get those of all.
attempt<std::vector<bootstrap::part>> bootstrap::ask(message mine, int handle, deadline until) {
  const peer& root = peers_[0];
  send(root.socket, mine, handle, until, root.process);  // if that fails, what rank 0 has said before says why
  std::vector<part> parts;
  for (int r = 0; r < size(); ++r) {
    message m;
    switch (receive(root.socket, m, until, root.process)) {
      case io::ok:
        break;
      case io::timed_out:
        return stop("rank 0 did not answer at '" + mine.what + "' within " + words::seconds(job_.timeout_ns));
      case io::garbage:
        return stop("rank 0 sent an invalid message");
      case io::no_room:
        return stop("rank " + std::to_string(this->rank()) + " " + words::no_room);
      case io::ended:
        return stop(name(0) + " ended while rank " + std::to_string(rank()) + " was at '" + mine.what + "'");
    }
    if (m.type == message::kind::stop) return stop(m.bytes);
    if (m.type != message::kind::part || m.rank != r || m.round != mine.round)
      return stop("rank 0 sent a message out of turn");
    parts.push_back({std::move(m.bytes), std::move(m.handle)});
  }
  return parts;
}

namespace {

// "rank 0: this; ranks 1, 2: that", without those who said nothing.
std::string who_said_what(const std::vector<bootstrap::part>& parts) {
  std::map<std::string, std::vector<int>> texts;
  for (size_t r = 0; r < parts.size(); ++r)
    if (!parts[r].bytes.empty()) texts[parts[r].bytes].push_back(static_cast<int>(r));
  std::string all;
  for (const auto& [text, which] : texts) all += (all.empty() ? "" : "; ") + words::ranks(which) + ": " + text;
  return all;
}

}  // namespace

attempt<> bootstrap::agree(std::string_view what, const attempt<>& here) {
  const std::string text = here ? "" : here.error().substr(0, message::most_bytes);
  auto all = gather(what, here || !text.empty() ? text : "failed");
  if (!all) return std::unexpected(all.error());
  std::string wrong = who_said_what(*all);
  if (wrong.empty()) return {};
  return std::unexpected(std::move(wrong));
}

attempt<> bootstrap::same(std::string_view what, std::string_view text) {
  const auto all = gather(what, text);
  if (!all) return std::unexpected(all.error());
  for (const part& p : *all)
    if (p.bytes != text) return std::unexpected("the processes differ: " + who_said_what(*all));
  return {};
}

attempt<> bootstrap::meet(std::string_view what) { return agree(what, {}); }

}  // namespace ggas::userlib
