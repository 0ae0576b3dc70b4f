// SPDX-License-Identifier: Apache-2.0
// A rank's side of the simulator.
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/nic/access.hpp"
#include "userlib/libggas/shm/arena.hpp"
#include "userlib/libggas/sim/bound.hpp"
#include "userlib/libggas/sim/protocol.hpp"
#include "userlib/start/bootstrap.hpp"

namespace ggas::library::sim {

namespace {

// Real time without a sign of life from the simulator: far more than a step needs.
constexpr uint64_t silence_s = 60, silence_most_s = 1'000'000;
constexpr int look_ms = 500;

constexpr unsigned calls_most = 8;  // that are paid for together: a rank that only asks sees time go on

// Simulated time of this process's rank, for time-outs: as it was with the last reply.
std::atomic<uint64_t> now{0};
uint64_t simulated_ns() { return now.load(std::memory_order_relaxed); }

// handle: a descriptor that goes with the request; -1: none.
bool send_request(int link, const request& q, int handle) {
  iovec bytes{const_cast<request*>(&q), sizeof q};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof handle)] = {};
  msghdr m{};
  m.msg_iov = &bytes;
  m.msg_iovlen = 1;
  if (handle >= 0) {
    m.msg_control = room;
    m.msg_controllen = sizeof room;
    cmsghdr* const head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof handle);
    std::memcpy(CMSG_DATA(head), &handle, sizeof handle);
  }
  return sendmsg(link, &m, MSG_NOSIGNAL) == ssize_t(sizeof q);
}

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
  ggas_rc take(const buffer& b, nic::memory& m, bool& elsewhere) override;
  void give(const nic::memory& m) override;
  uint64_t nla_of(const void* at, uint64_t bytes) const override;
  ggas_rc open_gpu(const char* module, int, uint64_t bytes, uint64_t kept, gpu_memory& m) override;
  ggas_rc take_gpu(uint64_t bytes, nic::memory& m) override;
  bool on_gpu(const void* at) const override { return gpu_here_ && in(gpu_here_, gpu_bytes_, at, 1); }
  bool reaches(const void* at, uint64_t bytes) const override { return place_of(at, bytes).has_value(); }
  ggas_rc begin_copy(void* to, const void* from, uint64_t bytes) override;
  void end_copy() override;
  ggas_rc tell_all(uint64_t mine, std::vector<uint64_t>& all) override;
  void call() override;
  void pause(std::span<const nic::watched> at, uint64_t ns, unsigned round) override;
  uint64_t time_ns() override;
  unsigned ended() const override { return ended_; }
  ggas_state state(unsigned rank) override;
  ggas_rc kill(unsigned rank) override;

 private:
  uint64_t offset_of(const volatile void* at) const {
    return uint64_t(static_cast<const volatile std::byte*>(at) - memory_.at(0));
  }
  static bool in(const std::byte* begin, uint64_t size, const void* at, uint64_t bytes) {
    const auto a = reinterpret_cast<uint64_t>(at), b = reinterpret_cast<uint64_t>(begin);
    return a >= b && a - b <= size && bytes <= size - (a - b);
  }
  uint64_t whole() const { return plan_.memory_bytes + plan_.gpu_bytes; }
  std::optional<uint64_t> place_of(const void* at, uint64_t bytes) const;
  ggas_rc bind(uint64_t offset, uint64_t bytes, void* bound);
  ggas_rc failed(const std::string& why) const;
  ggas_rc make_memory(userlib::bootstrap& b);
  void make_contexts();
  reply ask(const request& q, int handle = -1);
  reply await_reply();
  [[noreturn]] void give_up(const std::string& why);
  uint64_t sign_of_life() const { return std::atomic_ref(*memory_.array<uint64_t>(sign_of_life_at)).load(); }
  ggas_rc read_settings();
  request blank(what kind);
  void look_at(const volatile void* at);
  static void store(void* self, volatile void* to, const void* from, uint32_t bytes);
  static uint64_t load(void* self, const volatile void* from);

  unsigned rank_, size_;
  plan plan_{};
  std::unique_ptr<userlib::bootstrap> start_;  // until all have informed each other
  limit until_ = limit::after(0);              // of the start
  shm::arena_file own_;
  shm::arena memory_;
  bound_memory bound_;
  std::byte *window_ = nullptr, *gpu_here_ = nullptr;  // GPUs of all ranks, this rank's among them
  uint64_t window_bytes_ = 0, gpu_bytes_ = 0;
  room gpu_room_{64 << 10};
  userlib::file link_, simulator_;
  ggas_rma_io io_{};
  std::array<ggas_rma_context, nic::contexts> contexts_{};
  unsigned calls_ = 0, ended_ = 0;
  uint64_t silence_ns_ = silence_s * 1'000'000'000;
  std::vector<uint64_t> looked_;
};

