// SPDX-License-Identifier: Apache-2.0
// GASPI has no handle: what its procedures work on, and how their arguments and outcomes become those of ggas.h.
#pragma once

#include <GASPI.h>
#include <GASPI_Ext.h>

#include "ggas/ggas.h"

namespace ggas::library::gaspi {

// This process as a rank; null before gaspi_proc_init and after gaspi_proc_term: then every call is an error.
ggas_process* self();

// What gaspi_config_set() has set, or the defaults.
gaspi_config_t configuration();

// The same while this process is a rank, without a lock; limits that the program has not set allow all there is.
const gaspi_config_t& limits();
// Called by gaspi_proc_init().
void fix_limits();

// Whether the configuration and the queue allow a transfer; if it is one of no bytes, then it is done.
gaspi_return_t check_transfer(const ggas_part& part, gaspi_rank_t rank, gaspi_queue_id_t queue);
// Before the transfer: nothing moves if the notification cannot follow.
gaspi_return_t check_notification(gaspi_notification_id_t slot, gaspi_notification_t value);
// moved: it comes after bytes, with which it is one request.
gaspi_return_t notify(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_notification_id_t slot,
                      gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms, bool moved);

// Counters begin with 0.
void forget_counts();
// Those of gaspi_operation_submit().
void forget_requests(gaspi_queue_id_t queue);

// What the program has done wrong has a code of its own, that of GPI-2; what happened to it is GASPI_ERROR.
gaspi_return_t error_code(ggas_rc rc);

inline gaspi_return_t as_gaspi(ggas_rc rc) {
  return rc == GGAS_OK ? GASPI_SUCCESS : rc == GGAS_TIMEOUT ? GASPI_TIMEOUT : error_code(rc);
}

inline uint64_t nanoseconds(gaspi_timeout_t ms) { return ms > UINT64_MAX / 1'000'000 ? GGAS_BLOCK : ms * 1'000'000; }

// Remembers a text, and gives the code.
gaspi_return_t refuse(const char* text, gaspi_return_t code = GASPI_ERROR);

// A value through a pointer that must not be null. Limits are known before gaspi_proc_init too.
template <class T, class V>
gaspi_return_t give(T* to, V value) {
  if (!to) return refuse("a pointer is null", GASPI_ERR_NULLPTR);
  *to = static_cast<T>(value);
  return GASPI_SUCCESS;
}

}  // namespace ggas::library::gaspi
