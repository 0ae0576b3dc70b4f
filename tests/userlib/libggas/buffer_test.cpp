// SPDX-License-Identifier: Apache-2.0
// Segments of memory of a descriptor: a memfd, and a dma-buf where the kernel makes one of it (/dev/udmabuf).
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"
#include "userlib/start/message.hpp"

namespace ggas::library_test {
namespace {

using userlib::file;

constexpr uint64_t page = 4096, bytes = 64 * page;

file memory_file() {
  file f(memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!f || ftruncate(f.fd(), off_t(bytes)) != 0 || fcntl(f.fd(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) std::abort();
  return f;
}

// The file's memory as a dma-buf; none: this system makes none.
file dma_buf(const file& f) {
  const file device(open("/dev/udmabuf", O_RDWR | O_CLOEXEC));
  udmabuf_create p = {.memfd = uint32_t(f.fd()), .flags = UDMABUF_FLAGS_CLOEXEC, .offset = 0, .size = bytes};
  return file(device ? ioctl(device.fd(), UDMABUF_CREATE, &p) : -1);
}

uint64_t maps_of_memory() {
  std::ifstream maps("/proc/self/maps");
  uint64_t n = 0;
  for (std::string line; std::getline(maps, line);)
    n += line.find("/memfd:segment") != line.npos || line.find("dmabuf") != line.npos;
  return n;
}

// Writes, reads, messages and atomics to and from it, between neighbours; `seen`: the same memory by another mapping.
std::string use_it(const rank& r, int fd, const unsigned char* seen) {
  constexpr uint64_t from = 2 * page, size = bytes - from, n = 70'001;  // two pieces of a request
  MUST(ggas_segment_use_dmabuf(r.p, 3, fd, from, size, GGAS_GROUP_ALL, timeout), GGAS_OK);
  auto* const memory = r.memory<unsigned char>(3);
  const uint32_t right = (r.me + 1) % r.size, left = (r.me + r.size - 1) % r.size;
  for (uint64_t i = 0; i < n; ++i) memory[i] = static_cast<unsigned char>(i * 3 + r.me);
  MUST(r.put(3, 0, right, n, n), GGAS_OK);
  MUST(r.notify(3, right, 1, 7), GGAS_OK);
  uint32_t found, value;
  MUST(ggas_notification_waitsome(r.p, 3, 1, 1, &found, timeout), GGAS_OK);
  MUST(ggas_notification_reset(r.p, 3, 1, &value), GGAS_OK);
  for (uint64_t i = 0; i < n; ++i) MUST_HOLD(seen[from + n + i] == static_cast<unsigned char>(i * 3 + left));
  MUST(r.barrier(), GGAS_OK);  // what the right one has written is there
  MUST(r.get(3, n, right, 0, n), GGAS_OK);
  MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
  for (uint64_t i = 0; i < n; ++i) MUST_HOLD(seen[from + n + i] == static_cast<unsigned char>(i * 3 + right));
  MUST(ggas_segment_fetch_add(r.p, 3, size - 8, 0, 5, nullptr, timeout), GGAS_OK);
  MUST(r.put(3, 0, right, size - 7, 8), GGAS_ERR_RANGE);
  MUST(r.barrier(), GGAS_OK);
  uint64_t sum;
  std::memcpy(&sum, seen + bytes - 8, sizeof sum);
  MUST_HOLD(r.me || sum == 5 * r.size);
  MUST(ggas_segment_delete(r.p, 3), GGAS_OK);
  MUST(r.barrier(), GGAS_OK);
  return "ok";
}

std::string use_both(const rank& r, const file& f, int fd) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd(), 0);
  MUST_HOLD(at != MAP_FAILED);
  const uint64_t before = maps_of_memory();
  for (int round = 0; round < 3; ++round) {
    std::memset(at, 0, bytes);
    MUST(r.barrier(), GGAS_OK);
    if (const std::string said = use_it(r, fd, static_cast<unsigned char*>(at)); said != "ok") return said;
  }
  MUST_HOLD(maps_of_memory() == before);
  munmap(at, bytes);
  return "ok";
}

TEST(library_buffer, a_file_of_memory_is_a_segment) {
  run(3, [](const rank& r) {
    const file f = memory_file();
    return use_both(r, f, f.fd());
  });
}

TEST(library_buffer, a_dma_buf_is_a_segment) {
  if (simulated()) GTEST_SKIP() << "simulated nodes reach no dma-bufs";
  if (!dma_buf(memory_file())) GTEST_SKIP() << "no /dev/udmabuf";
  run(3, [](const rank& r) -> std::string {
    const file f = memory_file(), d = dma_buf(f);
    MUST_HOLD(bool(d));
    return use_both(r, f, d.fd());
  });
}

// The descriptor may be closed, and what is after the end of its memory is refused.
TEST(library_buffer, limits_are_reported) {
  run(1, [](const rank& r) -> std::string {
    file f = memory_file();
    MUST(ggas_segment_bind_dmabuf(r.p, 1, f.fd(), page, bytes), GGAS_ERR_RANGE);
    MUST_HOLD(std::strstr(ggas_error_text(), "has 262144") != nullptr);
    MUST(ggas_segment_bind_dmabuf(r.p, 1, f.fd(), 8, page), GGAS_ERR_RANGE);
    MUST(ggas_segment_bind_dmabuf(r.p, 1, f.fd(), UINT64_MAX - page + 1, page), GGAS_ERR_RANGE);
    MUST(ggas_segment_bind_dmabuf(r.p, 1, f.fd(), page, 100), GGAS_OK);
    MUST(ggas_segment_bind_dmabuf(r.p, 1, f.fd(), 0, page), GGAS_ERR_STATE);
    f = file();
    std::memset(r.memory(1), 7, 100);
    const file constant(open("/dev/null", O_RDONLY));
    MUST(ggas_segment_bind_dmabuf(r.p, 2, constant.fd(), 0, page), GGAS_ERR_RANGE);
    MUST(ggas_segment_delete(r.p, 1), GGAS_OK);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
