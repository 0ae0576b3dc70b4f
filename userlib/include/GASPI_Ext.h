/* SPDX-License-Identifier: Apache-2.0 */
/** @file Extensions of GASPI that existing programs use. */
#ifndef GASPI_EXT_H
#define GASPI_EXT_H

#include <GASPI.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether gaspi_proc_init() has succeeded and gaspi_proc_term() has not been called. @param initialized 0 or 1 */
gaspi_return_t gaspi_initialized(gaspi_number_t* initialized);
/** Number of this rank among those on this computer. */
gaspi_return_t gaspi_proc_local_rank(gaspi_rank_t* local_rank);
/** Number of ranks on this computer. */
gaspi_return_t gaspi_proc_local_num(gaspi_rank_t* local_num);
/** Whether a rank is alive: GASPI_ERROR if it has ended. */
gaspi_return_t gaspi_proc_ping(gaspi_rank_t rank, gaspi_timeout_t timeout_ms);
/** printf to the standard output, line by line, each with the rank in front. */
void gaspi_printf(const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/** The same: all ranks of this computer write to the output of the launcher. @param rank whose logger is meant */
void gaspi_printf_to(gaspi_rank_t rank, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/** Text of a return code and of the last error of this thread; static. */
gaspi_string_t gaspi_error_str(gaspi_return_t error_code);
/** Bytes of a rank's segment. */
gaspi_return_t gaspi_segment_size(gaspi_segment_id_t segment_id, gaspi_rank_t rank, gaspi_size_t* size);
/** The lowest id of a segment that this rank does not have yet. */
gaspi_return_t gaspi_segment_avail_local(gaspi_segment_id_t* segment_id);
/** The unit of gaspi_time_ticks() in MHz: 1000, as it returns nanoseconds. */
gaspi_return_t gaspi_cpu_frequency(gaspi_float* cpu_mhz);
/** Bytes of memory that this process uses. */
gaspi_return_t gaspi_proc_mem_usage(gaspi_size_t* bytes);
/** NUMA node on which the calling thread runs. */
gaspi_return_t gaspi_numa_socket(gaspi_uchar* socket);
/** Keeps the calling thread, and threads that it starts later, on a NUMA node. */
gaspi_return_t gaspi_set_socket_affinity(gaspi_uchar socket);
/** Prints the processors that the calling thread may use, by gaspi_printf(). */
void gaspi_print_affinity_mask(void);
/** A pause of some cycles, for loops that poll. */
void gaspi_delay(void);

#ifdef __cplusplus
}
#endif
#endif
