// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/shm/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace ggas::library::shm {

void doorbell::wake() { syscall(SYS_futex, &rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void sleep_at(doorbell& b, uint32_t rings, uint64_t ns) {
  const timespec t{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &b.rings, FUTEX_WAIT, rings, &t, nullptr, 0);  // however it ends, the caller looks again
}

}  // namespace ggas::library::shm
