// SPDX-License-Identifier: Apache-2.0
// What a call that can fail or time out returns, in kernels and on the host.
#pragma once

enum ggas_status {
  ggas_ok = 0,
  ggas_timed_out = 1,     // the time given was up
  ggas_bad_argument = 2,  // null or misaligned pointer, node or offset out of range, unknown comparison or method
  ggas_peer_error = 3,    // stores or operations to a peer may be lost, or an earlier collective failed on this node
  ggas_no_queue = 4,      // the call needs a queue of the NIC, and this node has none
};

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
  }
  return "unknown status";
}
