// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/rtl/nic_bridge.hpp"

#include <algorithm>
#include <utility>

#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

nic_bridge::nic_bridge(sc_core::sc_module_name name, std::unique_ptr<nic_core> core, nic_clock& clock,
                       const bridge_config& cfg, unsigned links)
    : sc_module(name),
      core_(std::move(core)),
      clock_(clock),
      clock_id_(clock.attach(*this)),
      cfg_(cfg),
      port_("port", cfg.port),
      outbound_("outbound", [this](pcie::tlp&& t) { port_.send(std::move(t)); }),
      links_(links) {
  port_.on_receive = [this](pcie::tlp& t) { return receive(t); };
  for (unsigned l = 0; l < links; ++l) {
    links_[l].owner = this;
    core_->link_up(l, false);
    core_->link_ready(l, false);
  }
}

bool nic_bridge::has_room(const pcie::tlp& t) const {
  const unsigned inside = inbound_count_[unsigned(pcie::fc_of(t))];
  if (t.posted()) return inside + core_->posted_pending() < cfg_.posted_buffer;
  if (t.non_posted()) return inside + core_->non_posted_pending() < core_->np_credits();
  return true;
}

bool nic_bridge::receive(pcie::tlp& t) {
  if (!has_room(t)) {
    refused_ = true;
    return false;
  }
  const uint64_t due = pcie::now_ps() + cfg_.rx_latency_ps;
  if (!t.completion() && !bars_.decode(t)) {
    // The configuration space outside the NIC answers for addresses it does not own.
    ++stats_.unmapped;
    if (t.non_posted())
      outbound_.push_at(due + cfg_.tx_latency_ps, pcie::error_completion(t, pcie::cpl_status::ur, cfg_.id));
    return true;
  }
  ++inbound_count_[unsigned(pcie::fc_of(t))];
  enter(due, std::move(t));
  return true;
}

// Requests stay in order, however long a descriptor takes; completions pass them.
void nic_bridge::enter(uint64_t due, pcie::tlp&& t) {
  if (!t.completion())
    due = requests_due_ = std::max(requests_due_, due + (writes_descriptor(t) ? cfg_.descriptor_ps : 0));
  const auto before = std::ranges::upper_bound(inbound_, due, {}, &arrival::at);
  inbound_.insert(before, {due, std::move(t)});
  clock_.wake(clock_id_, due);
}

void nic_bridge::link_end::deliver(const flit& f, uint64_t at_ps) {
  flits.emplace_back(at_ps, f);
  owner->clock_.wake(owner->clock_id_, at_ps);
}

void nic_bridge::link_end::carrier(bool up, uint64_t at_ps) {
  carriers.emplace(at_ps, up);
  owner->clock_.wake(owner->clock_id_, at_ps);
}

void nic_bridge::reset_function() {
  core_->reset_function();
  clock_.wake(clock_id_, pcie::now_ps());
}

void nic_bridge::bus_master(bool on) {
  core_->bus_master(on);
  clock_.wake(clock_id_, pcie::now_ps());
}

// What has arrived by now enters the core at this edge: any number of TLPs (it queues them), one flit a link.
void nic_bridge::feed(uint64_t n, uint64_t now_ps) {
  while (!inbound_.empty() && inbound_.front().at <= now_ps) {
    --inbound_count_[unsigned(pcie::fc_of(inbound_.front().packet))];
    if (on_tlp) on_tlp(inbound_.front().packet, true, n);
    core_->push(inbound_.front().packet);
    inbound_.pop_front();
  }
  for (unsigned l = 0; l < links_.size(); ++l) {
    link_end& it = links_[l];
    while (!it.carriers.empty() && it.carriers.begin()->first <= now_ps) {
      core_->link_up(l, it.carriers.begin()->second);
      it.carriers.erase(it.carriers.begin());
    }
    if (!it.flits.empty() && it.flits.front().first <= now_ps) {
      core_->link_in(l, it.flits.front().second);
      if (on_flit) on_flit(it.flits.front().second, true, n);
      it.flits.pop_front();
      ++stats_.link_in;
    }
    core_->link_ready(l, it.out && it.out->ready(now_ps));
  }
  // Non-posted requests never block the stream, so posted ones after them always drain; the NIC's tags limit their
  // number.
  const size_t waiting = outbound_.size();
  core_->gate(waiting + port_.tx_pending(pcie::fc::p) < outbound_limit, true,
              waiting + port_.tx_pending(pcie::fc::cpl) < outbound_limit);
}

void nic_bridge::drain(uint64_t n, uint64_t now_ps) {
  for (unsigned l = 0; l < links_.size(); ++l) {
    if (const auto f = core_->link_out(l); f && links_[l].out) {
      links_[l].out->send(*f, now_ps);
      ++stats_.link_out;
      if (on_flit) on_flit(*f, false, n);
    }
  }
  while (auto t = core_->pop()) {
    if (on_tlp) on_tlp(*t, false, n);
    outbound_.push_at(now_ps + cfg_.tx_latency_ps, std::move(*t));
  }
  if (std::exchange(refused_, false)) port_.resume();
}

uint64_t nic_bridge::edge(uint64_t n, uint64_t now_ps) {
  feed(n, now_ps);
  core_->step(n);
  drain(n, now_ps);
  return next_edge(n);
}

uint64_t nic_bridge::next_edge(uint64_t n) const {
  if (core_->busy()) return n + 1;
  uint64_t next = never;
  if (core_->timer()) next = (n / nic_core::tick_cycles + 1) * nic_core::tick_cycles;
  const auto from = [&](uint64_t at_ps) { next = std::min(next, std::max(n + 1, clock_.edge_from(at_ps))); };
  if (!inbound_.empty()) from(inbound_.front().at);
  for (const link_end& it : links_) {
    if (!it.flits.empty()) from(it.flits.front().first);
    if (!it.carriers.empty()) from(it.carriers.begin()->first);
  }
  return next;
}

}  // namespace ggas::nic
