/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "conformance.h"

gaspi_rank_t me, all;

unsigned long* segment(gaspi_segment_id_t id, gaspi_size_t bytes) {
  gaspi_pointer_t at;
  CHECK(gaspi_segment_create(id, bytes, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(id, &at));
  return (unsigned long*)at;
}

void barrier(void) { CHECK(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS)); }

gaspi_notification_t taken(gaspi_notification_id_t begin, gaspi_number_t num, gaspi_notification_id_t* id) {
  gaspi_notification_t value = 0;
  CHECK(gaspi_notify_waitsome(0, begin, num, id, TIMEOUT_MS));
  CHECK(gaspi_notify_reset(0, *id, &value));
  return value;
}

gaspi_rank_t right(void) { return (gaspi_rank_t)((me + 1) % all); }
gaspi_rank_t left(void) { return (gaspi_rank_t)((me + all - 1) % all); }

void begin(void) {
  CHECK(gaspi_proc_init(TIMEOUT_MS));
  CHECK(gaspi_proc_rank(&me));
  CHECK(gaspi_proc_num(&all));
}

void until_ended(gaspi_rank_t rank) {
  while (gaspi_proc_ping(rank, TIMEOUT_MS) == GASPI_SUCCESS) usleep(1000);
}
