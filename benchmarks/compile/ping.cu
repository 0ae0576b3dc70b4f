// SPDX-License-Identifier: Apache-2.0
// What a program makes of a string when it runs: half a round trip by puts with signal.
#include "ggas/ggas.cuh"

extern "C" __global__ void ping(uint64_t data, uint64_t flag, uint64_t rounds, ggas_status* result) {
  const int peer = 1 - ggas_node();
  ggas_status s = ggas_ok;
  for (uint64_t i = 1; i <= rounds && s == ggas_ok; ++i) {
    if (ggas_node() == 0 || i > 1)
      s = ggas_put_signal_nbi(ggas_pointer_of_node<uint64_t>(peer, data),
                              ggas_pointer_of_node<uint64_t>(ggas_node(), data), 1,
                              ggas_pointer_of_node<uint64_t>(peer, flag), i, ggas_signal_set, 1000000000);
    if (s == ggas_ok) s = ggas_wait_until(ggas_pointer_of_node<uint64_t>(ggas_node(), flag), ggas_ge, i, 1000000000);
  }
  *result = s;
}
