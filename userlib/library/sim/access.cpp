// SPDX-License-Identifier: Apache-2.0
// A rank's side of the simulator.
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "userlib/library/core/fail.hpp"
#include "userlib/library/nic/access.hpp"
#include "userlib/library/shm/arena.hpp"
#include "userlib/library/sim/protocol.hpp"
#include "userlib/src/bootstrap/bootstrap.hpp"

namespace ggas::library::sim {

namespace {

constexpr unsigned calls_most = 8;  // that are paid for together: a rank that only asks sees time go on

// Simulated time of this process's rank, for time-outs: as it was with the last reply.
std::atomic<uint64_t> now{0};
uint64_t simulated_ns() { return now.load(std::memory_order_relaxed); }

class sim_access final : public nic::access {
 public:
  explicit sim_access(const job& j) : rank_(unsigned(j.rank)), size_(unsigned(j.size)) {}
  ~sim_access() override;
  ggas_rc start(const job& j);

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  ggas_rma_context& context(unsigned i) override { return contexts_[i]; }
  ggas_rma_peer peer(unsigned rank) const override { return {uint16_t(rank), uint8_t(nic::answer_context)}; }
  ggas_rc take(uint64_t bytes, void* bound, nic::memory& m) override;
  void give(const nic::memory& m) override { own_.give(offset_of(m.start), m.bytes); }
  uint64_t nla_of(const void* at) const override { return plan_.nla + offset_of(at); }
  ggas_rc tell_all(uint64_t mine, std::vector<uint64_t>& all) override;
  void call() override;
  void pause(std::span<const nic::watched> at, uint64_t ns) override;
  uint64_t time_ns() override;
  unsigned ended() const override { return ended_; }
  ggas_state state(unsigned rank) override;
  ggas_rc kill(unsigned rank) override;

 private:
  uint64_t offset_of(const volatile void* at) const {
    return uint64_t(static_cast<const volatile std::byte*>(at) - memory_.at(0));
  }
  ggas_rc failed(const std::string& why) const;
  ggas_rc make_memory(userlib::bootstrap& b);
  void make_contexts();
  reply ask(request& q);
  request blank(what kind);
  void look_at(const volatile void* at);
  static void store(void* self, volatile void* to, const void* from, uint32_t bytes);
  static uint64_t load(void* self, const volatile void* from);

