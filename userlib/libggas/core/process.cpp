// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/core/process.hpp"

#include <utility>

#include "userlib/libggas/job/meet.hpp"

using namespace ggas::library;

ggas_process::ggas_process(std::unique_ptr<ggas::library::transport> t) : transport(std::move(t)) {
  for (unsigned i = 0; i < GGAS_QUEUES_AT_START; ++i) queues[i].there = true;
}

std::shared_ptr<ggas::library::group> ggas_process::group(uint32_t id) const {
  if (id == GGAS_GROUP_ALL && everybody) return {std::shared_ptr<void>(), everybody};
  const std::lock_guard held(lock);
  return id < groups.size() ? groups[id] : nullptr;
}

namespace ggas::library {

ggas_rc check_pointer(const void* p, const char* name) {
  return p ? GGAS_OK : fail(GGAS_ERR_ARGUMENT, name, ": must not be null");
}

ggas_rc check_rank(const ggas_process* p, uint32_t rank) {
  if (rank < p->transport->size()) return GGAS_OK;
  return fail(GGAS_ERR_RANK, "rank ", rank, ": ranks are 0 ... ", p->transport->size() - 1);
}

ggas_rc check_segment(uint32_t segment) {
  if (segment < GGAS_SEGMENTS) return GGAS_OK;
  return fail(GGAS_ERR_SEGMENT, "segment ", segment, ": segments are 0 ... ", GGAS_SEGMENTS - 1);
}

ggas_rc check_queue(const ggas_process* p, uint32_t queue) {
  if (queue < GGAS_QUEUES && p->queues[queue].there) return GGAS_OK;
  return fail(GGAS_ERR_QUEUE, "queue ", queue, ": does not exist");
}

ggas_rc check_slot(uint32_t slot) {
  if (slot < GGAS_NOTIFICATIONS) return GGAS_OK;
  return fail(GGAS_ERR_NOTIFICATION, "slot ", slot, ": slots are 0 ... ", GGAS_NOTIFICATIONS - 1);
}

}  // namespace ggas::library

const char* ggas_rc_text(ggas_rc code) {
  switch (code) {
    case GGAS_OK:
      return "ok";
    case GGAS_TIMEOUT:
      return "timed out";
    case GGAS_ERR_ARGUMENT:
      return "bad argument";
    case GGAS_ERR_RANK:
      return "no such rank";
    case GGAS_ERR_SEGMENT:
      return "no such segment";
    case GGAS_ERR_RANGE:
      return "out of the segment, or not aligned";
    case GGAS_ERR_QUEUE:
      return "no such queue";
    case GGAS_ERR_NOTIFICATION:
      return "no such notification";
    case GGAS_ERR_GROUP:
      return "no such group";
    case GGAS_ERR_SIZE:
      return "bad size";
    case GGAS_ERR_PEER:
      return "a rank has ended";
    case GGAS_ERR_MEMORY:
      return "no memory";
    case GGAS_ERR_STATE:
      return "not now";
    case GGAS_ERR_MISMATCH:
      return "ranks called different collectives";
    case GGAS_ERR_SYSTEM:
      return "refused by the system";
  }
  return "unknown code";
}

const char* ggas_error_text(void) { return last_text(); }

namespace {

ggas_rc join(ggas_process** process, const char* bootstrap, const void* communicator, uint64_t timeout_ns) {
  if (ggas_rc rc = check_pointer(process, "process"); rc != GGAS_OK) return rc;
  ggas::job j;
  std::unique_ptr<start::blobs> met;
  if (ggas_rc rc = start::find_job(bootstrap, communicator, timeout_ns, j, met); rc != GGAS_OK) return rc;
  std::unique_ptr<transport> t;
  if (ggas_rc rc = make_transport(j, std::move(met), t); rc != GGAS_OK) return rc;
  const limit until = limit::after(j.timeout_ns).begin();  // by the transport's clock
  auto made = std::make_unique<ggas_process>(std::move(t));
  made->job = j;
  std::vector<unsigned> everybody(made->transport->size());
  for (unsigned r = 0; r < everybody.size(); ++r) everybody[r] = r;
  auto all = std::make_shared<ggas::library::group>(std::move(everybody));
  if (ggas_rc rc = all->commit(*made->transport, until); rc != GGAS_OK) return rc;
  made->everybody = all.get();
  made->groups[GGAS_GROUP_ALL] = std::move(all);
  *process = made.release();
  return GGAS_OK;
}

}  // namespace

ggas_rc ggas_process_start(ggas_process** process, uint64_t timeout_ns) {
  return ggas_process_start_by(process, nullptr, nullptr, timeout_ns);
}

ggas_rc ggas_process_start_by(ggas_process** process, const char* bootstrap, const void* communicator,
                              uint64_t timeout_ns) {
  try {
    return join(process, bootstrap, communicator, timeout_ns);
  } catch (const failure& e) {
    return fail_with(e.code, e.what());
  } catch (const std::exception& e) {
    return fail_with(GGAS_ERR_MEMORY, e.what());
  }
}

void ggas_process_stop(ggas_process* process) { delete process; }

ggas_rc ggas_process_rank(const ggas_process* p, uint32_t* rank) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(rank, "rank"); rc != GGAS_OK) return rc;
    *rank = p->transport->rank();
    return GGAS_OK;
  });
}

ggas_rc ggas_process_size(const ggas_process* p, uint32_t* size) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(size, "size"); rc != GGAS_OK) return rc;
    *size = p->transport->size();
    return GGAS_OK;
  });
}

ggas_rc ggas_process_states(ggas_process* p, ggas_state* states, size_t count) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(states, "states"); rc != GGAS_OK) return rc;
    if (count != p->transport->size())
      return fail(GGAS_ERR_SIZE, "count ", count, ": the job has ", p->transport->size(), " ranks");
    for (unsigned r = 0; r < count; ++r) states[r] = p->transport->state(r);
    return GGAS_OK;
  });
}

ggas_rc ggas_process_kill(ggas_process* p, uint32_t rank) {
  return call(p, [&] {
    if (ggas_rc rc = check_rank(p, rank); rc != GGAS_OK) return rc;
    if (rank == p->transport->rank()) return fail(GGAS_ERR_RANK, "rank ", rank, ": is this rank itself");
    return p->transport->kill(rank);
  });
}

ggas_rc ggas_process_time(ggas_process* p, uint64_t* ns) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(ns, "ns"); rc != GGAS_OK) return rc;
    *ns = p->transport->time_ns();
    return GGAS_OK;
  });
}

ggas_rc ggas_process_statistics(const ggas_process* p, ggas_statistics* s) {
  return call(p, [&] {
    if (ggas_rc rc = check_pointer(s, "statistics"); rc != GGAS_OK) return rc;
    const auto& c = p->count;
    const auto sum = [&](auto of) { return p->transfers.sum(of); };
    using part = tally::part;
    *s = {sum(&part::writes),        sum(&part::written_bytes), sum(&part::reads),    sum(&part::read_bytes),
          sum(&part::notifications), c.atomics.get(),           c.passive_sent.get(), c.passive_received.get(),
          sum(&part::collectives),   c.timeouts.get()};
    return GGAS_OK;
  });
}
