// SPDX-License-Identifier: Apache-2.0
#include "programs/simulator/rank.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "programs/simulator/program_memory.hpp"
#include "sim/system.hpp"
#include "userlib/libggas/nic/access.hpp"

namespace ggas::simulator {

using library::sim::request;
using library::sim::what;

namespace {

constexpr uint64_t host_page = mem::sparse_memory::page_bytes;
uint64_t pages_of(uint64_t bytes) { return (bytes + host_page - 1) / host_page; }

// Parts: offset and bytes; whole pages.
bool parts_are_free(const std::map<uint64_t, uint64_t>& parts, uint64_t offset, uint64_t bytes) {
  const auto behind = parts.lower_bound(offset);
  if (behind != parts.end() && behind->first < offset + pages_of(bytes) * host_page) return false;
  if (behind == parts.begin()) return true;
  const auto& [begin, size] = *std::prev(behind);
  return begin + pages_of(size) * host_page <= offset;
}

}  // namespace

void rank::say(const std::string& text) const { fmt::print(stderr, "ggas-simulator: rank {}: {}\n", number_, text); }

void job_of_ranks::show_life() {
  ++signs;
  for (const auto& r : all) r->show_life(signs);
}

void rank::show_life(uint64_t sign) {
  auto* const word = reinterpret_cast<uint64_t*>(memory_.data() + library::sim::sign_of_life_at);
  std::atomic_ref(*word).store(sign, std::memory_order_relaxed);
}

void rank::end(ggas_state how) {
  state_ = how;
  while (!bound_.empty()) unbind(bound_.begin()->first);
  link_ = userlib::file();
  job_.end_ps = pcie::now_ps();
  ++job_.ended;
  for (const auto& r : job_.all)  // who waits looks whether that was for this rank
    if (r.get() != this && r->state_ == GGAS_STATE_HEALTHY) r->core->runner().wake(pcie::now_ps());
}

void rank::run(cpu::core& c) {
  while (const auto q = next()) {
    if (const std::string rule = rule_broken_by(*q); !rule.empty()) {
      say(rule + "; its connection is closed");
      break;
    }
    if (q->kind == what::leave) return end(GGAS_STATE_LEFT);
    pay(c, *q);
    library::sim::reply r{};
    r.value = perform(c, *q);
    r.now_ns = (pcie::now_ps() - job_.begin_ps) / 1000;
    r.ended = job_.ended;
    if (send(link_.fd(), &r, sizeof r, MSG_NOSIGNAL | MSG_DONTWAIT) != ssize_t(sizeof r)) break;
  }
  end(GGAS_STATE_LOST);
}

// The whole simulation waits here: it is this rank's turn. Nothing: the process has ended, or breaks rules.
std::optional<request> rank::next() {
  const auto limit = std::chrono::steady_clock::now() + job_.timeout;
  for (;;) {
    std::vector<pollfd> ends{{link_.fd(), POLLIN, 0}};
    for (const auto& r : job_.all) ends.push_back({r->gone_ ? -1 : r->process_.fd(), POLLIN, 0});
    constexpr int slice_ms = 500;
    const int left_ms = gone_ ? 0 : userlib::milliseconds_to(limit);
    const int n = poll(ends.data(), ends.size(), std::min(left_ms, slice_ms));
    job_.show_life();
    if ((n < 0 && errno == EINTR) || (n == 0 && left_ms > slice_ms)) continue;
    for (size_t i = 0; n > 0 && i < job_.all.size(); ++i)
      if (ends[1 + i].revents && i != number_) job_.all[i]->process_has_ended();
    if (n <= 0 && !gone_) {
      say(fmt::format("has called nothing for {} s; it counts as lost", job_.timeout.count()));
      return {};
    }
    const bool ended = gone_ || ends[1 + number_].revents;
    if (!ends[0].revents && !ended) continue;
    if (!ends[0].revents) return {};  // what it said before it ended comes first: it may have left
    request q;
    const ssize_t got = receive(q);
    if (got == ssize_t(sizeof q)) return q;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got > 0) say(fmt::format("sent a message of {} bytes, which is none; its connection is closed", got));
    return {};
  }
}