  unsigned rank_, size_;
  plan plan_{};
  std::unique_ptr<userlib::bootstrap> start_;  // until all have told each other
  limit until_ = limit::after(0);              // of the start
  shm::arena_file own_;
  shm::arena memory_;
  userlib::file link_, simulator_;
  ggas_rma_io io_{};
  std::array<ggas_rma_context, nic::contexts> contexts_{};
  unsigned calls_ = 0, ended_ = 0;
  std::vector<uint64_t> looked_;
};

// ---------------------------------------------------------------------------------------------- start

ggas_rc sim_access::failed(const std::string& why) const {
  return fail(until_.passed() ? GGAS_TIMEOUT : GGAS_ERR_SYSTEM, "start: ", why);
}

// The simulator is number 0 of the bootstrap, the ranks come behind it.
ggas_rc sim_access::start(const job& j) {
  if (j.name == "alone")
    return fail(GGAS_ERR_SYSTEM, "GGAS_TRANSPORT = sim: there is no simulator; use ggas-run --sim");
  until_ = limit::after(j.timeout_ns).begin();
  job with_simulator = j;
  with_simulator.rank = j.rank + 1;
  with_simulator.size = j.size + 1;
  with_simulator.name += ".sim";
  auto b = userlib::bootstrap::join(with_simulator);
  if (!b) return failed("with the simulator as rank 0: " + b.error());
  start_ = std::move(*b);
  auto told = start_->gather("plan of the simulator", "");
  if (!told) return failed(told.error());
  const std::string& bytes = (*told)[0].bytes;
  if (bytes.size() != sizeof plan_) return failed("the simulator is of another version");
  std::memcpy(&plan_, bytes.data(), sizeof plan_);
  if (plan_.version != version || plan_.nodes != size_) return failed("the simulator is of another version");
  const ggas_rc rc = make_memory(*start_);
  if (rc == GGAS_OK) make_contexts();
  return rc;
}

ggas_rc sim_access::make_memory(userlib::bootstrap& b) {
  if (ggas_rc rc = own_.create(plan_.memory_bytes, reserved_bytes); rc != GGAS_OK) return rc;
  if (ggas_rc rc = memory_.map(own_.file(), plan_.memory_bytes); rc != GGAS_OK) return rc;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_system("a socket to the simulator");
  link_ = userlib::file(ends[0]);
  const userlib::file theirs(ends[1]);
  const userlib::file self = userlib::end_of(getpid());
  if (!self) return fail_system("this process as a descriptor (Linux 5.3 or newer)");
  for (const auto& [name, fd] : {std::pair("memory of ranks", own_.file().fd()),
                                 {"links of ranks", theirs.fd()},
                                 {"processes of ranks", self.fd()}}) {
    const auto all = b.gather(name, "", fd);
    if (!all) return failed(all.error());
    if (std::string_view(name) == "processes of ranks") simulator_ = userlib::file::copy_of((*all)[0].handle.fd());
  }
  return GGAS_OK;
}

void sim_access::make_contexts() {
  io_ = {.self = this, .write = store, .read = load};
  // Never touched: only to tell pages from memory, and from each other.
  auto* const pages = reinterpret_cast<unsigned char*>(memory_.at(plan_.memory_bytes));
  const auto in_memory = [&](uint64_t offset) { return reinterpret_cast<unsigned char*>(memory_.at(offset)); };
  for (unsigned c = 0; c < nic::contexts; ++c) {
    ggas_rma_context& one = contexts_[c];
    one.io = &io_;
    one.page = pages + doorbells_at(c);
    one.descriptors = pages + descriptors_at(c);
    one.status = in_memory(status_at(c));
    one.notifications = in_memory(notifications_at(c));
    one.notify_log2 = notify_log2;
    if (c != nic::answer_context) continue;
    one.mailbox = in_memory(mailbox_at);
    one.mailbox_log2 = mailbox_log2;
  }
}

ggas_rc sim_access::tell_all(uint64_t mine, std::vector<uint64_t>& all) {
  const auto told = start_->gather("controls of ranks", std::to_string(mine));
  if (!told) return failed(told.error());
  const auto good = start_->agree("simulation", {});
  if (!good) return failed(good.error());
  start_.reset();
  all.clear();
  for (unsigned r = 1; r <= size_; ++r) all.push_back(std::strtoull((*told)[r].bytes.c_str(), nullptr, 10));
  now.store(0);
  clock_of_limits.store(simulated_ns);
  request q = blank(what::pay);
  ask(q);
  return GGAS_OK;
}

sim_access::~sim_access() {
  clock_of_limits.store(computer_ns);
  if (!link_ || start_) return;
  const request q = blank(what::leave);
  static_cast<void>(::send(link_.fd(), &q, sizeof q, MSG_NOSIGNAL | MSG_DONTWAIT));
}

// ---------------------------------------------------------------------------------------------- requests

request sim_access::blank(what kind) {
  request q{};
  q.kind = kind;
  q.calls = std::exchange(calls_, 0);
  q.ended = ended_;
  for (const uint64_t at : looked_) q.looked[q.looks++] = at;
  looked_.clear();
  return q;
}

// Others run until this rank has its reply, however long that takes; if the simulator ends, the call ends.
reply sim_access::ask(request& q) {
  if (::send(link_.fd(), &q, sizeof q, MSG_NOSIGNAL) != ssize_t(sizeof q))
    throw failure(GGAS_ERR_SYSTEM, "the simulator has ended, or this rank's connection to it");
  for (;;) {
    pollfd ends[2] = {{link_.fd(), POLLIN, 0}, {simulator_.fd(), POLLIN, 0}};
    if (poll(ends, 2, -1) < 0 && errno == EINTR) continue;
    reply r;
    const ssize_t n = recv(link_.fd(), &r, sizeof r, MSG_DONTWAIT);
    if (n == ssize_t(sizeof r)) {
      now.store(r.now_ns, std::memory_order_relaxed);
      ended_ = r.ended;
      return r;
    }
    if (n < 0 && (errno == EINTR || (errno == EAGAIN && !ends[1].revents))) continue;
    throw failure(GGAS_ERR_SYSTEM, "the simulator has ended, or this rank's connection to it");
  }
}

void sim_access::call() {
  if (++calls_ < calls_most) return;
  request q = blank(what::pay);
  ask(q);
}

void sim_access::look_at(const volatile void* at) {
  looked_.push_back(offset_of(at) & ~uint64_t{7});
  if (looked_.size() < looked_most) return;
  request q = blank(what::pay);
  ask(q);
}

uint64_t sim_access::load(void* self, const volatile void* from) {
  static_cast<sim_access*>(self)->look_at(from);
  return *static_cast<const volatile uint64_t*>(from);
}

void sim_access::store(void* self, volatile void* to, const void* from, uint32_t bytes) {
  auto& a = *static_cast<sim_access*>(self);
  request q = a.blank(what::store);
  q.offset = a.offset_of(to) - a.plan_.memory_bytes;
  q.bytes = bytes;
  std::memcpy(q.data, from, bytes);
  a.ask(q);
}

void sim_access::pause(std::span<const nic::watched> at, uint64_t ns) {
  request q = blank(what::pause);
  q.ns = ns;
  for (const nic::watched& w : at.first(std::min<size_t>(at.size(), ranges_most)))
    q.watched[q.ranges++] = {offset_of(w.at), w.bytes};
  ask(q);
}

uint64_t sim_access::time_ns() {
  ++calls_;
  request q = blank(what::pay);
  return ask(q).now_ns;
}

ggas_state sim_access::state(unsigned rank) {
  ++calls_;
  request q = blank(what::state);
  q.rank = rank;
  return ggas_state(ask(q).value);
}

ggas_rc sim_access::kill(unsigned rank) {
  request q = blank(what::kill);
  q.rank = rank;
  errno = ask(q).value;
  return errno == 0 ? GGAS_OK : fail_system("ending rank " + std::to_string(rank));
}

// ---------------------------------------------------------------------------------------------- memory

ggas_rc sim_access::take(uint64_t bytes, void* bound, nic::memory& m) {
  if (bound)
    return fail(GGAS_ERR_MEMORY, "memory of the user: simulated NICs reach only memory that the library has allocated");
  const uint64_t offset = bytes < plan_.memory_bytes ? own_.take(bytes) : 0;
  if (offset == 0)
    return fail(GGAS_ERR_MEMORY, "there is no room for ", bytes, " bytes: a simulated node has ", plan_.memory_bytes);
  m = {memory_.at(offset), plan_.nla + offset, bytes};
  return GGAS_OK;
}

}  // namespace

}  // namespace ggas::library::sim

namespace ggas::library::nic {

ggas_rc make_sim_access(const job& j, std::unique_ptr<access>& made) {
  auto a = std::make_unique<sim::sim_access>(j);
  const ggas_rc rc = a->start(j);
  if (rc == GGAS_OK) made = std::move(a);
  return rc;
}

}  // namespace ggas::library::nic
