// SPDX-License-Identifier: Apache-2.0
// What the ways of synchronising cost a host, by the platform.
#pragma once

#include "ggas/cluster.hpp"
#include "sim/gpu/config.hpp"

namespace ggas::userlib {

// From an empty launch until the host knows that it has ended.
inline uint64_t sync_ns(const gpu::gpu_config& c, host_sync how) {
  switch (how) {
    case host_sync::device:
      return c.sync_device_ns;
    case host_sync::event:
      return c.sync_event_ns;
    case host_sync::event_blocking:
      return c.sync_event_blocking_ns;
    default:
      return c.sync_stream_ns;
  }
}

}  // namespace ggas::userlib
