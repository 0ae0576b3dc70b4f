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
typedef unsigned int gaspi_notification_id_t;
typedef unsigned int gaspi_notification_t;
typedef unsigned long gaspi_atomic_value_t;
typedef float gaspi_time_t; /**< milliseconds */
typedef unsigned long gaspi_cycles_t;
typedef unsigned long gaspi_alloc_t;
typedef int gaspi_memory_description_t;
typedef void* gaspi_pointer_t;
typedef void* gaspi_const_pointer_t; /**< not const: as in the types of the standard */
typedef char* gaspi_string_t;
typedef void* gaspi_reduce_state_t;
typedef unsigned int gaspi_statistic_counter_t;

/** Waits for ever. */
#define GASPI_BLOCK (~0ul)
/** Does not wait. */
#define GASPI_TEST (0ul)
#define GASPI_GROUP_ALL ((gaspi_group_t)0)
#define GASPI_MEM_UNINITIALIZED (0ul)
#define GASPI_MEM_INITIALIZED (1ul)
#define GASPI_ALLOC_DEFAULT GASPI_MEM_UNINITIALIZED

/** What a program has done wrong has a code of its own, by GPI-2's numbers; GASPI_ERROR is what happened to it. */
typedef enum gaspi_return_t {
  GASPI_ERROR = -1,
  GASPI_SUCCESS = 0,
  GASPI_TIMEOUT = 1,
  GASPI_ERR_EMFILE = 2,
  GASPI_ERR_ENV = 3,
  GASPI_ERR_SN_PORT = 4,
  GASPI_ERR_CONFIG = 5,
  GASPI_ERR_NOINIT = 6,
  GASPI_ERR_INITED = 7,
  GASPI_ERR_NULLPTR = 8,
  GASPI_ERR_INV_SEGSIZE = 9,
  GASPI_ERR_INV_SEG = 10,
  GASPI_ERR_INV_GROUP = 11,
  GASPI_ERR_INV_RANK = 12,
  GASPI_ERR_INV_QUEUE = 13,
  GASPI_ERR_INV_LOC_OFF = 14,
  GASPI_ERR_INV_REM_OFF = 15,
  GASPI_ERR_INV_COMMSIZE = 16,
  GASPI_ERR_INV_NOTIF_VAL = 17,
  GASPI_ERR_INV_NOTIF_ID = 18,
  GASPI_ERR_INV_NUM = 19,
  GASPI_ERR_INV_SIZE = 20,
  GASPI_ERR_MANY_SEG = 21,
  GASPI_ERR_MANY_GRP = 22,
  GASPI_QUEUE_FULL = 23, /**< gaspi_queue_size() is gaspi_queue_size_max(): gaspi_wait() first */
  GASPI_ERR_UNALIGN_OFF = 24,
  GASPI_ERR_ACTIVE_COLL = 25,
  GASPI_ERR_DEVICE = 26,
  GASPI_ERR_SN = 27,
  GASPI_ERR_MEMALLOC = 28
} gaspi_return_t;
enum { GASPI_STATE_HEALTHY = 0, GASPI_STATE_CORRUPT = 1 };
/** A byte: programs for GPI-2 allocate one for each rank, others `n * sizeof(gaspi_state_t)`. */
typedef unsigned char gaspi_state_t;
typedef gaspi_state_t* gaspi_state_vector_t;
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
typedef gaspi_return_t (*gaspi_reduce_operation_t)(gaspi_pointer_t operand_one, gaspi_pointer_t operand_two,
                                                   gaspi_pointer_t result, gaspi_reduce_state_t state,
                                                   gaspi_number_t num, gaspi_size_t element_size,
                                                   gaspi_timeout_t timeout_ms);

