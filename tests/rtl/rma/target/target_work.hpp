// SPDX-License-Identifier: Apache-2.0
// Expected results of packets at rma_target: writes, in order, and after them items for the other units and the
// initiator.
#pragma once

#include <deque>
#include <ostream>
#include <set>
#include <vector>

#include "sim/nic/rma_format.hpp"
#include "tests/rtl/rma/unit/host.hpp"
#include "tests/rtl/rma/unit/puts.hpp"

namespace ggas::test::rma {

enum event_kind : uint8_t { bad_packet, protection, context_off, host_error };
struct event {
  event_kind kind;
  uint16_t node;
  uint64_t info;
  auto operator<=>(const event&) const = default;
};

class target_work {
 public:
  struct item {
    packet p;
    size_t writes;  // that must be accepted before
    uint8_t status = 0;
  };

  unsigned nodes = 64;  // that the NIC knows
  unsigned mps = 256;
  bool puts_alone = false;  // the NIC serves no gets, atomics and messages
  std::vector<tlp> writes;
  size_t writes_seen = 0;
  std::deque<item> gets, ats, mbs, notes, rsps, flushes;  // notes, mbs: status is the unit's answer; flushes: it fails
  std::deque<uint8_t> note_status;                        // in the notification
  std::vector<event> events;

  // A packet comes while targets are on or off. `unit_status` is what rma_notify or velo_mailbox will say of it.
  void expect(const packet& p, bool on, uint8_t unit_status, bool flush_fails) {
    uint8_t s = 0;
    if (p.src >= nodes || !known(p)) {
      events.push_back({bad_packet, p.src, p.op});
      return;
    }
    if (!sane(p))
      s = st(net_status::bad), events.push_back({bad_packet, p.src, p.op});
    else if (!on || (puts_alone && !p.is(op::rma_put) && !p.is(op::rma_notify)))
      s = st(net_status::disabled), events.push_back({context_off, p.src, p.vpid});
    const bool strong = p.is(op::rma_notify) && p.flags() & nic::rma_strong;
    if (s == 0 && (p.is(op::rma_put) || strong) && !(p.addr < 0x100000 && p.pd() == 5))
      s = st(net_status::protection), events.push_back({protection, p.src, p.addr & 0xff'ffff'ffff});
    switch (op(p.op)) {
      case op::rma_put:
        expect_put(p, s);
        break;
      case op::rma_notify:
        expect_notify(p, s, unit_status, flush_fails);
        break;
      case op::rma_get:
        if (s == 0)
          gets.push_back({p, writes.size()});
        else
          expect_answer(p, s);
        break;
      case op::rma_atomic:
        ats.push_back({p, writes.size(), s});
        break;
      default:
        if (s == 0) {
          mbs.push_back({p, writes.size(), unit_status});
          unit_event(p, unit_status);
          s = unit_status;
        }
        if (s || p.flags() & nic::rma_wants_ack) expect_answer(p, s);
    }
  }

  void reset() { refused_.clear(); }
  bool done() const {
    return writes_seen == writes.size() && rsps.empty() && gets.empty() && ats.empty() && mbs.empty() &&
           notes.empty() && flushes.empty();
  }
  bool backlog() const { return writes.size() - writes_seen + rsps.size() + notes.size() > 20; }
  friend std::ostream& operator<<(std::ostream& o, const target_work& w) {
    return o << w.writes.size() - w.writes_seen << " writes, " << w.rsps.size() << " answers, " << w.gets.size()
             << " gets, " << w.ats.size() << " atomics, " << w.mbs.size() << " messages, " << w.notes.size()
             << " notes, " << w.flushes.size() << " flushes";
  }

 private:
  static uint8_t st(net_status s) { return uint8_t(s); }
  static bool known(const packet& p) {
    return p.is(op::rma_put) || p.is(op::rma_get) || p.is(op::rma_notify) || p.is(op::rma_atomic) || p.is(op::velo_msg);
  }
  static bool sane(const packet& p) {
    if (p.is(op::rma_notify)) return p.len_dw == 4;
    if (p.is(op::rma_get)) return p.len_dw == 6;
    if (p.is(op::rma_atomic)) return p.len_dw == 10;
    if (p.is(op::velo_msg)) return p.len_dw >= 4 && p.len_dw <= 20;
    return payload_sane(p);
  }
  // Was a packet of its message refused? The first packet of one ends whatever was before.
  bool refused(const packet& p) {
    if (p.flags() & nic::rma_first) refused_.erase({p.src, p.svpid()});
    return refused_.contains({p.src, p.svpid()});
  }
  void expect_answer(const packet& p, uint8_t s) { rsps.push_back({p, writes.size(), s}); }
  void unit_event(const packet& p, uint8_t s) {
    if (s == st(net_status::disabled)) events.push_back({context_off, p.src, p.vpid});
    if (s == st(net_status::bad)) events.push_back({bad_packet, p.src, p.op});
  }
  void expect_put(const packet& p, uint8_t s) {
    const bool last = p.flags() & nic::rma_last, before = refused(p);
    if (s == 0) {
      for (const tlp& t : writes_of(p, translator::bus(p.addr), mps)) writes.push_back(t);
    }
    if (!last) {
      if (s) refused_.insert({p.src, p.svpid()});
      return;
    }
    if (s == 0 && before) s = st(net_status::protection);
    refused_.erase({p.src, p.svpid()});
    if (s || p.flags() & nic::rma_wants_ack) expect_answer(p, s);
  }
  void expect_notify(const packet& p, uint8_t s, uint8_t unit_status, bool flush_fails) {
    const bool before = refused(p);
    if (s == 0 || s == st(net_status::protection)) {
      if (p.flags() & nic::rma_strong && s == 0) {
        flushes.push_back({p, writes.size(), flush_fails});
        if (flush_fails) {
          s = st(net_status::host_error);
          events.push_back({host_error, p.src, p.addr & 0xff'ffff'ffff});
        }
      }
      const uint8_t reported = p.status ? p.status : before ? st(net_status::protection) : s;
      notes.push_back({p, writes.size(), unit_status});
      note_status.push_back(reported);
      unit_event(p, unit_status);
      if (s == 0 || unit_status == st(net_status::full)) s = unit_status;
    }
    if (before && (s == 0 || s == st(net_status::lost))) s = st(net_status::protection);
    if (before && s != st(net_status::full)) refused_.erase({p.src, p.svpid()});
    if (s || p.flags() & nic::rma_wants_ack) expect_answer(p, s);
  }

  std::set<std::pair<uint16_t, uint8_t>> refused_;
};

}  // namespace ggas::test::rma
