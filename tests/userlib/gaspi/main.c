/* SPDX-License-Identifier: Apache-2.0 */
/* `conformance CASE...`: runs the cases, one after the other; without one it lists them. */
#include "conformance.h"

static gaspi_case* cases;

void add_case(gaspi_case* one) {
  one->next = cases;
  cases = one;
}

static void run(const gaspi_case* c) {
  if (c->begins) {
    c->run();
    return;
  }
  begin();
  c->run();
  barrier();
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}

int main(int argc, char** argv) {
  const gaspi_case* c;
  int i;
  for (c = cases; argc == 1 && c; c = c->next) puts(c->name);
  for (i = 1; i < argc; ++i) {
    for (c = cases; c && strcmp(c->name, argv[i]) != 0;) c = c->next;
    if (!c) {
      fprintf(stderr, "%s: there is no such case\n", argv[i]);
      return EXIT_FAILURE;
    }
    run(c);
  }
  return EXIT_SUCCESS;
}
