// SPDX-License-Identifier: Apache-2.0
// How processes come together: rank 0 listens, the others say hello, and get a welcome when all are there.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <thread>

#include "userlib/start/bootstrap.hpp"
#include "userlib/start/launcher.hpp"
#include "userlib/start/words.hpp"

namespace ggas::userlib {

namespace {

using clock = std::chrono::steady_clock;

constexpr int look_ms = 100;  // how often the launcher's reports are read

struct address {
  sockaddr_un at{};
  socklen_t length = 0;
};

// The abstract name of a job: a leading zero, nothing in the file system.
address address_of(const std::string& job, const secret& s) {
  std::string text = "ggas." + std::to_string(getuid()) + "." + job;
  if (s)
    for (const unsigned char c : s.proof("name " + job)) text += "0123456789abcdef"[c / 16];
  address a;
  a.at.sun_family = AF_UNIX;
  text.copy(a.at.sun_path + 1, sizeof a.at.sun_path - 1);
  a.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return a;
}

std::string socket_error() { return std::string("socket of the job: ") + std::strerror(errno); }

attempt<> check(const job& j) {
  if (j.size < 1 || j.size > 1024)
    return std::unexpected("size = " + std::to_string(j.size) + ": a job has 1 to 1024 processes");
  if (j.rank < 0 || j.rank >= j.size)
    return std::unexpected("rank = " + std::to_string(j.rank) + ": must be from 0 to " + std::to_string(j.size - 1));
  if (j.name.empty() || j.name.size() > 64)
    return std::unexpected("name of the job = '" + j.name + "': must have 1 to 64 letters");
  return {};
}

std::string has_ended(int rank) { return "rank " + std::to_string(rank) + " ended before it joined the job"; }

file new_socket() { return file(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

bool connects(const file& socket, const address& a) {
  return ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&a.at), a.length) == 0;
}

// The process that already has a job's name.
std::string holder(const address& a) {
  const file s = new_socket();
  if (!s || !connects(s, a)) return "a process that is gone by now";
  const other_end who = other_end_of(s);
  return "process " + std::to_string(who.pid) + (who.user == getuid() ? "" : " of user " + std::to_string(who.user));
}

}  // namespace

attempt<std::unique_ptr<bootstrap>> bootstrap::join(const job& j) {
  if (auto good = check(j); !good) return std::unexpected(good.error());
  std::unique_ptr<bootstrap> b(new bootstrap(j));
  const auto known = secret::read(j.secret);
  if (!known) return std::unexpected("secret of the job: must have 32 hexadecimal digits");
  b->secret_ = *known;
  if (j.size == 1) return b;
  auto joined = j.rank == 0 ? b->listen() : b->connect();
  if (!joined) return std::unexpected(joined.error());
  return b;
}

attempt<> bootstrap::listen() {
  file listener = new_socket();
  if (!listener) return stop(socket_error());
  const address a = address_of(job_.name, secret_);
  if (bind(listener.fd(), reinterpret_cast<const sockaddr*>(&a.at), a.length) != 0)
    return stop(errno == EADDRINUSE ? "job '" + job_.name + "' has a rank 0 already: " + holder(a) : socket_error());
  if (::listen(listener.fd(), size()) != 0) return stop(socket_error());
  if (auto all = accept_all(listener, until()); !all) return all;
  listener = file();  // who has been welcomed may at once come to another barrier of this name
  for (int r = 1; r < size(); ++r) {
    if (send(peers_[static_cast<size_t>(r)].socket, {.type = message::kind::welcome, .size = size()}, -1, until()) !=
        io::ok)
      return stop(name(r) + " ended while the job began");
  }
  return {};
}

// Takes in the process that says hello until no process is missing.
attempt<> bootstrap::accept_all(const file& listener, deadline until) {
  std::vector<newcomer> newcomers;  // connected, and not connected
  int refused = 0;
  for (;;) {
    std::vector<int> missing;
    std::vector<pollfd> polls{{listener.fd(), POLLIN, 0}};
    for (const newcomer& n : newcomers) polls.push_back({n.process.socket.fd(), POLLIN, 0});
    for (int r = 1; r < size(); ++r) {
      const peer& p = peers_[static_cast<size_t>(r)];
      if (!p.socket) missing.push_back(r);
      polls.push_back({p.socket.fd(), POLLIN, 0});  // without a socket: -1, which poll passes over
      polls.push_back({p.process.fd(), POLLIN, 0});
    }
    if (missing.empty()) return {};
    if (const int r = ended_of(missing, size()); r >= 0) return stop(has_ended(r));
    const int n = poll(polls.data(), polls.size(), std::min(milliseconds_to(until), look_ms));
    if ((n < 0 && errno == EINTR) || (n == 0 && clock::now() < until)) continue;
    if (n <= 0)
      return stop("job '" + job_.name + "' of " + std::to_string(size()) + " processes: " + words::ranks(missing) +
                  " did not arrive within " + words::seconds(job_.timeout_ns) +
                  (refused ? "; " + std::to_string(refused) + " connections that were no part of it were closed" : ""));
    for (int r = 1; r < size(); ++r) {
      const size_t at = newcomers.size() + 2 * static_cast<size_t>(r) - 1;
      if (polls[at].revents || polls[at + 1].revents) return stop(name(r) + " ended while others were still missing");
    }
    std::vector<newcomer> still;
    for (size_t i = 0; i < newcomers.size(); ++i) {
      attempt<> outcome;
      if (!polls[1 + i].revents)
        still.push_back(std::move(newcomers[i]));
      else if (!hear(newcomers[i], until, outcome))
        ++refused;
      else if (!outcome)
        return outcome;
      else if (newcomers[i].process.socket && !newcomers[i].asked.empty())
        still.push_back(std::move(newcomers[i]));
    }
    newcomers = std::move(still);
    if (!polls[0].revents) continue;
    file socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
      return stop(socket_error());  // they would stay at the door
    const other_end who = other_end_of(socket);
    if (!socket || who.user != getuid())
      ++refused;
    else
      newcomers.push_back({{std::move(socket), {}, who.pid}, {}, {}});
  }
}

// What a newcomer says: who it is, or the proof it was asked for. False: it is no part of the job.
bool bootstrap::hear(newcomer& n, deadline until, attempt<>& outcome) {
  message m;
  if (receive(n.process.socket, m, until) != io::ok) return false;
  if (!n.asked.empty()) {
    if (m.type != message::kind::proof || !equal_bytes(m.bytes, secret_.proof("newcomer " + n.asked))) return false;
    n.asked.clear();
    outcome = answer_hello(n.process, n.hello);
    return true;
  }
  if (m.type != message::kind::hello) return false;
  if (!secret_) {
    outcome = answer_hello(n.process, m);
    return true;
  }
  const std::string mine = nonce();
  n.asked = mine + std::to_string(m.rank) + " " + std::to_string(m.size);
  n.hello = std::move(m);
  const message question{.type = message::kind::challenge,
                         .size = size(),
                         .bytes = mine + secret_.proof("rank 0 " + n.hello.bytes + mine)};
  return !mine.empty() && send(n.process.socket, question, -1, clock::now()) == io::ok;
}

// A process has said who it is.
attempt<> bootstrap::answer_hello(peer& newcomer, const message& hello) {
  const std::string who = "process " + std::to_string(newcomer.pid);
  const auto turn_away = [&](const std::string& why) {
    send(newcomer.socket, {.type = message::kind::stop, .size = size(), .bytes = why}, -1, clock::now());
  };
  if (hello.size != size()) {
    const std::string why = who + " (rank " + std::to_string(hello.rank) + ") says that the job has " +
                            std::to_string(hello.size) + " processes, rank 0 says " + std::to_string(size());
    turn_away(why);
    return stop(why);
  }
  if (hello.rank < 1 || hello.rank >= size()) {
    turn_away("rank = " + std::to_string(hello.rank) + ": must be from 0 to " + std::to_string(size() - 1));
  } else if (peer& place = peers_[static_cast<size_t>(hello.rank)]; place.socket) {
    turn_away(name(hello.rank) + " is in job '" + job_.name + "' already; " + who + " has the same rank");
  } else {
    place = std::move(newcomer);
    place.process = end_of(place.pid);
  }
  return {};
}

// Rank 0 has to know the secret, and is informed so of this process; then comes its answer. Else that is io::garbage.
io bootstrap::prove(message& answer, const std::string& mine, deadline until) {
  if (answer.type == message::kind::stop) return io::ok;
  if (!secret_ || mine.empty() || answer.type != message::kind::challenge) return io::garbage;
  const std::string theirs = answer.bytes.substr(0, mine.size());
  if (!equal_bytes(answer.bytes, theirs + secret_.proof("rank 0 " + mine + theirs))) return io::garbage;
  const std::string asked = theirs + std::to_string(rank()) + " " + std::to_string(size());
  send(peers_[0].socket, {.type = message::kind::proof, .size = size(), .bytes = secret_.proof("newcomer " + asked)},
       -1, until);
  return receive(peers_[0].socket, answer, until, peers_[0].process);
}

attempt<> bootstrap::connect() {
  const deadline end = until() + words::grace;
  const address a = address_of(job_.name, secret_);
  std::vector<int> all(peers_.size());
  std::iota(all.begin(), all.end(), 0);
  peer root;
  for (;;) {
    root.socket = new_socket();
    if (!root.socket) return stop(socket_error());
    if (connects(root.socket, a)) break;
    if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) return stop(socket_error());
    if (const int r = ended_of(all, size()); r >= 0) return stop(has_ended(r));
    if (clock::now() >= end)
      return stop("rank 0 of job '" + job_.name + "' was not there within " + words::seconds(job_.timeout_ns));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const other_end who = other_end_of(root.socket);
  if (who.user != getuid())
    return stop("job '" + job_.name + "': process " + std::to_string(who.pid) + " of user " + std::to_string(who.user) +
                " listens there");
  root.pid = who.pid;
  root.process = end_of(who.pid);
  peers_[0] = std::move(root);

  message m;
  const std::string mine = secret_ ? nonce() : "";
  send(peers_[0].socket, {.type = message::kind::hello, .rank = rank(), .size = size(), .bytes = mine}, -1, end);
  io answer = receive(peers_[0].socket, m, end, peers_[0].process);
  if (answer == io::ok && (secret_ || m.type == message::kind::challenge)) answer = prove(m, mine, end);
  if (answer == io::ok && m.type == message::kind::stop) return stop(m.bytes);
  if (answer == io::ok && m.type == message::kind::welcome) return {};
  if (answer == io::timed_out)
    return stop(name(0) + " did not say within " + words::seconds(job_.timeout_ns) + " that all processes are there");
  return stop(name(0) + (answer == io::ended ? " ended while the job began"
                         : secret_           ? " does not know the secret of the job, or sent no welcome"
                                             : " sent an invalid welcome"));
}

}  // namespace ggas::userlib
