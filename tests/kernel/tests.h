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
void errors_are_told(node* n);

/* windows.c */
void windows_of_two_domains(node* n);
void windows_run_out(node* n);

/* gpu.c */
void gpu_to_gpu(node* n);
void gpu_memory_moves(node* n);
void gpu_memory_is_revoked(node* n);
void memory_of_another_exporter(node* n);

/* strangers.c */
void strangers(node* n);

/* lifetime.c */
void owners_are_killed(node* n);
void reset_under_use(node* n);

#endif
