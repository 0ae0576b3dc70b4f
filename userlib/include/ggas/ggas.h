/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The host library libggas, C11: one-sided communication between the processes of a job. A process is a rank.
 *
 * Segments are memory that other ranks reach, by number; transfers go through queues, in order for each target;
 * notifications are values in slots of the target's segment and arrive after the data of earlier calls.
 *
 * Every call that can wait takes a time-out in nanoseconds: 0 tests, GGAS_BLOCK waits for ever. A call that returned
 * GGAS_TIMEOUT has waited and not failed: repeat the call to continue. Any thread may make any call;
 * ggas_process_stop() is the last one. Rules of order, failures and limits: docs/libggas.md.
 */
#ifndef GGAS_GGAS_H
#define GGAS_GGAS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GGAS_BLOCK UINT64_MAX    /**< time-out: none */
#define GGAS_TEST 0              /**< time-out: do not wait */
#define GGAS_SEGMENTS 256        /**< segments of a rank; ids are 0 ... 255 */
#define GGAS_NOTIFICATIONS 65536 /**< notification slots of a segment */
#define GGAS_QUEUES 64           /**< queues of a rank; ids are 0 ... 63 */
#define GGAS_QUEUES_AT_START 8   /**< queues 0 ... 7 are there from the start */
#define GGAS_GROUPS 64           /**< groups of a rank */
#define GGAS_GROUP_ALL 0         /**< the group of all ranks, there from the start */
#define GGAS_PASSIVE_MOST 65536  /**< bytes of a passive message */
#define GGAS_ELEMENT_MOST 4096   /**< bytes of an element of a reduction of the user */

/** Result of a call: 0, GGAS_TIMEOUT, or an error, which is negative. */
typedef enum ggas_rc {
  GGAS_OK = 0,
  GGAS_TIMEOUT = 1,           /**< the time was up; the same call again goes on */
  GGAS_ERR_ARGUMENT = -1,     /**< null pointer, unknown type or operation */
  GGAS_ERR_RANK = -2,         /**< no such rank */
  GGAS_ERR_SEGMENT = -3,      /**< no such segment on that rank, or this rank may not reach it */
  GGAS_ERR_RANGE = -4,        /**< offset and size leave the segment, or an atomic is not aligned to 8 bytes */
  GGAS_ERR_QUEUE = -5,        /**< no such queue, or no queue is left */
  GGAS_ERR_NOTIFICATION = -6, /**< no such slot, or the value 0 */
  GGAS_ERR_GROUP = -7,        /**< no such group, this rank is not in it, or no group is left */
  GGAS_ERR_SIZE = -8,         /**< a size that is 0 or too large */
  GGAS_ERR_PEER = -9,         /**< a rank that is needed has ended */
  GGAS_ERR_MEMORY = -10,      /**< there is no room */
  GGAS_ERR_STATE = -11,       /**< not now: another collective of the group is under way, the segment is there, ... */
  GGAS_ERR_MISMATCH = -12,    /**< members of a group called different collectives */
  GGAS_ERR_SYSTEM = -13       /**< the system refused something; the text says what */
} ggas_rc;

/** State of a rank, as this rank knows it. */
typedef enum ggas_state {
  GGAS_STATE_HEALTHY = 0,
  GGAS_STATE_LEFT = 1, /**< it has called ggas_process_stop() */
  GGAS_STATE_LOST = 2  /**< its process has ended without that */
} ggas_state;

typedef enum ggas_element {
  GGAS_ELEMENT_INT32,
  GGAS_ELEMENT_UINT32,
  GGAS_ELEMENT_INT64,
  GGAS_ELEMENT_UINT64,
  GGAS_ELEMENT_FLOAT,
  GGAS_ELEMENT_DOUBLE
} ggas_element;

typedef enum ggas_operation { GGAS_OP_SUM, GGAS_OP_MIN, GGAS_OP_MAX, GGAS_OP_PRODUCT } ggas_operation;

