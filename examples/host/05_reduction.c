/* SPDX-License-Identifier: Apache-2.0 */
/* 05: collectives. A sum, an operation of the program's own, and a call that timed out and goes on. */
#include "host.h"

/* The longer of two names. */
static int longer(const void* one, const void* two, void* result, void* state, size_t n, size_t bytes, uint64_t ns) {
  (void)state, (void)ns;
  for (size_t i = 0; i < n; ++i) {
    const char *a = (const char*)one + i * bytes, *b = (const char*)two + i * bytes;
    memmove((char*)result + i * bytes, strlen(b) > strlen(a) ? b : a, bytes);
  }
  return 0;
}

int main(void) {
  double part = 0, pi = 0;
  const int steps = 100000;
  char name[64] = "", longest[64];
  ggas_rc rc;
  start();
  for (int i = (int)me; i < steps; i += (int)all)
    part += 4.0 / (1.0 + ((i + 0.5) / steps) * ((i + 0.5) / steps)) / steps;
  /* 0.1 ms at a time: a call that timed out is made again, with the same arguments. */
  do {
    rc = ggas_group_allreduce(p, &part, &pi, 1, GGAS_ELEMENT_DOUBLE, GGAS_OP_SUM, GGAS_GROUP_ALL, 100000);
  } while (rc == GGAS_TIMEOUT);
  MUST(rc);
  CHECK(pi > 3.14159 && pi < 3.14160);
  for (uint32_t i = 0; i <= me && i < sizeof name - 1; ++i) name[i] = 'a';
  MUST(ggas_group_allreduce_user(p, name, longest, 1, sizeof name, longer, NULL, GGAS_GROUP_ALL, TIMEOUT_MS));
  CHECK(strlen(longest) == all || all >= sizeof name);
  if (me == 0) printf("pi is %.6f\n", pi);
  ggas_process_stop(p);
  return 0;
}
