// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model at the target: requests of other nodes (and of the own one) in their order.
#include <algorithm>
#include <cmath>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_rma.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

constexpr unsigned get_dws = 6, notify_dws = 4, atomic_dws = 10, message_header_dws = 4;

uint64_t word(const packet& p, unsigned i) { return p.data[2 * i] | uint64_t{p.data[2 * i + 1]} << 32; }

bool sane(const packet& p) {
  if (p.is(op::rma_put))
    return p.len_dw >= 1 && p.len_dw <= mtu_dw && p.addr % page_bytes / 4 + p.len_dw <= page_bytes / 4 &&
           enables_allowed(p.len_dw, p.addr & ~uint64_t{3}, p.first_be, p.last_be);
  if (p.is(op::rma_get)) return p.len_dw == get_dws;
  if (p.is(op::rma_notify)) return p.len_dw == notify_dws;
  if (p.is(op::rma_atomic)) return p.len_dw == atomic_dws;
  return p.len_dw >= message_header_dws && p.len_dw <= message_header_dws + message_bytes / 4;
}

op answer_to(const packet& p) {
  return p.is(op::rma_get) ? op::rma_get_done : p.is(op::rma_atomic) ? op::rma_atomic_rsp : op::rma_ack;
}

}  // namespace

void rma_model::packet_in(const packet& p) {
  const bool response = p.vc == uint8_t(vc::rsp);
  (response ? answers_ : requests_).push_back(p);
  (response ? answer_arrived_ : request_arrived_).notify();
}

void rma_model::respond(const packet& request, op o, net_status s, uint64_t addr) {
  packet p{.dst = request.src, .vc = uint8_t(vc::rsp), .op = uint8_t(o), .status = uint8_t(s)};
  p.tag = request.tag;
  p.vpid = request.vpid;
  p.set_pd(request.pd());
  p.addr = addr;
  if (o == op::rma_ack) p.set_flags(request.flags() & rma_wants_ack);
  if (o == op::rma_atomic_rsp) {
    p.set_flags(request.flags() & (rma_wants_ack | rma_result));
    p.data.assign(4, 0);
    p.len_dw = 4;
  }
  nic_.rma_send(std::move(p));
}

task<> rma_model::requests() {
  for (;;) {
    while (requests_.empty()) co_await request_arrived_;
    packet p = std::move(requests_.front());
    requests_.pop_front();
    co_await one_request(std::move(p));
  }
}

task<> rma_model::one_request(packet p) {
  if (p.src >= nic_.rma_nodes()) {
    nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
    co_return;
  }
  net_status refusal = net_status::ok;
  if (!sane(p)) {
    refusal = net_status::bad;
    nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
  } else if (stopped() || !(reg(GGAS_REG_RMA_CTRL) & GGAS_RMA_CTRL_TARGET_MASK)) {
    refusal = net_status::disabled;
    nic_.rma_event(GGAS_EV_CONTEXT_OFF, p.src, p.vpid);
  }
  if (p.is(op::rma_put)) {
    co_await put(std::move(p), refusal);
  } else if (refusal != net_status::ok) {
    if (p.is(op::rma_notify)) refused_.erase(source(p));
    respond(p, answer_to(p), refusal, p.addr);
  } else if (p.is(op::rma_notify)) {
    co_await notification(std::move(p));
  } else if (p.is(op::rma_get)) {
    const auto data = std::make_shared<payload>(get_fetches_, p.addr, word(p, 0), p.data[4], p.pd());
    gets_.push_back({std::move(p), data});
    read_gets_ahead();
    get_arrived_.notify();
  } else if (p.is(op::rma_atomic)) {
    atomics_.push_back(std::move(p));
    atomic_arrived_.notify();
  } else {
    message(p);
  }
}

void rma_model::message(const packet& p) {
  const uint32_t size = p.data[2] & 0xffffff;
  const bool fits = size <= message_bytes && p.len_dw == message_header_dws + (size + 3) / 4;
  const net_status s = fits ? deliver_message(p.dvpid(), p.pd(), p) : net_status::bad;
  if (s == net_status::bad) nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
  if (s == net_status::disabled) nic_.rma_event(GGAS_EV_CONTEXT_OFF, p.src, p.dvpid());
  respond(p, op::rma_ack, s, p.addr);
}

// A packet that is refused is remembered until the last one of its message, which is then answered with an error.
task<> rma_model::put(packet p, net_status s) {
  const bool last = p.flags() & rma_last;
  if (p.flags() & rma_first) refused_.erase(source(p));
  if (s == net_status::ok) {
    s = co_await store(p.addr, p.pd(), p);
    if (s == net_status::ok)
      nic_.rma_count(GGAS_REG_RMA_TARGET_PUTS);
    else
      nic_.rma_event(GGAS_EV_TARGET_PROTECTION, p.src, p.addr);
  }
  if (s != net_status::ok && !last) refused_.insert(source(p));
  if (!last) co_return;
  const bool before = refused_.erase(source(p));
  if (s == net_status::ok && before) s = net_status::protection;
  if (s != net_status::ok || p.flags() & rma_wants_ack) respond(p, op::rma_ack, s, p.addr);
}

