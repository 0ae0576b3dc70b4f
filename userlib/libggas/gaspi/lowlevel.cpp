// SPDX-License-Identifier: Apache-2.0
// GASPI_Lowlevel.h: which operations a successful gaspi_wait() has completed.
#include <GASPI_Lowlevel.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/gaspi/self.hpp"

using namespace ggas::library::gaspi;

namespace {

// The requests of a queue that were not given to the program yet, in the order of their submission.
class requests {
 public:
  void add(gaspi_tag_t tag) {
    const std::lock_guard held(lock_);
    open_.push_back(tag);
    ++added_;
  }

  void forget() {
    const std::lock_guard held(lock_);
    open_.clear();
    closed_.clear();
    settled_ = added_;
  }

  // Number of the last one that a gaspi_wait() which begins now will settle; 0: it need not wait.
  uint64_t unsettled() {
    const std::lock_guard held(lock_);
    return closed_.empty() && !open_.empty() ? added_ : 0;
  }

  // All up to a number have ended. Others may have settled them, or forgotten them.
  void settle(uint64_t last, gaspi_return_t outcome) {
    const std::lock_guard held(lock_);
    for (; settled_ < last; ++settled_) {
      closed_.push_back({open_.front(), {outcome}});
      open_.pop_front();
    }
  }

  gaspi_number_t take(gaspi_number_t room, gaspi_tag_t* tags, gaspi_status_t* statuses) {
    const std::lock_guard held(lock_);
    const auto n = static_cast<gaspi_number_t>(std::min<size_t>(room, closed_.size()));
    for (gaspi_number_t i = 0; i < n; ++i) {
      tags[i] = closed_.front().tag;
      statuses[i] = closed_.front().status;
      closed_.pop_front();
    }
    return n;
  }

 private:
  struct ended {
    gaspi_tag_t tag;
    gaspi_status_t status;
  };
  std::mutex lock_;
  std::deque<gaspi_tag_t> open_;
  std::deque<ended> closed_;
  uint64_t added_ = 0, settled_ = 0;  // settled, or forgotten
};

std::array<requests, GGAS_QUEUES> of_queues;

// Noted after it was posted, so a wait that knows of it waits for it.
gaspi_return_t noted(gaspi_return_t outcome, gaspi_queue_id_t queue, gaspi_tag_t tag) {
  if (outcome == GASPI_SUCCESS) of_queues[queue].add(tag);
  return outcome;
}

}  // namespace

void ggas::library::gaspi::forget_requests(gaspi_queue_id_t queue) {
  if (queue < of_queues.size()) of_queues[queue].forget();
}

gaspi_return_t gaspi_operation_get_num_requests(gaspi_lowlevel_operation_t, gaspi_number_t, gaspi_number_t* num) {
  return give(num, 1);
}

gaspi_return_t gaspi_operation_submit(gaspi_lowlevel_operation_t operation, gaspi_tag_t tag, gaspi_segment_id_t here,
                                      gaspi_offset_t offset_here, gaspi_rank_t rank, gaspi_segment_id_t there,
                                      gaspi_offset_t offset_there, gaspi_size_t size, gaspi_notification_id_t id,
                                      gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  switch (ggas::library::enum_number(operation)) {
    case GASPI_OP_READ:
      return noted(gaspi_read(here, offset_here, rank, there, offset_there, size, queue, timeout_ms), queue, tag);
    case GASPI_OP_WRITE:
      return noted(gaspi_write(here, offset_here, rank, there, offset_there, size, queue, timeout_ms), queue, tag);
    case GASPI_OP_NOTIFY:
      return noted(gaspi_notify(there, rank, id, value, queue, timeout_ms), queue, tag);
    case GASPI_OP_WRITE_NOTIFY:
      return noted(gaspi_write_notify(here, offset_here, rank, there, offset_there, size, id, value, queue, timeout_ms),
                   queue, tag);
    default:
      return refuse("operation: is none of one transfer or notification");
  }
}

gaspi_return_t gaspi_operation_list_submit(gaspi_lowlevel_operation_t operation, gaspi_tag_t tag, gaspi_number_t num,
                                           gaspi_segment_id_t* here, gaspi_offset_t* offset_here, gaspi_rank_t rank,
                                           gaspi_segment_id_t* there, gaspi_offset_t* offset_there, gaspi_size_t* size,
                                           gaspi_segment_id_t notified, gaspi_notification_id_t id,
                                           gaspi_notification_t value, gaspi_queue_id_t queue,
                                           gaspi_timeout_t timeout_ms) {
  switch (ggas::library::enum_number(operation)) {
    case GASPI_OP_READ_LIST:
      return noted(gaspi_read_list(num, here, offset_here, rank, there, offset_there, size, queue, timeout_ms), queue,
                   tag);
    case GASPI_OP_WRITE_LIST:
      return noted(gaspi_write_list(num, here, offset_here, rank, there, offset_there, size, queue, timeout_ms), queue,
                   tag);
    case GASPI_OP_WRITE_LIST_NOTIFY:
      return noted(gaspi_write_list_notify(num, here, offset_here, rank, there, offset_there, size, notified, id, value,
                                           queue, timeout_ms),
                   queue, tag);
    default:
      return refuse("operation: is none of a list");
  }
}

gaspi_return_t gaspi_request_wait(gaspi_queue_id_t queue, gaspi_number_t num, gaspi_number_t* completed,
                                  gaspi_tag_t* tags, gaspi_status_t* statuses, gaspi_timeout_t timeout_ms) {
  gaspi_number_t posted;
  if (!completed || !tags || !statuses) return refuse("completed, tags or statuses is null", GASPI_ERR_NULLPTR);
  *completed = 0;
  if (const gaspi_return_t rc = gaspi_queue_size(queue, &posted); rc != GASPI_SUCCESS) return rc;
  requests& of = of_queues[queue];
  if (const uint64_t last = of.unsettled(); last != 0) {
    const gaspi_return_t rc = gaspi_wait(queue, timeout_ms);
    if (rc == GASPI_TIMEOUT) return rc;
    of.settle(last, rc);
  }
  return give(completed, of.take(num, tags, statuses));
}
