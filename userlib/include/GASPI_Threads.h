/* SPDX-License-Identifier: Apache-2.0 */
/** @file Threads of a rank with numbers and barriers, by the names of GPI-2. New programs do not need them: every
 * procedure of GASPI may be called by any thread. */
#ifndef GASPI_THREADS_H
#define GASPI_THREADS_H

#include <GASPI.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cores that this process may run on. */
gaspi_return_t gaspi_threads_get_num_cores(gaspi_int* cores);
/** A team of as many threads as there are cores. @param num their number
 * GASPI_ERROR: there is a team already. */
gaspi_return_t gaspi_threads_init(gaspi_int* num);
/** A team of `use_nr_of_threads` threads, 1 to 1024. GASPI_ERROR: another number, or there is a team already. */
gaspi_return_t gaspi_threads_init_user(unsigned int use_nr_of_threads);
/** Ends the team. Its threads continue; those that wait in it return. */
gaspi_return_t gaspi_threads_term(void);
/** Starts a detached thread. It becomes a member by gaspi_threads_register(), and so does the thread that made the
 * team. GASPI_ERROR: there is no team, or the system cannot start a thread. */
gaspi_return_t gaspi_threads_run(void* (*function)(void*), void* arg);
/** Makes the calling thread a member. @param tid its number: 0, 1, ... in the order of calls
 * GASPI_ERROR: no team, or it has all its members. */
gaspi_return_t gaspi_threads_register(gaspi_int* tid);
/** Number of the calling thread, -1 if it is no member; GASPI_ERROR: no team. */
gaspi_return_t gaspi_threads_get_tid(gaspi_int* tid);
/** Size of the team; GASPI_ERROR: no team. */
gaspi_return_t gaspi_threads_get_total(gaspi_int* num);
/** A barrier of all members. Returns at once for a thread that is no member. */
void gaspi_threads_sync(void);
/** A barrier of all members of all ranks of the group: members of a rank, then gaspi_barrier(). All members of a
 * rank get the same return code; after GASPI_TIMEOUT all call it again. GASPI_ERROR: not a member, or the barrier's. */
gaspi_return_t gaspi_threads_sync_all(gaspi_group_t group, gaspi_timeout_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
