/* SPDX-License-Identifier: Apache-2.0 */
/* What all examples do: start, look at return codes, stop. */
#ifndef GGAS_EXAMPLES_HOST_H
#define GGAS_EXAMPLES_HOST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggas/ggas.h"

#define TIMEOUT_MS 20000000000ull /* ns: a call that takes longer is an error */
#define MUST(call)                                                                  \
  do {                                                                              \
    const ggas_rc rc_ = (call);                                                     \
    if (rc_ != GGAS_OK) {                                                           \
      fprintf(stderr, "%s: %s: %s\n", #call, ggas_rc_text(rc_), ggas_error_text()); \
      exit(EXIT_FAILURE);                                                           \
    }                                                                               \
  } while (0)
#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                 \
    }                                                                     \
  } while (0)

static ggas_process* p;
static uint32_t me, all;

static inline void start(void) {
  MUST(ggas_process_start(&p, TIMEOUT_MS));
  MUST(ggas_process_rank(p, &me));
  MUST(ggas_process_size(p, &all));
}

static inline void* segment(uint32_t id, uint64_t bytes) {
  void* at;
  MUST(ggas_segment_create(p, id, bytes, GGAS_GROUP_ALL, TIMEOUT_MS));
  MUST(ggas_segment_pointer(p, id, &at));
  return at;
}

static inline void barrier(void) { MUST(ggas_group_barrier(p, GGAS_GROUP_ALL, TIMEOUT_MS)); }

/* Waits for a notification and takes its value. */
static inline uint32_t take(uint32_t id, uint32_t slot) {
  uint32_t found, value;
  MUST(ggas_notification_waitsome(p, id, slot, 1, &found, TIMEOUT_MS));
  MUST(ggas_notification_reset(p, id, found, &value));
  return value;
}

#endif