/** Networks that programs ask for; memory of one computer is none of them. */
typedef enum gaspi_network_t {
  GASPI_NOT_USED = -1,
  GASPI_IB = 0,
  GASPI_ROCE = 1,
  GASPI_ETHERNET = 2,
  GASPI_GEMINI = 3,
  GASPI_ARIES = 4,
  GASPI_OFI = 5
} gaspi_network_t;

/** How ranks are connected at the start; here they always are. */
typedef enum gaspi_topology_t {
  GASPI_TOPOLOGY_NONE = 0,
  GASPI_TOPOLOGY_STATIC = 1,
  GASPI_TOPOLOGY_DYNAMIC = 2
} gaspi_topology_t;

/** Parameters of networks that GPI-2 uses: kept and given back. */
typedef struct gaspi_dev_config_t {
  gaspi_network_t network_type;
  struct {
    struct {
      gaspi_int netdev_id;
      gaspi_uint mtu, port_check;
    } ib;
    struct {
      gaspi_uint port;
    } tcp;
    struct {
      int use_shm, provider_info, progress_auto;
    } ofi;
  } params;
} gaspi_dev_config_t;

/**
 * Settings with which a job is started. `queue_num` (1 ... 64) queues are there after gaspi_proc_init(). The other
 * limits may be lowered: the procedures that report limits inform them, and requests beyond them are refused.
 * allreduce_... and rw_list_elem_max are limits only if they were set. Fields that the library does not need are
 * stored and returned unchanged.
 */
typedef struct gaspi_config_t {
  gaspi_number_t group_max;
  gaspi_number_t segment_max;
  gaspi_number_t queue_num;
  gaspi_number_t queue_size_max;
  gaspi_size_t transfer_size_max; /**< bytes */
  gaspi_number_t notification_num;
  gaspi_number_t passive_queue_size_max;  /**< kept */
  gaspi_size_t passive_transfer_size_max; /**< bytes */
  gaspi_size_t allreduce_buf_size;        /**< bytes */
  gaspi_number_t allreduce_elem_max;
  gaspi_number_t rw_list_elem_max;
  gaspi_network_t network;             /**< kept */
  gaspi_number_t build_infrastructure; /**< a gaspi_topology_t; kept */
  void* user_defined;                  /**< kept */
  gaspi_uint logger;                   /**< this and those that follow: names of the field, kept */
  gaspi_uint sn_port;
  gaspi_uint net_info;
  gaspi_uint user_net;
  gaspi_int sn_persistent;
  gaspi_timeout_t sn_timeout;
  gaspi_dev_config_t dev_config;
} gaspi_config_t;

typedef enum gaspi_statistic_argument_t {
  GASPI_STATISTIC_ARGUMENT_NONE = 0,
  GASPI_STATISTIC_ARGUMENT_RANK = 1
} gaspi_statistic_argument_t;

/* Configuration: GASPI_ERROR for a value out of range, and from gaspi_proc_init() to gaspi_proc_term() */
/** The configuration that is set, or the defaults. */
gaspi_return_t gaspi_config_get(gaspi_config_t* config);
/** Sets the configuration of the next job, before gaspi_proc_init(). GASPI_ERROR: a value is out of range. */
gaspi_return_t gaspi_config_set(gaspi_config_t config);

/* Execution environment */
/** Joins the job: waits for its other ranks. After GASPI_TIMEOUT call it again. */
gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout_ms);
/** Leaves the job. Requests of all queues have to be complete: see gaspi_wait(). */
gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout_ms);
/** Number of this rank: 0 to gaspi_proc_num() - 1. */
gaspi_return_t gaspi_proc_rank(gaspi_rank_t* rank);
/** Number of ranks of the job. */
gaspi_return_t gaspi_proc_num(gaspi_rank_t* proc_num);
/** Ends the process of another rank by a signal. */
gaspi_return_t gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
/** Whether a rank can be reached. Ranks are always connected: nothing is set up. */
gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
/** Gives up a connection. Here it reports whether the rank is alive; one that has left is a success, too. */
gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
/** Version of the standard: 17.1. */
gaspi_return_t gaspi_version(float* version);
/** State of each rank as seen from here. @param state_vector room for gaspi_proc_num() states */
gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t state_vector);
/** Text of a return code; it stays the library's. */
gaspi_return_t gaspi_error_message(gaspi_return_t error_code, gaspi_string_t* error_message);
/** The same in memory of the caller, who frees it with free(). */
gaspi_return_t gaspi_print_error(gaspi_return_t error_code, gaspi_string_t* error_message);
/** Time in milliseconds since some moment in the past, by the clock of this rank. */
gaspi_return_t gaspi_time_get(gaspi_time_t* wtime);
/** Time in ticks; gaspi_cpu_frequency() has their number in a microsecond. */
gaspi_return_t gaspi_time_ticks(gaspi_cycles_t* ticks);