task<> rma_model::notification(packet p) {
  if (p.flags() & rma_first) refused_.erase(source(p));
  net_status s = net_status::ok;
  if (p.flags() & rma_strong) {
    const translation t = co_await translate(p.addr, p.pd(), false, true);
    s = t.status;
    if (s == net_status::ok) {
      const read_result r = co_await host_read_dws(t.addr & ~uint64_t{3}, 1, 0);
      s = r.status;
    } else {
      nic_.rma_event(GGAS_EV_TARGET_PROTECTION, p.src, p.addr);
    }
  }
  const bool refused = refused_.contains(source(p));
  note n = note_of(p, note_kind::completer, p.status ? net_status(p.status) : refused ? net_status::protection : s);
  n.op = uint8_t(p.data[3]);
  n.size = p.data[2] & 0xffffff;
  const net_status written = notify(p.dvpid(), p.pd(), false, word(p, 0), n);
  if (s == net_status::ok || written == net_status::full) s = written;
  if (written == net_status::disabled) nic_.rma_event(GGAS_EV_CONTEXT_OFF, p.src, p.dvpid());
  if (refused && (s == net_status::ok || s == net_status::lost)) s = net_status::protection;
  if (s != net_status::full) refused_.erase(source(p));
  if (s != net_status::ok || p.flags() & rma_wants_ack) respond(p, op::rma_ack, s, p.addr);
}

// ---------------------------------------------------------------------------------------------- gets

task<> rma_model::responder() {
  for (;;) {
    while (gets_.empty()) co_await get_arrived_;
    co_await one_get(gets_.front());
    gets_.pop_front();
  }
}

task<> rma_model::one_get(served get) {
  const packet& p = get.request;
  const uint64_t to = word(p, 0);
  const uint32_t size = p.data[4];
  net_status s = size > rma_max_bytes ? net_status::bad : net_status::ok;
  if (s != net_status::ok) nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
  for (uint32_t done = 0; done < size && s == net_status::ok;) {
    const fetched f = co_await next_part(*get.data, vc::rsp);
    read_gets_ahead();
    s = f.status;
    if (s == net_status::protection) nic_.rma_event(GGAS_EV_TARGET_PROTECTION, p.src, p.addr + done);
    if (s != net_status::ok) break;
    packet d{.dst = p.src, .vc = uint8_t(vc::rsp), .op = uint8_t(op::rma_get_data), .tag = p.tag, .vpid = p.vpid};
    d.set_pd(p.pd());
    d.addr = to + done;
    put_payload(d, f.bytes);
    d.set_flags(done == 0 ? rma_first : 0);
    nic_.rma_count(GGAS_REG_RMA_READ_PACKETS);
    nic_.rma_send(std::move(d));
    done += uint32_t(f.bytes.size());
  }
  if (s == net_status::ok) nic_.rma_count(GGAS_REG_RMA_TARGET_GETS);
  if (p.flags() & rma_responder) {
    note n = note_of(p, note_kind::responder, s);
    n.op = uint8_t(desc_op::get);
    n.size = size;
    if (notify(p.dvpid(), p.pd(), true, word(p, 1), n) == net_status::disabled)
      nic_.rma_event(GGAS_EV_CONTEXT_OFF, p.src, p.dvpid());
  }
  respond(p, op::rma_get_done, s, p.addr);
}

// ---------------------------------------------------------------------------------------------- atomics

// As many at a time as the RTL has places for; one, in the golden model. Those on one word follow each other.
task<> rma_model::atomics() {
  for (;;) {
    while (atomics_.empty()) co_await atomic_arrived_;
    co_await entry();
    auto a = co_await admitted(std::move(atomics_.front()));
    atomics_.pop_front();
    if (!a) continue;
    ++atomics_live_;
    const uint64_t word = a->addr / 8;
    chains_[word].push_back(*std::move(a));
    if (chains_[word].size() == 1) scheduler_.start(chain(word));
  }
}

