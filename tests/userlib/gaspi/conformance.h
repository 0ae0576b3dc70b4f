/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of GASPI conformance, in C and in C++: each is a rule of the standard, run by 1 to 5 ranks. */
#ifndef GGAS_TESTS_GASPI_CONFORMANCE_H
#define GGAS_TESTS_GASPI_CONFORMANCE_H

#include <GASPI.h>
#include <GASPI_Ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 20000ul /* ms, of calls that are to succeed */

typedef struct gaspi_case {
  const char* name;
  void (*run)(void);
  int begins; /* the case calls gaspi_proc_init itself */
  struct gaspi_case* next;
} gaspi_case;

extern gaspi_rank_t me, all; /* of a case that main has begun */
void add_case(gaspi_case* one);

/* ranks: with how many CMakeLists.txt has it run */
#define CASE_(name, begins)                                   \
  static void name(void);                                     \
  __attribute__((constructor)) static void add_##name(void) { \
    static gaspi_case one = {#name, name, begins, NULL};      \
    add_case(&one);                                           \
  }                                                           \
  static void name(void)
#define CASE(name, ranks) CASE_(name, 0)
#define CASE_FROM_BEGIN(name, ranks) CASE_(name, 1)

#define GIVES(call, code)                                                                            \
  do {                                                                                               \
    const gaspi_return_t rc_ = (call);                                                               \
    if (rc_ != (code)) {                                                                             \
      fprintf(stderr, "rank %u, %s:%d: %s gives %d (%s)\n", me, __FILE__, __LINE__, #call, (int)rc_, \
              gaspi_error_str(rc_));                                                                 \
      exit(EXIT_FAILURE);                                                                            \
    }                                                                                                \
  } while (0)
#define CHECK(call) GIVES(call, GASPI_SUCCESS)
/* An error, whatever its code. */
#define REFUSED(call)                                                                                      \
  do {                                                                                                     \
    const gaspi_return_t rc_ = (call);                                                                     \
    if (rc_ == GASPI_SUCCESS || rc_ == GASPI_TIMEOUT || rc_ == GASPI_QUEUE_FULL) {                         \
      fprintf(stderr, "rank %u, %s:%d: %s gives %d, no error\n", me, __FILE__, __LINE__, #call, (int)rc_); \
      exit(EXIT_FAILURE);                                                                                  \
    }                                                                                                      \
  } while (0)
#define HOLDS(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "rank %u, %s:%d: not %s\n", me, __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                              \
    }                                                                                  \
  } while (0)

/* Segment 0 of all ranks, or another. */
unsigned long* segment(gaspi_segment_id_t id, gaspi_size_t bytes);
void barrier(void);
/* Waits for a notification of a range, takes it and gives its value. */
gaspi_notification_t taken(gaspi_notification_id_t begin, gaspi_number_t num, gaspi_notification_id_t* id);
gaspi_rank_t right(void);
gaspi_rank_t left(void);
/* For cases that begin themselves: gaspi_proc_init; until a rank has ended, which the standard informs no one. */
void begin(void);
void until_ended(gaspi_rank_t rank);

#endif
