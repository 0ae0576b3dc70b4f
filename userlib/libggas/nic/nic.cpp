// SPDX-License-Identifier: Apache-2.0
// Contexts, start and end, and what is known of other ranks.
#include "userlib/libggas/nic/nic.hpp"

#include <cstring>

namespace ggas::library::nic {

ggas_rc nic_transport::start() {
  where_ = {size()};
  known_.assign(size(), GGAS_STATE_HEALTHY);
  sent_.assign(size(), 0);
  took_.assign(size(), 0);
  bounce_.resize(size());
  for (queue_state& q : queues_) q.targets.assign(size(), false);
  if (ggas_rc rc = to_->take(where_.bytes(), nullptr, control_); rc != GGAS_OK) return rc;
  return to_->tell_all(control_.nla, controls_);
}

// What was posted arrives before others learn that this rank has left.
nic_transport::~nic_transport() {
  try {
    const turn mine(turns_);
    for (unsigned c = 0; !controls_.empty() && c < contexts; ++c) static_cast<void>(settle(c));
  } catch (const std::exception&) {
    // The NIC has gone: no process can be informed.
  }
}

void nic_transport::post(unsigned context, const ggas_rma_desc& d) {
  ggas_rma_context& c = to_->context(context);
  const watched status[] = {{c.status, 16}};
  const limit until = limit::after(timeout_ns);
  for (unsigned round = 0; !ggas_rma_post(&c, &d); ++round) {
    if (until.passed()) throw failure(GGAS_ERR_SYSTEM, "the NIC has taken no descriptor for 10 s");
    to_->pause(status, until.left(), round);
  }
}

ggas_rc nic_transport::drain(unsigned context) {
  ggas_rma_context& c = to_->context(context);
  const watched status[] = {{c.status, 16}};
  const limit until = limit::after(timeout_ns);
  for (unsigned round = 0; !ggas_rma_remotely_done(&c); ++round) {
    if (until.passed()) return fail(GGAS_ERR_SYSTEM, "the NIC has not finished its descriptors within 10 s");
    to_->pause(status, until.left(), round);
  }
  return GGAS_OK;
}

ggas_rc nic_transport::settle(unsigned context) {
  const ggas_rc rc = drain(context);
  return rc == GGAS_OK ? errors_of(context) : rc;
}

bool nic_transport::any_ended() const {
  for (const ggas_state s : known_)
    if (s != GGAS_STATE_HEALTHY) return true;
  return false;
}

// The memory of a rank that has ended may be gone with it, and then the NIC refuses what is for it.
ggas_rc nic_transport::settle_reported() {
  const ggas_rc rc = settle(control_context);
  if (rc != GGAS_ERR_PEER) return rc;
  for (unsigned r = 0; r < size(); ++r)
    if (r != rank() && known_[r] == GGAS_STATE_HEALTHY) known_[r] = to_->state(r);
  return any_ended() ? GGAS_OK : rc;
}

// What was reported to ranks that have ended is no failure of the get.
ggas_rc nic_transport::fetch(unsigned rank, uint64_t from, uint64_t to, uint64_t bytes) {
  if (any_ended())
    if (ggas_rc rc = settle_reported(); rc != GGAS_OK) return rc;
  post(control_context, ggas_rma_get(peer(rank), from, to, uint32_t(bytes), 0, rank));
  return settle(control_context);
}

// The error of descriptors that have failed since the last call.
ggas_rc nic_transport::errors_of(unsigned context) {
  ggas_rma_context& c = to_->context(context);
  const ggas_rma_status s = ggas_rma_read_status(&c);
  if (s.errors == errors_seen_[context]) return GGAS_OK;
  const unsigned count = (s.errors - errors_seen_[context]) & 0xffffffu;
  errors_seen_[context] = s.errors;
  ggas_rma_note note;
  while (ggas_rma_next_note(&c, &note)) {  // the ring has nothing else
  }
  return fail(GGAS_ERR_PEER, "the NIC says that ", count, " operations failed, the last one with status ",
              unsigned(s.last_error), " (docs/rma.md)");
}

void nic_transport::tell(unsigned rank, uint64_t nla, const void* data, uint32_t bytes) {
  const aimed there = to_->aim(rank, control_context);
  post(control_context, ggas_rma_inline(there.to, data, nla, bytes, GGAS_RMA_ACK | there.flags, 0));
}

// ---------------------------------------------------------------------------------------------- other ranks

void nic_transport::look_out() {
  if (to_->ended() == ended_seen_) return;
  ended_seen_ = to_->ended();
  for (unsigned r = 0; r < size(); ++r)
    if (known_[r] == GGAS_STATE_HEALTHY && r != rank()) known_[r] = to_->state(r);
}

bool nic_transport::healthy(unsigned rank) {
  look_out();
  return known_[rank] == GGAS_STATE_HEALTHY;
}

ggas_rc nic_transport::expect(unsigned rank) {
  if (healthy(rank)) return GGAS_OK;
  return fail(GGAS_ERR_PEER, "rank ", rank, known_[rank] == GGAS_STATE_LEFT ? " has left the job" : " has ended");
}

uint64_t nic_transport::time_ns() {
  const turn mine(turns_);
  return to_->time_ns();
}

ggas_state nic_transport::state(unsigned rank) {
  const turn mine(turns_);
  if (rank != this->rank() && known_[rank] == GGAS_STATE_HEALTHY) known_[rank] = to_->state(rank);
  return known_[rank];
}

ggas_rc nic_transport::kill(unsigned rank) {
  const turn mine(turns_);
  return to_->kill(rank);
}

ggas_rc make_nic(std::unique_ptr<access> to, std::unique_ptr<transport>& made) {
  auto t = std::make_unique<nic_transport>(std::move(to));
  const ggas_rc rc = t->start();
  if (rc == GGAS_OK) made = std::move(t);
  return rc;
}

}  // namespace ggas::library::nic