/** What this rank has called since it started. */
typedef struct ggas_statistics {
  uint64_t writes, written_bytes;
  uint64_t reads, read_bytes;
  uint64_t notifications; /**< sent */
  uint64_t atomics;
  uint64_t passive_sent, passive_received;
  uint64_t collectives; /**< barriers and reductions that came to their end */
  uint64_t timeouts;    /**< calls that returned GGAS_TIMEOUT */
} ggas_statistics;

/** A part of a list: bytes of a local segment and of a remote one. */
typedef struct ggas_part {
  uint32_t local_segment;
  uint32_t remote_segment;
  uint64_t local_offset;
  uint64_t remote_offset;
  uint64_t bytes;
} ggas_part;

typedef struct ggas_process ggas_process; /**< this process as a rank of its job */

/** Text of a code. Never null; static. */
const char* ggas_rc_text(ggas_rc code);
/** Text of the last failed call of this thread, with value and rule; "" if none failed. Valid until its next call.
 */
const char* ggas_error_text(void);

/**
 * Joins the job that the environment names (`ggas run`, Open MPI, MPICH, Slurm; none: a job of one) and waits until
 * all its ranks have. A time-out ends the attempt: GGAS_TIMEOUT here means that ranks are missing.
 * @param process set if the call returns GGAS_OK
 */
ggas_rc ggas_process_start(ggas_process** process, uint64_t timeout_ns);
/**
 * The same with a choice of the way in which ranks find each other. Modules work with any launcher. If the ranks are
 * not all on one computer, all get GGAS_ERR_SYSTEM.
 * @param bootstrap "unix": as ggas_process_start() without GGAS_BOOTSTRAP; "tcp", "mpi", "pmix": that module
 *   (docs/libggas.md, Start-up); null: the value of GGAS_BOOTSTRAP
 * @param communicator for "mpi": address of an MPI_Comm of Open MPI, all of whose processes call this, between MPI_Init
 *   and MPI_Finalize; null: MPI_COMM_WORLD. Others: must be null
 */
ggas_rc ggas_process_start_by(ggas_process** process, const char* bootstrap, const void* communicator,
                              uint64_t timeout_ns);
/** Leaves the job without waiting; frees everything. Other ranks see GGAS_STATE_LEFT. Null is allowed. */
void ggas_process_stop(ggas_process* process);
/** Number of this rank. */
ggas_rc ggas_process_rank(const ggas_process* process, uint32_t* rank);
/** Number of ranks of the job. */
ggas_rc ggas_process_size(const ggas_process* process, uint32_t* size);
/** The present states of all ranks. @param states room for one state of each rank */
ggas_rc ggas_process_states(ggas_process* process, ggas_state* states, size_t count);
/** Ends another rank's process with SIGKILL. */
ggas_rc ggas_process_kill(ggas_process* process, uint32_t rank);
/**
 * Time of this rank, in which its time-outs are measured: the time since its program began. In a simulation it is the
 * simulated time since the simulation began. @param ns nanoseconds
 */
ggas_rc ggas_process_time(ggas_process* process, uint64_t* ns);
/** What this rank has called since it started. */
ggas_rc ggas_process_statistics(const ggas_process* process, ggas_statistics* statistics);

/** Makes a segment of new memory of this rank, filled with 0. No other rank may reach it yet. @param bytes 1 ... memory
 * of the host
 */
ggas_rc ggas_segment_allocate(ggas_process* process, uint32_t segment, uint64_t bytes);
/** The caller's memory as a segment. The caller keeps it until ggas_segment_delete(), and frees it. */
ggas_rc ggas_segment_bind(ggas_process* process, uint32_t segment, void* memory, uint64_t bytes);
/**
 * Makes a segment of the memory of a descriptor: `bytes` from `offset` (whole pages) of a dma-buf, as of a GPU's
 * memory, or of a memfd. It is mapped into this process, which may close the descriptor. NICs through the driver reach
 * a dma-buf where it lies. GGAS_ERR_SYSTEM: it cannot be mapped, or (with a text) the transport does not reach it.
 */
