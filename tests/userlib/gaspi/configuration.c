/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration and limits. */
#include "conformance.h"

CASE_FROM_BEGIN(limits_are_those_of_the_configuration, 1) {
  gaspi_config_t c;
  gaspi_number_t n;
  gaspi_size_t size;
  gaspi_atomic_value_t most;
  gaspi_network_t network;
  CHECK(gaspi_config_get(&c));
  CHECK(gaspi_group_max(&n));
  HOLDS(n == c.group_max && n >= 32);
  CHECK(gaspi_segment_max(&n));
  HOLDS(n == c.segment_max && n == 255);
  CHECK(gaspi_queue_size_max(&n));
  HOLDS(n == c.queue_size_max && n >= 1024);
  CHECK(gaspi_transfer_size_max(&size));
  HOLDS(size == c.transfer_size_max && size >= 1 << 20);
  CHECK(gaspi_transfer_size_min(&size));
  HOLDS(size == 0);
  CHECK(gaspi_notification_num(&n));
  HOLDS(n == c.notification_num && n == 65536);
  CHECK(gaspi_passive_transfer_size_min(&size));
  HOLDS(size == 1);
  CHECK(gaspi_passive_transfer_size_max(&size));
  HOLDS(size == c.passive_transfer_size_max && size == 65536);
  CHECK(gaspi_allreduce_elem_max(&n));
  HOLDS(n == c.allreduce_elem_max && n == 255);
  CHECK(gaspi_allreduce_buf_size(&size));
  HOLDS(size == c.allreduce_buf_size && size >= 255 * 8);
  CHECK(gaspi_rw_list_elem_max(&n));
  HOLDS(n == c.rw_list_elem_max && n == 255);
  CHECK(gaspi_atomic_max(&most));
  HOLDS(most == ~0ul);
  CHECK(gaspi_network_type(&network));
  HOLDS(network == c.network);
  CHECK(gaspi_build_infrastructure(&n));
  HOLDS(n == GASPI_TOPOLOGY_STATIC);
  REFUSED(gaspi_config_get(NULL));
}

CASE_FROM_BEGIN(configuration_is_kept, 1) {
  gaspi_config_t c, kept;
  gaspi_number_t n;
  CHECK(gaspi_config_get(&c));
  c.net_info = 1;
  c.sn_port = 21212;
  c.build_infrastructure = GASPI_TOPOLOGY_DYNAMIC;
  c.notification_num = 1000;
  CHECK(gaspi_config_set(c));
  CHECK(gaspi_config_get(&kept));
  HOLDS(kept.net_info == 1 && kept.sn_port == 21212 && kept.build_infrastructure == GASPI_TOPOLOGY_DYNAMIC);
  CHECK(gaspi_notification_num(&n));
  HOLDS(n == 1000);
  c.notification_num = 65536;
  CHECK(gaspi_config_set(c));
}

CASE_FROM_BEGIN(configuration_is_closed_by_init, 1) {
  gaspi_config_t c;
  CHECK(gaspi_config_get(&c));
  CHECK(gaspi_proc_init(TIMEOUT_MS));
  REFUSED(gaspi_config_set(c));
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  CHECK(gaspi_config_set(c));
}

CASE_FROM_BEGIN(configuration_out_of_range_is_refused, 1) {
  gaspi_config_t good, c;
  CHECK(gaspi_config_get(&good));
  c = good;
  c.queue_num = 65;
  REFUSED(gaspi_config_set(c));
  c.queue_num = 0;
  REFUSED(gaspi_config_set(c));
  c = good;
  c.group_max = 65;
  REFUSED(gaspi_config_set(c));
  c = good;
  c.notification_num = 65537;
  REFUSED(gaspi_config_set(c));
  c = good;
  c.build_infrastructure = 3;
  REFUSED(gaspi_config_set(c));
  CHECK(gaspi_config_get(&c));
  HOLDS(c.queue_num == good.queue_num && c.build_infrastructure == good.build_infrastructure);
}

static void start_with(gaspi_number_t queues) {
  gaspi_config_t c;
  gaspi_number_t n = 0;
  CHECK(gaspi_config_get(&c));
  c.queue_num = queues;
  CHECK(gaspi_config_set(c));
  CHECK(gaspi_proc_init(TIMEOUT_MS));
  CHECK(gaspi_queue_num(&n));
  HOLDS(n == queues);
  CHECK(gaspi_wait((gaspi_queue_id_t)(queues - 1), TIMEOUT_MS));
  if (queues < 64) REFUSED(gaspi_wait((gaspi_queue_id_t)queues, TIMEOUT_MS));
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}

CASE_FROM_BEGIN(as_many_queues_as_configured, 1) {
  start_with(1);
  start_with(20);
  start_with(64);
  start_with(8);
}

/* Begins with a configuration. */
static void begin_with(const gaspi_config_t* c) {
  CHECK(gaspi_config_set(*c));
  begin();
}

static gaspi_config_t usual(void) {
  gaspi_config_t c;
  CHECK(gaspi_config_get(&c));
  return c;
}

