// SPDX-License-Identifier: Apache-2.0
// This process as a rank: what the functions of ggas.h work on, and the checks that all of them share.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/base/mapping.hpp"
#include "userlib/libggas/base/transport.hpp"
#include "userlib/libggas/core/group.hpp"
#include "userlib/libggas/core/tally.hpp"

struct ggas_process {
  explicit ggas_process(std::unique_ptr<ggas::library::transport> t);

  struct counter {
    std::atomic<uint64_t> n{0};
    void add(uint64_t more) { n.fetch_add(more, std::memory_order_relaxed); }
    uint64_t get() const { return n.load(std::memory_order_relaxed); }
  };
  struct counters {
    counter atomics, passive_sent, passive_received, timeouts;
  };
  struct queue {
    std::atomic<bool> there{false};
    std::atomic<uint64_t> waited{0};  // of what was posted
  };
  // A collective creation of a segment whose barrier timed out: the same call again goes on.
  struct creation {
    uint64_t bytes;
    void* memory;
    uint32_t group;
    bool on_gpu;
    int fd = -1;  // of memory of a descriptor
    uint64_t offset = 0;
    bool operator==(const creation&) const = default;
  };

  std::map<uint32_t, ggas::library::mapping> mappings;  // of segments; they end after the transport
  std::unique_ptr<ggas::library::transport> transport;
  ggas::job job;  // as this process has joined it
  mutable counters count;
  ggas::library::tally transfers;
  std::array<queue, GGAS_QUEUES> queues;
  mutable std::mutex lock;  // of the three tables
  std::array<std::shared_ptr<ggas::library::group>, GGAS_GROUPS> groups;
  std::map<uint32_t, creation> creations;
  // For hybrid writes of GPUs: direct until a tuner has found something better.
  std::atomic<uint64_t> gpu_threshold{UINT64_MAX}, gpu_chunk{uint64_t{1} << 20};

  std::shared_ptr<ggas::library::group> group(uint32_t id) const;
  // Group 0 is there from the start to the end: without a lock. groups[0] owns it.
  ggas::library::group* everybody = nullptr;
};

namespace ggas::library {

// Null pointers and numbers out of range, with the name of the parameter in the text.
ggas_rc check_pointer(const void* p, const char* name);
ggas_rc check_rank(const ggas_process* p, uint32_t rank);
ggas_rc check_segment(uint32_t segment);
ggas_rc check_queue(const ggas_process* p, uint32_t queue);
ggas_rc check_slot(uint32_t slot);

// ggas_queue_notify(). follows: it comes with a transfer of the queue, with which it is one request.
ggas_rc notify(ggas_process* p, const place& at, uint32_t value, uint32_t queue, uint64_t timeout_ns, bool follows);

// The first check that fails, or GGAS_OK.
template <class... Checks>
ggas_rc first_of(Checks&&... checks) {
  ggas_rc rc = GGAS_OK;
  static_cast<void>(((rc = checks(), rc != GGAS_OK) || ...));
  return rc;
}

// Runs a call with a process: nothing leaves it but a code.
template <class Call>
ggas_rc call(const ggas_process* p, Call&& body) {
  try {
    if (!p) return fail(GGAS_ERR_ARGUMENT, "process: must not be null");
    const ggas_rc rc = body();
    if (rc == GGAS_TIMEOUT) p->count.timeouts.add(1);
    return rc;
  } catch (const failure& e) {
    return fail_with(e.code, e.what());
  } catch (const std::exception& e) {
    return fail_with(GGAS_ERR_MEMORY, e.what());
  }
}

}  // namespace ggas::library
