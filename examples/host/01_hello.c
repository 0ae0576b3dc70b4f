/* SPDX-License-Identifier: Apache-2.0 */
/* 01: a process is a rank. Who is there, and is every member alive? */
#include "host.h"

int main(void) {
  uint32_t r;
  start();
  ggas_state* states = calloc(all, sizeof *states);
  CHECK(states);
  MUST(ggas_process_states(p, states, all));
  for (r = 0; r < all; ++r) CHECK(states[r] == GGAS_STATE_HEALTHY);
  printf("rank %u of %u\n", me, all);
  barrier(); /* no one leaves before all have looked */
  free(states);
  ggas_process_stop(p);
  return 0;
}