ggas_rc ggas_segment_bind_dmabuf(ggas_process* process, uint32_t segment, int fd, uint64_t offset, uint64_t bytes);
/** Lets a rank reach a segment of this one. */
ggas_rc ggas_segment_permit(ggas_process* process, uint32_t segment, uint32_t rank);
/** Called by all members of a group, each with its own size: allocate, permit to all, barrier. */
ggas_rc ggas_segment_create(ggas_process* process, uint32_t segment, uint64_t bytes, uint32_t group,
                            uint64_t timeout_ns);
/** The same with memory of the caller. */
ggas_rc ggas_segment_use(ggas_process* process, uint32_t segment, void* memory, uint64_t bytes, uint32_t group,
                         uint64_t timeout_ns);
/** As ggas_segment_create(), of memory of a descriptor: ggas_segment_bind_dmabuf(). */
ggas_rc ggas_segment_use_dmabuf(ggas_process* process, uint32_t segment, int fd, uint64_t offset, uint64_t bytes,
                                uint32_t group, uint64_t timeout_ns);
/** Removes a segment, also for other ranks. Its memory is freed unless it is the caller's. */
ggas_rc ggas_segment_delete(ggas_process* process, uint32_t segment);
/** Address of a segment of this rank. */
ggas_rc ggas_segment_pointer(ggas_process* process, uint32_t segment, void** pointer);
/** Bytes of a segment of a rank, this one or another. */
ggas_rc ggas_segment_size(ggas_process* process, uint32_t segment, uint32_t rank, uint64_t* bytes);
/** Adds to 8 bytes (aligned) of a rank's segment. @param old the value before; may be null */
ggas_rc ggas_segment_fetch_add(ggas_process* process, uint32_t segment, uint64_t offset, uint32_t rank, uint64_t add,
                               uint64_t* old, uint64_t timeout_ns);
/** Writes `desired` if the value is `expected`. */
ggas_rc ggas_segment_compare_swap(ggas_process* process, uint32_t segment, uint64_t offset, uint32_t rank,
                                  uint64_t expected, uint64_t desired, uint64_t* old, uint64_t timeout_ns);

/**
 * Opens a GPU for this process by a module: "cuda", or "simt", the host SIMT engine. It is loaded here, so a program
 * that does not call this needs nothing of a GPU's. All ranks call it, once, with the same module and `bytes`. All
 * ranks map `bytes` of each GPU's memory, and segments of GPUs are allocated from it. Its first part stays the device
 * library's (barriers and collectives of kernels).
 * @param gpu number of the GPU; -1: the rank modulo the number of GPUs that this process sees
 */
ggas_rc ggas_gpu_open(ggas_process* process, const char* module, int32_t gpu, uint64_t bytes, uint64_t timeout_ns);
/** Number of the GPU in this process. */
ggas_rc ggas_gpu_number(const ggas_process* process, int32_t* gpu);
/**
 * The context by which kernels of this rank reach the memory of all GPUs with the device library (ggas/ggas.cuh): for
 * ggas::set_device_context() on CUDA, for the scheduler of the host SIMT engine.
 * @param context a ggas::context @param bytes its size: GGAS_ERR_SIZE if it is another one in the library
 */
ggas_rc ggas_gpu_context(ggas_process* process, void* context, size_t bytes);
/** New memory of this rank's GPU, filled with 0. Its notification slots are in memory of the host. */
ggas_rc ggas_gpu_segment_allocate(ggas_process* process, uint32_t segment, uint64_t bytes);
/** The caller's memory on the GPU as a segment. Others reach it through a thread of this process. */
ggas_rc ggas_gpu_segment_bind(ggas_process* process, uint32_t segment, void* memory, uint64_t bytes);
/** Called by all members of a group: allocate, permit to all, barrier. */
ggas_rc ggas_gpu_segment_create(ggas_process* process, uint32_t segment, uint64_t bytes, uint32_t group,
                                uint64_t timeout_ns);
