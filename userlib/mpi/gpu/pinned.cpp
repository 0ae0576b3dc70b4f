// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/gpu/pinned.hpp"

#include <bit>
#include <map>
#include <mutex>
#include <vector>

namespace ggas::mpi {

namespace {

struct pool {
  std::mutex lock;
  std::map<void*, uint64_t> sizes;                // of all
  std::map<uint64_t, std::vector<void*>> unused;  // by size, a power of two

  // Never destroyed: the driver may be gone before it.
  static pool& here() {
    static pool* const one = new pool;
    return *one;
  }
};

void give_back(void* at) {
  if (!at) return;
  pool& p = pool::here();
  const std::lock_guard one_at_a_time(p.lock);
  p.unused[p.sizes[at]].push_back(at);
}

}  // namespace

staging pinned_memory(const driver& d, uint64_t bytes) {
  const uint64_t size = std::bit_ceil(bytes < 4096 ? 4096 : bytes);
  pool& p = pool::here();
  const std::lock_guard one_at_a_time(p.lock);
  void* at = nullptr;
  if (std::vector<void*>& some = p.unused[size]; !some.empty()) {
    at = some.back();
    some.pop_back();
  } else if (d.cuMemHostAlloc(&at, size, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) {
    at = nullptr;
  } else {
    p.sizes[at] = size;
  }
  return {at, give_back};
}

}  // namespace ggas::mpi
