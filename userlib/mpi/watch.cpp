// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/watch.hpp"

#include <dlfcn.h>

#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/memory.hpp"

using ggas::mpi::load_watch;

extern "C" {
__attribute__((visibility("hidden"))) constinit load_watch ggas_mpi_load_watch;
}

namespace {

// Other libraries may load some before this one is initialised.
void* find_dlopen() {
  static std::atomic<void*> found{nullptr};
  if (!found) found = dlsym(RTLD_NEXT, "dlopen");
  return found;
}

}  // namespace

// dlopen, counted. It goes on by a jump: the real function looks at its return address for the library that called it.
#if defined(__x86_64__)
extern "C" __attribute__((visibility("hidden"), used)) void* ggas_mpi_load_begins() {
  __atomic_fetch_add(&ggas_mpi_load_watch.loads, 1, __ATOMIC_SEQ_CST);
  ggas::mpi::go_through();
  return find_dlopen();
}
asm(R"(
  .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  push %rdi
  push %rsi
  sub $8, %rsp
  call ggas_mpi_load_begins
  add $8, %rsp
  pop %rsi
  pop %rdi
  jmp *%rax
  .size dlopen, .-dlopen
)");
constexpr bool counts_loads = true;
#else
constexpr bool counts_loads = false;
#endif

namespace ggas::mpi {

void* find_loaded(const char* name) {
  return reinterpret_cast<decltype(&dlopen)>(find_dlopen())(name, RTLD_NOW | RTLD_NOLOAD);
}

// A thread may have been counted whose load begins only now: the library is looked for several times.
bool worth_a_look() {
  constexpr unsigned looks = 64;
  static std::atomic<uint64_t> seen{~uint64_t{0}};
  static std::atomic<unsigned> misses{0};
  const uint64_t loads = loads_now();
  if (loads == seen.load(std::memory_order_relaxed)) return false;
  if (counts_loads && ++misses >= looks) {
    misses = 0;
    seen = loads;
  }
  return true;
}

bool still_quiet() {
  const uint64_t loads = loads_now();
  if (stays_out_for().empty()) {
    if (moves_host_memory() || has_gpu_driver()) return false;
    if (worth_a_look()) return true;
  }
  ggas_mpi_load_watch.checked = loads;
  go_straight();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (loads_now() != loads) go_through();  // another thread loads a library at this moment
  return true;
}

bool still_only_host() {
  const uint64_t loads = loads_now();
  if (!moves_host_memory() || !stays_out_for().empty() || has_gpu_driver()) return false;
  if (!worth_a_look()) ggas_mpi_load_watch.only_host = loads;
  return true;
}

}  // namespace ggas::mpi
