// SPDX-License-Identifier: Apache-2.0
// Segments and atomics of ggas.h.
#include <unistd.h>

#include "userlib/libggas/core/opening.hpp"

using namespace ggas::library;

namespace {

ggas_rc check_bytes(uint64_t bytes) {
  static const uint64_t most = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (bytes == 0) return fail(GGAS_ERR_SIZE, "bytes 0: a segment has at least one");
  if (bytes > most) return fail(GGAS_ERR_MEMORY, "bytes ", bytes, ": this host has ", most);
  return GGAS_OK;
}

ggas_rc open(ggas_process* p, uint32_t segment, uint64_t bytes, void* memory) {
  const ggas_rc rc = first_of([&] { return check_segment(segment); }, [&] { return check_bytes(bytes); });
  return rc == GGAS_OK ? p->transport->segment_open(segment, bytes, memory) : rc;
}

ggas_rc open_buffer(ggas_process* p, uint32_t segment, int fd, uint64_t offset, uint64_t bytes) {
  mapping m;
  ggas_rc rc = first_of([&] { return check_segment(segment); }, [&] { return check_bytes(bytes); });
  if (rc == GGAS_OK && fd < 0) rc = fail(GGAS_ERR_ARGUMENT, "fd ", fd, ": is no descriptor");
  if (rc == GGAS_OK) rc = m.map(fd, offset, bytes);
  if (rc == GGAS_OK) rc = p->transport->segment_open(segment, buffer{fd, offset, bytes, m.at()});
  if (rc != GGAS_OK) return rc;
  const std::lock_guard held(p->lock);
  p->mappings[segment] = std::move(m);
  return rc;
}

// 8 bytes that an atomic can work on.
ggas_rc check_word(const ggas_process* p, uint32_t segment, uint64_t offset, uint32_t rank) {
  const ggas_rc rc = first_of([&] { return check_segment(segment); }, [&] { return check_rank(p, rank); });
  if (rc != GGAS_OK || offset % 8 == 0) return rc;
  return fail(GGAS_ERR_RANGE, "offset ", offset, ": must be a multiple of 8");
}

}  // namespace

ggas_rc ggas_segment_allocate(ggas_process* p, uint32_t segment, uint64_t bytes) {
  return call(p, [&] { return open(p, segment, bytes, nullptr); });
}

ggas_rc ggas_segment_bind(ggas_process* p, uint32_t segment, void* memory, uint64_t bytes) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(memory, "memory"); rc != GGAS_OK) return rc;
    return open(p, segment, bytes, memory);
  });
}

ggas_rc ggas_segment_bind_dmabuf(ggas_process* p, uint32_t segment, int fd, uint64_t offset, uint64_t bytes) {
  return call(p, [&] { return open_buffer(p, segment, fd, offset, bytes); });
}

ggas_rc ggas_segment_permit(ggas_process* p, uint32_t segment, uint32_t rank) {
  return call(p, [&] {
    const ggas_rc rc = first_of([&] { return check_segment(segment); }, [&] { return check_rank(p, rank); });
    return rc == GGAS_OK ? p->transport->segment_permit(segment, rank) : rc;
  });
}

ggas_rc ggas_segment_create(ggas_process* p, uint32_t segment, uint64_t bytes, uint32_t group, uint64_t timeout_ns) {
  return call(p, [&] {
    return open_together(p, segment, {bytes, nullptr, group, false}, timeout_ns,
                         [&] { return open(p, segment, bytes, nullptr); });
  });
}

ggas_rc ggas_segment_use(ggas_process* p, uint32_t segment, void* memory, uint64_t bytes, uint32_t group,
                         uint64_t timeout_ns) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(memory, "memory"); rc != GGAS_OK) return rc;
    return open_together(p, segment, {bytes, memory, group, false}, timeout_ns,
                         [&] { return open(p, segment, bytes, memory); });
  });
}

ggas_rc ggas_segment_use_dmabuf(ggas_process* p, uint32_t segment, int fd, uint64_t offset, uint64_t bytes,
                                uint32_t group, uint64_t timeout_ns) {
  return call(p, [&] {
    return open_together(p, segment, {bytes, nullptr, group, false, fd, offset}, timeout_ns,
                         [&] { return open_buffer(p, segment, fd, offset, bytes); });
  });
}

ggas_rc ggas_segment_delete(ggas_process* p, uint32_t segment) {
  return call(p, [&] {
    if (ggas_rc rc = check_segment(segment); rc != GGAS_OK) return rc;
    mapping gone;  // unmapped when no process reaches it any more
    {
      const std::lock_guard held(p->lock);
      p->creations.erase(segment);
      if (const auto m = p->mappings.find(segment); m != p->mappings.end()) {
        gone = std::move(m->second);
        p->mappings.erase(m);
      }
    }
    return p->transport->segment_close(segment);
  });
}

ggas_rc ggas_segment_pointer(ggas_process* p, uint32_t segment, void** pointer) {
  return call(p, [&] {
    ggas_rc rc = first_of([&] { return check_pointer(pointer, "pointer"); }, [&] { return check_segment(segment); });
    std::byte* start = nullptr;
    if (rc == GGAS_OK) rc = p->transport->segment_here(segment, 0, 0, start);
    if (rc == GGAS_OK) *pointer = start;
    return rc;
  });
}

ggas_rc ggas_segment_size(ggas_process* p, uint32_t segment, uint32_t rank, uint64_t* bytes) {
  return call(p, [&] {
    const ggas_rc rc = first_of([&] { return check_pointer(bytes, "bytes"); }, [&] { return check_segment(segment); },
                                [&] { return check_rank(p, rank); });
    return rc == GGAS_OK ? p->transport->segment_bytes(segment, rank, *bytes) : rc;
  });
}

ggas_rc ggas_segment_fetch_add(ggas_process* p, uint32_t segment, uint64_t offset, uint32_t rank, uint64_t add,
                               uint64_t* old, uint64_t timeout_ns) {
  return call(p, [&] {
    uint64_t was = 0;
    ggas_rc rc = check_word(p, segment, offset, rank);
    if (rc == GGAS_OK) rc = p->transport->fetch_add({rank, segment, offset}, add, was, limit::after(timeout_ns));
    if (rc != GGAS_OK) return rc;
    p->count.atomics.add(1);
    if (old) *old = was;
    return rc;
  });
}

ggas_rc ggas_segment_compare_swap(ggas_process* p, uint32_t segment, uint64_t offset, uint32_t rank, uint64_t expected,
                                  uint64_t desired, uint64_t* old, uint64_t timeout_ns) {
  return call(p, [&] {
    uint64_t was = 0;
    ggas_rc rc = check_word(p, segment, offset, rank);
    if (rc == GGAS_OK)
      rc = p->transport->compare_swap({rank, segment, offset}, expected, desired, was, limit::after(timeout_ns));
    if (rc != GGAS_OK) return rc;
    p->count.atomics.add(1);
    if (old) *old = was;
    return rc;
  });
}
