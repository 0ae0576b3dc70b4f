// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/port.hpp"

#include <algorithm>
#include <utility>

namespace ggas::pcie {

namespace {
constexpr std::array all_classes = {fc::p, fc::np, fc::cpl};
constexpr uint8_t relaxed_ordering = 2;  // bit of tlp::attr

sc_core::sc_time ps(uint64_t t) { return sc_core::sc_time::from_value(t); }
}  // namespace

// ------------------------------------------------------------------------------------------------ ordered_queue

void ordered_queue::push(tlp&& t) { fifo_[unsigned(fc_of(t))].push_back({seq_++, std::move(t)}); }

tlp ordered_queue::pop(fc c) {
  auto& q = fifo_[unsigned(c)];
  tlp t = std::move(q.front().packet);
  q.pop_front();
  return t;
}

bool ordered_queue::may_go(fc c) const {
  const auto& q = fifo_[unsigned(c)];
  if (q.empty()) return false;
  const auto& posted = fifo_[unsigned(fc::p)];
  if (c == fc::p || posted.empty() || posted.front().seq > q.front().seq) return true;
  return c == fc::cpl && (q.front().packet.attr & relaxed_ordering);
}

std::optional<fc> ordered_queue::next(const std::array<bool, fc_classes>& blocked) const {
  std::optional<fc> best;
  for (fc c : all_classes) {
    if (blocked[unsigned(c)] || !may_go(c)) continue;
    if (!best || fifo_[unsigned(c)].front().seq < fifo_[unsigned(*best)].front().seq) best = c;
  }
  return best;
}

// ------------------------------------------------------------------------------------------------ port

port::port(sc_core::sc_module_name name, const port_config& cfg) : sc_module(name), tx("tx"), rx("rx"), cfg_(cfg) {
  tx.bind(*this);
  rx.bind(*this);
}

void port::connect(port& a, port& b, const link_config& link) {
  a.tx.bind(b.rx);
  b.tx.bind(a.rx);
  a.peer_ = b.cfg_.rx;
  b.peer_ = a.cfg_.rx;
  for (port* p : {&a, &b}) {
    p->link_ = link;
    p->connected_ = true;
  }
}

credits port::free_credits(fc c) const {
  const credits& have = peer_[unsigned(c)];
  if (have.header == 0) return {~0u, ~0u};
  return {have.header - used_[unsigned(c)].header, have.data - used_[unsigned(c)].data};
}

bool port::has_credits(const tlp& t) const {
  const credits f = free_credits(fc_of(t));
  return f.header >= 1 && f.data >= data_credits(t);
}

void port::send(tlp t) {
  tx_queue_.push(std::move(t));
  pump_tx();
}

void port::transmit(fc c) {
  tlp t = tx_queue_.pop(c);
  credits& used = used_[unsigned(c)];
  used.header += 1;
  used.data += data_credits(t);

  const unsigned bytes = link_config::wire_bytes(t);
  const uint64_t start = now_ps(), end = start + link_.wire_ps(bytes);
  wire_free_ps_ = end;
  stats_.tx_tlps[unsigned(c)] += 1;
  stats_.tx_bytes[unsigned(c)] += t.has_data() ? 4u * t.len_dw : 0;
  stats_.tx_wire_bytes += bytes;
  if (on_wire) on_wire(t, start, end);

  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = ps(end - start + link_.latency_ps);
  tx->nb_transport_fw(t, phase, delay);
}

void port::pump_tx() {
  if (pumping_tx_) return;  // on_sent may send
  pumping_tx_ = true;
  while (!tx_queue_.empty() && wire_free_ps_ <= now_ps()) {
    std::array<bool, fc_classes> blocked{};
    for (fc c : all_classes) blocked[unsigned(c)] = tx_queue_.size(c) != 0 && !has_credits(tx_queue_.front(c));
    const auto c = tx_queue_.next(blocked);
    if (!c) {
      ++stats_.credit_stalls;
      break;
    }
    transmit(*c);
    if (on_sent) on_sent(*c);
  }
  pumping_tx_ = false;
  if (!tx_queue_.empty() && wire_free_ps_ > now_ps()) tx_event_.notify(ps(wire_free_ps_ - now_ps()));
}

tlm::tlm_sync_enum port::nb_transport_fw(tlp& t, tlm::tlm_phase&, sc_core::sc_time& delay) {
  const uint64_t at = now_ps() + delay.value();
  arrivals_.push_back({at, std::move(t)});
  if (arrivals_.size() == 1) rx_event_.notify(delay);
  return tlm::TLM_ACCEPTED;
}

void port::b_transport(tlp& t, sc_core::sc_time& delay) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  nb_transport_fw(t, phase, delay);
}

void port::on_rx_event() {
  while (!arrivals_.empty() && arrivals_.front().at <= now_ps()) {
    tlp t = std::move(arrivals_.front().packet);
    arrivals_.pop_front();
    const auto c = unsigned(fc_of(t));
    stats_.rx_tlps[c] += 1;
    stats_.rx_bytes[c] += t.has_data() ? 4u * t.len_dw : 0;
    acknowledge();
    rx_queue_.push(std::move(t));
  }
  if (!arrivals_.empty()) rx_event_.notify(ps(arrivals_.front().at - now_ps()));
  pump_rx();
}

// An acknowledgement takes the wire back for a moment; in an idle gap it costs no one anything.
void port::acknowledge() {
  if (++unacked_ < link_.tlps_per_ack) return;
  unacked_ = 0;
  wire_free_ps_ = std::max(wire_free_ps_, now_ps()) + link_.wire_ps(link_config::dllp_bytes);
}

void port::resume() {
  rx_blocked_ = {};
  pump_rx();
}

void port::pump_rx() {
  if (pumping_rx_) {
    rx_again_ = true;
    return;
  }
  pumping_rx_ = true;
  do {
    rx_again_ = false;
    while (const auto c = rx_queue_.next(rx_blocked_)) {
      tlp header;  // what the credits need survives a callee that moves the packet away
      header.kind = rx_queue_.front(*c).kind;
      header.len_dw = rx_queue_.front(*c).len_dw;
      rx_blocked_[unsigned(*c)] = true;
      if (on_receive(rx_queue_.front(*c))) {
        rx_queue_.pop(*c);
        rx_blocked_[unsigned(*c)] = false;
        refund_to_peer(header);
      }
    }
  } while (rx_again_);
  pumping_rx_ = false;
}

void port::refund_to_peer(const tlp& taken) {
  tlp header = taken;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = ps(link_.latency_ps + link_.wire_ps(link_config::dllp_bytes));
  rx->nb_transport_bw(header, phase, delay);
}

tlm::tlm_sync_enum port::nb_transport_bw(tlp& t, tlm::tlm_phase&, sc_core::sc_time& delay) {
  refunds_.push_back({now_ps() + delay.value(), fc_of(t), data_credits(t)});
  if (refunds_.size() == 1) refund_event_.notify(delay);
  return tlm::TLM_ACCEPTED;
}

void port::on_refund_event() {
  while (!refunds_.empty() && refunds_.front().at <= now_ps()) {
    credits& used = used_[unsigned(refunds_.front().cls)];
    used.header -= 1;
    used.data -= refunds_.front().data;
    refunds_.pop_front();
  }
  if (!refunds_.empty()) refund_event_.notify(ps(refunds_.front().at - now_ps()));
  pump_tx();
}

}  // namespace ggas::pcie
