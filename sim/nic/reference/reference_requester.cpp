// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model at the initiator: descriptors to packets, one after another, until each is complete.
#include <algorithm>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_rma.hpp"

namespace ggas::nic {

namespace {

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

}  // namespace

// ---------------------------------------------------------------------------------------------- descriptors

// The descriptor that begins in a slot, once all its slots are written.
std::optional<descriptor> rma_model::descriptor_at(unsigned v, uint32_t slot_number) const {
  const context& c = *contexts_[v];
  const bool on = reg(GGAS_REG_RMA_CTRL) & GGAS_RMA_CTRL_REQUESTER_MASK && !stopped();
  if (!c.enabled || !on) return std::nullopt;
  std::vector<std::array<uint32_t, 8>> slots;
  descriptor d;
  do {
    const auto number = uint32_t(slot_number + slots.size());
    const slot& s = c.slots[number % rma_slots];
    if (number - c.consumed >= rma_slots || s.written != 0xff) return std::nullopt;
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

std::optional<rma_model::placed> rma_model::next_descriptor(unsigned v) {
  context& c = *contexts_[v];
  if (!c.freed.empty()) {
    const placed first = std::move(c.freed.front());
    c.freed.pop_front();
    return first;
  }
  const auto d = descriptor_at(v, c.consumed);
  return d ? std::optional(placed{c.consumed, *d}) : std::nullopt;
}

task<> rma_model::requester(unsigned v) {
  context& c = *contexts_[v];
  for (;;) {
    const std::optional<placed> next = next_descriptor(v);
    if (!next) {
      co_await c.changed;
      continue;
    }
    c.executing = true;
    c.at = next->at;
    co_await execute(v, next->d);
    c.executing = false;
    if (c.enabled && c.consumed == c.at) consume(v, next->d.slots());
    c.ahead.erase(
        next->at);  // not sooner: read_puts_ahead() would read the payload of a put that holds its slots again
  }
}

// Whether there is a way to do what the descriptor asks.
net_status rma_model::admit(unsigned v, const descriptor& d) {
  if (!d.good()) {
    nic_.rma_event(GGAS_EV_BAD_DESCRIPTOR, 0, v);
    return net_status::bad;
  }
  if (d.op == desc_op::nop) return net_status::ok;
  const net_status s = nic_.rma_route(d.node);
  if (s != net_status::ok) nic_.rma_event(GGAS_EV_RMA_UNREACHABLE, d.node, v);
  return s;
}

task<> rma_model::execute(unsigned v, descriptor d) {
  context& c = *contexts_[v];
  nic_.rma_count(GGAS_REG_RMA_DESCRIPTORS);
  net_status s = admit(v, d);
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
    last = only_packet(v, d);
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
  ++expected_;
}

// All packets of a put, as far as its source can be read.
task<net_status> rma_model::send_put(unsigned v, descriptor d) {
  const unsigned limit = mtu();
  context& c = *contexts_[v];
  read_puts_ahead(v);
  const auto ahead = c.ahead.find(c.at);
  const auto source =
      ahead != c.ahead.end() ? ahead->second : std::make_shared<payload>(put_fetches_, d.w1, d.w2, d.size, c.owner);
  for (uint32_t done = 0; done < d.size;) {
    const uint64_t to = d.w2 + done;
    const auto n = unsigned(std::min<uint64_t>(d.size - done, limit - to % limit));
    fetched f;
    if (!c.enabled) co_return net_status::disabled;
    if (d.op == desc_op::put) {
      f = co_await next_part(*source, vc::rma);
      read_puts_ahead(v);
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
  p.set_pd(c.owner);
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

// The only packet of a descriptor that is no put. Puts may have several.
packet rma_model::only_packet(unsigned v, const descriptor& d) const {
  if (d.op == desc_op::get) return get_packet(v, d);
  if (d.op == desc_op::atomic) return atomic_packet(v, d);
  if (d.op == desc_op::send) return message_packet(v, d);
  return notify_packet(v, d, net_status::ok);
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

void rma_model::fail(unsigned v, const descriptor& d, net_status s, uint64_t w0) {
  error(v, s, w0, own_note(d, note_kind::error, s));
}

}  // namespace ggas::nic
