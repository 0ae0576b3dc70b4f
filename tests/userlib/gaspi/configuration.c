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
  HOLDS(size == c.transfer_size_max);
  CHECK(gaspi_transfer_size_min(&size));
  HOLDS(size == 1);
  CHECK(gaspi_notification_num(&n));
  HOLDS(n == c.notification_num && n == 65536);
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
  CHECK(gaspi_proc_init(PATIENCE));
  REFUSED(gaspi_config_set(c));
  CHECK(gaspi_proc_term(PATIENCE));
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
  CHECK(gaspi_proc_init(PATIENCE));
  CHECK(gaspi_queue_num(&n));
  HOLDS(n == queues);
  CHECK(gaspi_wait((gaspi_queue_id_t)(queues - 1), PATIENCE));
  if (queues < 64) REFUSED(gaspi_wait((gaspi_queue_id_t)queues, PATIENCE));
  CHECK(gaspi_proc_term(PATIENCE));
}

CASE_FROM_BEGIN(as_many_queues_as_configured, 1) {
  start_with(1);
  start_with(20);
  start_with(64);
  start_with(8);
}
