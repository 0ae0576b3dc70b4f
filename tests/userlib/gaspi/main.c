/* SPDX-License-Identifier: Apache-2.0 */
/* `conformance CASE...`: runs the cases, one after the other; without one it lists them. */
#include <unistd.h>

#include "conformance.h"

gaspi_rank_t me, all;
static gaspi_case* cases;

void add_case(gaspi_case* one) {
  one->next = cases;
  cases = one;
}

unsigned long* segment(gaspi_segment_id_t id, gaspi_size_t bytes) {
  gaspi_pointer_t at;
  CHECK(gaspi_segment_create(id, bytes, GASPI_GROUP_ALL, PATIENCE, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(id, &at));
  return (unsigned long*)at;
}

void barrier(void) { CHECK(gaspi_barrier(GASPI_GROUP_ALL, PATIENCE)); }

gaspi_notification_t taken(gaspi_notification_id_t begin, gaspi_number_t num, gaspi_notification_id_t* id) {
  gaspi_notification_t value = 0;
  CHECK(gaspi_notify_waitsome(0, begin, num, id, PATIENCE));
  CHECK(gaspi_notify_reset(0, *id, &value));
  return value;
}

gaspi_rank_t right(void) { return (gaspi_rank_t)((me + 1) % all); }
gaspi_rank_t left(void) { return (gaspi_rank_t)((me + all - 1) % all); }

void begin(void) {
  CHECK(gaspi_proc_init(PATIENCE));
  CHECK(gaspi_proc_rank(&me));
  CHECK(gaspi_proc_num(&all));
}

void until_ended(gaspi_rank_t rank) {
  while (gaspi_proc_ping(rank, PATIENCE) == GASPI_SUCCESS) usleep(1000);
}

static void run(const gaspi_case* c) {
  if (c->begins) {
    c->run();
    return;
  }
  begin();
  c->run();
  barrier();
  CHECK(gaspi_proc_term(PATIENCE));
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
