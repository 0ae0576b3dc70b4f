// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model at the initiator: descriptors to packets, and what comes back.
#include <algorithm>

#include "ggas_regs.h"
#include "sim/nic/reference_rma.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

constexpr uint64_t tick_cycles = 1024;

void append(packet& p, uint64_t word) {
  p.data.push_back(uint32_t(word));
  p.data.push_back(uint32_t(word >> 32));
  p.len_dw = uint16_t(p.data.size());
}

op answer_kind(const descriptor& d) {
  return d.op == desc_op::get ? op::rma_get_done : d.op == desc_op::atomic ? op::rma_atomic_rsp : op::rma_ack;
}

// Low bits of the epoch of a descriptor's packets: who the answer is for.
uint8_t what(const descriptor& d) {
  const bool answered = d.ack || d.always_answered() || d.notifies_arrival();
  return d.holds() && answered ? 0 : uint8_t(d.op);
}

note own_note(const descriptor& d, note_kind kind, net_status s) {
  return {.kind = kind, .status = uint8_t(s), .op = uint8_t(d.op), .vpid = d.dvpid, .node = d.node, .size = d.size};
}

bool sane_answer(const packet& p) {
  if (p.is(op::rma_get_data))
    return p.len_dw >= 1 && p.len_dw <= mtu_dw && p.addr % page_bytes / 4 + p.len_dw <= page_bytes / 4 &&
           enables_allowed(p.len_dw, p.addr & ~uint64_t{3}, p.first_be, p.last_be);
  if (!p.is(op::rma_atomic_rsp)) return p.len_dw == 0;
  const bool record = p.flags() & rma_result && p.status == 0;
  return p.len_dw == 4 && !(record && p.addr % 16);
}

}  // namespace

// ---------------------------------------------------------------------------------------------- descriptors

// The descriptor at the head of the slots, once all its slots are written.
std::optional<descriptor> rma_model::next_descriptor(unsigned v) {
  context& c = *contexts_[v];
  const bool on = reg(GGAS_REG_RMA_CTRL) & GGAS_RMA_CTRL_REQUESTER_MASK;
  if (!c.enabled || !on) return std::nullopt;
  std::vector<std::array<uint32_t, 8>> slots;
  descriptor d;
  do {
    const slot& s = c.slots[(c.consumed + slots.size()) % rma_slots];
    if (s.written != 0xff) return std::nullopt;
    slots.push_back(s.dws);
    d = descriptor::decode(slots);
  } while (slots.size() < d.slots());
  return d;
}

void rma_model::consume(unsigned v, unsigned slots) {
  context& c = *contexts_[v];
  for (unsigned i = 0; i < slots; ++i) c.slots[(c.consumed + i) % rma_slots].written = 0;
  c.consumed += slots;
  status_changed(v);
  c.changed.notify();
}

task<> rma_model::requester(unsigned v) {
  context& c = *contexts_[v];
  for (;;) {
    std::optional<descriptor> d = next_descriptor(v);
    if (!d) {
      co_await c.changed;
      continue;
    }
    c.executing = true;
    co_await execute(v, *d);
    c.executing = false;
    if (c.enabled) consume(v, d->slots());
  }
}

task<> rma_model::execute(unsigned v, descriptor d) {
  context& c = *contexts_[v];
  nic_.rma_count(GGAS_REG_RMA_DESCRIPTORS);
  net_status s = net_status::ok;
  if (!d.good()) {
    s = net_status::bad;
    nic_.rma_event(GGAS_EV_BAD_DESCRIPTOR, 0, v);
  } else if (d.op != desc_op::nop) {
    s = nic_.rma_route(d.node);
    if (s != net_status::ok) nic_.rma_event(GGAS_EV_RMA_UNREACHABLE, d.node, v);
  }
  if (s != net_status::ok) {
    ++c.local;
    ++c.remote;
    fail(v, d, s, d.cookie);
    co_return;
  }

  packet last;  // the one that is answered, and repeated if its target is full
  bool answered = d.ack || d.always_answered();
  if (d.puts()) {
    s = co_await send_put(v, d);
    if (d.notify_completer) {
      last = notify_packet(v, d, s);
      send_request(packet(last));
    }
    answered = (answered && s == net_status::ok) || d.notify_completer;
  } else if (d.op != desc_op::nop) {
    last = d.op == desc_op::get      ? get_packet(v, d)
           : d.op == desc_op::atomic ? atomic_packet(v, d)
           : d.op == desc_op::send   ? message_packet(v, d)
                                     : notify_packet(v, d, s);
    send_request(packet(last));
  } else {
    answered = false;
  }

  const bool remote = d.op != desc_op::nop && (d.ack || d.always_answered());
  const bool counts = remote && answered;
  ++c.local;
  if (!counts) ++c.remote;
  status_changed(v);
  if (answered) expect(v, d, counts);
  if (answered && !d.holds()) co_return;
  if (d.notify_requester && !remote && s == net_status::ok) co_await notify_self(v, d, note_kind::requester, d.cookie);
  outcome o{s, d.cookie, true};
  if (answered) {
    const outcome got = co_await answer_of(v, d, std::move(last));
    if (s == net_status::ok) o = got;
  }
  if (o.status != net_status::ok) {
    fail(v, d, o.status, o.found_here || d.op == desc_op::atomic ? d.cookie : o.w0);
    co_return;
  }
  if (d.notify_requester && remote)
    co_await notify_self(v, d, note_kind::requester, d.op == desc_op::atomic ? o.w0 : d.cookie);
  if (d.notify_completer && d.op == desc_op::get) co_await notify_self(v, d, note_kind::completer, d.cookie);
}

