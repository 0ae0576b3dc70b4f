// SPDX-License-Identifier: Apache-2.0
// What a call that can fail or time out returns, in kernels and on the host.
#pragma once

// clang-format off
enum [[nodiscard]] ggas_status : unsigned {
  ggas_ok = 0,
  ggas_timed_out = 1,     // the time given was up
  ggas_bad_argument = 2,  // null or misaligned pointer, node or offset out of range, unknown comparison or method
  ggas_peer_error = 3,    // stores or operations to a peer may be lost
  ggas_no_queue = 4,      // the call needs a queue of the NIC, and this node has none; an atomic: nor do peers take it
  ggas_broken = 5,        // a barrier or collective failed on this node before; until the cluster's reset()
  ggas_aborted = 6,       // the host has ended all waits, by the cluster's abort(); until its reset()
};
// clang-format on

#ifdef __CUDACC__
__host__ __device__
#endif
    inline const char*
    ggas_status_text(ggas_status s) {
  switch (s) {
    case ggas_ok:
      return "ok";
    case ggas_timed_out:
      return "timed out";
    case ggas_bad_argument:
      return "bad argument";
    case ggas_peer_error:
      return "peer error";
    case ggas_no_queue:
      return "no queue";
    case ggas_broken:
      return "broken by an earlier failure";
    case ggas_aborted:
      return "aborted by the host";
  }
  return "unknown status";
}
