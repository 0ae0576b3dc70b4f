// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/hw/rank_states.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "userlib/libggas/base/limit.hpp"
#include "userlib/start/secret.hpp"

namespace ggas::library::hw {

namespace {

constexpr uint64_t look_ns = 100'000'000;
constexpr uint64_t silence_ns = 2'000'000'000;  // of a rank that cannot be reached, as after a link that is down

// A NIC that could not find out: the rank may live.
bool unsure(unsigned status) {
  enum { host_error = 2, timeout = 3, link_down = 4, unreachable = 5, full = 7 };
  return status == host_error || status == timeout || status == link_down || status == unreachable || status == full;
}

}  // namespace

ggas_rc rank_states::open(unsigned rank, unsigned size) {
  rank_ = rank;
  size_ = size;
  known_.resize(size);
  if (ggas_rc rc = device_.begin_context(context_, true, 0); rc != GGAS_OK) return rc;
  if (ggas_rc rc = device_.take(landing(size, size), nullptr, memory_); rc != GGAS_OK) return rc;
  const std::string random = userlib::nonce();
  if (random.size() < sizeof ident_) return fail(GGAS_ERR_SYSTEM, "start: the system gives no random numbers");
  std::memcpy(&ident_, random.data(), sizeof ident_);
  at(0) = ident_ |= 1;
  return GGAS_OK;
}

card rank_states::own() const { return {ident_, memory_.nla, 0, {}, context_->self}; }

// ---------------------------------------------------------------------------------------------- own context

void rank_states::post(const ggas_rma_desc& d) {
  const limit until = limit::after(nic::timeout_ns);
  while (!ggas_rma_post(&context_->rma, &d)) {
    if (until.passed()) throw failure(GGAS_ERR_SYSTEM, "the NIC has taken no descriptor for 10 s");
    sched_yield();
  }
}

bool rank_states::done() { return ggas_rma_remotely_done(&context_->rma) != 0; }

void rank_states::settle() {
  const limit until = limit::after(nic::timeout_ns);
  while (!done()) {
    if (until.passed()) throw failure(GGAS_ERR_SYSTEM, "the NIC has not finished its descriptors within 10 s");
    sched_yield();
  }
}

// Takes all notifications.
void rank_states::receive() {
  ggas_rma_note note;
  while (ggas_rma_next_note(&context_->rma, &note)) {
    if (note.kind == GGAS_RMA_NOTE_ERROR)
      failed_probes_.push_back({note.peer.node, note.status, note.cookie});
    else
      woken_ = true;
  }
}

void rank_states::notify(unsigned rank, word w, bool wakes) {
  const uint64_t there = cards_[rank].states + line + rank_ * sizeof(uint64_t);
  post(ggas_rma_imm(cards_[rank].doorbell, w, there, sizeof(uint64_t),
                    GGAS_RMA_ACK | (wakes ? unsigned(GGAS_RMA_NOTIFY_COMPLETER) : 0u), rank));
}

// ---------------------------------------------------------------------------------------------- life

bool rank_states::look() {
  device_.expect();
  receive();
  if (woken_) see_who_left();
  if (!probed_.empty() && done()) check();
  if (const uint64_t now = computer_ns(); now - looked_ns_ >= look_ns && probed_.empty()) {
    looked_ns_ = now;
    see_who_left();
    probe_some();
  }
  return std::exchange(woken_, false);
}

void rank_states::see_who_left() {
  for (unsigned r = 0; r < size_; ++r)
    if (living(r) && word_of(r) == left_word) end(r, GGAS_STATE_LEFT);
}

void rank_states::probe(unsigned rank) {
  const uint64_t here = landing(rank, size_);
  at(here) = 0;
  probed_.push_back(rank);
  post(ggas_rma_get(cards_[rank].doorbell, cards_[rank].states, memory_.nla + here, sizeof(uint64_t), 0, rank));
}

void rank_states::probe_some() {
  for (unsigned i = 0; i < size_ && probed_.size() < at_a_time; ++i) {
    next_ = (next_ + 1) % size_;
    if (living(next_)) probe(next_);
  }
}

void rank_states::check() {
  receive();
  for (const unsigned r : probed_) check(r);
  probed_.clear();
  failed_probes_.clear();
}

// The result of reading the rank's word. Any other value (memory of others, or the NIC's report that there is none)
// means that the rank has ended. If the NIC could not find out, time decides.
void rank_states::check(unsigned rank) {
  known& k = known_[rank];
  if (!living(rank)) return;
  if (at(landing(rank, size_)) == cards_[rank].ident) {
    k.failing_since = 0;
    return;
  }
  const card& c = cards_[rank];
  const bool refused = std::ranges::any_of(failed_probes_, [&](const failed_probe& one) {
    return one.node == c.doorbell.node && one.address == c.states && !unsure(one.status);
  });
  const bool none_unsure =
      std::ranges::none_of(failed_probes_, [](const failed_probe& one) { return unsure(one.status); });
  const uint64_t now = computer_ns();
  if (k.failing_since == 0) k.failing_since = now;
  if (refused || none_unsure || now - k.failing_since >= silence_ns)
    end(rank, word_of(rank) == left_word ? GGAS_STATE_LEFT : GGAS_STATE_LOST);
}

void rank_states::end(unsigned rank, ggas_state how) {
  known_[rank].state = how;
  ++ended_;
}

ggas_state rank_states::state(unsigned rank) {
  device_.expect();
  see_who_left();
  if (!living(rank)) return known_[rank].state;
  settle();
  check();
  probe(rank);
  settle();
  check();
  return known_[rank].state;
}

// ---------------------------------------------------------------------------------------------- sleep

nic::aimed rank_states::aim(unsigned rank, unsigned context, const ggas_rma_context& c) {
  if (word_of(rank) == asleep_word) return {cards_[rank].doorbell, GGAS_RMA_NOTIFY_COMPLETER};
  const auto same =
      std::ranges::find_if(unnotified_, [&](const unnotified& u) { return u.rank == rank && u.context == context; });
  if (same == unnotified_.end())
    unnotified_.push_back({rank, context, c.issued + 1});
  else
    same->issued = c.issued + 1;
  return {cards_[rank].doorbell, 0};
}

void rank_states::wake_late(const contexts& all) {
  std::erase_if(unnotified_, [&](const unnotified& u) {
    const uint32_t arrived = ggas_rma_read_status(&all[u.context]->rma).remote;
    if (int32_t(arrived - u.issued) < 0) return false;
    if (living(u.rank) && word_of(u.rank) == asleep_word) post(ggas_rma_notify(cards_[u.rank].doorbell, 0, 0, u.rank));
    return true;
  });
}

void rank_states::fall_asleep() {
  asleep_ = true;
  for (unsigned r = 0; r < size_; ++r)
    if (living(r)) notify(r, asleep_word, false);
  settle();
}

void rank_states::awake() {
  asleep_ = false;
  for (unsigned r = 0; r < size_; ++r)
    if (living(r)) notify(r, awake_word, false);
}

void rank_states::leave() {
  if (cards_.empty()) return;  // no process knows this rank yet
  for (unsigned r = 0; r < size_; ++r)
    if (living(r)) notify(r, left_word, word_of(r) == asleep_word);
  settle();
}

}  // namespace ggas::library::hw
