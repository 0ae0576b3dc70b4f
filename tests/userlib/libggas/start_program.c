/* SPDX-License-Identifier: Apache-2.0
 * start_program [SECONDS [wait]]: starts as the environment says, adds all ranks, and says what came of it; or waits
 * for a signal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ggas/ggas.h"

int main(int argc, char** argv) {
  const uint64_t timeout = (argc > 1 ? strtoull(argv[1], NULL, 10) : 20) * 1000000000u;
  ggas_process* p = NULL;
  uint32_t me = 0, all = 0;
  ggas_rc rc = ggas_process_start(&p, timeout);
  if (rc == GGAS_OK) ggas_process_rank(p, &me), ggas_process_size(p, &all);
  const uint64_t mine = me + 1;
  uint64_t sum = 0;
  if (rc == GGAS_OK)
    rc = ggas_group_allreduce(p, &mine, &sum, 1, GGAS_ELEMENT_UINT64, GGAS_OP_SUM, GGAS_GROUP_ALL, timeout);
  if (rc != GGAS_OK) {
    printf("error %d: %s\n", (int)rc, ggas_error_text());
  } else {
    printf("rank %u of %u, sum %u\n", me, all, (unsigned)sum);
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "wait") == 0) pause();
  }
  ggas_process_stop(p);
  return rc == GGAS_OK ? 0 : 1;
}
