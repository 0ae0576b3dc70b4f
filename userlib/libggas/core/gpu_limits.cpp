// SPDX-License-Identifier: Apache-2.0
// From which size on writes of a GPU are staged, and in which chunks: set, measured, stored.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "userlib/libggas/core/process.hpp"

using namespace ggas::library;

namespace {

constexpr uint64_t chunk_least = 4096, chunk_most = uint64_t{1} << 30;
constexpr uint64_t size_least = 4096, size_most = uint64_t{16} << 20;  // of what is measured
constexpr int rounds = 7;

ggas_rc check_chunk(uint64_t chunk) {
  if (chunk >= chunk_least && chunk <= chunk_most) return GGAS_OK;
  return fail(GGAS_ERR_SIZE, "chunk ", chunk, ": must be ", chunk_least, " ... ", chunk_most);
}

// Median time of a write, ns.
ggas_rc time_of(ggas_process* p, const ggas_part& part, uint32_t rank, ggas_gpu_way way, uint64_t& ns) {
  std::vector<uint64_t> all;
  for (int i = 0; i <= rounds; ++i) {
    const uint64_t begin = now_ns();
    ggas_rc rc = ggas_gpu_write(p, &part, rank, 0, way, GGAS_BLOCK);
    if (rc == GGAS_OK) rc = ggas_queue_wait(p, 0, GGAS_BLOCK);
    if (rc != GGAS_OK) return rc;
    if (i > 0) all.push_back(now_ns() - begin);  // the first one warms up
  }
  std::ranges::sort(all);
  ns = all[all.size() / 2];
  return GGAS_OK;
}

// The chunk with which the largest write is fastest.
ggas_rc best_chunk(ggas_process* p, const ggas_part& part, uint32_t rank) {
  uint64_t best = 0, least = UINT64_MAX;
  for (uint64_t chunk = uint64_t{64} << 10; chunk <= uint64_t{4} << 20; chunk *= 2) {
    uint64_t ns = 0;
    p->gpu_chunk = chunk;
    if (ggas_rc rc = time_of(p, part, rank, GGAS_GPU_STAGED, ns); rc != GGAS_OK) return rc;
    if (ns < least) best = chunk, least = ns;
  }
  p->gpu_chunk = best;
  return GGAS_OK;
}

// The least size from which on staged is faster at every size.
ggas_rc best_threshold(ggas_process* p, ggas_part part, uint32_t rank) {
  uint64_t threshold = UINT64_MAX;
  for (uint64_t bytes = part.bytes; bytes >= size_least; bytes /= 2) {
    uint64_t direct = 0, staged = 0;
    part.bytes = bytes;
    ggas_rc rc = time_of(p, part, rank, GGAS_GPU_DIRECT, direct);
    if (rc == GGAS_OK) rc = time_of(p, part, rank, GGAS_GPU_STAGED, staged);
    if (rc != GGAS_OK) return rc;
    if (staged >= direct) break;
    threshold = bytes;
  }
  p->gpu_threshold = threshold;
  return GGAS_OK;
}

struct closing {
  void operator()(FILE* f) const { std::fclose(f); }
};
using file = std::unique_ptr<FILE, closing>;

ggas_rc store(const ggas_process* p, const char* path) {
  const file f(std::fopen(path, "we"));
  if (!f) return fail_system(path);
  std::fprintf(f.get(), "threshold %" PRIu64 "\nchunk %" PRIu64 "\n", p->gpu_threshold.load(), p->gpu_chunk.load());
  return std::fflush(f.get()) == 0 && !std::ferror(f.get()) ? GGAS_OK : fail_system(path);
}

}  // namespace

ggas_rc ggas_gpu_limits(const ggas_process* p, uint64_t* threshold, uint64_t* chunk) {
  return call(p, [&] {
    const ggas_rc rc =
        first_of([&] { return check_pointer(threshold, "threshold"); }, [&] { return check_pointer(chunk, "chunk"); });
    if (rc != GGAS_OK) return rc;
    *threshold = p->gpu_threshold;
    *chunk = p->gpu_chunk;
    return rc;
  });
}

ggas_rc ggas_gpu_set_limits(ggas_process* p, uint64_t threshold, uint64_t chunk) {
  return call(p, [&] {
    if (ggas_rc rc = check_chunk(chunk); rc != GGAS_OK) return rc;
    p->gpu_threshold = threshold;
    p->gpu_chunk = chunk;
    return GGAS_OK;
  });
}

ggas_rc ggas_gpu_tune(ggas_process* p, uint32_t segment, uint32_t rank, const char* path) {
  return call(p, [&] {
    uint64_t here = 0, there = 0;
    ggas_rc rc = check_rank(p, rank);
    if (rc == GGAS_OK) rc = ggas_segment_size(p, segment, p->transport->rank(), &here);
    if (rc == GGAS_OK) rc = ggas_segment_size(p, segment, rank, &there);
    if (rc != GGAS_OK) return rc;
    const uint64_t bytes = std::min({here, there, size_most});
    if (bytes < size_least) return fail(GGAS_ERR_SIZE, "segment ", segment, ": has less than ", size_least, " bytes");
    const ggas_part part{segment, segment, 0, 0, bytes};
    rc = best_chunk(p, part, rank);
    if (rc == GGAS_OK) rc = best_threshold(p, part, rank);
    return rc == GGAS_OK && path ? store(p, path) : rc;
  });
}

ggas_rc ggas_gpu_load_limits(ggas_process* p, const char* path) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(path, "file"); rc != GGAS_OK) return rc;
    const file f(std::fopen(path, "re"));
    if (!f) return fail_system(path);
    uint64_t threshold = 0, chunk = 0;
    if (std::fscanf(f.get(), "threshold %" SCNu64 " chunk %" SCNu64, &threshold, &chunk) != 2)
      return fail(GGAS_ERR_ARGUMENT, path, ": must have the lines 'threshold N' and 'chunk N'");
    return ggas_gpu_set_limits(p, threshold, chunk);
  });
}