/* Groups */
/** A new group, without ranks. */
gaspi_return_t gaspi_group_create(gaspi_group_t* group);
/** Deletes a group. */
gaspi_return_t gaspi_group_delete(gaspi_group_t group);
/** Adds a rank to a group that is not committed. */
gaspi_return_t gaspi_group_add(gaspi_group_t group, gaspi_rank_t rank);
/** Makes a group ready for collectives. All its ranks call it, with the same ranks in the group. */
gaspi_return_t gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout_ms);
/** Number of groups that this rank has. */
gaspi_return_t gaspi_group_num(gaspi_number_t* group_num);
/** Groups that a rank may have. */
gaspi_return_t gaspi_group_max(gaspi_number_t* group_max);
/** Number of ranks of a group. */
gaspi_return_t gaspi_group_size(gaspi_group_t group, gaspi_number_t* group_size);
/** Ranks of a group, in ascending order. @param group_ranks room for gaspi_group_size() ranks */
gaspi_return_t gaspi_group_ranks(gaspi_group_t group, gaspi_rank_t* group_ranks);

/* Segments */
/** A new segment of this rank. Others reach it after gaspi_segment_register(). */
gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t segment_id, gaspi_size_t size, gaspi_alloc_t alloc_policy);
/** Lets a rank reach a segment of this one. */
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t segment_id, gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
/** A segment on each rank of a group, which all of them may reach. All ranks of the group call it. */
gaspi_return_t gaspi_segment_create(gaspi_segment_id_t segment_id, gaspi_size_t size, gaspi_group_t group,
                                    gaspi_timeout_t timeout_ms, gaspi_alloc_t alloc_policy);
/** Makes memory of the program a segment of this rank. @param memory_description 0: memory of the host */
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer, gaspi_size_t size,
                                  gaspi_memory_description_t memory_description);
/** gaspi_segment_bind() on each rank of a group, which all of them may reach. All ranks call it. */
gaspi_return_t gaspi_segment_use(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer, gaspi_size_t size,
                                 gaspi_group_t group, gaspi_timeout_t timeout_ms,
                                 gaspi_memory_description_t memory_description);
/** Deletes a segment of this rank. No rank may use it any more. */
gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t segment_id);
/** Address of a segment of this rank. */
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment_id, gaspi_pointer_t* pointer);
/** Number of segments that this rank has. */
gaspi_return_t gaspi_segment_num(gaspi_number_t* segment_num);
/** Segments that a rank may have. */
gaspi_return_t gaspi_segment_max(gaspi_number_t* segment_max);
/** Ids of the segments of this rank. @param num how many: gaspi_segment_num() */
gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t* segment_ids);