// ---------------------------------------------------------------------------------------------- start

ggas_rc sim_access::failed(const std::string& why) const {
  return fail(until_.passed() ? GGAS_TIMEOUT : GGAS_ERR_SYSTEM, "start: ", why);
}

// The simulator is number 0 of the bootstrap, the ranks come after it.
ggas_rc sim_access::start(const job& j) {
  if (j.name == "alone")
    return fail(GGAS_ERR_SYSTEM, "GGAS_TRANSPORT = sim: there is no simulator; use ggas-run --sim");
  if (ggas_rc rc = read_settings(); rc != GGAS_OK) return rc;
  until_ = limit::after(j.timeout_ns).begin();
  job with_simulator = j;
  with_simulator.rank = j.rank + 1;
  with_simulator.size = j.size + 1;
  with_simulator.name += ".sim";
  auto b = userlib::bootstrap::join(with_simulator);
  if (!b) return failed("with the simulator as rank 0: " + b.error());
  start_ = std::move(*b);
  auto reported = start_->gather("plan of the simulator", "");
  if (!reported) return failed(reported.error());
  const std::string& bytes = (*reported)[0].bytes;
  if (bytes.size() != sizeof plan_) return failed("the simulator is of another version");
  std::memcpy(&plan_, bytes.data(), sizeof plan_);
  if (plan_.version != version || plan_.nodes != size_) return failed("the simulator is of another version");
  const ggas_rc rc = make_memory(*start_);
  if (rc == GGAS_OK) make_contexts();
  return rc;
}

ggas_rc sim_access::read_settings() {
  const char* const text = std::getenv("GGAS_SIMULATOR_SILENCE");
  if (!text) return GGAS_OK;
  char* end = nullptr;
  const uint64_t s = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || s == 0 || s > silence_most_s)
    return fail(GGAS_ERR_ARGUMENT, "GGAS_SIMULATOR_SILENCE = '", text, "': must be 1 ... ", silence_most_s, " seconds");
  silence_ns_ = s * 1'000'000'000;
  return GGAS_OK;
}

ggas_rc sim_access::make_memory(userlib::bootstrap& b) {
  if (ggas_rc rc = own_.create(whole(), reserved_bytes, plan_.memory_bytes); rc != GGAS_OK) return rc;
  if (ggas_rc rc = memory_.map(own_.file(), whole()); rc != GGAS_OK) return rc;
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
  // Never touched: only to report pages from memory, and from each other.
  auto* const pages = reinterpret_cast<unsigned char*>(memory_.at(whole()));
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
  const auto reported = start_->gather("controls of ranks", std::to_string(mine));
  if (!reported) return failed(reported.error());
  const auto good = start_->agree("simulation", {});
  if (!good) return failed(good.error());
  start_.reset();
  all.clear();
  for (unsigned r = 1; r <= size_; ++r) all.push_back(std::strtoull((*reported)[r].bytes.c_str(), nullptr, 10));
  now.store(0);
  clock_of_limits.store(simulated_ns);
  request q = blank(what::pay);
  ask(q);
  return GGAS_OK;
}

