// SPDX-License-Identifier: Apache-2.0
// Start-up over TCP as its tests have it: ranks as threads, unauthenticated peers at the door.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"
#include "userlib/start/modules/tcp.hpp"

namespace ggas::library_test {

using namespace ggas::library::start;
using userlib::file;
using userlib::io;
using clock = std::chrono::steady_clock;

inline const std::string known = "000102030405060708090a0b0c0d0e0f", other = "f00102030405060708090a0b0c0d0e0f";

inline sockaddr_in loopback(unsigned port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(uint16_t(port));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

inline std::string free_port() {
  const file s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in a = loopback(0);
  socklen_t n = sizeof a;
  if (bind(s.fd(), reinterpret_cast<sockaddr*>(&a), n) != 0 ||
      getsockname(s.fd(), reinterpret_cast<sockaddr*>(&a), &n) != 0)
    std::abort();
  return std::to_string(ntohs(a.sin_port));
}

inline tcp_job job_of(int rank, int size, const std::string& port, const std::string& secret = known) {
  return {rank, size, "127.0.0.1", port, *userlib::secret::read(secret)};
}

inline deadline within(uint64_t ns) { return userlib::after(ns); }

// A connection to rank 0 as an unauthenticated peer has it.
inline line knock(const std::string& port) {
  const sockaddr_in a = loopback(unsigned(std::stoi(port)));
  for (int i = 0; i < 2000; ++i) {
    file s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(s.fd(), reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0) return line(std::move(s));
    std::this_thread::sleep_for(milliseconds(2));
  }
  return {};
}

inline void send_raw(const line& to, const std::string& text) {
  send(to.socket().fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Joins, informs its rank, receives the others'.
inline std::string meet(const tcp_job& j, uint64_t timeout_ns) {
  auto b = tcp_blobs::join(j, within(timeout_ns));
  if (!b) return b.error();
  attempt<> done = (*b)->put("rank", std::to_string(j.rank));
  if (done) done = (*b)->fence(within(timeout_ns));
  for (int r = 0; done && r < j.size; ++r) {
    const auto reported = (*b)->get(r, "rank", within(timeout_ns));
    if (!reported) return reported.error();
    if (*reported != std::to_string(r)) return "rank " + std::to_string(r) + " says " + *reported;
  }
  return done ? "ok" : done.error();
}

// Ranks as threads.
struct crew {
  explicit crew(size_t size) : said(size), threads(size) {}
  ~crew() { end(); }
  void start(const tcp_job& j, uint64_t timeout_ns = timeout) {
    threads[size_t(j.rank)] = std::thread([=, this] { said[size_t(j.rank)] = meet(j, timeout_ns); });
  }
  void end() {
    for (std::thread& t : threads)
      if (t.joinable()) t.join();
  }
  std::vector<std::string> said;
  std::vector<std::thread> threads;
};

inline testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' has no '" << part << "'";
}

}  // namespace ggas::library_test
