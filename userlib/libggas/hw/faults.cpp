// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/hw/faults.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <mutex>

namespace ggas::library::hw {

namespace {

struct mapping {
  std::atomic<uintptr_t> begin{0};  // 0: free
  size_t bytes = 0;
  std::atomic<bool>* lost = nullptr;
};

// Read by the handler, which may take no lock: an entry is whole before its beginning is written.
std::array<mapping, 128> mappings;
std::mutex writing;
unsigned used = 0;
struct sigaction before;

bool take_its_place(uintptr_t at) {
  for (mapping& m : mappings) {
    const uintptr_t begin = m.begin.load(std::memory_order_acquire);
    if (begin == 0 || at < begin || at - begin >= m.bytes) continue;
    m.lost->store(true);
    return mmap(reinterpret_cast<void*>(begin), m.bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

void on_fault(int number, siginfo_t* info, void* context) {
  if (take_its_place(reinterpret_cast<uintptr_t>(info->si_addr))) return;
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
  sigaction(number, &before, nullptr);  // the access is repeated, and ends as it would have
}

}  // namespace

bool guard(volatile void* at, size_t bytes, std::atomic<bool>* lost) {
  const std::lock_guard held(writing);
  for (mapping& m : mappings) {
    if (m.begin.load() != 0) continue;
    m.bytes = bytes;
    m.lost = lost;
    m.begin.store(reinterpret_cast<uintptr_t>(at), std::memory_order_release);
    if (used++ == 0) {
      struct sigaction mine {};
      mine.sa_sigaction = on_fault;
      mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
      sigaction(SIGBUS, &mine, &before);
    }
    return true;
  }
  return false;
}

void unguard(std::atomic<bool>* lost) {
  const std::lock_guard held(writing);
  for (mapping& m : mappings) {
    if (m.begin.load() == 0 || m.lost != lost) continue;
    m.begin.store(0);
    if (--used != 0) continue;
    struct sigaction now {};
    sigaction(SIGBUS, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) sigaction(SIGBUS, &before, nullptr);
  }
}

}  // namespace ggas::library::hw
