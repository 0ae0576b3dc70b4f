/* SPDX-License-Identifier: Apache-2.0 */
/* The tests, each run on both nodes at once. */
#ifndef TESTS_KERNEL_TESTS_H
#define TESTS_KERNEL_TESTS_H

#include "tests/kernel/node.h"

/* communication.c */
void window_stores_and_loads(node* n);
void barriers(node* n);
void put_with_notification(node* n);
void get(node* n);
void atomics(node* n);
void sleep_on_an_interrupt(node* n);
void errors_are_reported(node* n);
void read_only_follows_its_owner(node* n);

/* windows.c */
void windows_of_two_domains(node* n);
void windows_run_out(node* n);
void stores_before_the_end(node* n);

/* gpu.c */
void gpu_to_gpu(node* n);
void gpu_memory_moves(node* n);
void gpu_memory_moves_when_short(node* n);
void gpu_memory_is_revoked(node* n);
void memory_of_another_exporter(node* n);

/* gpumap.c */
void gpu_memory_by_address(node* n);
void gpu_memory_freed_while_mapped(node* n);

/* two_nics.c */
void two_nics_in_a_node(void);

/* intruders.c */
void intruders(node* n);

/* interface.c */
void interface_is_strict(node* n);

/* random.c */
void random_calls(node* n);

/* lifetime.c */
void mapping_next_to_the_end(node* n);
void owners_are_killed(node* n);
void owners_die_at_every_step(node* n);

/* amounts.c */
void nothing_is_left(node* n);
void memory_is_free_after_an_end(node* n);
void registering_much(node* n);
void many_sleepers(node* n);

/* quota.c */
void quotas(node* n);
void memory_of_a_cgroup(node* n);
void counters_for_people(node* n);

/* failing.c */
void each_allocation_fails(node* n);

/* library.c */
void library_on_nodes(node* n);
void library_on_gpus(node* n);
void library_is_the_same(node* n);
void library_on_one_node(node* n);
void library_several_on_a_node(node* n);
void library_ranks_end(node* n);
void library_is_refused(node* n);
void library_under_reset(node* n);

/* recovery.c */
void reset_under_use(node* n);
void unbound_under_use(node* n);
void bound_again_under_puts(node* n);
void error_under_use(node* n);
void cable_out_under_use(node* n);
void nic_is_gone(node* n);
void opened_on_another_file_system(node* n);

/* verbs.c */
void memory_by_verbs(node* n);
void programs_of_verbs(node* n);

/* waits.c */
void nic_is_silent(node* n);
void page_does_not_come(node* n);
void node_sleeps(node* n);
void one_user_floods(node* n);
void large_windows(node* n);
void large_contexts(node* n);

/* kexec.c */
void into_next_kernel(node* n, long kernels);
void next_kernel(node* n, long left);

#endif