CASE_FROM_BEGIN(a_host_can_do_what_transfer_size_max_says, 1) {
  gaspi_size_t most;
  gaspi_pointer_t at;
  begin();
  CHECK(gaspi_transfer_size_max(&most));
  CHECK(gaspi_segment_create(0, 2 * most, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_UNINITIALIZED));
  CHECK(gaspi_segment_ptr(0, &at));
  ((char*)at)[2 * most - 1] = 3;
  REFUSED(gaspi_write(0, 0, me, 0, 0, most + 1, 0, TIMEOUT_MS));
  HOLDS(((char*)at)[2 * most - 1] == 3);
  CHECK(gaspi_proc_term(TIMEOUT_MS));
}

CASE_FROM_BEGIN(configured_sizes_are_limits, 2) {
  gaspi_config_t c = usual();
  const gaspi_config_t before = c;
  gaspi_notification_id_t id;
  gaspi_rank_t from;
  c.transfer_size_max = 4096;
  c.passive_transfer_size_max = 1024;
  c.notification_num = 16;
  begin_with(&c);
  segment(0, 16384);
  REFUSED(gaspi_write(0, 0, right(), 0, 8192, 4097, 0, TIMEOUT_MS));
  REFUSED(gaspi_read(0, 8192, right(), 0, 0, 4097, 0, TIMEOUT_MS));
  REFUSED(gaspi_write_notify(0, 0, right(), 0, 8192, 4097, 0, 1, 0, TIMEOUT_MS));
  REFUSED(gaspi_write_notify(0, 0, right(), 0, 8192, 4096, 16, 1, 0, TIMEOUT_MS));
  REFUSED(gaspi_notify(0, right(), 16, 1, 0, TIMEOUT_MS));
  REFUSED(gaspi_notify_waitsome(0, 16, 1, &id, GASPI_TEST));
  REFUSED(gaspi_notify_waitsome(0, 0, 17, &id, GASPI_TEST));
  REFUSED(gaspi_passive_send(0, 0, right(), 1025, TIMEOUT_MS));
  CHECK(gaspi_write_notify(0, 0, right(), 0, 8192, 4096, 15, 1, 0, TIMEOUT_MS));
  HOLDS(taken(0, 16, &id) == 1 && id == 15);
  if (me == 0) CHECK(gaspi_passive_send(0, 0, 1, 1024, TIMEOUT_MS));
  if (me == 1) CHECK(gaspi_passive_receive(0, 0, &from, 1024, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  CHECK(gaspi_config_set(before));
}

CASE_FROM_BEGIN(configured_numbers_are_limits, 2) {
  gaspi_config_t c = usual();
  const gaspi_config_t before = c;
  gaspi_group_t g;
  long one[4] = {1, 1, 1, 1}, sum[4];
  gaspi_segment_id_t s[3] = {0, 0, 0};
  gaspi_offset_t o[3] = {0, 8, 16};
  gaspi_size_t n[3] = {8, 8, 8};
  c.segment_max = 2;
  c.group_max = 2;
  c.allreduce_elem_max = 3;
  c.rw_list_elem_max = 2;
  begin_with(&c);
  segment(0, 64);
  segment(7, 64);
  REFUSED(gaspi_segment_create(1, 64, GASPI_GROUP_ALL, TIMEOUT_MS, GASPI_MEM_INITIALIZED));
  REFUSED(gaspi_segment_alloc(1, 64, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_group_create(&g));
  REFUSED(gaspi_group_create(&g));
  REFUSED(gaspi_allreduce(one, sum, 4, GASPI_OP_SUM, GASPI_TYPE_LONG, GASPI_GROUP_ALL, TIMEOUT_MS));
  CHECK(gaspi_allreduce(one, sum, 3, GASPI_OP_SUM, GASPI_TYPE_LONG, GASPI_GROUP_ALL, TIMEOUT_MS));
  HOLDS(sum[2] == all);
  REFUSED(gaspi_write_list(3, s, o, right(), s, o, n, 0, TIMEOUT_MS));
  CHECK(gaspi_write_list(2, s, o, right(), s, o, n, 0, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  barrier();
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  CHECK(gaspi_config_set(before));
}

CASE_FROM_BEGIN(a_configured_queue_fills, 1) {
  gaspi_config_t c = usual();
  const gaspi_config_t before = c;
  gaspi_number_t size;
  c.queue_size_max = 3;
  begin_with(&c);
  segment(0, 64);
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_write_notify(0, 0, me, 0, 8, 8, 0, 1, 0, TIMEOUT_MS));
  CHECK(gaspi_queue_size(0, &size));
  HOLDS(size == 2);
  CHECK(gaspi_notify(0, me, 1, 1, 0, TIMEOUT_MS));
  GIVES(gaspi_notify(0, me, 2, 1, 0, TIMEOUT_MS), GASPI_QUEUE_FULL);
  GIVES(gaspi_write(0, 0, me, 0, 8, 8, 0, TIMEOUT_MS), GASPI_QUEUE_FULL);
  GIVES(gaspi_write_notify(0, 0, me, 0, 8, 8, 2, 1, 0, TIMEOUT_MS), GASPI_QUEUE_FULL);
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, 1, TIMEOUT_MS));
  CHECK(gaspi_wait(0, TIMEOUT_MS));
  CHECK(gaspi_write(0, 0, me, 0, 8, 8, 0, TIMEOUT_MS));
  CHECK(gaspi_proc_term(TIMEOUT_MS));
  CHECK(gaspi_config_set(before));
}
