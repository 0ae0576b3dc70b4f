// SPDX-License-Identifier: Apache-2.0
// GASPI: counters.
#include <array>
#include <atomic>
#include <iterator>

#include "userlib/libggas/gaspi/self.hpp"

using namespace ggas::library::gaspi;

namespace {

struct counter {
  uint64_t ggas_statistics::*count;
  const char *name, *description;
};
constexpr counter counters[] = {
    {&ggas_statistics::writes, "Writes", "writes that were posted, each part of a list"},
    {&ggas_statistics::written_bytes, "BytesWritten", "bytes of these writes"},
    {&ggas_statistics::reads, "Reads", "reads that were posted, each part of a list"},
    {&ggas_statistics::read_bytes, "BytesRead", "bytes of these reads"},
    {&ggas_statistics::notifications, "Notifications", "notifications that were sent"},
    {&ggas_statistics::atomics, "Atomics", "fetch-and-add and compare-and-swap"},
    {&ggas_statistics::passive_sent, "PassiveSent", "passive messages that were sent"},
    {&ggas_statistics::passive_received, "PassiveReceived", "passive messages that were received"},
    {&ggas_statistics::collectives, "Collectives", "barriers and reductions that came to their end"},
    {&ggas_statistics::timeouts, "TimeOuts", "calls that returned GASPI_TIMEOUT"},
};

// What a counter stood at when it was reset.
std::array<std::atomic<uint64_t>, std::size(counters)> before;

gaspi_return_t count_of(gaspi_statistic_counter_t c, uint64_t& count) {
  if (c >= std::size(counters)) return refuse("no such counter");
  ggas_statistics all;
  const ggas_rc rc = ggas_process_statistics(self(), &all);
  if (rc == GGAS_OK) count = all.*counters[c].count;
  return as_gaspi(rc);
}

}  // namespace

void ggas::library::gaspi::forget_counts() {
  for (auto& b : before) b = 0;
}

gaspi_return_t gaspi_statistic_verbosity_level(gaspi_number_t) { return GASPI_SUCCESS; }
gaspi_return_t gaspi_statistic_counter_max(gaspi_number_t* n) { return give(n, std::size(counters)); }

gaspi_return_t gaspi_statistic_counter_info(gaspi_statistic_counter_t c, gaspi_statistic_argument_t* argument,
                                            gaspi_string_t* name, gaspi_string_t* description,
                                            gaspi_number_t* verbosity_level) {
  if (c >= std::size(counters)) return refuse("no such counter");
  if (!argument || !name || !description || !verbosity_level) return refuse("a pointer is null");
  *argument = GASPI_STATISTIC_ARGUMENT_NONE;
  *name = const_cast<char*>(counters[c].name);
  *description = const_cast<char*>(counters[c].description);
  *verbosity_level = 0;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t c, gaspi_number_t, gaspi_ulong* value) {
  uint64_t count = 0;
  const gaspi_return_t rc = count_of(c, count);
  return rc == GASPI_SUCCESS ? give(value, count - before[c]) : rc;
}

gaspi_return_t gaspi_statistic_counter_reset(gaspi_statistic_counter_t c) {
  uint64_t count = 0;
  const gaspi_return_t rc = count_of(c, count);
  if (rc == GASPI_SUCCESS) before[c] = count;
  return rc;
}

gaspi_return_t gaspi_pcontrol(gaspi_pointer_t) { return GASPI_SUCCESS; }
