// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/gpu/pinned.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

namespace ggas::mpi {

namespace {

constexpr uint64_t least = 4096, most_kept = uint64_t{64} << 20;  // of one piece; of all that are unused

struct pool {
  std::mutex lock;
  const driver* of = nullptr;
  std::map<void*, uint64_t> sizes;                // of all
  std::map<uint64_t, std::vector<void*>> unused;  // by size
  uint64_t kept = 0;                              // bytes of those

  // Never destroyed: the driver may be gone before it.
  static pool& here() {
    static pool* const one = new pool;
    return *one;
  }
};

// At most an eighth more, so that messages of similar sizes find the pieces of each other.
uint64_t rounded(uint64_t bytes) {
  const uint64_t step = std::max(least, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// Pieces beyond the limit go back to the driver.
void give_back(void* at) {
  if (!at) return;
  pool& p = pool::here();
  const std::lock_guard one_at_a_time(p.lock);
  const uint64_t size = p.sizes[at];
  if (p.kept + size > most_kept) {
    p.sizes.erase(at);
    p.of->cuMemFreeHost(at);
    return;
  }
  p.kept += size;
  p.unused[size].push_back(at);
}

}  // namespace

staging pinned_memory(const driver& d, uint64_t bytes) {
  const uint64_t size = rounded(std::max(bytes, least));
  pool& p = pool::here();
  const std::lock_guard one_at_a_time(p.lock);
  p.of = &d;
  void* at = nullptr;
  if (std::vector<void*>& some = p.unused[size]; !some.empty()) {
    at = some.back();
    some.pop_back();
    p.kept -= size;
  } else if (d.cuMemHostAlloc(&at, size, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) {
    at = nullptr;
  } else {
    p.sizes[at] = size;
  }
  return {at, give_back};
}

}  // namespace ggas::mpi
