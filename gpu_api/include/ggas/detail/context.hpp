// SPDX-License-Identifier: Apache-2.0
// What a kernel knows of its node; in constant memory on CUDA, beside the running grid on the host SIMT engine.
#pragma once

#include <cstdint>

namespace ggas {

struct context {
  int32_t node;                    // own id
  int32_t nodes;                   // nodes in the address space
  char* window;                    // start of the global window; node n's segment begins at window + n * stride
  uint64_t stride;                 // distance of two segments in the window, bytes
  char* local;                     // own segment, without the window
  uint64_t segment_bytes;          // usable bytes of every segment
  uint64_t reserved;               // first bytes of every segment kept for collectives (barrier flags, slots)
  const volatile uint64_t* quiet;  // NIC page: a load returns once earlier stores are visible; nullptr: fence suffices
};

}  // namespace ggas
