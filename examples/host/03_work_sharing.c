/* SPDX-License-Identifier: Apache-2.0 */
/* 03: atomics. Ranks take pieces of work off a counter of rank 0 until none is left. */
#include "host.h"

int main(void) {
  enum { pieces = 500, counter = 0, done = 8 /* bytes */ };
  uint64_t piece, sum = 0, before;
  start();
  const uint64_t* words = segment(0, 64);
  for (;;) {
    MUST(ggas_segment_fetch_add(p, 0, counter, 0, 1, &piece, TIMEOUT_MS));
    if (piece >= pieces) break;
    sum += piece;
  }
  MUST(ggas_segment_fetch_add(p, 0, done, 0, sum, &before, TIMEOUT_MS));
  barrier();
  if (me == 0) CHECK(words[done / 8] == (uint64_t)pieces * (pieces - 1) / 2);
  printf("rank %u: sum %" PRIu64 "\n", me, sum);
  ggas_process_stop(p);
  return 0;
}
