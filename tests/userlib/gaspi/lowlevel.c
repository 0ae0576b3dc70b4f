/* SPDX-License-Identifier: Apache-2.0 */
/* GASPI_Lowlevel.h. */
#include <GASPI_Lowlevel.h>
#include <unistd.h>

#include "conformance.h"

/* All requests of a queue, which are to end with a code. */
static void complete(gaspi_queue_id_t q, gaspi_number_t n, const gaspi_tag_t* expected, gaspi_return_t code) {
  gaspi_number_t i, done, all_done = 0;
  gaspi_tag_t tags[2];
  gaspi_status_t statuses[2];
  while (all_done < n) {
    CHECK(gaspi_request_wait(q, 2, &done, tags, statuses, TIMEOUT_MS));
    HOLDS(done > 0 && done <= 2 && all_done + done <= n);
    for (i = 0; i < done; ++i) HOLDS(tags[i] == expected[all_done + i] && (int)statuses[i].error == (int)code);
    all_done += done;
  }
  CHECK(gaspi_request_wait(q, 2, &done, tags, statuses, GASPI_TEST));
  HOLDS(done == 0);
}

CASE(operations_complete_with_their_tags, 2) {
  static const gaspi_tag_t tags[] = {11, 12, GASPI_TAG_NULL, 14};
  unsigned long* m = segment(0, 1024);
  gaspi_number_t n;
  gaspi_notification_id_t id;
  m[0] = 5 + me;
  m[8] = 7;
  barrier();
  CHECK(gaspi_operation_submit(GASPI_OP_WRITE, 11, 0, 0, right(), 0, 64 * 8, 8, 0, 0, 3, TIMEOUT_MS));
  CHECK(gaspi_operation_submit(GASPI_OP_READ, 12, 0, 16 * 8, right(), 0, 8 * 8, 8, 0, 0, 3, TIMEOUT_MS));
  CHECK(gaspi_operation_submit(GASPI_OP_NOTIFY, GASPI_TAG_NULL, 0, 0, right(), 0, 0, 0, 4, 9, 3, TIMEOUT_MS));
  CHECK(gaspi_operation_submit(GASPI_OP_WRITE_NOTIFY, 14, 0, 0, right(), 0, 65 * 8, 8, 5, 6, 3, TIMEOUT_MS));
  HOLDS(taken(5, 1, &id) == 6 && taken(4, 1, &id) == 9);
  HOLDS(m[64] == 5ul + left() && m[65] == m[64]);
  complete(3, 4, tags, GASPI_SUCCESS);
  HOLDS(m[16] == 7);
  CHECK(gaspi_queue_size(3, &n));
  HOLDS(n == 0);
  barrier();
}

CASE(lists_are_one_request, 2) {
  static const gaspi_tag_t tags[] = {1, 2, 3};
  unsigned long* m = segment(0, 1024);
  gaspi_segment_id_t s[2] = {0, 0};
  gaspi_offset_t from[2] = {0, 8}, to[2] = {256, 512}, back[2] = {640, 648};
  gaspi_size_t bytes[2] = {8, 8};
  gaspi_number_t n;
  gaspi_notification_id_t id;
  m[0] = 3, m[1] = 4;
  barrier();
  CHECK(gaspi_operation_get_num_requests(GASPI_OP_WRITE_LIST, 2, &n));
  HOLDS(n == 1);
  CHECK(
      gaspi_operation_list_submit(GASPI_OP_READ_LIST, 1, 2, s, back, right(), s, from, bytes, 0, 0, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_operation_list_submit(GASPI_OP_WRITE_LIST, 2, 2, s, from, right(), s, to, bytes, 0, 0, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_operation_list_submit(GASPI_OP_WRITE_LIST_NOTIFY, 3, 2, s, from, right(), s, to, bytes, 0, 1, 2, 0,
                                    TIMEOUT_MS));
  HOLDS(taken(1, 1, &id) == 2 && m[32] == 3 && m[64] == 4);
  complete(0, 3, tags, GASPI_SUCCESS);
  HOLDS(m[80] == 3 && m[81] == 4);
  barrier();
}

CASE(what_is_refused_is_no_request, 1) {
  gaspi_number_t n;
  gaspi_tag_t tag;
  gaspi_status_t status;
  segment(0, 64);
  REFUSED(gaspi_operation_submit(GASPI_OP_WRITE, 1, 0, 0, 0, 0, 64, 8, 0, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_operation_submit(GASPI_OP_WRITE_LIST, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0, TIMEOUT_MS));
  REFUSED(gaspi_operation_list_submit(GASPI_OP_READ, 1, 0, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, 0, TIMEOUT_MS));
  GIVES(gaspi_operation_submit(GASPI_OP_WRITE, 1, 0, 0, 0, 0, 8, 8, 0, 0, 63, TIMEOUT_MS), GASPI_ERR_INV_QUEUE);
  GIVES(gaspi_request_wait(63, 1, &n, &tag, &status, GASPI_TEST), GASPI_ERR_INV_QUEUE);
  GIVES(gaspi_request_wait(0, 1, NULL, &tag, &status, GASPI_TEST), GASPI_ERR_NULLPTR);
  CHECK(gaspi_request_wait(0, 1, &n, &tag, &status, GASPI_BLOCK));
  HOLDS(n == 0);
}

CASE(a_purge_forgets_requests, 1) {
  static const gaspi_tag_t tags[] = {2};
  segment(0, 64);
  CHECK(gaspi_operation_submit(GASPI_OP_WRITE, 1, 0, 0, 0, 0, 8, 8, 0, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_queue_purge(0, TIMEOUT_MS));
  CHECK(gaspi_operation_submit(GASPI_OP_WRITE, 2, 0, 0, 0, 0, 16, 8, 0, 0, 0, TIMEOUT_MS));
  complete(0, 1, tags, GASPI_SUCCESS);
}

CASE_FROM_BEGIN(requests_to_a_lost_rank_end_with_an_error, 2) {
  static const gaspi_tag_t tags[] = {1, 2};
  begin();
  segment(0, 64);
  if (me == 1) _exit(0);
  until_ended(1);
  CHECK(gaspi_operation_submit(GASPI_OP_WRITE, 1, 0, 0, 0, 0, 8, 8, 0, 0, 0, TIMEOUT_MS));
  CHECK(gaspi_operation_submit(GASPI_OP_NOTIFY, 2, 0, 0, 0, 0, 0, 0, 1, 1, 0, TIMEOUT_MS));
  complete(0, 2, tags, GASPI_SUCCESS);
  if (gaspi_operation_submit(GASPI_OP_WRITE, 1, 0, 0, 1, 0, 8, 8, 0, 0, 0, TIMEOUT_MS) == GASPI_SUCCESS) {
    CHECK(gaspi_operation_submit(GASPI_OP_WRITE, 2, 0, 0, 0, 0, 8, 8, 0, 0, 0, TIMEOUT_MS));
    complete(0, 2, tags, GASPI_ERROR);
  }
  CHECK(gaspi_queue_purge(0, TIMEOUT_MS));
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}
