/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * GASPI 17.1 (GPI forum) over libggas: names, arguments and meaning are the standard's. A procedure without a
 * time-out is local. What is left out returns GASPI_ERROR; docs/gaspi.md has the table.
 */
#ifndef GASPI_H
#define GASPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GASPI_MAJOR_VERSION 17
#define GASPI_MINOR_VERSION 1
#define GASPI_REVISION 0

typedef char gaspi_char;
typedef int gaspi_int;
typedef unsigned int gaspi_uint;
typedef long gaspi_long;
typedef unsigned long gaspi_ulong;
typedef float gaspi_float;
typedef double gaspi_double;
typedef short gaspi_short;
typedef unsigned char gaspi_uchar;
typedef unsigned short gaspi_ushort;

typedef unsigned long gaspi_size_t;
typedef unsigned int gaspi_number_t;
typedef unsigned short gaspi_rank_t;
typedef unsigned char gaspi_segment_id_t;
typedef unsigned long gaspi_offset_t;
typedef unsigned long gaspi_timeout_t; /**< milliseconds */
typedef unsigned char gaspi_queue_id_t;
typedef unsigned char gaspi_group_t;
typedef unsigned short gaspi_notification_id_t;
typedef unsigned int gaspi_notification_t;
typedef unsigned long gaspi_atomic_value_t;
typedef float gaspi_time_t; /**< milliseconds */
typedef unsigned long gaspi_cycles_t;
typedef unsigned long gaspi_alloc_t;
typedef unsigned int gaspi_memory_description_t;
typedef void* gaspi_pointer_t;
typedef const void* gaspi_const_pointer_t;
typedef char* gaspi_string_t;
typedef void* gaspi_reduce_state_t;
typedef unsigned char* gaspi_state_vector_t;
typedef unsigned int gaspi_statistic_counter_t;

/** Waits for ever. */
#define GASPI_BLOCK (~0ul)
/** Does not wait. */
#define GASPI_TEST (0ul)
#define GASPI_GROUP_ALL ((gaspi_group_t)0)
#define GASPI_MEM_UNINITIALIZED (0ul)
#define GASPI_MEM_INITIALIZED (1ul)
#define GASPI_ALLOC_DEFAULT GASPI_MEM_UNINITIALIZED

typedef enum gaspi_return_t { GASPI_ERROR = -1, GASPI_SUCCESS = 0, GASPI_TIMEOUT = 1 } gaspi_return_t;
typedef enum gaspi_state_t { GASPI_STATE_HEALTHY = 0, GASPI_STATE_CORRUPT = 1 } gaspi_state_t;
typedef enum gaspi_operation_t { GASPI_OP_MIN = 0, GASPI_OP_MAX = 1, GASPI_OP_SUM = 2 } gaspi_operation_t;
typedef enum gaspi_datatype_t {
  GASPI_TYPE_INT = 0,
  GASPI_TYPE_UINT = 1,
  GASPI_TYPE_FLOAT = 2,
  GASPI_TYPE_DOUBLE = 3,
  GASPI_TYPE_LONG = 4,
  GASPI_TYPE_ULONG = 5
} gaspi_datatype_t;

/** result[i] = one[i] op two[i] */
typedef gaspi_return_t (*gaspi_reduce_operation_t)(gaspi_const_pointer_t operand_one,
                                                   gaspi_const_pointer_t operand_two, gaspi_pointer_t result,
                                                   gaspi_reduce_state_t state, const gaspi_number_t num,
                                                   const gaspi_size_t element_size, const gaspi_timeout_t timeout_ms);

/* Execution environment */
gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_proc_rank(gaspi_rank_t* rank);
gaspi_return_t gaspi_proc_num(gaspi_rank_t* proc_num);
gaspi_return_t gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_version(float* version);
gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t state_vector);
gaspi_return_t gaspi_error_message(gaspi_return_t error_code, gaspi_string_t* error_message);
gaspi_return_t gaspi_print_error(gaspi_return_t error_code, gaspi_string_t* error_message);
gaspi_return_t gaspi_time_get(gaspi_time_t* wtime);
gaspi_return_t gaspi_time_ticks(gaspi_cycles_t* ticks);

/* Groups */
gaspi_return_t gaspi_group_create(gaspi_group_t* group);
gaspi_return_t gaspi_group_delete(gaspi_group_t group);
gaspi_return_t gaspi_group_add(gaspi_group_t group, gaspi_rank_t rank);
gaspi_return_t gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_group_num(gaspi_number_t* group_num);
gaspi_return_t gaspi_group_max(gaspi_number_t* group_max);
gaspi_return_t gaspi_group_size(gaspi_group_t group, gaspi_number_t* group_size);
gaspi_return_t gaspi_group_ranks(gaspi_group_t group, gaspi_rank_t* group_ranks);

