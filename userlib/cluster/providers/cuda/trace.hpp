// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU that the calls of its node are traced in.
#pragma once

#include "ggas/detail/platform/call.hpp"
#include "userlib/cluster/providers/cuda/driver.hpp"
#include "userlib/cluster/report/call_trace.hpp"

namespace ggas::userlib {

class traced_memory {
 public:
  // On the current GPU.
  static attempt<traced_memory> make();
  traced_memory(traced_memory&& o) noexcept : records_(std::exchange(o.records_, nullptr)) {}
  traced_memory& operator=(traced_memory&&) = delete;
  ~traced_memory();

  // The trace in the form for kernels.
  call_trace trace() const { return {records_, reinterpret_cast<uint32_t*>(records_ + places), traced_calls}; }
  // What kernels have written, when they have ended.
  attempt<traced_node> read(int node) const;

 private:
  explicit traced_memory(call_record* records) : records_(records) {}
  static constexpr size_t places = 2 * traced_calls;
  call_record* records_;  // numbers of places that were claimed stand after them
};

}  // namespace ggas::userlib