task<std::optional<rma_model::atomic>> rma_model::admitted(packet p) {
  const uint32_t w6 = p.data[8] & 0x7fffffff;
  const unsigned bytes = p.data[8] >> 31 ? 8 : 4;
  if (p.addr % bytes || w6 & ~0x1fu || (w6 & 15) > uint32_t(amo::max)) {
    nic_.rma_event(GGAS_EV_BAD_PACKET, p.src, p.op);
    respond(p, op::rma_atomic_rsp, net_status::bad, p.addr);
    co_return std::nullopt;
  }
  const translation t = co_await translate(p.addr, p.pd(), true, true);
  if (t.status == net_status::ok) co_return atomic{std::move(p), t.addr, bytes};
  nic_.rma_event(GGAS_EV_TARGET_PROTECTION, p.src, p.addr);
  respond(p, op::rma_atomic_rsp, t.status, p.addr);
  co_return std::nullopt;
}

// Carries out the operations on a word until there are no more of them. Each operation passes the new value to the next
// one; the last value stays in progress for a while.
task<> rma_model::chain(uint64_t word) {
  const hand_on_times& cycles = limits_.hand_on;
  const bool kept = cycles.kept != 0 && double(time_) <= atomic_end_ + cycles.kept;
  std::optional<known_value> value = kept ? in_hand_ : std::nullopt;
  for (auto& waiting = chains_[word]; !waiting.empty(); waiting.pop_front(), --atomics_live_) {
    const atomic& a = waiting.front();
    const bool handed_on = still_true(value, a);
    double end = double(time_) + cycles.after_packet;
    if (handed_on) {
      co_await turn();
    } else {
      value = co_await read_value(a);
      end = double(time_) + cycles.after_answer;
    }
    atomic_end_ = std::max(end, atomic_end_ + cycles.apart);
    if (value) value = execute(a, *value);
    in_hand_ = value;
    atomic_done_.notify();
  }
  chains_.erase(word);
}

bool rma_model::still_true(const std::optional<known_value>& v, const atomic& a) const {
  return v && v->addr == a.addr && v->bytes == a.bytes && v->written == data_writes_;
}

void rma_model::data_written() { ++data_writes_; }

task<std::optional<rma_model::known_value>> rma_model::read_value(const atomic& a) {
  const uint64_t written = data_writes_;
  const read_result r = co_await host_read_dws(a.addr, a.bytes / 4);
  if (r.status != net_status::ok) {
    respond(a.request, op::rma_atomic_rsp, r.status, a.request.addr);
    co_return std::nullopt;
  }
  co_return known_value{a.addr, r.dws[0] | (a.bytes == 8 ? uint64_t{r.dws[1]} << 32 : 0), a.bytes, written};
}

// An operation that reads nothing may be done so late that it ends after the one before it.
task<> rma_model::turn() {
  ++turns_;
  while (double(time_) < turn_begins()) co_await turn_;
  --turns_;
}

double rma_model::turn_begins() const {
  return std::max(std::ceil(atomic_end_ + limits_.hand_on.apart - limits_.hand_on.after_packet), 0.0);
}

// Waits for a free entry, and until the unit has admitted the operation before.
task<> rma_model::entry() {
  while (atomics_live_ == limits_.atomics) co_await atomic_done_;
  entering_ = true;
  while (time_ < next_entry_) co_await turn_;
  entering_ = false;
  next_entry_ = time_ + limits_.hand_on.gap;
}

std::optional<uint64_t> rma_model::wakes_at() const {
  if (turns_ == 0 && !entering_) return std::nullopt;
  const uint64_t turn = turns_ ? uint64_t(turn_begins()) : next_entry_;
  return entering_ ? std::min(turn, next_entry_) : turn;
}

// Answers, and gives the new value.
rma_model::known_value rma_model::execute(const atomic& a, known_value v) {
  const packet& p = a.request;
  const uint32_t w6 = p.data[8] & 0x7fffffff;
  const uint64_t old = v.value, next = amo_result(w6, a.bytes, old, word(p, 0), word(p, 1));
  const uint32_t dws[2] = {uint32_t(next), uint32_t(next >> 32)};
  const uint64_t mask = a.bytes == 8 ? ~0ull : 0xffffffff;
  const bool miss = amo(w6 & 15) == amo::cas && old != (word(p, 1) & mask);
  if (!miss) {
    host_write(a.addr, std::span(dws, a.bytes / 4));
    v.value = next & mask;
    v.written = data_writes_;
  }
  nic_.rma_count(GGAS_REG_RMA_TARGET_ATOMICS);
  packet answer{.dst = p.src, .vc = uint8_t(vc::rsp), .op = uint8_t(op::rma_atomic_rsp), .tag = p.tag, .vpid = p.vpid};
  answer.set_pd(p.pd());
  answer.set_flags(p.flags() & (rma_wants_ack | rma_result));
  answer.addr = word(p, 2);
  for (const uint64_t w : {old, word(p, 3)}) {
    answer.data.push_back(uint32_t(w));
    answer.data.push_back(uint32_t(w >> 32));
  }
  answer.len_dw = 4;
  nic_.rma_send(std::move(answer));
  return v;
}

}  // namespace ggas::nic