/* One-sided communication */
/** Posts a copy from a segment of this rank to that of another. gaspi_wait() completes it. */
gaspi_return_t gaspi_write(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                           gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                           gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** Posts a copy from a segment of another rank to that of this one. gaspi_wait() completes it. */
gaspi_return_t gaspi_read(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                          gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                          gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** Posts several writes to a rank. @param num elements of each array */
gaspi_return_t gaspi_write_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
                                gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                                gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** Posts several reads from a rank. @param num elements of each array */
gaspi_return_t gaspi_read_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
                               gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                               gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** Posts a notification: a value, which is not 0, for a slot of a segment of another rank. */
gaspi_return_t gaspi_notify(gaspi_segment_id_t segment_id_remote, gaspi_rank_t rank,
                            gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
                            gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** Waits until a slot of a range has a value. @param first_id a slot that has one */
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t segment_id_local, gaspi_notification_id_t notification_begin,
                                     gaspi_number_t notification_num, gaspi_notification_id_t* first_id,
                                     gaspi_timeout_t timeout_ms);
/** Takes the value of a slot, which is 0 then, in one step. @param old_notification_val 0: there was none */
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment_id_local, gaspi_notification_id_t notification_id,
                                  gaspi_notification_t* old_notification_val);
/** A write with a notification, which is visible after the data. */
gaspi_return_t gaspi_write_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                                  gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                                  gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
                                  gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** Several writes with a notification, which is visible after all data. */
gaspi_return_t gaspi_write_list_notify(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                                       gaspi_offset_t* offset_local, gaspi_rank_t rank,
                                       gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                                       gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
                                       gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
                                       gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
/** A read with a notification of value 1 for this rank, which is visible after the data. */
gaspi_return_t gaspi_read_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                                 gaspi_segment_id_t segment_id_remote, gaspi_offset_t offset_remote, gaspi_size_t size,
                                 gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                 gaspi_timeout_t timeout_ms);
/** Several reads with a notification of value 1 for this rank, which is visible after all data. */
gaspi_return_t gaspi_read_list_notify(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                                      gaspi_offset_t* offset_local, gaspi_rank_t rank,
                                      gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
                                      gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
                                      gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                      gaspi_timeout_t timeout_ms);
/** Waits until all requests of a queue are complete: what was to be sent may be changed, what was read is there. */
gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);

/* Queues */
/** A new queue, empty. */
gaspi_return_t gaspi_queue_create(gaspi_queue_id_t* queue, gaspi_timeout_t timeout_ms);
/** Deletes a queue. Wait for it before. */
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue);
/** Number of queues that this rank has. */
gaspi_return_t gaspi_queue_num(gaspi_number_t* queue_num);
/** Queues that a rank may have. */
gaspi_return_t gaspi_queue_max(gaspi_number_t* queue_max);
/** Requests posted to a queue since it was waited for. */
gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t* queue_size);
/** Requests that a queue holds. */
gaspi_return_t gaspi_queue_size_max(gaspi_number_t* queue_size_max);
/** Forgets the requests of a queue, after a rank has died. */
gaspi_return_t gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);

/* Passive communication */
/** Sends a message that some thread of another rank takes by gaspi_passive_receive(). */
gaspi_return_t gaspi_passive_send(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local, gaspi_rank_t rank,
                                  gaspi_size_t size, gaspi_timeout_t timeout_ms);
/** Waits for a message from any rank. @param rank where it comes from @param size room for it */
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                     gaspi_rank_t* rank, gaspi_size_t size, gaspi_timeout_t timeout_ms);
/** A message is the receiver's as soon as gaspi_passive_send() succeeds, so nothing of this rank is under way. */
gaspi_return_t gaspi_passive_queue_purge(gaspi_timeout_t timeout_ms);

/* Atomics */
/** Adds to a value of 8 bytes in a segment, in one step. @param value_old what was there */
gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t segment_id, gaspi_offset_t offset, gaspi_rank_t rank,
                                      gaspi_atomic_value_t value_add, gaspi_atomic_value_t* value_old,
                                      gaspi_timeout_t timeout_ms);
/** Replaces a value of 8 bytes in a segment if it is the comparator, in one step. @param value_old what was there */
gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t segment_id, gaspi_offset_t offset, gaspi_rank_t rank,
                                         gaspi_atomic_value_t comparator, gaspi_atomic_value_t value_new,
                                         gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout_ms);