/** The same with memory of the caller. */
ggas_rc ggas_gpu_segment_use(ggas_process* process, uint32_t segment, void* memory, uint64_t bytes, uint32_t group,
                             uint64_t timeout_ns);
/** Offset of an allocated segment of a rank, for kernels: ggas_pointer_of_node<T>(rank, offset). */
ggas_rc ggas_gpu_segment_place(ggas_process* process, uint32_t segment, uint32_t rank, uint64_t* offset);
/**
 * The notification slots of a rank's segment, for kernels. If a kernel stores a value other than 0 there, after a
 * fence of system scope, the value arrives as a notification. Good until that segment is deleted.
 */
ggas_rc ggas_gpu_segment_slots(ggas_process* process, uint32_t segment, uint32_t rank, uint32_t** slots);

/** Path of bytes of a GPU to another rank. */
typedef enum ggas_gpu_way {
  GGAS_GPU_DIRECT, /**< from GPU to GPU */
  GGAS_GPU_STAGED, /**< through memory of the host, in chunks: one leaves while the next one comes */
  GGAS_GPU_HYBRID  /**< direct below the threshold, staged from there on */
} ggas_gpu_way;
/** Copies from a local segment to one of a rank, as ggas_queue_write() does, on the path `way`. */
ggas_rc ggas_gpu_write(ggas_process* process, const ggas_part* part, uint32_t rank, uint32_t queue, ggas_gpu_way way,
                       uint64_t timeout_ns);
/** Bytes from which a hybrid write is staged (UINT64_MAX: never), and bytes of a chunk. */
ggas_rc ggas_gpu_limits(const ggas_process* process, uint64_t* threshold, uint64_t* chunk);
/** @param chunk 4096 ... 2^30 */
ggas_rc ggas_gpu_set_limits(ggas_process* process, uint64_t threshold, uint64_t chunk);
/**
 * Measures both paths from a local segment to one of a rank, of the same size or larger, which is overwritten, and
 * sets the best limits. @param file stores them for ggas_gpu_load_limits(); may be null
 */
ggas_rc ggas_gpu_tune(ggas_process* process, uint32_t segment, uint32_t rank, const char* file);
/** Sets the limits that ggas_gpu_tune() has stored. */
ggas_rc ggas_gpu_load_limits(ggas_process* process, const char* file);

/** Another queue. @param queue its id */
ggas_rc ggas_queue_create(ggas_process* process, uint32_t* queue);
/** Deletes a queue; its id may be used again. */
ggas_rc ggas_queue_delete(ggas_process* process, uint32_t queue);
/** Requests that were posted since the last ggas_queue_wait(). */
ggas_rc ggas_queue_posted(const ggas_process* process, uint32_t queue, uint64_t* posted);
/** Copies from a local segment to one of a rank. The source may be overwritten after ggas_queue_wait(). */
ggas_rc ggas_queue_write(ggas_process* process, const ggas_part* part, uint32_t rank, uint32_t queue,
                         uint64_t timeout_ns);
/** Copies from a segment of a rank to a local one. The bytes have arrived after ggas_queue_wait(). */
ggas_rc ggas_queue_read(ggas_process* process, const ggas_part* part, uint32_t rank, uint32_t queue,
                        uint64_t timeout_ns);
/** Writes several parts, in their order. After an error or a time-out the parts before it are written. */
ggas_rc ggas_queue_write_list(ggas_process* process, const ggas_part* parts, size_t count, uint32_t rank,
                              uint32_t queue, uint64_t timeout_ns);
/** Reads several parts, in their order. */
ggas_rc ggas_queue_read_list(ggas_process* process, const ggas_part* parts, size_t count, uint32_t rank, uint32_t queue,
                             uint64_t timeout_ns);
