// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/shm/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "userlib/libggas/base/fail.hpp"

namespace ggas::library::shm {

arena::~arena() {
  if (base_) munmap(base_, bytes_);
}

// Address space may be short (ulimit -v, valgrind).
static bool fits(uint64_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at != MAP_FAILED && munmap(at, bytes) == 0;
}

uint64_t arena::bytes_for(unsigned ranks) {
#ifdef __SANITIZE_THREAD__
  constexpr uint64_t addresses = uint64_t{1} << 38;  // for all arenas: what ThreadSanitizer leaves, and a margin
#else
  constexpr uint64_t addresses = uint64_t{1} << 45;
#endif
  const uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t least = layout(ranks).segments() + (uint64_t{1} << 28);
  uint64_t wanted = std::min(std::bit_ceil(memory + layout(ranks).segments()), addresses / ranks);
  while (wanted > least && !fits(wanted * ranks)) wanted /= 2;
  return std::max(wanted, least);
}

ggas_rc arena::map(const userlib::file& f, uint64_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f.fd(), 0);
  if (at == MAP_FAILED) return fail_system("mapping " + std::to_string(bytes) + " bytes for a rank (ulimit -v)");
  base_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
  return GGAS_OK;
}

ggas_rc arena_file::create(uint64_t bytes, uint64_t reserved, uint64_t end) {
  rlimit most{};
  // The system ends a process that makes a file too long.
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes)
    return fail(GGAS_ERR_SYSTEM, "files may have ", most.rlim_cur, " bytes, a rank needs ", bytes, " (ulimit -f)");
  file_ = userlib::file(memfd_create("ggas", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file_) return fail_system("memory of the rank");
  if (ftruncate(file_.fd(), static_cast<off_t>(bytes)) != 0) return fail_system("memory of the rank");
  if (fcntl(file_.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail_system("memory of the rank");
  room_.add(reserved, end ? end : bytes);
  return GGAS_OK;
}

uint64_t arena_file::take(uint64_t bytes) { return room_.take(bytes).value_or(0); }

void arena_file::give(uint64_t offset, uint64_t bytes) {
  free(offset, bytes);
  room_.give(offset, bytes);
}

void arena_file::free(uint64_t offset, uint64_t bytes) {
  fallocate(file_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(room_.up(bytes)));
}

}  // namespace ggas::library::shm