void rma_model::expect(unsigned v, const descriptor& d, bool counts) {
  context& c = *contexts_[v];
  if (c.expected.empty()) c.waiting_since = time_ / tick_cycles;
  c.expected.push_back({d.node, answer_kind(d), what(d), counts});
}

// All packets of a put, as far as its source can be read.
task<net_status> rma_model::send_put(unsigned v, descriptor d) {
  const unsigned limit = mtu();
  for (uint32_t done = 0; done < d.size;) {
    const uint64_t to = d.w2 + done;
    const auto n = unsigned(std::min<uint64_t>(d.size - done, limit - to % limit));
    fetched f;
    if (d.op == desc_op::put) {
      f = co_await fetch(d.w1 + done, contexts_[v]->pd(), n);
      if (f.status == net_status::protection) nic_.rma_event(GGAS_EV_RMA_PROTECTION, 0, v);
      if (f.status != net_status::ok) co_return f.status;
      nic_.rma_count(GGAS_REG_RMA_READ_PACKETS);
    } else {
      f.bytes.assign(d.data.begin() + done, d.data.begin() + done + n);
    }
    packet p = request_packet(v, d, op::rma_put);
    p.addr = to;
    put_payload(p, f.bytes);
    if (done == 0) p.set_flags(rma_first);
    done += n;
    if (done == d.size && !d.notify_completer) p.set_flags(p.flags() | rma_last | (d.ack ? rma_wants_ack : 0));
    send_request(std::move(p));
  }
  co_return net_status::ok;
}

packet rma_model::request_packet(unsigned v, const descriptor& d, op o) const {
  const context& c = *contexts_[v];
  packet p{.dst = d.node, .vc = uint8_t(vc::rma), .op = uint8_t(o), .vpid = d.dvpid};
  p.set_initiator(uint8_t(v), uint8_t(c.epoch << 3 | what(d)));
  p.set_pd(c.pd());
  return p;
}

packet rma_model::notify_packet(unsigned v, const descriptor& d, net_status s) const {
  packet p = request_packet(v, d, op::rma_notify);
  p.addr = d.strong ? d.w2 : 0;
  p.status = uint8_t(s);
  p.set_flags(rma_last | rma_wants_ack | (d.strong ? rma_strong : 0) | (d.puts() ? 0 : rma_first));
  append(p, d.cookie);
  append(p, d.size | uint64_t(d.op) << 32);
  return p;
}

packet rma_model::get_packet(unsigned v, const descriptor& d) const {
  packet p = request_packet(v, d, op::rma_get);
  p.addr = d.w1;
  p.set_flags(rma_last | rma_wants_ack | (d.notify_responder ? rma_responder : 0));
  append(p, d.w2);
  append(p, d.cookie);
  append(p, d.size);
  return p;
}

packet rma_model::atomic_packet(unsigned v, const descriptor& d) const {
  packet p = request_packet(v, d, op::rma_atomic);
  p.addr = d.w2;
  p.set_flags(rma_last | rma_wants_ack | (d.second[1] ? rma_result : 0));
  append(p, d.w1);
  append(p, d.second[0]);
  append(p, d.second[1]);
  append(p, d.cookie);
  append(p, (d.second[2] & 0x1f) | (d.size == 8 ? uint64_t{1} << 31 : 0));
  return p;
}

packet rma_model::message_packet(unsigned v, const descriptor& d) const {
  packet p = request_packet(v, d, op::velo_msg);
  p.set_flags(rma_last | rma_wants_ack);
  append(p, d.cookie);
  append(p, d.size);
  for (size_t i = 0; i < d.data.size(); ++i) {
    if (i % 4 == 0) p.data.push_back(0);
    p.data.back() |= uint32_t{d.data[i]} << 8 * (i % 4);
  }
  p.len_dw = uint16_t(p.data.size());
  return p;
}

void rma_model::send_request(packet&& p) {
  nic_.rma_count(GGAS_REG_RMA_TX_PACKETS);
  nic_.rma_send(std::move(p));
}

