// SPDX-License-Identifier: Apache-2.0
// User memory of another rank: copied by a system call from process to process. If the system forbids that, and for
// atomics, a helper thread of the owner does it.
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "userlib/libggas/shm/shm.hpp"

#ifdef __SANITIZE_THREAD__
extern "C" void AnnotateIgnoreReadsBegin(const char*, int);
extern "C" void AnnotateIgnoreReadsEnd(const char*, int);
extern "C" void AnnotateIgnoreWritesBegin(const char*, int);
extern "C" void AnnotateIgnoreWritesEnd(const char*, int);
#endif

namespace ggas::library::shm {

namespace {

// How long a request that the owner has begun may take when the caller's time is up.
constexpr uint64_t begun_ns = 1'000'000'000;

// The helper works for other processes, in an order they make and ThreadSanitizer does not see.
struct for_others {
#ifdef __SANITIZE_THREAD__
  for_others() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~for_others() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  for_others() {}
#endif
};

enum class copied { all, forbidden, gone, fault };

copied copy_across(int pid, uint64_t there, void* here, uint64_t bytes, bool writes) {
  auto* p = static_cast<std::byte*>(here);
  while (bytes > 0) {
    const iovec local{p, bytes}, remote{reinterpret_cast<void*>(there), bytes};
    const ssize_t n =
        writes ? process_vm_writev(pid, &local, 1, &remote, 1, 0) : process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (n <= 0) return errno == ESRCH ? copied::gone : errno == EFAULT ? copied::fault : copied::forbidden;
    p += n;
    there += static_cast<uint64_t>(n);
    bytes -= static_cast<uint64_t>(n);
  }
  return copied::all;
}

}  // namespace

ggas_rc shm_transport::copy(const place& p, const view& v, void* here, uint64_t bytes, request::kind what,
                            limit until) {
  peer& owner = peers_[p.rank];
  until.begin();
  // Its number may be another process's once it has ended.
  if (state(p.rank) != GGAS_STATE_HEALTHY) return expect(p.rank);
  const bool by_system = v.made_of == memory::user && !gpus_.holds(here);
  if (by_system && owner.pid && !owner.needs_helper.load(std::memory_order_relaxed)) {
    switch (copy_across(owner.pid, v.address + p.offset, here, bytes, what == request::write)) {
      case copied::all:
        return GGAS_OK;
      case copied::gone:
        return expect(p.rank);
      case copied::fault:
        return fail(GGAS_ERR_SYSTEM, "segment ", p.segment, " of rank ", p.rank, ": its user took the memory away");
      case copied::forbidden:
        owner.needs_helper.store(true, std::memory_order_relaxed);
    }
  }
  uint64_t none = 0;
  for (uint64_t at = 0; at < bytes; at += request::bytes_most) {
    const uint64_t n = std::min(bytes - at, request::bytes_most);
    const place piece{p.rank, p.segment, p.offset + at};
    const ggas_rc rc = ask(piece, what, static_cast<std::byte*>(here) + at, n, none, 0, until);
    if (rc != GGAS_OK) return rc;
  }
  return GGAS_OK;
}

// Until no request of this rank is under way there: one whose caller had no more time may be.
ggas_rc shm_transport::ask_until_free(request& r, unsigned rank, limit until) {
  const auto free = [&] { return r.now.load() == request::free || r.now.load() == request::done; };
  return wait(peers_[rank].head().served, until, free, [&] { return expect(rank); });
}

// one: an operand, then what was there.
ggas_rc shm_transport::ask(const place& p, request::kind what, void* data, uint64_t bytes, uint64_t& one, uint64_t two,
                           limit until) {
  peer& owner = peers_[p.rank];
  request& r = owner.memory.array<request>(where_.requests())[rank_];
  until.begin();
  if (ggas_rc rc = owner.asking.take(until); rc != GGAS_OK) return rc;
  ggas_rc rc = ask_until_free(r, p.rank, until);
  if (rc == GGAS_OK) {
    r.what = what;
    r.segment = p.segment;
    r.offset = p.offset;
    r.bytes = bytes;
    r.one = one;
    r.two = two;
    if (what == request::write) rc = gpus_.move(r.data, data, bytes);
  }
  if (rc == GGAS_OK) {
    r.now.store(request::posted);
    owner.head().asked.ring();
    const auto done = [&] { return r.now.load() == request::done; };
    const auto check = [&] { return expect(p.rank); };
    rc = wait(owner.head().served, until, done, check);
    uint32_t posted = request::posted;
    // Taken back, unless the helper has begun.
    if (rc == GGAS_TIMEOUT && !r.now.compare_exchange_strong(posted, request::free))
      rc = wait(owner.head().served, limit::after(begun_ns), done, check);
    if (rc == GGAS_OK) {
      rc = r.result == GGAS_OK ? GGAS_OK : fail(GGAS_ERR_SEGMENT, "segment ", p.segment, " of rank ", p.rank, ": gone");
      one = r.one;
      if (what == request::read && rc == GGAS_OK) rc = gpus_.move(data, r.data, bytes);
      r.now.store(request::free);
    }
  }
  owner.asking.give();
  return rc;
}

void shm_transport::help() {
  const for_others here;
  const auto work = [this] { return stopping_.load() || serve_all(); };
  while (!stopping_.load()) wait(peers_[rank_].head().asked, limit::after(UINT64_MAX), work, [] { return GGAS_OK; });
}

// False: no process has asked.
bool shm_transport::serve_all() {
  request* const all = peers_[rank_].memory.array<request>(where_.requests());
  bool any = false;
  for (unsigned r = 0; r < size_; ++r) {
    uint32_t posted = request::posted;
    if (all[r].now.load() != posted || !all[r].now.compare_exchange_strong(posted, request::taken)) continue;
    serve(all[r]);
    all[r].now.store(request::done);
    any = true;
  }
  if (any) peers_[rank_].head().served.ring();
  return any;
}

void shm_transport::serve(request& r) {
  const std::lock_guard held(segments_);  // the user may delete the segment
  view v;
  // Read once, and believed in nothing: the other one may be malformed.
  const auto what = std::atomic_ref(r.what).load();
  const bool atomic = what == request::fetch_add || what == request::compare_swap;
  const place p{rank_, r.segment % GGAS_SEGMENTS, std::atomic_ref(r.offset).load()};
  const uint64_t bytes = atomic ? sizeof(uint64_t) : std::min(std::atomic_ref(r.bytes).load(), request::bytes_most);
  r.result = atomic && p.offset % 8 != 0 ? GGAS_ERR_RANGE : look(p, bytes, v);
  if (r.result != GGAS_OK) return;
  std::byte* const at = v.start + p.offset;
  switch (what) {
    case request::write:
      r.result = gpus_.move(at, r.data, bytes);
      break;
    case request::read:
      r.result = gpus_.move(r.data, at, bytes);
      break;
    case request::fetch_add:
      r.result = gpus_.fetch_add(at, r.one, r.one);
      break;
    case request::compare_swap:
      r.result = gpus_.compare_swap(at, r.one, r.two, r.one);
      break;
  }
}

}  // namespace ggas::library::shm
