// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/types/row_words.hpp"

#if defined(__x86_64__)
namespace ggas::detail::walking {

void copy_row_by_32(char* to, const char* from, uint64_t n) {
  using word [[gnu::vector_size(32), gnu::may_alias]] = uint64_t;
  copy_row_by<word>(to, from, n);
}

}  // namespace ggas::detail::walking
#endif
