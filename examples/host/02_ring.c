/* SPDX-License-Identifier: Apache-2.0 */
/* 02: one-sided writes. A token goes round; the notification arrives after the data. */
#include "host.h"

int main(void) {
  enum { rounds = 1000, token = 0 /* slot */ };
  start();
  uint64_t* words = segment(0, 2 * sizeof *words); /* what leaves, what arrives */
  const uint32_t right = (me + 1) % all;
  const ggas_part part = {0, 0, 0, sizeof *words, sizeof *words};
  for (int round = 0; round < rounds; ++round) {
    if (me != 0) take(0, token);
    words[0] = words[1] + 1;
    MUST(ggas_queue_write(p, &part, right, 0, TIMEOUT_MS));
    MUST(ggas_queue_notify(p, 0, right, token, 1, 0, TIMEOUT_MS));
    MUST(ggas_queue_wait(p, 0, TIMEOUT_MS)); /* words[0] may change now */
    if (me == 0) take(0, token);
  }
  if (me == 0) CHECK(words[1] == (uint64_t)rounds * all);
  if (me == 0) printf("%d rounds through %u ranks\n", rounds, all);
  barrier();
  ggas_process_stop(p);
  return 0;
}
