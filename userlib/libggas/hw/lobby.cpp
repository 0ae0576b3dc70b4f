// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/hw/lobby.hpp"

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

ggas_rc lobby::open(unsigned rank, unsigned size) {
  rank_ = rank;
  size_ = size;
  known_.resize(size);
  if (ggas_rc rc = device_.begin_context(bell_, true, 0); rc != GGAS_OK) return rc;
  if (ggas_rc rc = device_.take(landing(size, size), nullptr, memory_); rc != GGAS_OK) return rc;
  const std::string random = userlib::nonce();
  if (random.size() < sizeof ident_) return fail(GGAS_ERR_SYSTEM, "start: the system gives no random numbers");
  std::memcpy(&ident_, random.data(), sizeof ident_);
  at(0) = ident_ |= 1;
  return GGAS_OK;
}

card lobby::own() const { return {ident_, memory_.nla, 0, {}, bell_->self}; }

// ---------------------------------------------------------------------------------------------- own context

void lobby::post(const ggas_rma_desc& d) {
  const limit until = limit::after(nic::patience_ns);
  while (!ggas_rma_post(&bell_->rma, &d)) {
    if (until.passed()) throw failure(GGAS_ERR_SYSTEM, "the NIC has taken no descriptor for 10 s");
    sched_yield();
  }
}

bool lobby::done() { return ggas_rma_remotely_done(&bell_->rma) != 0; }

void lobby::settle() {
  const limit until = limit::after(nic::patience_ns);
  while (!done()) {
    if (until.passed()) throw failure(GGAS_ERR_SYSTEM, "the NIC has not finished its descriptors within 10 s");
    sched_yield();
  }
}

// Takes all notifications.
void lobby::hear() {
  ggas_rma_note note;
  while (ggas_rma_next_note(&bell_->rma, &note)) {
    if (note.kind == GGAS_RMA_NOTE_ERROR)
      complaints_.push_back({note.peer.node, note.status, note.cookie});
    else
      woken_ = true;
  }
}

void lobby::tell(unsigned rank, word w, bool wakes) {
  const uint64_t there = cards_[rank].lobby + line + rank_ * sizeof(uint64_t);
  post(ggas_rma_imm(cards_[rank].bell, w, there, sizeof(uint64_t),
                    GGAS_RMA_ACK | (wakes ? unsigned(GGAS_RMA_NOTIFY_COMPLETER) : 0u), rank));
}

// ---------------------------------------------------------------------------------------------- life

bool lobby::look() {
  device_.expect();
  hear();
  if (woken_) see_who_left();
  if (!probed_.empty() && done()) judge();
  if (const uint64_t now = computer_ns(); now - looked_ns_ >= look_ns && probed_.empty()) {
    looked_ns_ = now;
    see_who_left();
    probe_some();
  }
  return std::exchange(woken_, false);
}

void lobby::see_who_left() {
  for (unsigned r = 0; r < size_; ++r)
    if (living(r) && word_of(r) == left_word) end(r, GGAS_STATE_LEFT);
}

void lobby::probe(unsigned rank) {
  const uint64_t here = landing(rank, size_);
  at(here) = 0;
  probed_.push_back(rank);
  post(ggas_rma_get(cards_[rank].bell, cards_[rank].lobby, memory_.nla + here, sizeof(uint64_t), 0, rank));
}

void lobby::probe_some() {
  for (unsigned i = 0; i < size_ && probed_.size() < at_a_time; ++i) {
    next_ = (next_ + 1) % size_;
    if (living(next_)) probe(next_);
  }
}

void lobby::judge() {
  hear();
  for (const unsigned r : probed_) judge(r);
  probed_.clear();
  complaints_.clear();
}

// The result of reading the rank's word. Any other value (memory of others, or the NIC's report that there is none)
// means that the rank has ended. If the NIC could not find out, time decides.
void lobby::judge(unsigned rank) {
  known& k = known_[rank];
  if (!living(rank)) return;
  if (at(landing(rank, size_)) == cards_[rank].ident) {
    k.failing_since = 0;
    return;
  }
  const card& c = cards_[rank];
  const bool refused = std::ranges::any_of(complaints_, [&](const complaint& one) {
    return one.node == c.bell.node && one.address == c.lobby && !unsure(one.status);
  });
  const bool none_unsure = std::ranges::none_of(complaints_, [](const complaint& one) { return unsure(one.status); });
  const uint64_t now = computer_ns();
  if (k.failing_since == 0) k.failing_since = now;
  if (refused || none_unsure || now - k.failing_since >= silence_ns)
    end(rank, word_of(rank) == left_word ? GGAS_STATE_LEFT : GGAS_STATE_LOST);
}

void lobby::end(unsigned rank, ggas_state how) {
  known_[rank].state = how;
  ++ended_;
}

ggas_state lobby::state(unsigned rank) {
  device_.expect();
  see_who_left();
  if (!living(rank)) return known_[rank].state;
  settle();
  judge();
  probe(rank);
  settle();
  judge();
  return known_[rank].state;
}

// ---------------------------------------------------------------------------------------------- sleep

nic::aimed lobby::aim(unsigned rank, unsigned context, const ggas_rma_context& c) {
  if (word_of(rank) == asleep_word) return {cards_[rank].bell, GGAS_RMA_NOTIFY_COMPLETER};
  const auto same =
      std::ranges::find_if(unrung_, [&](const unrung& u) { return u.rank == rank && u.context == context; });
  if (same == unrung_.end())
    unrung_.push_back({rank, context, c.issued + 1});
  else
    same->issued = c.issued + 1;
  return {cards_[rank].bell, 0};
}

void lobby::wake_late(const contexts& all) {
  std::erase_if(unrung_, [&](const unrung& u) {
    const uint32_t arrived = ggas_rma_read_status(&all[u.context]->rma).remote;
    if (int32_t(arrived - u.issued) < 0) return false;
    if (living(u.rank) && word_of(u.rank) == asleep_word) post(ggas_rma_notify(cards_[u.rank].bell, 0, 0, u.rank));
    return true;
  });
}

void lobby::fall_asleep() {
  asleep_ = true;
  for (unsigned r = 0; r < size_; ++r)
    if (living(r)) tell(r, asleep_word, false);
  settle();
}

void lobby::awake() {
  asleep_ = false;
  for (unsigned r = 0; r < size_; ++r)
    if (living(r)) tell(r, awake_word, false);
}

void lobby::leave() {
  if (cards_.empty()) return;  // no process knows this rank yet
  for (unsigned r = 0; r < size_; ++r)
    if (living(r)) tell(r, left_word, word_of(r) == asleep_word);
  settle();
}

}  // namespace ggas::library::hw
