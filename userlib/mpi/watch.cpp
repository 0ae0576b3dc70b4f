// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/watch.hpp"

#include <dlfcn.h>

#include "userlib/mpi/below.hpp"
#include "userlib/mpi/memory.hpp"

using ggas::mpi::load_watch;

extern "C" {
__attribute__((visibility("hidden"))) constinit load_watch ggas_mpi_load_watch;
__attribute__((visibility("hidden"))) constinit void* ggas_mpi_dlopen = nullptr;
// Other libraries may load some before this one is initialised.
__attribute__((visibility("hidden"), used)) void* ggas_mpi_find_dlopen() {
  return ggas_mpi_dlopen = dlsym(RTLD_NEXT, "dlopen");
}
}

// dlopen, counted. It goes on by a jump: the real function looks at its return address for the library that called it.
#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  lock incq ggas_mpi_load_watch(%rip)
  mov ggas_mpi_dlopen(%rip), %rax
  test %rax, %rax
  jne 1f
  push %rdi
  push %rsi
  sub $8, %rsp
  call ggas_mpi_find_dlopen
  add $8, %rsp
  pop %rsi
  pop %rdi
1:
  jmp *%rax
  .size dlopen, .-dlopen
)");
constexpr bool counts_loads = true;
#else
constexpr bool counts_loads = false;
#endif

namespace ggas::mpi {

void* find_loaded(const char* name) {
  static const auto real = reinterpret_cast<decltype(&dlopen)>(ggas_mpi_find_dlopen());
  return real(name, RTLD_NOW | RTLD_NOLOAD);
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
  return true;
}

}  // namespace ggas::mpi
