// SPDX-License-Identifier: Apache-2.0
// GASPI: the configuration of a job and its limits.
#include <unistd.h>

#include <bit>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "userlib/libggas/gaspi/self.hpp"

namespace {

// A simulated node has 1 GiB, a part of which is not for segments.
gaspi_size_t memory_of_the_computer() {
  const char* const transport = std::getenv("GGAS_TRANSPORT");
  if (transport && std::string_view(transport) == "sim") return gaspi_size_t{512} << 20;
  return static_cast<gaspi_size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<gaspi_size_t>(sysconf(_SC_PAGESIZE));
}

// The most of everything; what programs size their buffers by is 255 elements, though any number works.
const gaspi_config_t most{.group_max = GGAS_GROUPS,
                          .segment_max = GGAS_SEGMENTS - 1,  // so that a loop over gaspi_segment_id_t ends
                          .queue_num = GGAS_QUEUES,
                          .queue_size_max = 1 << 16,
                          .transfer_size_max = std::bit_floor(memory_of_the_computer()),
                          .notification_num = GGAS_NOTIFICATIONS,
                          .passive_queue_size_max = UINT_MAX,
                          .passive_transfer_size_max = GGAS_PASSIVE_MOST,
                          .allreduce_buf_size = ULONG_MAX,
                          .allreduce_elem_max = UINT_MAX,
                          .rw_list_elem_max = 255,
                          .network = GASPI_OFI,
                          .build_infrastructure = GASPI_TOPOLOGY_DYNAMIC,
                          .user_defined = nullptr,
                          .logger = 0,
                          .sn_port = 0,
                          .net_info = 0,
                          .user_net = 0,
                          .sn_persistent = 0,
                          .sn_timeout = 0,
                          .dev_config = {}};

gaspi_config_t defaults() {
  gaspi_config_t c = most;
  c.queue_num = GGAS_QUEUES_AT_START;
  c.transfer_size_max /= 16;  // so that each of some ranks may have a segment of twice as much
  c.passive_queue_size_max = 1;
  c.group_max = 32;
  c.allreduce_elem_max = 255;
  c.allreduce_buf_size = 255 * sizeof(double);
  c.network = GASPI_NOT_USED;
  c.build_infrastructure = GASPI_TOPOLOGY_STATIC;
  c.sn_port = 12121;
  c.sn_timeout = 30'000;
  return c;
}

std::mutex lock;
gaspi_config_t now = defaults();
gaspi_config_t fixed = defaults();

}  // namespace

namespace ggas::library::gaspi {
gaspi_config_t configuration() {
  const std::lock_guard held(lock);
  return now;
}

const gaspi_config_t& limits() { return fixed; }

void fix_limits() {
  const gaspi_config_t usual = defaults();
  fixed = configuration();
  const auto all = [](auto& limit, auto usually, auto at_most) {
    if (limit == usually) limit = at_most;
  };
  all(fixed.allreduce_elem_max, usual.allreduce_elem_max, most.allreduce_elem_max);
  all(fixed.allreduce_buf_size, usual.allreduce_buf_size, most.allreduce_buf_size);
  all(fixed.rw_list_elem_max, usual.rw_list_elem_max, gaspi_number_t{UINT_MAX});
}
}  // namespace ggas::library::gaspi

using namespace ggas::library::gaspi;

gaspi_return_t gaspi_config_get(gaspi_config_t* config) { return give(config, configuration()); }

gaspi_return_t gaspi_config_set(gaspi_config_t c) {
  if (self()) return refuse("gaspi_config_set: only before gaspi_proc_init", GASPI_ERR_INITED);
  const struct {
    gaspi_ulong value, most;
    const char* text;
  } rules[] = {
      {c.group_max, most.group_max, "group_max: must be 1 to 64"},
      {c.segment_max, most.segment_max, "segment_max: must be 1 to 255"},
      {c.queue_num, most.queue_num, "queue_num: must be 1 to 64"},
      {c.queue_size_max, most.queue_size_max, "queue_size_max: must be 1 to 65536"},
      {c.transfer_size_max, most.transfer_size_max, "transfer_size_max: must be 1 to the memory of the computer"},
      {c.notification_num, most.notification_num, "notification_num: must be 1 to 65536"},
      {c.passive_queue_size_max, most.passive_queue_size_max, "passive_queue_size_max: must not be 0"},
      {c.passive_transfer_size_max, most.passive_transfer_size_max, "passive_transfer_size_max: must be 1 to 65536"},
      {c.allreduce_buf_size, most.allreduce_buf_size, "allreduce_buf_size: must not be 0"},
      {c.allreduce_elem_max, most.allreduce_elem_max, "allreduce_elem_max: must not be 0"},
      {c.rw_list_elem_max, most.rw_list_elem_max, "rw_list_elem_max: must be 1 to 255"},
  };
  for (const auto& r : rules)
    if (r.value == 0 || r.value > r.most) return refuse(r.text, GASPI_ERR_CONFIG);
  if (c.build_infrastructure > most.build_infrastructure)
    return refuse("build_infrastructure: must be 0 to 2", GASPI_ERR_CONFIG);
  const std::lock_guard held(lock);
  now = c;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t* n) { return give(n, configuration().allreduce_elem_max); }
gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t* n) { return give(n, configuration().allreduce_buf_size); }
gaspi_return_t gaspi_transfer_size_min(gaspi_size_t* n) { return give(n, 0); }
gaspi_return_t gaspi_transfer_size_max(gaspi_size_t* n) { return give(n, configuration().transfer_size_max); }
gaspi_return_t gaspi_passive_transfer_size_min(gaspi_size_t* n) { return give(n, 1); }
gaspi_return_t gaspi_passive_transfer_size_max(gaspi_size_t* n) {
  return give(n, configuration().passive_transfer_size_max);
}
gaspi_return_t gaspi_notification_num(gaspi_number_t* n) { return give(n, configuration().notification_num); }
gaspi_return_t gaspi_rw_list_elem_max(gaspi_number_t* n) { return give(n, configuration().rw_list_elem_max); }
gaspi_return_t gaspi_atomic_max(gaspi_atomic_value_t* n) { return give(n, ULONG_MAX); }
gaspi_return_t gaspi_group_max(gaspi_number_t* n) { return give(n, configuration().group_max); }
gaspi_return_t gaspi_segment_max(gaspi_number_t* n) { return give(n, configuration().segment_max); }
gaspi_return_t gaspi_queue_max(gaspi_number_t* n) { return give(n, GGAS_QUEUES); }
gaspi_return_t gaspi_queue_size_max(gaspi_number_t* n) { return give(n, configuration().queue_size_max); }
gaspi_return_t gaspi_network_type(gaspi_network_t* n) { return give(n, configuration().network); }
gaspi_return_t gaspi_build_infrastructure(gaspi_number_t* n) { return give(n, configuration().build_infrastructure); }
