// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/simt/stack_pool.hpp"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <vector>

#include "gpu_api/simt/sanitizer.hpp"

namespace ggas::simt {
namespace {

constexpr size_t page = 4096;
#ifdef NDEBUG
constexpr size_t guard_bytes = 0;  // two mappings a stack would exhaust the kernel's limit with many threads
#else
constexpr size_t guard_bytes = page;
#endif
constexpr size_t stacks_per_mapping = 64;

class pool {
 public:
  stack take(size_t bytes) {
    bytes = (bytes + page - 1) / page * page;
    std::lock_guard lock(mutex_);
    auto& free = free_[bytes];
    if (free.empty() && !grow(bytes, free)) return {};
    stack s{free.back(), bytes};
    free.pop_back();
    return s;
  }

  void give(stack s) {
    sanitizer::unpoison(s.bottom, s.bytes);  // an abandoned fiber leaves its frames marked
    std::lock_guard lock(mutex_);
    free_[s.bytes].push_back(s.bottom);
  }

 private:
  static bool grow(size_t bytes, std::vector<std::byte*>& free) {
    const size_t stride = bytes + guard_bytes;
    void* m = mmap(nullptr, stride * stacks_per_mapping, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) return false;
    for (size_t i = stacks_per_mapping; i-- > 0;) {
      std::byte* low = static_cast<std::byte*>(m) + i * stride;
      if (guard_bytes && mprotect(low, guard_bytes, PROT_NONE) != 0) return !free.empty();
      free.push_back(low + guard_bytes);
    }
    return true;
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<std::byte*>> free_;
};

// Never destroyed: blocks in static objects may outlive any order of destruction.
pool& the_pool() {
  static pool* p = new pool;
  return *p;
}

}  // namespace

stack take_stack(size_t bytes) { return the_pool().take(bytes); }
void give_stack(stack s) {
  if (s) the_pool().give(s);
}

}  // namespace ggas::simt