/* Segments */
gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t segment_id, gaspi_size_t size, gaspi_alloc_t alloc_policy);
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t segment_id, gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_segment_create(gaspi_segment_id_t segment_id, gaspi_size_t size, gaspi_group_t group,
                                    gaspi_timeout_t timeout_ms, gaspi_alloc_t alloc_policy);
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer, gaspi_size_t size,
                                  gaspi_memory_description_t memory_description);
gaspi_return_t gaspi_segment_use(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer, gaspi_size_t size,
                                 gaspi_group_t group, gaspi_timeout_t timeout_ms,
                                 gaspi_memory_description_t memory_description);
gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t segment_id);
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment_id, gaspi_pointer_t* pointer);
gaspi_return_t gaspi_segment_num(gaspi_number_t* segment_num);
gaspi_return_t gaspi_segment_max(gaspi_number_t* segment_max);
gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t* segment_ids);

/* One-sided communication */
gaspi_return_t gaspi_write(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                           gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                           gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                          gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                          gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_write_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                                gaspi_offset_t* offset_local, gaspi_rank_t rank,
                                gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                                gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
                               gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote,
                               gaspi_offset_t* offset_remote, gaspi_size_t* size, gaspi_queue_id_t queue,
                               gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_notify(gaspi_segment_id_t segment_id_remote, gaspi_rank_t rank,
                            gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
                            gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t segment_id_local, gaspi_notification_id_t notification_begin,
                                     gaspi_number_t notification_num, gaspi_notification_id_t* first_id,
                                     gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment_id_local, gaspi_notification_id_t notification_id,
                                  gaspi_notification_t* old_notification_val);
gaspi_return_t gaspi_write_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                                  gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote,
                                  gaspi_size_t size, gaspi_notification_id_t notification_id,
                                  gaspi_notification_t notification_value, gaspi_queue_id_t queue,
                                  gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_write_list_notify(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                                       gaspi_offset_t* offset_local, gaspi_rank_t rank,
                                       gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                                       gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
                                       gaspi_notification_id_t notification_id,
                                       gaspi_notification_t notification_value, gaspi_queue_id_t queue,
                                       gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                                 gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote,
                                 gaspi_size_t size, gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                 gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read_list_notify(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                                      gaspi_offset_t* offset_local, gaspi_rank_t rank,
                                      gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                                      gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
                                      gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                      gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);

/* Queues */
gaspi_return_t gaspi_queue_create(gaspi_queue_id_t* queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue);
gaspi_return_t gaspi_queue_num(gaspi_number_t* queue_num);
gaspi_return_t gaspi_queue_max(gaspi_number_t* queue_max);
gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t* queue_size);
gaspi_return_t gaspi_queue_size_max(gaspi_number_t* queue_size_max);
gaspi_return_t gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);

/* Passive communication */
gaspi_return_t gaspi_passive_send(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                                  gaspi_size_t size, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                     gaspi_rank_t* rank, gaspi_size_t size, gaspi_timeout_t timeout_ms);

/* Atomics */
gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t segment_id, gaspi_offset_t offset, gaspi_rank_t rank,
                                      gaspi_atomic_value_t value_add, gaspi_atomic_value_t* value_old,
                                      gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t segment_id, gaspi_offset_t offset, gaspi_rank_t rank,
                                         gaspi_atomic_value_t comparator, gaspi_atomic_value_t value_new,
                                         gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_atomic_max(gaspi_atomic_value_t* max_value);

/* Collectives */
gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_allreduce(gaspi_const_pointer_t buffer_send, gaspi_pointer_t buffer_receive, gaspi_number_t num,
                               gaspi_operation_t operation, gaspi_datatype_t datatype, gaspi_group_t group,
                               gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t buffer_send, gaspi_pointer_t buffer_receive,
                                    gaspi_number_t num, gaspi_size_t element_size,
                                    gaspi_reduce_operation_t reduce_operation, gaspi_reduce_state_t reduce_state,
                                    gaspi_group_t group, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t* buf_size);
gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t* elem_max);

/* Limits */
gaspi_return_t gaspi_transfer_size_min(gaspi_size_t* transfer_size_min);
gaspi_return_t gaspi_transfer_size_max(gaspi_size_t* transfer_size_max);
gaspi_return_t gaspi_passive_transfer_size_max(gaspi_size_t* passive_transfer_size_max);
gaspi_return_t gaspi_notification_num(gaspi_number_t* notification_num);
gaspi_return_t gaspi_rw_list_elem_max(gaspi_number_t* elem_max);

/* Statistics */
gaspi_return_t gaspi_statistic_verbosity_level(gaspi_number_t verbosity_level);
gaspi_return_t gaspi_statistic_counter_max(gaspi_number_t* counter_max);
gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t counter, gaspi_ulong* value);

#ifdef __cplusplus
}
#endif
#endif