// Waits for the answer that the descriptor in work expects; a full target is asked again.
task<rma_model::outcome> rma_model::answer_of(unsigned v, const descriptor d, packet again) {
  context& c = *contexts_[v];
  const uint64_t ctrl = reg(GGAS_REG_RMA_CTRL);
  const uint64_t pause = ctrl >> GGAS_RMA_CTRL_RETRY_TICKS_SHIFT & 0xffff;
  const uint64_t limit = ctrl >> GGAS_RMA_CTRL_RETRY_LIMIT_SHIFT & 0xffff;
  for (uint64_t retries = 0;; ++retries) {
    while (!c.held) co_await c.changed;
    const outcome o = *c.held;
    c.held.reset();
    if (o.status != net_status::full) co_return o;
    const bool counts = d.ack || d.always_answered();
    if (d.op != desc_op::send && !d.notifies_arrival()) {
      c.remote += counts;  // nonsense: this cannot be full
      co_return o;
    }
    ++sleeping_;
    for (const uint64_t until = time_ / tick_cycles + pause; c.enabled && time_ / tick_cycles < until;) co_await tick_;
    --sleeping_;
    if ((limit && retries == limit) || !c.enabled) {
      nic_.rma_event(GGAS_EV_RMA_RETRY_LIMIT, 0, v);
      c.remote += counts;
      co_return outcome{net_status::full, 0, true};
    }
    nic_.rma_count(GGAS_REG_RMA_RETRIES);
    expect(v, d, counts);
    send_request(packet(again));
  }
}

// ---------------------------------------------------------------------------------------------- completion

// A notification in the own ring; a full one makes the descriptor wait.
task<> rma_model::notify_self(unsigned v, const descriptor d, note_kind kind, uint64_t w0) {
  context& c = *contexts_[v];
  while (notify(v, std::nullopt, false, w0, own_note(d, kind, net_status::ok)) == net_status::full) co_await c.changed;
}

void rma_model::error(unsigned v, net_status s, uint64_t w0, note n) {
  context& c = *contexts_[v];
  ++c.errors;
  c.last_error = uint32_t(s);
  status_changed(v);
  notify(v, std::nullopt, true, w0, n);
}

void rma_model::fail(unsigned v, const descriptor& d, net_status s, uint64_t w0) {
  error(v, s, w0, own_note(d, note_kind::error, s));
}

// ---------------------------------------------------------------------------------------------- answers

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
  if (!sane_answer(p)) {
    nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
    co_return;
  }
  if (!c.enabled || p.epoch() >> 3 != c.epoch) {
    nic_.rma_event(GGAS_EV_UNEXPECTED_RSP, p.src, v);
    co_return;
  }
  outcome o{net_status(p.status), p.addr};
  if (p.is(op::rma_get_data)) {
    c.writing = true;
    const net_status s = co_await store(p.addr, c.pd(), p);
    c.writing = false;
    c.waiting_since = time_ / tick_cycles;
    net_status& failed = gets_failed_[{p.src, p.place()}];
    if (p.flags() & rma_first) failed = net_status::ok;
    if (failed == net_status::ok) failed = s;
    if (s == net_status::ok)
      nic_.rma_count(GGAS_REG_RMA_GET_PACKETS);
    else
      nic_.rma_event(GGAS_EV_RMA_PROTECTION, p.src, v);
    co_return;
  }
  if (p.is(op::rma_get_done) && o.status == net_status::ok) o.status = gets_failed_[{p.src, p.place()}];
  if (p.is(op::rma_atomic_rsp) && o.status == net_status::ok) {
    o.w0 = p.data[0] | uint64_t{p.data[1]} << 32;
    if (p.flags() & rma_result) {
      c.writing = true;
      const translation t = co_await translate(p.addr, c.pd(), false, true);
      c.writing = false;
      o.status = t.status;
      if (t.status == net_status::ok) {
        const std::vector<uint32_t> record(p.data.begin(), p.data.begin() + 4);
        host_write(t.addr, record);
      } else {
        nic_.rma_event(GGAS_EV_RMA_PROTECTION, p.src, v);
      }
    }
  }
  answered(p, o);
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
  if (e.counts && !(e.held() && o.status == net_status::full)) ++c.remote;
  status_changed(p.svpid());
  if (e.held())
    c.held = o;
  else if (o.status != net_status::ok)
    error(p.svpid(), o.status, o.w0, n);
  c.changed.notify();
}

// Nothing that was asked will be answered.
void rma_model::give_up(unsigned v, net_status s) {
  context& c = *contexts_[v];
  nic_.rma_event(GGAS_EV_RMA_TIMEOUT, 0, v);
  c.epoch = (c.epoch + 1) & 31;
  bool held = false;
  uint32_t others = 0;
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
