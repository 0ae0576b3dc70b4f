// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/network.hpp"

#include <algorithm>
#include <utility>

#include "sim/pcie/port.hpp"

namespace ggas::fabric {

namespace {
constexpr uint64_t never = ~uint64_t{0};
constexpr unsigned posted = unsigned(nic::vc::p), non_posted = unsigned(nic::vc::np);
}  // namespace

network::network(sc_core::sc_module_name name, topology shape, const network_config& cfg)
    : sc_module(name), shape_(std::move(shape)), cfg_(cfg), sinks_(shape_.nodes()) {
  const size_t ports = size_t{shape_.nodes()} * (own_port() + 1);
  inputs_.resize(ports);
  outputs_.resize(ports);
  injected_ps_.resize(shape_.nodes());
  for (output& o : outputs_) o.units.fill(cfg.units);
}

// ---------------------------------------------------------------------------------------------- from and to the NICs

void network::send(unsigned node, nic::packet&& p, uint64_t at_ps) {
  const unsigned channel = p.vc % vcs;
  uint64_t& last = injected_ps_[node][channel];
  last = std::max({last, at_ps, pcie::now_ps()});
  schedule(last, what::arrival, node, own_port(), channel, new_flight(std::move(p)));
}

size_t network::waiting(unsigned node, nic::vc channel) const {
  return in(node, own_port()).fifo[unsigned(channel)].size();
}

void network::resume(unsigned node) { pump(node, own_port()); }

uint32_t network::new_flight(nic::packet&& p) {
  if (unused_.empty()) {
    unused_.push_back(uint32_t(flights_.size()));
    flights_.emplace_back();
  }
  const uint32_t f = unused_.back();
  unused_.pop_back();
  const unsigned beat_dws = cfg_.flit_bits / 32;
  flights_[f].units = 1 + (p.len_dw + beat_dws - 1) / beat_dws;
  flights_[f].flits = nic::flit_count(p.len_dw, cfg_.flit_bits);
  flights_[f].packet = std::move(p);
  ++stats_.packets;
  return f;
}

// ---------------------------------------------------------------------------------------------- events

void network::schedule(uint64_t at_ps, what kind, unsigned node, unsigned port, unsigned channel, uint32_t value) {
  events_.push({at_ps, seq_++, kind, uint8_t(port), uint8_t(channel), node, value});
  if (draining_ || at_ps >= notified_ps_) return;
  notified_ps_ = at_ps;
  wake_.notify(sc_core::sc_time::from_value(at_ps - pcie::now_ps()));
}

void network::drain() {
  draining_ = true;
  const uint64_t now = pcie::now_ps();
  while (!events_.empty() && events_.top().at_ps <= now) {
    const event e = events_.top();
    events_.pop();
    if (e.kind == what::arrival) {
      arrive(e.node, e.port, e.channel, e.value);
    } else {
      output& o = out(e.node, e.port);
      if (e.kind == what::credit) o.units[e.channel] += e.value;
      if (e.kind == what::wake) o.woken = false;
      pump(e.node, e.port);
    }
  }
  draining_ = false;
  notified_ps_ = events_.empty() ? never : events_.top().at_ps;
  if (notified_ps_ != never) wake_.notify(sc_core::sc_time::from_value(notified_ps_ - now));
}

// ---------------------------------------------------------------------------------------------- through a node

void network::arrive(unsigned node, unsigned port, unsigned channel, uint32_t f) {
  flights_[f].arrived = ++arrivals_;
  in(node, port).fifo[channel].push_back(f);
  offer(node, port, channel);
}

// Whether the front of that channel, an NP packet, came behind a P packet that is still here.
bool network::behind_posted(const input& i, unsigned channel) const {
  if (channel % vcs != non_posted) return false;
  const uint64_t arrived = flights_[i.fifo[channel].front()].arrived;
  const auto older = [&](unsigned c) { return !i.fifo[c].empty() && flights_[i.fifo[c].front()].arrived < arrived; };
  return older(posted) || older(posted + vcs);
}

// The front of an input's channel asks for its way out.
void network::offer(unsigned node, unsigned port, unsigned channel) {
  input& i = in(node, port);
  if (i.fifo[channel].empty() || i.offered[channel] || behind_posted(i, channel)) return;
  const unsigned to = flights_[i.fifo[channel].front()].packet.dst;
  i.offered[channel] = true;
  if (to == node) {
    wait(node, {own_port(), channel / vcs}, {port, channel});
    return pump(node, own_port());
  }
  const bool chooses = flights_[i.fifo[channel].front()].packet.unordered();
  const topology::step way = shape_.next(node, to);
  const auto also = chooses ? shape_.second(node, to) : std::nullopt;
  wait(node, way, {port, channel, also});
  if (also) wait(node, *also, {port, channel, way, true});
  pump(node, way.port);
  if (also) pump(node, also->port);
}

void network::wait(unsigned node, const topology::step& way, const waiter& w) {
  out(node, way.port).waiting[w.channel % vcs + vcs * way.lane].push_back(w);
}

// Gives the output to channel after channel, as long as it is free and one of them can go.
void network::pump(unsigned node, unsigned port) {
  output& o = out(node, port);
  for (unsigned tried = 0; tried < channels;) {
    if (o.free_ps > pcie::now_ps()) break;
    const unsigned channel = (o.last + 1 + tried) % channels;
    if (!o.waiting[channel].empty() && go(node, port, channel)) {
      o.last = channel;
      tried = 0;
    } else {
      ++tried;
    }
  }
  const auto asks = [](const auto& w) { return !w.empty(); };
  if (o.woken || o.free_ps <= pcie::now_ps() || std::ranges::none_of(o.waiting, asks)) return;
  o.woken = true;
  schedule(o.free_ps, what::wake, node, port, 0, 0);
}

bool network::go(unsigned node, unsigned port, unsigned channel) {
  output& o = out(node, port);
  const waiter w = o.waiting[channel].front();
  const uint32_t f = in(node, w.input).fifo[w.channel].front();
  if (port == own_port()) {
    if (!sinks_[node]->deliver(flights_[f].packet)) return false;
    unused_.push_back(f);
  } else {
    if (o.units[channel] < flights_[f].units) return false;
    o.units[channel] -= flights_[f].units;
    transmit(node, port, channel, f);
  }
  const unsigned units = flights_[f].units;
  o.waiting[channel].pop_front();
  if (w.other) {
    std::erase_if(out(node, w.other->port).waiting[w.channel % vcs + vcs * w.other->lane],
                  [&](const waiter& it) { return it.is(w); });
    stats_.second += w.second;
  }
  // Its buffer is free again when its last flit has left.
  if (w.input != own_port()) {
    const auto from = *shape_.across(node, w.input);
    const uint64_t end = port == own_port() ? pcie::now_ps() : o.free_ps;
    schedule(end + cfg_.latency_ps + cfg_.flit_ps, what::credit, from.node, from.port, w.channel, units);
  }
  leave(node, w);
  return true;
}

void network::transmit(unsigned node, unsigned port, unsigned channel, uint32_t f) {
  output& o = out(node, port);
  const auto to = *shape_.across(node, port);
  flight& it = flights_[f];
  o.free_ps = pcie::now_ps() + it.flits * cfg_.flit_ps;
  stats_.flits += it.flits;
  output& back = out(to.node, to.port);
  if (back.free_ps > pcie::now_ps()) back.free_ps += uint64_t(cfg_.control_flits * double(cfg_.flit_ps));
  const bool there = it.packet.dst == to.node;
  stats_.hops += !there;
  schedule(o.free_ps + cfg_.latency_ps + (there ? 0 : cfg_.hop_ps), what::arrival, to.node, to.port, channel, f);
}

// The front of an input is gone: the next one asks, and NP packets that waited for it.
void network::leave(unsigned node, const waiter& w) {
  input& i = in(node, w.input);
  i.fifo[w.channel].pop_front();
  i.offered[w.channel] = false;
  if (w.input == own_port()) sinks_[node]->left();
  offer(node, w.input, w.channel);
  if (w.channel % vcs != posted) return;
  offer(node, w.input, non_posted);
  offer(node, w.input, non_posted + vcs);
}

}  // namespace ggas::fabric
