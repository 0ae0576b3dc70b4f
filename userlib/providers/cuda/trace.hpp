// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU that the calls of its node are traced in.
#pragma once

#include "ggas/detail/platform/call.hpp"
#include "userlib/providers/cuda/driver.hpp"
#include "userlib/src/report/call_trace.hpp"

namespace ggas::userlib {

class traced_memory {
 public:
  // On the current GPU.
  static attempt<traced_memory> make();
  traced_memory(traced_memory&& o) noexcept : header_(std::exchange(o.header_, nullptr)) {}
  traced_memory& operator=(traced_memory&&) = delete;
  ~traced_memory();

  call_trace* address() const { return header_; }
  // What kernels have written, when they have ended.
  attempt<traced_node> read(int node) const;

 private:
  explicit traced_memory(call_trace* header) : header_(header) {}
  call_trace* header_;  // the ring lies behind it
};

}  // namespace ggas::userlib
