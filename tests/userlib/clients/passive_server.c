/* SPDX-License-Identifier: Apache-2.0 */
/* A server that knows its clients by their messages alone: they ask by passive messages, it answers by a write with a
 * notification. */
#include "tests/userlib/gaspi/conformance.h"

enum { requests = 100 };
enum { ask = 0, question = 64, answer = 128 }; /* offsets */

typedef struct request {
  unsigned long number, stop;
} request;

static void serve(char* memory) {
  request* const asked = (request*)(memory + question);
  unsigned long* const result = (unsigned long*)(memory + answer);
  unsigned left = all - 1u, served = 0;
  while (left > 0) {
    gaspi_rank_t from;
    CHECK(gaspi_passive_receive(0, question, &from, sizeof *asked, TIMEOUT_MS));
    HOLDS(from != 0 && from < all);
    left -= asked->stop != 0;
    if (asked->stop) continue;
    CHECK(gaspi_wait(0, TIMEOUT_MS)); /* the result of the last one may change now */
    *result = asked->number * asked->number + from;
    CHECK(gaspi_write_notify(0, answer, from, 0, answer, sizeof *result, 0, 1, 0, TIMEOUT_MS));
    ++served;
  }
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  HOLDS(served == (all - 1u) * requests);
}

static void use(char* memory) {
  request* const mine = (request*)(memory + ask);
  unsigned long i;
  for (i = 0; i <= requests; ++i) {
    gaspi_notification_id_t id;
    mine->number = 1000 * i + me;
    mine->stop = i == requests;
    CHECK(gaspi_passive_send(0, ask, 0, sizeof *mine, TIMEOUT_MS));
    if (mine->stop) return;
    HOLDS(taken(0, 1, &id) == 1);
    HOLDS(*(unsigned long*)(memory + answer) == mine->number * mine->number + me);
  }
}

int main(void) {
  char* memory;
  begin();
  memory = (char*)segment(0, 256);
  if (me == 0) serve(memory);
  if (me != 0) use(memory);
  barrier();
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  return 0;
}
