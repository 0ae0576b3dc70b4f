/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs have in common: calls that have to succeed, and the rank. */
#ifndef GGAS_EXAMPLES_GASPI_COMMON_H
#define GGAS_EXAMPLES_GASPI_COMMON_H

#include <GASPI.h>
#include <GASPI_Ext.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMEOUT_MS 20000ul /* ms */

#define MUST(call)                                                                                  \
  do {                                                                                              \
    const gaspi_return_t rc_ = (call);                                                              \
    if (rc_ != GASPI_SUCCESS) {                                                                     \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, gaspi_error_str(rc_)), exit(1); \
    }                                                                                               \
  } while (0)
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition), exit(1); \
  } while (0)

static gaspi_rank_t me, all;

static inline void start(void) {
  MUST(gaspi_proc_init(TIMEOUT_MS));
  MUST(gaspi_proc_rank(&me));
  MUST(gaspi_proc_num(&all));
}

/* A segment of every rank. */
static inline void* segment(gaspi_segment_id_t id, gaspi_size_t bytes) {
  gaspi_pointer_t at;
  MUST(gaspi_segment_create(id, bytes, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_INITIALIZED));
  MUST(gaspi_segment_ptr(id, &at));
  return at;
}

/* Waits for one notification of segment 0 and takes it. */
static inline gaspi_notification_t take(gaspi_notification_id_t slot) {
  gaspi_notification_id_t first;
  gaspi_notification_t value;
  MUST(gaspi_notify_waitsome(0, slot, 1, &first, TIMEOUT_MS));
  MUST(gaspi_notify_reset(0, slot, &value));
  return value;
}

static inline void finish(void) {
  MUST(gaspi_barrier(GASPI_GROUP_ALL, TIMEOUT_MS));
  MUST(gaspi_proc_term(TIMEOUT_MS));
}

#endif
