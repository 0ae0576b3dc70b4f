// SPDX-License-Identifier: Apache-2.0
#include "userlib/start/modules/tcp.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "ggas/job.hpp"
#include "userlib/start/words.hpp"

namespace ggas::library::start {

namespace {

using clock = std::chrono::steady_clock;
namespace words = userlib::words;

std::string value(const char* variable) {
  const char* const v = std::getenv(variable);
  return v ? v : "";
}

struct freed {
  void operator()(addrinfo* a) const { freeaddrinfo(a); }
};
using addresses = std::unique_ptr<addrinfo, freed>;

attempt<addresses> find(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int e = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found); e != 0)
    return std::unexpected(host + ": " + gai_strerror(e));
  return addresses(found);
}

file socket_for(const addrinfo& a) {
  return file(socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
}

// Connected, or empty with errno.
file connected(const addrinfo& a, deadline until) {
  file s = socket_for(a);
  if (!s || ::connect(s.fd(), a.ai_addr, a.ai_addrlen) == 0) return s;
  if (errno != EINPROGRESS) return {};
  pollfd p{s.fd(), POLLOUT, 0};
  while (poll(&p, 1, userlib::milliseconds_to(until)) < 0 && errno == EINTR) {
  }
  int e = p.revents ? 0 : ETIMEDOUT;
  socklen_t n = sizeof e;
  if (p.revents) getsockopt(s.fd(), SOL_SOCKET, SO_ERROR, &e, &n);
  errno = e;
  return e == 0 ? std::move(s) : file();
}

}  // namespace

attempt<tcp_job> tcp_job_from_environment() {
  if (value("GGAS_RANK").empty()) return std::unexpected("GGAS_RANK and GGAS_SIZE are not set");
  std::string why;
  const job j = job::from_environment(why);
  if (!why.empty()) return std::unexpected(why);
  const std::string root = value("GGAS_ROOT");
  const size_t colon = root.rfind(':');
  tcp_job t{j.rank, j.size, root.substr(0, colon), colon == root.npos ? "" : root.substr(colon + 1), {}};
  if (t.host.size() > 1 && t.host.front() == '[' && t.host.back() == ']') t.host = t.host.substr(1, t.host.size() - 2);
  const unsigned long port = t.port.size() < 6 ? std::strtoul(t.port.c_str(), nullptr, 10) : 0;
  if (t.host.empty() || port == 0 || port > 65535 || t.port.find_first_not_of("0123456789") != t.port.npos)
    return std::unexpected("GGAS_ROOT = '" + root.substr(0, 300) + "': must be ADDRESS:PORT, where rank 0 listens");
  const auto known = userlib::secret::read(j.secret);
  if (!known || !*known)
    return std::unexpected(
        "GGAS_SECRET: must be set to 32 hexadecimal digits, the same in all ranks and known to no other");
  t.secret = *known;
  return t;
}

