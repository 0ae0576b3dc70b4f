// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model at the initiator: what comes back, and what never does.
#include <algorithm>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_rma.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

bool sane_answer(const packet& p, unsigned nodes) {
  if (p.is(op::rma_get_data))
    return p.src < nodes && p.len_dw >= 1 && p.len_dw <= mtu_dw &&
           p.addr % page_bytes / 4 + p.len_dw <= page_bytes / 4 &&
           enables_allowed(p.len_dw, p.addr & ~uint64_t{3}, p.first_be, p.last_be);
  if (!p.is(op::rma_atomic_rsp)) return p.len_dw == 0;
  const bool record = p.flags() & rma_result && p.status == 0;
  return p.len_dw == 4 && !(record && p.addr % 16);
}

}  // namespace

task<> rma_model::answers() {
  for (;;) {
    while (answers_.empty()) co_await answer_arrived_;
    packet p = std::move(answers_.front());
    answers_.pop_front();
    co_await one_answer(std::move(p));
  }
}

task<> rma_model::one_answer(packet p) {
  const unsigned v = p.svpid();
  context& c = *contexts_[v];
  if (!sane_answer(p, nic_.rma_nodes())) {
    nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
    co_return;
  }
  const bool record = p.is(op::rma_atomic_rsp) && p.flags() & rma_result && p.status == 0;
  const bool writable = c.enabled && !stopped();
  const bool known = p.epoch() >> 3 == c.epoch && p.pd() == c.owner;
  if (!known || (p.is(op::rma_get_data) && !writable)) {
    nic_.rma_event(GGAS_EV_UNEXPECTED_RSP, p.src, v);
    co_return;
  }
  outcome o{net_status(p.status), p.addr};
  if (p.is(op::rma_get_data)) {
    co_await get_data(std::move(p));
    co_return;
  }
  if (p.is(op::rma_get_done) && o.status == net_status::ok) o.status = gets_failed_[{p.src, p.place()}];
  if (p.is(op::rma_atomic_rsp) && o.status == net_status::ok) {
    o.w0 = p.data[0] | uint64_t{p.data[1]} << 32;
    if (record && writable) o.status = co_await write_record(p);
    if (record && !writable) nic_.rma_event(GGAS_EV_UNEXPECTED_RSP, p.src, v);
  }
  answered(p, o);
}

task<> rma_model::get_data(packet p) {
  context& c = *contexts_[p.svpid()];
  c.writing = true;
  const net_status s = co_await store(p.addr, c.owner, p);
  c.writing = false;
  c.waiting_since = time_ / tick_cycles;
  net_status& failed = gets_failed_[{p.src, p.place()}];
  if (p.flags() & rma_first) failed = net_status::ok;
  if (failed == net_status::ok) failed = s;
  if (s == net_status::ok)
    nic_.rma_count(GGAS_REG_RMA_GET_PACKETS);
  else
    nic_.rma_event(GGAS_EV_RMA_PROTECTION, p.src, p.svpid());
}

// The old value of an atomic, into the memory that its descriptor named.
task<net_status> rma_model::write_record(packet p) {
  context& c = *contexts_[p.svpid()];
  c.writing = true;
  const translation t = co_await translate(p.addr, c.owner, false, true);
  c.writing = false;
  if (t.status == net_status::ok) {
    const std::vector<uint32_t> record(p.data.begin(), p.data.begin() + 4);
    data_written();
    host_write(t.addr, record);
  } else {
    nic_.rma_event(GGAS_EV_RMA_PROTECTION, p.src, p.svpid());
  }
  co_return t.status;
}

void rma_model::answered(const packet& p, outcome o) {
  context& c = *contexts_[p.svpid()];
  const uint8_t what = p.epoch() & 7;
  const note n{.kind = note_kind::error, .status = uint8_t(o.status), .op = what, .vpid = p.dvpid(), .node = p.src};
  const bool asked = !p.is(op::rma_ack) || p.flags() & rma_wants_ack;
  const auto it = std::ranges::find_if(
      c.expected, [&](const expectation& e) { return e.node == p.src && p.is(e.kind) && e.what == what; });
  if (!asked && o.status != net_status::ok) {
    nic_.rma_count(GGAS_REG_RMA_ACKS);
    return error(p.svpid(), o.status, o.w0, n);
  }
  if (!asked || it == c.expected.end()) return nic_.rma_event(GGAS_EV_UNEXPECTED_RSP, p.src, p.svpid());
  nic_.rma_count(GGAS_REG_RMA_ACKS);
  c.waiting_since = time_ / tick_cycles;
  const expectation e = *it;
  c.expected.erase(it);
  --expected_;
  if (e.counts && !(e.held() && o.status == net_status::full)) ++c.remote;
  status_changed(p.svpid());
  if (e.held())
    c.held = o;
  else if (o.status != net_status::ok)
    error(p.svpid(), o.status, o.w0, n);
  c.changed.notify();
}

// A failure, reported in the context: count, last status, notification.
void rma_model::error(unsigned v, net_status s, uint64_t w0, note n) {
  context& c = *contexts_[v];
  ++c.errors;
  c.last_error = uint32_t(s);
  status_changed(v);
  notify(v, std::nullopt, true, w0, n);
}

// Nothing that was asked will be answered.
void rma_model::give_up(unsigned v, net_status s) {
  context& c = *contexts_[v];
  nic_.rma_event(GGAS_EV_RMA_TIMEOUT, 0, v);
  c.epoch = (c.epoch + 1) & 31;
  bool held = false;
  uint32_t others = 0;
  expected_ -= c.expected.size();
  for (const expectation& e : std::exchange(c.expected, {})) {
    c.remote += e.counts;
    held |= e.held();
    others += !e.held();
  }
  status_changed(v);
  if (held)
    c.held = {s, 0, true};
  else
    error(v, s, 0, {.kind = note_kind::error, .status = uint8_t(s), .size = others});
  c.changed.notify();
}

}  // namespace ggas::nic