// A message, of which the request may be a part, and the descriptor that came with it.
ssize_t rank::receive(request& q) {
  iovec bytes{&q, sizeof q};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &bytes;
  m.msg_iovlen = 1;
  m.msg_control = room;
  m.msg_controllen = CMSG_LEN(sizeof(int));  // one: the room has place for another
  const ssize_t got = recvmsg(link_.fd(), &m, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
  const cmsghdr* const head = got >= 0 ? CMSG_FIRSTHDR(&m) : nullptr;
  handed_ = userlib::file();
  if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return got;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  handed_ = userlib::file(fd);
  return got;
}

// Others need not wait until its processor would have asked it again.
void rank::process_has_ended() {
  gone_ = true;
  if (state_ == GGAS_STATE_HEALTHY) core->runner().wake(pcie::now_ps());
}

// Empty: none.
std::string rank::rule_broken_by(const request& q) const {
  const uint64_t memory = memory_.size();
  const auto outside = [&](uint64_t offset, uint64_t bytes) { return offset > memory || bytes > memory - offset; };
  if (q.kind > what::leave)
    return fmt::format("unknown request {}: requests are 0 to {}", unsigned(q.kind), unsigned(what::leave));
  if (q.looks > library::sim::looked_most || q.ranges > library::sim::ranges_most || q.calls > 1000)
    return "sends a request with more entries than a message holds";
  uint64_t sum = 0;
  for (unsigned i = 0; i < q.looks; ++i)
    if (outside(q.looked[i], 8)) return "polls beyond the end of its memory";
  for (unsigned i = 0; i < q.ranges; ++i) {
    if (outside(q.watched[i].offset, q.watched[i].bytes)) return "watches a range beyond the end of its memory";
    sum += q.watched[i].bytes;
  }
  if (sum > library::sim::watched_most) return fmt::format("watches {} bytes, more than a message may", sum);
  constexpr uint64_t pages = library::sim::doorbells_at(library::nic::contexts);
  const bool whole = q.bytes == 4 || (q.bytes % 8 == 0 && q.bytes > 0 && q.bytes <= library::sim::data_most);
  if (q.kind == what::store && (!whole || q.offset > pages || q.bytes > pages - q.offset || q.offset % 4 != 0))
    return fmt::format("stores {} bytes at {} of its pages", q.bytes, q.offset);
  if (q.kind == what::bind && (q.bytes == 0 || outside(q.offset, q.bytes) || q.offset % host_page != 0 ||
                               !parts_are_free(bound_, q.offset, q.bytes) || bound_.size() >= library::sim::bound_most))
    return fmt::format("binds {} bytes at {} of its memory", q.bytes, q.offset);
  if (q.kind == what::unbind && !bound_.contains(q.offset))
    return fmt::format("unbinds memory at {}, where is none", q.offset);
  if (q.kind == what::copy) {
    const auto to = side_of(q.offset, q.bytes), from = side_of(q.address, q.bytes);
    if (q.bytes == 0 || !to || !from || (*to == side::host && *from == side::host))
      return fmt::format("copies {} bytes from {} to {} of its memory", q.bytes, q.address, q.offset);
  }
  if ((q.kind == what::state || q.kind == what::kill) && q.rank >= job_.all.size())
    return fmt::format("asks about rank {}", q.rank);
  return {};
}

void rank::pay(cpu::core& c, const request& q) {
  for (unsigned i = 0; i < q.calls; ++i) c.call();
  uint64_t word = 0;
  for (unsigned i = 0; i < q.looks; ++i)
    c.read(sim::pinned_base + q.looked[i], std::as_writable_bytes(std::span(&word, 1)));
}

int32_t rank::perform(cpu::core& c, const request& q) {
  switch (q.kind) {
    case what::store:
      c.write(sim::bar4_base + q.offset, std::as_bytes(std::span(q.data, q.bytes)));
      return 0;
    case what::pause:
      pause(c, q);
      return 0;
    case what::state:
      return job_.all[q.rank]->state_;
    case what::kill:
      if (q.rank == number_ || job_.all[q.rank]->state_ != GGAS_STATE_HEALTHY) return 0;
      return syscall(SYS_pidfd_send_signal, job_.all[q.rank]->process_.fd(), SIGKILL, nullptr, 0) == 0 ? 0 : errno;
    case what::bind:
      return bind(q);
    case what::unbind:
      unbind(q.offset);
      return 0;
    case what::copy:
      return copy(c, q);
    case what::copied:
      await_copy(c);
      return 0;
    default:
      return 0;
  }
}

int32_t rank::bind(const request& q) {
  if (!handed_) return EBADF;
  std::byte first;
  errno = 0;
  if (pread(handed_.fd(), &first, 1, off_t(q.address)) != 1) return errno ? errno : ESRCH;
  const auto tell = [this](const std::string& text) { say(text); };
  node_.memory->lay(sim::pinned_base + q.offset, pages_of(q.bytes),
                    std::make_unique<program_memory>(std::move(handed_), q.address, q.bytes, tell));
  bound_[q.offset] = q.bytes;
  return 0;
}

void rank::unbind(uint64_t offset) {
  node_.memory->take_away(sim::pinned_base + offset);
  bound_.erase(offset);
}

// Empty if the bytes are not all in one of the memories.
std::optional<rank::side> rank::side_of(uint64_t offset, uint64_t bytes) const {
  const uint64_t host = memory_.size();
  if (offset < host && bytes <= host - offset) return side::host;
  if (offset >= host && offset - host <= gpu_bytes_ && bytes <= gpu_bytes_ - (offset - host)) return side::gpu;
  return {};
}

// Like cudaMemcpyAsync, one at a time. Call and synchronisation cost as much as for an empty kernel.
int32_t rank::copy(cpu::core& c, const request& q) {
  if (copied_ && (!copied_->reached || known_ps_ > pcie::now_ps())) return EBUSY;
  copied_ = std::make_shared<gpu::mark>();
  copied_->waiters.push_back([this] {
    known_ps_ = pcie::now_ps() + node_.gpu->learns_ps();
    core->runner().wake(pcie::now_ps());
  });
  if (!node_.gpu->copy(memory_.data() + q.offset, memory_.data() + q.address, q.bytes, copied_)) {
    copied_.reset();
    return ENOTSUP;
  }
  c.work(node_.gpu->call_ps());
  return 0;
}

void rank::await_copy(cpu::core& c) {
  while (copied_ && !copied_->reached) c.runner().block(~uint64_t{0});
  if (known_ps_ > pcie::now_ps()) c.work(known_ps_ - pcie::now_ps());
}

// The processor polls: each turn it looks at all of the ranges, which costs what they take.
void rank::pause(cpu::core& c, const request& q) {
  const auto look = [&](std::vector<std::byte>& to) {
    to.clear();
    for (const auto& range : std::span(q.watched, q.ranges)) {
      to.resize(to.size() + range.bytes);
      c.read(sim::pinned_base + range.offset, std::span(to).last(range.bytes));
    }
  };
  std::vector<std::byte> seen, sees;
  for (const auto& range : std::span(q.watched, q.ranges))
    seen.insert(seen.end(), memory_.begin() + ptrdiff_t(range.offset),
                memory_.begin() + ptrdiff_t(range.offset + range.bytes));
  const auto changed = [&] {
    look(sees);
    return sees != seen || job_.ended != q.ended || gone_;
  };
  constexpr uint64_t most_ns = 1'000'000'000'000;
  c.wait_until(changed, std::min(q.ns, most_ns) * 1000);
}

}  // namespace ggas::simulator