attempt<std::vector<file>> listen_at(const std::string& host, const std::string& port) {
  const auto found = find(host, port);
  if (!found) return std::unexpected(found.error());
  std::vector<file> doors;
  std::string why;
  for (const addrinfo* a = found->get(); a; a = a->ai_next) {
    file s = socket_for(*a);
    const int on = 1;
    setsockopt(s.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s.fd(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(s.fd(), 1024) == 0)
      doors.push_back(std::move(s));
    else
      why = std::strerror(errno);
  }
  if (doors.empty()) return std::unexpected("rank 0 cannot listen at " + host + " port " + port + ": " + why);
  return doors;
}

attempt<std::unique_ptr<blobs>> tcp_blobs::join(const tcp_job& j, deadline until) {
  std::unique_ptr<tcp_blobs> b(new tcp_blobs(j));
  b->lines_.resize(j.rank == 0 ? size_t(j.size) : 1);
  attempt<> joined;
  if (j.size > 1 && j.rank == 0) {
    const auto doors = listen_at(j.host, j.port);
    joined = doors ? b->accept_all(*doors, until) : attempt<>(std::unexpected(doors.error()));
  } else if (j.size > 1) {
    joined = b->connect(until + words::grace);
  }
  if (!joined) return std::unexpected(joined.error());
  return std::unique_ptr<blobs>(std::move(b));
}

// Ends the module: all later calls fail, and rank 0 informs the others of the reason.
std::unexpected<std::string> tcp_blobs::stop(const std::string& why) {
  broken_ = why.substr(0, most_packed);
  for (line& l : lines_) {
    if (l && rank() == 0)
      l.send({frame::kind::stop, 0, uint32_t(size()), broken_}, clock::now() + std::chrono::milliseconds(50));
    l = line();
  }
  return std::unexpected(broken_);
}

attempt<> tcp_blobs::put(const std::string& name, const std::string& bytes) {
  if (name.size() > most_name || bytes.size() > most_bytes)
    return std::unexpected("a blob of " + std::to_string(bytes.size()) + " bytes: is too long");
  if (mine_.size() >= most_blobs)
    return std::unexpected("more than " + std::to_string(most_blobs) + " blobs before a fence");
  mine_[name] = bytes;
  return {};
}

attempt<> tcp_blobs::fence(deadline until) {
  if (!broken_.empty()) return std::unexpected(broken_);
  if (size() > 1) {
    const attempt<> done = rank() == 0 ? collect(until) : exchange(until + words::grace);
    if (!done) return done;
  } else {
    all_[0].merge(mine_);
  }
  mine_.clear();
  return {};
}

attempt<std::string> tcp_blobs::get(int rank, const std::string& name, deadline) {
  const table& of = all_[size_t(rank)];
  if (const auto found = of.find(name); found != of.end()) return found->second;
  return std::unexpected("rank " + std::to_string(rank) + " has not published '" + name + "'");
}

attempt<> tcp_blobs::store(int rank, const std::string& part) {
  table reported;
  if (!unpacked(part, reported))
    return std::unexpected("rank " + std::to_string(rank) + " sent an invalid list of blobs");
  for (auto& [name, bytes] : reported) all_[size_t(rank)][name] = bytes;
  return {};
}

// Tries until rank 0 lets this rank in. A connection may be dropped while many come, or before rank 0 is there, or
// after the proof, if it took too long. If no process listens there after that, rank 0 has ended.
attempt<> tcp_blobs::connect(deadline until) {
  const auto found = find(job_.host, job_.port);
  if (!found) return std::unexpected(found.error());
  std::string why = "no process listens there";
  bool dropped = false;
  do {
    for (const addrinfo* a = found->get(); a; a = a->ai_next) {
      file s = connected(*a, std::min<deadline>(until, clock::now() + handshake));
      if (!s) {
        if (dropped) return stop(why);
        why = std::strerror(errno);
        continue;
      }
      const handshake_result how = say_hello(line(std::move(s)), until, why);
      if (how == handshake_result::in) return {};
      if (how == handshake_result::never) return stop(why);
      dropped |= how == handshake_result::dropped;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (clock::now() < until);
  return stop("rank 0 at " + job_.host + " port " + job_.port + " let rank " + std::to_string(rank()) +
              " not in: " + why);
}

tcp_blobs::handshake_result tcp_blobs::say_hello(line l, deadline until, std::string& why) {
  const uint32_t me = uint32_t(rank()), all = uint32_t(size());
  start::handshake both{userlib::nonce(), "", me, all};
  const deadline soon = std::min<deadline>(until, clock::now() + handshake);
  frame answer;
  why = "who listens there does not know the secret of the job";
  if (both.newcomers.empty()) return handshake_result::never;
  l.send({frame::kind::hello, me, all, both.newcomers}, soon);
  const io came = l.receive(answer, soon);
  if (came == io::ended || came == io::timed_out) {
    why = "no answer";
    return handshake_result::later;
  }
  if (came != io::ok || answer.type != frame::kind::challenge || answer.bytes.size() < nonce_bytes)
    return handshake_result::never;
  both.rank_0s = answer.bytes.substr(0, nonce_bytes);
  if (!userlib::equal_bytes(answer.bytes.substr(nonce_bytes), both.proof(job_.secret, true)))
    return handshake_result::never;
  l.send({frame::kind::proof, me, all, both.proof(job_.secret, false)}, soon);
  l.prove(job_.secret, both.session(), false, size_t(size()) * (most_packed + 4));
  const io welcomed = l.receive(answer, until);
  if (welcomed == io::ok && answer.type == frame::kind::welcome) {
    lines_[0] = std::move(l);
    return handshake_result::in;
  }
  why = welcomed == io::ok && answer.type == frame::kind::stop ? answer.bytes
        : welcomed == io::timed_out                            ? "rank 0 did not say in time that all ranks are there"
                                                               : "rank 0 ended while the job began";
  return welcomed == io::ended ? handshake_result::dropped : handshake_result::never;
}

attempt<> tcp_blobs::exchange(deadline until) {
  frame all;
  lines_[0].send({frame::kind::part, uint32_t(rank()), uint32_t(size()), packed(mine_)}, until);
  const io came = lines_[0].receive(all, until);
  if (came == io::timed_out) return stop("rank 0 did not answer in time");
  if (came == io::ended) return stop("rank 0 ended while the job began");
  if (came == io::ok && all.type == frame::kind::stop) return stop(all.bytes);
  if (came != io::ok || all.type != frame::kind::parts) return stop("rank 0 sent an invalid answer");
  size_t at = 0;
  for (int r = 0; r < size(); ++r) {
    uint32_t bytes = 0;
    if (at + 4 > all.bytes.size()) return stop("rank 0 sent a short answer");
    for (size_t i = 0; i < 4; ++i) bytes |= uint32_t{static_cast<unsigned char>(all.bytes[at++])} << (8 * i);
    if (bytes > all.bytes.size() - at) return stop("rank 0 sent a short answer");
    if (auto good = store(r, all.bytes.substr(at, bytes)); !good) return stop(good.error());
    at += bytes;
  }
  return {};
}

std::string packed(const std::map<std::string, std::string>& blobs) {
  std::string text;
  for (const auto& [name, bytes] : blobs) {
    text += static_cast<char>(name.size());
    text += static_cast<char>(bytes.size() & 0xff);
    text += static_cast<char>(bytes.size() >> 8);
    text += name + bytes;
  }
  return text;
}

bool unpacked(const std::string& text, std::map<std::string, std::string>& blobs) {
  const auto byte = [&](size_t at) { return size_t{static_cast<unsigned char>(text[at])}; };
  for (size_t at = 0; at < text.size();) {
    if (text.size() - at < 3) return false;
    const size_t name = byte(at), bytes = byte(at + 1) | byte(at + 2) << 8;
    at += 3;
    if (name > blobs::most_name || bytes > blobs::most_bytes || name + bytes > text.size() - at) return false;
    blobs[text.substr(at, name)] = text.substr(at + name, bytes);
    at += name + bytes;
  }
  return true;
}

}  // namespace ggas::library::start

extern "C" ggas::library::start::blobs* ggas_start_1(const void*, ggas::userlib::deadline until, std::string& why) {
  using namespace ggas::library::start;
  const auto j = tcp_job_from_environment();
  auto joined = j ? tcp_blobs::join(*j, until) : std::unexpected(j.error());
  if (!joined) why = joined.error();
  return joined ? joined->release() : nullptr;
}
