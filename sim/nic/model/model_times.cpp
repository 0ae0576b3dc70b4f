// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/model/model_times.hpp"

#include <algorithm>
#include <iterator>

#include "sim/nic/coll_format.hpp"
#include "sim/nic/rma_format.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

constexpr const char* cause_names[] = {
    "window_store", "window_load", "quiet_read", "register_write", "register_read", "slot",  "doorbell",
    "block",        "fenced",      "store",      "load",           "load_rsp",      "quiet", "quiet_rsp",
    "put",          "get",         "notify",     "atomic",         "message",       "ack",   "free_ack",
    "get_data",     "get_done",    "atomic_rsp", "coll_up",        "coll_down",     "other"};
static_assert(std::size(cause_names) == causes);
constexpr const char* effect_names[] = {"packet", "write", "read", "completion", "write_behind", "done"};
static_assert(std::size(effect_names) == effects);

}  // namespace

const char* to_text(cause c) { return cause_names[unsigned(c)]; }
const char* to_text(effect e) { return effect_names[unsigned(e)]; }

cause cause_of(const pcie::tlp& t) {
  if (t.bar == bar_registers) return t.posted() ? cause::register_write : cause::register_read;
  if (t.bar == bar_window) return t.posted() ? cause::window_store : cause::window_load;
  if (t.bar != bar_pages) return cause::other;
  if (!t.posted()) return cause::quiet_read;
  const uint64_t at = t.addr % rma_context_bytes;
  if (at >= rma_slots_offset) return cause::slot;
  if (at < coll::blocks_offset) return cause::doorbell;
  const bool command = at % coll::block_bytes == 0 && t.len_dw >= 2;
  return command && coll::ask::from_command(t.data[0]).fenced ? cause::fenced : cause::block;
}

namespace {
constexpr uint8_t held_mask = 7;  // of the epoch that an answer gives back: 0 if its operation holds its context
}  // namespace

cause cause_of(const packet& p) {
  switch (op(p.op & ~op_multicast)) {
    case op::store:
      return cause::store;
    case op::load:
      return cause::load;
    case op::load_rsp:
      return cause::load_rsp;
    case op::quiet:
      return cause::quiet;
    case op::quiet_rsp:
      return cause::quiet_rsp;
    case op::rma_put:
      return cause::put;
    case op::rma_get:
      return cause::get;
    case op::rma_notify:
      return cause::notify;
    case op::rma_atomic:
      return cause::atomic;
    case op::velo_msg:
      return cause::message;
    case op::rma_ack:
      return p.epoch() & held_mask ? cause::free_ack : cause::ack;
    case op::rma_get_data:
      return cause::get_data;
    case op::rma_get_done:
      return cause::get_done;
    case op::rma_atomic_rsp:
      return cause::atomic_rsp;
    case op::coll_up:
      return cause::coll_up;
    case op::coll_down:
      return cause::coll_down;
  }
  return cause::other;
}

// What a work queue has brought is a slot like any other. So is the payload of a put that waited for an answer.
cause cause_of_read(cause why, bool of_queue) {
  if (of_queue) return cause::doorbell;
  return why == cause::doorbell || why == cause::ack || why == cause::free_ack || why == cause::get_done ? cause::slot
                                                                                                         : why;
}

effect effect_of(const pcie::tlp& t, bool wrote) {
  if (t.completion()) return effect::completion;
  if (!t.posted()) return effect::read;
  return wrote ? effect::write_behind : effect::write;
}

effect effect_of(const packet& p, bool data) {
  const bool follows = data && (p.is(op::rma_notify) || p.is(op::rma_get_done));
  return follows || p.is(op::coll_down) ? effect::done : effect::packet;
}

effect stage_of(effect e) { return e == effect::done ? effect::packet : e; }

bool has_data(const packet& p) { return p.is(op::rma_put) || p.is(op::rma_get_data); }

model_times::model_times(const nic_limits& limits, std::initializer_list<time_row> rows,
                         std::initializer_list<pace_row> paces)
    : limits_(limits) {
  for (const pace_row& r : paces) paces_[unsigned(r.from)][r.answer][unsigned(r.to)].emplace_back(r.dws, r.cycles);
  for (const time_row& r : rows) times_[unsigned(r.from)][r.answer][unsigned(r.to)].emplace_back(r.beats, r.cycles);
}

std::optional<double> model_times::cycles(cause from, bool answer, effect to, unsigned beats) const {
  // A read for a get that lets a second status write begin. Messages between hosts do that, but no scenario of
  // ggas-nic-times shows it. The time from the read to a slot is used, because this time is not measured.
  const bool not_measured = from == cause::get && answer && to == effect::write_behind;
  const points& rows = times_[unsigned(not_measured ? cause::slot : from)][answer][unsigned(to)];
  if (!rows.empty()) return between(rows, beats);
  if (from == cause::free_ack) return cycles(cause::ack, answer, to, beats);  // alike where they differ in nothing
  // Not measured after its data: it leaves as soon as they have left.
  if (to == effect::done) return cycles(from, answer, effect::packet, beats);
  // A contribution that a NIC inside a tree passes on, or that waited for a result: the NICs that are measured send
  // none, so it takes as long as a result.
  const bool of_collectives = from == cause::coll_up || from == cause::coll_down;
  if (of_collectives && to == effect::packet && !times_[unsigned(from)][answer][unsigned(effect::done)].empty())
    return cycles(from, answer, effect::done, beats);
  return std::nullopt;
}

double model_times::pace(cause from, bool answer, effect to, unsigned dws) const {
  const points& rows = paces_[unsigned(from)][answer][unsigned(to)];
  return rows.empty() ? 0 : between(rows, dws);
}

double model_times::between(const points& all, unsigned size) {
  const auto above = std::ranges::lower_bound(all, size, {}, &points::value_type::first);
  if (above == all.end()) return all.back().second;
  if (above == all.begin()) return above->second;
  const auto below = above - 1;
  const double part = double(size - below->first) / double(above->first - below->first);
  return below->second + part * (above->second - below->second);
}

hand_on_times model_times::hand_on(bool one_link) const {
  constexpr unsigned word_dws = 2, answer_dws = 4;
  const auto end = [this](bool answer) {
    return unsigned(cycles(cause::atomic, answer, effect::write, 1).value_or(0));
  };
  return {.after_answer = end(true),
          .after_packet = end(false),
          .apart = one_link ? pace(cause::atomic, true, effect::packet, answer_dws)
                            : pace(cause::atomic, true, effect::write, word_dws),
          .kept = limits_.atomic_kept,
          .gap = limits_.atomic_gap};
}

namespace {
#include "sim/nic/model/model_times.inc"
}  // namespace

const model_times* model_times::of(unsigned width) {
  return width == 64 ? &times_64 : width == 256 ? &times_256 : width == 512 ? &times_512 : nullptr;
}

}  // namespace ggas::nic