sim_access::~sim_access() {
  clock_of_limits.store(computer_ns);
  if (window_) munmap(window_, window_bytes_);
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

// Others run until this rank has its reply, for any time. If the simulator ends, or stops making progress, the call
// ends.
reply sim_access::ask(const request& q, int handle) {
  if (!send_request(link_.fd(), q, handle)) give_up("has ended, or this rank's connection to it");
  const reply r = await_reply();
  now.store(r.now_ns, std::memory_order_relaxed);
  ended_ = r.ended;
  return r;
}

reply sim_access::await_reply() {
  uint64_t seen = sign_of_life(), silent_since = computer_ns();
  for (;;) {
    pollfd ends[2] = {{link_.fd(), POLLIN, 0}, {simulator_.fd(), POLLIN, 0}};
    if (poll(ends, 2, look_ms) < 0 && errno == EINTR) continue;
    reply r;
    const ssize_t n = recv(link_.fd(), &r, sizeof r, MSG_DONTWAIT);
    if (n == ssize_t(sizeof r)) return r;
    const bool nothing_yet = n < 0 && (errno == EINTR || (errno == EAGAIN && !ends[1].revents));
    if (!nothing_yet) give_up("has ended, or this rank's connection to it");
    const uint64_t sign = sign_of_life(), real_ns = computer_ns();
    if (sign != seen) seen = sign, silent_since = real_ns;
    if (real_ns - silent_since > silence_ns_)
      give_up("lives, but has done nothing for " + std::to_string(silence_ns_ / 1'000'000'000) + " s");
  }
}

// A reply that came later would be taken for that to another request.
void sim_access::give_up(const std::string& why) {
  link_ = userlib::file();
  throw failure(GGAS_ERR_SYSTEM, "the simulator " + why);
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
  q.offset = a.offset_of(to) - a.whole();
  q.bytes = bytes;
  std::memcpy(q.data, from, bytes);
  a.ask(q);
}

void sim_access::pause(std::span<const nic::watched> at, uint64_t ns, unsigned) {
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
  const uint64_t offset = bytes < plan_.memory_bytes ? own_.take(bytes) : 0;
  if (offset == 0)
    return fail(GGAS_ERR_MEMORY, "there is no room for ", bytes, " bytes: a simulated node has ", plan_.memory_bytes);
  m = {bound ? static_cast<std::byte*>(bound) : memory_.at(offset), plan_.nla + offset, bytes};
  const ggas_rc rc = bound ? bind(offset, bytes, bound) : GGAS_OK;
  if (rc != GGAS_OK) own_.give(offset, bytes);
  return rc;
}

// The simulator reads and writes it through this process; memory of devices lets no process do that.
ggas_rc sim_access::take(const buffer& b, nic::memory& m, bool& elsewhere) {
  elsewhere = false;
  const userlib::file& process = bound_.descriptor();
  const auto first = reinterpret_cast<uint64_t>(b.at);
  for (const uint64_t at : {first, first + b.bytes - 1}) {
    char byte;
    if (process && pread(process.fd(), &byte, 1, off_t(at)) != 1)
      return fail(GGAS_ERR_SYSTEM, "fd ", b.fd,
                  ": simulated nodes reach files of memory (memfd), not memory of devices");
  }
  return take(b.bytes, b.at, m);
}

ggas_rc sim_access::bind(uint64_t offset, uint64_t bytes, void* bound) {
  if (const std::string why = bound_memory::obstacle(bound, bytes); !why.empty())
    return fail(GGAS_ERR_MEMORY, "memory of the user, ", bytes, " bytes: ", why);
  const userlib::file& process = bound_.descriptor();
  if (!process) return fail_system("memory of the user: /proc/self/mem, by which the simulator reaches it");
  request q = blank(what::bind);
  q.offset = offset;
  q.bytes = bytes;
  q.address = reinterpret_cast<uint64_t>(bound);
  errno = ask(q, process.fd()).value;
  if (errno != 0) return fail_system("memory of the user, which the simulator does not reach");
  bound_.add({static_cast<const std::byte*>(bound), bytes, offset});
  return GGAS_OK;
}

void sim_access::give(const nic::memory& m) {
  const uint64_t offset = m.nla - plan_.nla;
  if (bound_.holds(offset)) {
    bound_.remove(offset);
    request q = blank(what::unbind);
    q.offset = offset;
    ask(q);
  }
  if (offset < plan_.memory_bytes) return own_.give(offset, m.bytes);
  own_.free(offset, m.bytes);
  gpu_room_.give(offset, m.bytes);
}

// Where bytes are in the rank's memory: that of its host, of its GPU, or the program's own.
std::optional<uint64_t> sim_access::place_of(const void* at, uint64_t bytes) const {
  if (in(memory_.at(0), plan_.memory_bytes, at, bytes)) return offset_of(at);
  if (gpu_here_ && in(gpu_here_, gpu_bytes_, at, bytes))
    return plan_.memory_bytes + uint64_t(static_cast<const std::byte*>(at) - gpu_here_);
  return bound_.offset_of(at, bytes);
}

uint64_t sim_access::nla_of(const void* at, uint64_t bytes) const {
  if (const auto offset = place_of(at, bytes)) return plan_.nla + *offset;
  throw failure(GGAS_ERR_SEGMENT, "memory of the user: the segment was deleted");
}

// ---------------------------------------------------------------------------------------------- GPU

// The memory of this rank's GPU in its place among those of all, of which this process has only the addresses.
ggas_rc sim_access::open_gpu(const char* module, int, uint64_t bytes, uint64_t kept, gpu_memory& m) {
  if (std::string_view(module) != "simt")
    return fail(GGAS_ERR_SYSTEM, "GPU: module '", module, "': kernels on simulated nodes run on 'simt'");
  if (bytes > plan_.gpu_bytes)
    return fail(GGAS_ERR_MEMORY, "bytes ", bytes, ": the GPU of a simulated node has ", plan_.gpu_bytes);
  const uint64_t stride = std::bit_ceil(bytes), all = stride * size_;
  void* const at = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return fail_system(std::to_string(all) + " bytes of addresses for GPUs");
  auto* const here = static_cast<std::byte*>(at) + rank_ * stride;
  if (mmap(here, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, own_.file().fd(), off_t(plan_.memory_bytes)) ==
      MAP_FAILED) {
    munmap(at, all);
    return fail_system("memory of the GPU");
  }
  window_ = static_cast<std::byte*>(at);
  window_bytes_ = all;
  gpu_here_ = here;
  gpu_bytes_ = bytes;
  gpu_room_.add(plan_.memory_bytes + gpu_room_.up(kept), plan_.memory_bytes + bytes);
  m = {window_, stride, plan_.nla + plan_.memory_bytes, 0};
  return GGAS_OK;
}

ggas_rc sim_access::take_gpu(uint64_t bytes, nic::memory& m) {
  const auto offset = gpu_room_.take(bytes);
  if (!offset) return fail(GGAS_ERR_MEMORY, "the GPU has no room for ", bytes, " bytes");
  m = {gpu_here_ + (*offset - plan_.memory_bytes), plan_.nla + *offset, bytes};
  return GGAS_OK;
}

ggas_rc sim_access::begin_copy(void* to, const void* from, uint64_t bytes) {
  request q = blank(what::copy);
  q.offset = nla_of(to, bytes) - plan_.nla;
  q.address = nla_of(from, bytes) - plan_.nla;
  q.bytes = bytes;
  errno = ask(q).value;
  return errno == 0 ? GGAS_OK : fail_system("a copy by the GPU");
}

void sim_access::end_copy() { ask(blank(what::copied)); }

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
