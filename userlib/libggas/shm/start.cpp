// SPDX-License-Identifier: Apache-2.0
// How ranks come together, and what they know of each other's life.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <fstream>

#include "userlib/libggas/shm/shm.hpp"
#include "userlib/start/bootstrap.hpp"

namespace ggas::library::shm {

namespace {

constexpr uint64_t look_out_ns = 10'000'000;

// Number of the process of a descriptor, as this process counts; 0: it cannot.
int number_of(const userlib::file& process) {
  std::ifstream in("/proc/self/fdinfo/" + std::to_string(process.fd()));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("Pid:")) return std::max(0, std::atoi(line.c_str() + 4));
  return 0;
}

bool has_ended(const userlib::file& process) {
  pollfd p{process.fd(), POLLIN, 0};
  return poll(&p, 1, 0) > 0;
}

// Processors that this process may run on: launchers bind each rank to some.
std::string own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return {reinterpret_cast<const char*>(&set), sizeof set};
}

template <class All>
unsigned processors_of(const All& ranks) {
  cpu_set_t all, one;
  CPU_ZERO(&all);
  for (const auto& r : ranks) {
    CPU_ZERO(&one);
    std::memcpy(&one, r.bytes.data(), std::min(r.bytes.size(), sizeof one));
    CPU_OR(&all, &all, &one);
  }
  return unsigned(CPU_COUNT(&all));
}

}  // namespace

ggas_rc shm_transport::start(const job& j) {
  const uint64_t bytes = arena::bytes_for(size_);
  if (ggas_rc rc = own_.create(bytes, where_.segments()); rc != GGAS_OK) return rc;
  return exchange_arenas(j, bytes);
}

ggas_rc shm_transport::exchange_arenas(const job& j, uint64_t own_bytes) {
  const limit until = limit::after(j.timeout_ns).begin();
  const auto failed = [&](const std::string& why) {
    return fail(until.passed() ? GGAS_TIMEOUT : GGAS_ERR_SYSTEM, "start: ", why);
  };
  auto b = userlib::bootstrap::join(j);
  if (!b) return failed(b.error());
  const userlib::file self = userlib::own_end();
  if (!self) return fail_system("this process as a descriptor");
  auto memories = (*b)->gather("memory of ranks", std::to_string(own_bytes), own_.file().fd());
  if (!memories) return failed(memories.error());
  auto processes = (*b)->gather("processes of ranks", own_processors(), self.fd());
  if (!processes) return failed(processes.error());
  look_alone_ns.store(processors_of(*processes) >= size_ ? alone_ns : 0, std::memory_order_relaxed);
  ggas_rc rc = GGAS_OK;
  for (unsigned r = 0; r < size_ && rc == GGAS_OK; ++r) {
    const std::string& reported = (*memories)[r].bytes;
    uint64_t bytes = 0;
    std::from_chars(reported.data(), reported.data() + reported.size(), bytes);
    if (bytes < where_.segments() || !(*memories)[r].handle || !(*processes)[r].handle)
      return fail(GGAS_ERR_SYSTEM, "start: rank ", r, " gave no memory");
    rc = peers_[r].memory.map((*memories)[r].handle, bytes);
    peers_[r].process = std::move((*processes)[r].handle);
    peers_[r].pid = number_of(peers_[r].process);
  }
  const auto all = (*b)->agree("maps of ranks", rc == GGAS_OK ? userlib::attempt<>() : std::unexpected(last_text()));
  return all ? GGAS_OK : failed(all.error());
}

shm_transport::~shm_transport() {
  if (helper_.joinable()) {
    stopping_.store(true);
    peers_[rank_].head().asked.ring();
    helper_.join();
  }
  if (peers_[rank_].memory.bytes() == 0) return;
  control& here = peers_[rank_].head();
  here.left.store(1);
  // Its segments go with it: who writes to one from now on learns that this rank has left.
  for (segment_entry& e : here.segments)
    if (e.generation.load() % 2 == 1) e.generation.fetch_add(1);
  for (doorbell* b : {&here.groups, &here.arrived, &here.drained, &here.served}) b->ring();
}

ggas_state shm_transport::state(unsigned rank) {
  peer& p = peers_[rank];
  if (rank == rank_ || p.known.load() != GGAS_STATE_HEALTHY) return p.known.load();
  // Read in this order, because a process that has ended may have reported its shutdown just before.
  const bool ended = has_ended(p.process);
  if (p.head().left.load() != 0)
    p.known.store(GGAS_STATE_LEFT);
  else if (ended)
    p.known.store(GGAS_STATE_LOST);
  return p.known.load();
}

void shm_transport::look_out() {
  const uint64_t now = about_now_ns();
  uint64_t due = next_look_.load(std::memory_order_relaxed);
  if (now < due || !next_look_.compare_exchange_strong(due, now + look_out_ns)) return;
  for (unsigned r = 0; r < size_; ++r) static_cast<void>(state(r));
}

ggas_rc shm_transport::expect(unsigned rank) {
  look_out();
  if (healthy(rank)) return GGAS_OK;
  return fail(GGAS_ERR_PEER, "rank ", rank, state(rank) == GGAS_STATE_LEFT ? " has left the job" : " has ended");
}

ggas_rc shm_transport::kill(unsigned rank) {
  if (syscall(SYS_pidfd_send_signal, peers_[rank].process.fd(), SIGKILL, nullptr, 0) == 0 || errno == ESRCH)
    return GGAS_OK;
  return fail_system("ending rank " + std::to_string(rank));
}

}  // namespace ggas::library::shm

namespace ggas::library {

ggas_rc make_shm(const job& j, std::unique_ptr<transport>& made) {
  auto t = std::make_unique<shm::shm_transport>(j);
  const ggas_rc rc = t->start(j);
  if (rc == GGAS_OK) made = std::move(t);
  return rc;
}

}  // namespace ggas::library
