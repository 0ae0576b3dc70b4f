// SPDX-License-Identifier: Apache-2.0
#include "ggas/detail/type/walk_items.hpp"
#include "gpu_api/types/row_words.hpp"

namespace ggas::detail::walking {

void copy_row_by_16(char* to, const char* from, uint64_t n) {
  using word [[gnu::vector_size(16), gnu::may_alias]] = uint64_t;
  copy_row_by<word>(to, from, n);
}

void copy_row(char* to, const char* from, uint64_t n) {
  constexpr uint64_t longest = 64 << 10;
  if (n > longest) {  // memcpy() may leave the caches alone
    std::memcpy(to, from, n);
    return;
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) return copy_row_by_32(to, from, n);
#endif
  copy_row_by_16(to, from, n);
}

}  // namespace ggas::detail::walking
