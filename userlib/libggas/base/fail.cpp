// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/base/fail.hpp"

#include <cerrno>
#include <cstring>

namespace ggas::library {

namespace {
// The size is fixed: so a lack of memory can be reported, and a thread that ends leaves nothing allocated.
thread_local char text_of_thread[512];
}  // namespace

ggas_rc fail_with(ggas_rc code, const std::string& text) {
  text_of_thread[text.copy(text_of_thread, sizeof text_of_thread - 1)] = '\0';
  return code;
}

const char* last_text() { return text_of_thread; }

ggas_rc fail_system(const std::string& what) { return fail(GGAS_ERR_SYSTEM, what, ": ", std::strerror(errno)); }

}  // namespace ggas::library