/** The largest value of atomic operations. */
gaspi_return_t gaspi_atomic_max(gaspi_atomic_value_t* max_value);

/* Collectives */
/** Waits until all ranks of a group have called it. After GASPI_TIMEOUT call it again. */
gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout_ms);
/** Reduces vectors of all ranks of a group, element by element; all get the result. */
gaspi_return_t gaspi_allreduce(const void* buffer_send, gaspi_pointer_t buffer_receive, gaspi_number_t num,
                               gaspi_operation_t operation, gaspi_datatype_t datatype, gaspi_group_t group,
                               gaspi_timeout_t timeout_ms);
/** Reduces by an operation of the program. @param reduce_state is passed to it */
gaspi_return_t gaspi_allreduce_user(const void* buffer_send, gaspi_pointer_t buffer_receive, gaspi_number_t num,
                                    gaspi_size_t element_size, gaspi_reduce_operation_t reduce_operation,
                                    gaspi_reduce_state_t reduce_state, gaspi_group_t group, gaspi_timeout_t timeout_ms);
/** Bytes of a vector that gaspi_allreduce_user() reduces on every implementation; here any number. */
gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t* buf_size);
/** Elements that gaspi_allreduce() reduces on every implementation; here any number. */
gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t* elem_max);

/* Limits */
/** The smallest transfer in bytes. */
gaspi_return_t gaspi_transfer_size_min(gaspi_size_t* transfer_size_min);
/** The largest transfer in bytes. */
gaspi_return_t gaspi_transfer_size_max(gaspi_size_t* transfer_size_max);
/** Bytes of the shortest message: 1. */
gaspi_return_t gaspi_passive_transfer_size_min(gaspi_size_t* passive_transfer_size_min);
/** Bytes of the longest message. */
gaspi_return_t gaspi_passive_transfer_size_max(gaspi_size_t* passive_transfer_size_max);
/** Slots of a segment for notifications; their ids begin with 0. */
gaspi_return_t gaspi_notification_num(gaspi_number_t* notification_num);
/** Elements of a list that every implementation moves; here any number. */
gaspi_return_t gaspi_rw_list_elem_max(gaspi_number_t* elem_max);

/** The network that the configuration asks for. */
gaspi_return_t gaspi_network_type(gaspi_network_t* network_type);
/** Whether the configuration asks for connections at the start: a gaspi_topology_t. */
gaspi_return_t gaspi_build_infrastructure(gaspi_number_t* build_infrastructure);

/* Statistics: the counters count at every level of verbosity */
/** Sets from which level on counters count; here all count always. */
gaspi_return_t gaspi_statistic_verbosity_level(gaspi_number_t verbosity_level);
/** Number of counters. */
gaspi_return_t gaspi_statistic_counter_max(gaspi_number_t* counter_max);
/** Name and meaning of a counter; the texts remain owned by the library. @param verbosity_level level from which on the
 * counter counts: always 0 */
gaspi_return_t gaspi_statistic_counter_info(gaspi_statistic_counter_t counter,
                                            gaspi_statistic_argument_t* counter_argument, gaspi_string_t* counter_name,
                                            gaspi_string_t* counter_description, gaspi_number_t* verbosity_level);
/** Value of a counter since it was reset. @param argument of a counter with GASPI_STATISTIC_ARGUMENT_NONE, as all are:
 * not looked at */
gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t counter, gaspi_number_t argument,
                                           gaspi_ulong* value);
/** Sets a counter to 0. */
gaspi_return_t gaspi_statistic_counter_reset(gaspi_statistic_counter_t counter);

/** Does nothing: a tool takes its place (PGASPI.h) and gets what the program gives it. */
gaspi_return_t gaspi_pcontrol(gaspi_pointer_t argument);

#ifdef __cplusplus
}
#endif
#endif
