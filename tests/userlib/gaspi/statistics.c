/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, and the profiling interface: this program is the tool that takes the place of gaspi_time_ticks. */
#include <PGASPI.h>

#include "conformance.h"

/* The counter of a name. */
static gaspi_statistic_counter_t named(const char* wanted) {
  gaspi_number_t n, i, level;
  gaspi_statistic_argument_t argument;
  gaspi_string_t name, text;
  CHECK(gaspi_statistic_counter_max(&n));
  for (i = 0; i < n; ++i) {
    CHECK(gaspi_statistic_counter_info(i, &argument, &name, &text, &level));
    HOLDS(strlen(name) > 0 && strlen(text) > 0 && argument == GASPI_STATISTIC_ARGUMENT_NONE && level == 0);
    if (strcmp(name, wanted) == 0) return i;
  }
  HOLDS(!"the name of a counter");
  return 0;
}

CASE(counters_count, 2) {
  const gaspi_statistic_counter_t bytes = named("BytesWritten"), writes = named("Writes"), late = named("TimeOuts");
  gaspi_notification_id_t id;
  gaspi_ulong value;
  segment(0, 64);
  CHECK(gaspi_statistic_verbosity_level(1));
  CHECK(gaspi_write(0, 0, right(), 0, 8, 24, 0, TIMEOUT_MS));
  CHECK(gaspi_write(0, 0, right(), 0, 8, 8, 0, TIMEOUT_MS));
  GIVES(gaspi_notify_waitsome(0, 0, 1, &id, GASPI_TEST), GASPI_TIMEOUT);
  CHECK(gaspi_statistic_counter_get(bytes, 0, &value));
  HOLDS(value == 32);
  CHECK(gaspi_statistic_counter_get(writes, 0, &value));
  HOLDS(value == 2);
  CHECK(gaspi_statistic_counter_get(late, 0, &value));
  HOLDS(value == 1);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
}

CASE(a_counter_is_reset_alone, 1) {
  const gaspi_statistic_counter_t bytes = named("BytesWritten"), writes = named("Writes");
  gaspi_ulong value;
  segment(0, 64);
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_statistic_counter_reset(bytes));
  CHECK(gaspi_statistic_counter_get(bytes, 0, &value));
  HOLDS(value == 0);
  CHECK(gaspi_statistic_counter_get(writes, 0, &value));
  HOLDS(value == 1);
  CHECK(gaspi_write(0, 0, me, 0, 8, 16, 0, TIMEOUT_MS));
  CHECK(gaspi_statistic_counter_get(bytes, 0, &value));
  HOLDS(value == 16);
  CHECK(gaspi_wait(0, TIMEOUT_MS));
}

CASE(bad_counters_are_refused, 1) {
  gaspi_number_t n, level;
  gaspi_statistic_argument_t argument;
  gaspi_string_t text;
  gaspi_ulong value;
  CHECK(gaspi_statistic_counter_max(&n));
  REFUSED(gaspi_statistic_counter_get(n, 0, &value));
  REFUSED(gaspi_statistic_counter_get(0, 0, NULL));
  REFUSED(gaspi_statistic_counter_reset(n));
  REFUSED(gaspi_statistic_counter_info(n, &argument, &text, &text, &level));
  REFUSED(gaspi_statistic_counter_info(0, &argument, NULL, &text, &level));
}

static int calls;

gaspi_return_t gaspi_time_ticks(gaspi_cycles_t* ticks) {
  ++calls;
  return pgaspi_time_ticks(ticks);
}

CASE(a_tool_takes_the_place_of_a_procedure, 1) {
  gaspi_cycles_t first = 0, last = 0;
  const int before = calls;
  CHECK(gaspi_time_ticks(&first));
  CHECK(pgaspi_time_ticks(&last));
  HOLDS(calls == before + 1 && last > first && first > 0);
}

CASE(the_other_names_do_the_same, 2) {
  gaspi_rank_t rank, num;
  gaspi_number_t n;
  CHECK(pgaspi_proc_rank(&rank));
  CHECK(pgaspi_proc_num(&num));
  HOLDS(rank == me && num == all);
  CHECK(pgaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
  CHECK(pgaspi_queue_num(&n));
  HOLDS(n == 8);
}

CASE_FROM_BEGIN(pcontrol_does_nothing, 1) {
  int word = 3;
  CHECK(gaspi_pcontrol(&word));
  CHECK(gaspi_pcontrol(NULL));
  HOLDS(word == 3);
}
