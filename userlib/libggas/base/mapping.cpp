// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/base/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace ggas::library {

mapping::~mapping() {
  if (at_) munmap(at_, bytes_);
}

ggas_rc mapping::map(int fd, uint64_t offset, uint64_t bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (offset % page != 0) return fail(GGAS_ERR_RANGE, "offset ", offset, ": must be a multiple of ", page);
  const off_t end = lseek(fd, 0, SEEK_END);
  if (end < 0) return fail_system("fd " + std::to_string(fd) + ", which has to be a dma-buf or a memfd");
  // After the end of a file its mapping would fault.
  if (offset > uint64_t(end) || bytes > uint64_t(end) - offset)
    return fail(GGAS_ERR_RANGE, "offset ", offset, " + ", bytes, " bytes: the memory of fd ", fd, " has ", end);
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED) return fail_system("fd " + std::to_string(fd) + ": mapping its memory into this process");
  *this = {};
  at_ = at;
  bytes_ = bytes;
  return GGAS_OK;
}

}  // namespace ggas::library