/** Puts a value, not 0, into a slot of a rank's segment, after everything posted to that rank and queue before. */
ggas_rc ggas_queue_notify(ggas_process* process, uint32_t segment, uint32_t rank, uint32_t slot, uint32_t value,
                          uint32_t queue, uint64_t timeout_ns);
/**
 * Waits until all requests posted before are done, and forgets them. GGAS_ERR_PEER: a target was lost, and it is not
 * known which data it got; every call returns this until the queue is purged.
 */
ggas_rc ggas_queue_wait(ggas_process* process, uint32_t queue, uint64_t timeout_ns);
/** Forgets all posted requests and their errors. */
ggas_rc ggas_queue_purge(ggas_process* process, uint32_t queue);

/** Waits until one of slots first ... first + count - 1 of a local segment is not 0. @param found that slot */
ggas_rc ggas_notification_waitsome(ggas_process* process, uint32_t segment, uint32_t first, uint32_t count,
                                   uint32_t* found, uint64_t timeout_ns);
/** Sets a slot to 0 and returns its value, in one atomic step: of several threads one gets the value. */
ggas_rc ggas_notification_reset(ggas_process* process, uint32_t segment, uint32_t slot, uint32_t* value);

/** A message to a rank that takes it with ggas_passive_receive(). @param bytes 1 ... GGAS_PASSIVE_MOST */
ggas_rc ggas_passive_send(ggas_process* process, uint32_t segment, uint64_t offset, uint32_t rank, uint64_t bytes,
                          uint64_t timeout_ns);
/** Takes the next message of any rank. Messages of one rank come in its order. @param bytes room; GGAS_ERR_SIZE:
 * longer, not taken
 */
ggas_rc ggas_passive_receive(ggas_process* process, uint32_t segment, uint64_t offset, uint32_t* rank, uint64_t bytes,
                             uint64_t timeout_ns);

/** An empty group. @param group its local id; on other ranks it may be another */
ggas_rc ggas_group_create(ggas_process* process, uint32_t* group);
/** Adds a rank to a group that is not committed. */
ggas_rc ggas_group_add(ggas_process* process, uint32_t group, uint32_t rank);
/** Called by all members, which have added the same ranks. After that the group can be used. */
ggas_rc ggas_group_commit(ggas_process* process, uint32_t group, uint64_t timeout_ns);
/** Leaves a group. Other members keep it. */
ggas_rc ggas_group_delete(ggas_process* process, uint32_t group);
/** Number of members. */
ggas_rc ggas_group_size(const ggas_process* process, uint32_t group, uint32_t* size);
/** @param ranks room for `count` ranks, ascending */
ggas_rc ggas_group_ranks(const ggas_process* process, uint32_t group, uint32_t* ranks, size_t count);
/** Returns when all members have called it. */
ggas_rc ggas_group_barrier(ggas_process* process, uint32_t group, uint64_t timeout_ns);
/** Element by element over all members, in the order of ranks: the same bits everywhere. `to` may be `from`. */
ggas_rc ggas_group_allreduce(ggas_process* process, const void* from, void* to, size_t elements, ggas_element type,
                             ggas_operation operation, uint32_t group, uint64_t timeout_ns);

/**
 * An operation of the user: result[i] = one[i] op two[i]; `result` may be the same array as `one`. Associative. If it
 * returns a code other than 0, the reduction ends with that code.
 */
typedef int (*ggas_reducer)(const void* one, const void* two, void* result, void* state, size_t elements,
                            size_t element_bytes, uint64_t timeout_ns);
/** Reduces by an operation of the user. @param element_bytes 1 ... GGAS_ELEMENT_MOST */
ggas_rc ggas_group_allreduce_user(ggas_process* process, const void* from, void* to, size_t elements,
                                  size_t element_bytes, ggas_reducer reducer, void* state, uint32_t group,
                                  uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
