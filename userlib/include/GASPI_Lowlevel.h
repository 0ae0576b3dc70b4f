/* SPDX-License-Identifier: Apache-2.0 */
/** @file Requests with tags, by the names that Task-Aware GASPI uses: a program submits operations and asks which of
 * them are complete. Each operation, a list too, is one request. */
#ifndef GASPI_LOWLEVEL_H
#define GASPI_LOWLEVEL_H

#include <GASPI.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What gaspi_operation_submit() and gaspi_operation_list_submit() do. */
typedef enum {
  GASPI_OP_READ,
  GASPI_OP_WRITE,
  GASPI_OP_NOTIFY,
  GASPI_OP_WRITE_NOTIFY,
  GASPI_OP_READ_LIST,
  GASPI_OP_WRITE_LIST,
  GASPI_OP_WRITE_LIST_NOTIFY
} gaspi_lowlevel_operation_t;

/** Chosen by the program; holds an address. */
typedef long long gaspi_tag_t;
/** Of requests for which the program has no tag. */
#define GASPI_TAG_NULL ((gaspi_tag_t)0)

/** How a request ended. */
typedef struct {
  gaspi_return_t error; /**< GASPI_SUCCESS, or what gaspi_wait() returned */
} gaspi_status_t;

/** Requests that an operation becomes: one. @param num elements of a list @param num_requests their number */
gaspi_return_t gaspi_operation_get_num_requests(gaspi_lowlevel_operation_t operation, gaspi_number_t num,
                                                gaspi_number_t* num_requests);
/** gaspi_read(), gaspi_write(), gaspi_notify() or gaspi_write_notify() with a tag. Arguments that the operation does
 * not have are ignored. An operation that is not accepted, as its return code says, is no request. */
gaspi_return_t gaspi_operation_submit(gaspi_lowlevel_operation_t operation, gaspi_tag_t tag,
                                      gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                      gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                                      gaspi_offset_t offset_remote, gaspi_size_t size,
                                      gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
                                      gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** gaspi_read_list(), gaspi_write_list() or gaspi_write_list_notify() with a tag. */
gaspi_return_t gaspi_operation_list_submit(gaspi_lowlevel_operation_t operation, gaspi_tag_t tag, gaspi_number_t num,
                                           gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
                                           gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote,
                                           gaspi_offset_t* offset_remote, gaspi_size_t* size,
                                           gaspi_segment_id_t segment_id_notification,
                                           gaspi_notification_id_t notification_id,
                                           gaspi_notification_t notification_value, gaspi_queue_id_t queue,
                                           gaspi_timeout_t timeout_ms);
/** Gives requests of a queue that are complete, each once, in the order of their submission. Success without any if the
 * queue has none. After an error of gaspi_wait() all requests of the queue are complete with that error.
 * gaspi_queue_purge() and gaspi_queue_delete() forget requests.
 * @param num room of the arrays @param completed number of requests given @param tags theirs
 * @param statuses how they ended
 * @param timeout_ms for the first one; GASPI_TIMEOUT: none is complete */
gaspi_return_t gaspi_request_wait(gaspi_queue_id_t queue, gaspi_number_t num, gaspi_number_t* completed,
                                  gaspi_tag_t* tags, gaspi_status_t* statuses, gaspi_timeout_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
