/* SPDX-License-Identifier: Apache-2.0 */
/* 04: passive messages. Rank 0 sleeps until someone asks, whichever one it is, and answers by a write. */
#include "host.h"

int main(void) {
  enum { asked = 0, answer = 64 /* bytes */, answered = 3 /* slot */ };
  start();
  uint64_t* words = segment(0, 128);
  uint32_t r, from;
  if (me == 0) {
    for (r = 1; r < all; ++r) {
      MUST(ggas_passive_receive(p, 0, asked, &from, sizeof *words, TIMEOUT_MS));
      CHECK(words[0] == from);
      words[answer / 8] = words[0] * words[0];
      const ggas_part part = {0, 0, answer, answer, sizeof *words};
      MUST(ggas_queue_write(p, &part, from, 0, TIMEOUT_MS));
      MUST(ggas_queue_notify(p, 0, from, answered, 1, 0, TIMEOUT_MS));
      MUST(ggas_queue_wait(p, 0, TIMEOUT_MS));
    }
  } else {
    words[0] = me;
    MUST(ggas_passive_send(p, 0, asked, 0, sizeof *words, TIMEOUT_MS));
    take(0, answered);
    CHECK(words[answer / 8] == (uint64_t)me * me);
    printf("rank %u: its square is %" PRIu64 "\n", me, words[answer / 8]);
  }
  barrier();
  ggas_process_stop(p);
  return 0;
}
