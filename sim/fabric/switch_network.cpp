// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/switch_network.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/pcie/port.hpp"

namespace ggas::fabric {

switch_network::switch_network(sc_core::sc_module_name name, topology shape, const switch_network_config& cfg)
    : sc_module(name),
      shape_(std::move(shape)),
      graph_(*shape_.switches()),
      flit_bits_(cfg.flit_bits),
      sinks_(shape_.nodes()),
      injected_ps_(shape_.nodes()),
      at_home_(shape_.nodes()),
      flits_of_(shape_.nodes()) {
  size_t all = 0;
  for (unsigned v = 0; v < graph_.vertices(); ++v) {
    first_.push_back(all);
    all += graph_.ports(v) + 1u;
  }
  inputs_.resize(all);
  outputs_.resize(all);
  for (unsigned v = 0; v < graph_.vertices(); ++v)
    for (unsigned port = 0; port < graph_.ports(v); ++port) set_up_output(v, port, cfg);
}

void switch_network::set_up_output(unsigned vertex, unsigned port, const switch_network_config& cfg) {
  const cable& c = graph_.out(vertex, port);
  const unsigned far = graph_.across(vertex, port).node;
  output& o = out(vertex, port);
  const double rate = c.bits_per_second != 0 ? c.bits_per_second : cfg.bits_per_second;
  o.flit_ps = uint64_t(std::llround(cfg.flit_bits * 1e12 / rate));
  if (graph_.is_nic(vertex) || graph_.is_nic(far)) o.flit_ps = std::max(o.flit_ps, cfg.nic_flit_ps);
  o.latency_ps = c.latency_flits != 0 ? c.latency_flits * o.flit_ps : c.latency_ps.value_or(cfg.latency_ps);
  const unsigned largest = 1 + nic::mtu_dw * 32 / cfg.flit_bits;
  o.units.fill(graph_.is_nic(far) ? cfg.nic_units : graph_.settings.buffer_packets * largest);
}

void switch_network::send(unsigned node, nic::packet&& p, uint64_t at_ps) {
  const unsigned channel = p.vc % vcs;
  uint64_t& last = injected_ps_[node][channel];
  last = std::max({last, at_ps, pcie::now_ps()});
  if (channel == non_posted) last = std::max(last, injected_ps_[node][posted]);
  ++stats_.packets;
  schedule(last, {what::arrival, uint8_t(channel), uint16_t(graph_.ports(node)), node, new_flight(std::move(p))});
}

uint32_t switch_network::new_flight(nic::packet&& p) {
  if (unused_.empty()) {
    unused_.push_back(uint32_t(flights_.size()));
    flights_.emplace_back();
    packets_.emplace_back();
  }
  const uint32_t f = unused_.back();
  unused_.pop_back();
  const unsigned beat_dws = flit_bits_ / 32;
  flights_[f] = {.units = uint16_t(1 + (p.len_dw + beat_dws - 1) / beat_dws),
                 .flits = uint16_t(nic::flit_count(p.len_dw, flit_bits_)),
                 .to = p.dst};
  packets_[f] = std::move(p);
  return f;
}

// ---------------------------------------------------------------------------------------------- events

void switch_network::schedule(uint64_t at_ps, const event& e) {
  events_.push(at_ps, e);
  if (draining_ || at_ps >= notified_ps_) return;
  notified_ps_ = at_ps;
  wake_.notify(sc_core::sc_time::from_value(at_ps - pcie::now_ps()));
}

void switch_network::drain() {
  draining_ = true;
  const uint64_t now = pcie::now_ps();
  while (events_.next() <= now) {
    now_.clear();
    while (events_.next() <= now) now_.push_back(events_.pop());
    std::ranges::stable_sort(now_, {}, &event::place);
    for (size_t n = 0; n < now_.size(); ++n) handle(event(now_[n]));
  }
  draining_ = false;
  notified_ps_ = events_.next();
  if (notified_ps_ != events_.never) wake_.notify(sc_core::sc_time::from_value(notified_ps_ - now));
}

void switch_network::handle(const event& e) {
  if (e.kind == what::arrival) return arrive(e);
  if (e.kind == what::taken) return taken(e.vertex, e.port);
  output& o = out(e.vertex, e.port);
  if (e.kind == what::credit && o.there) return o.there->freed(e.channel, e.value);
  if (e.kind == what::credit) o.units[e.channel] += e.value;
  if (e.kind == what::wake) o.woken = false;
  pump(e.vertex, e.port);
}

// ---------------------------------------------------------------------------------------------- NICs elsewhere

void switch_network::attach(unsigned node, unsigned port, edge& e) {
  const end_of_link there = graph_.across(node, port);
  out(there.node, there.port).there = &e;
}

void switch_network::inject(unsigned node, unsigned port, nic::packet&& p, unsigned channel) {
  const end_of_link there = graph_.across(node, port);
  ++stats_.packets;
  schedule(pcie::now_ps() + graph_.settings.forward_ps,
           {what::arrival, uint8_t(channel), uint16_t(there.port), there.node, new_flight(std::move(p))});
}

void switch_network::ready(unsigned node, unsigned port) {
  const end_of_link there = graph_.across(node, port);
  schedule(pcie::now_ps(), {what::ready, 0, uint16_t(there.port), there.node, 0});
}

// ---------------------------------------------------------------------------------------------- through a vertex

void switch_network::arrive(const event& e) {
  const uint32_t f = e.value;
  flights_[f].arrived = ++arrivals_;
  in(e.vertex, e.port).append(flights_, e.channel, f);
  if (is_own(e.vertex, e.port)) ++at_home_[e.vertex][e.channel];
  offer(e.vertex, e.port, e.channel);
}

// The first of an input's channel asks for its output.
void switch_network::offer(unsigned vertex, unsigned port, unsigned channel) {
  input& i = in(vertex, port);
  if (i.of[channel].first == none || i.offered >> channel & 1 || i.behind_posted(flights_, channel)) return;
  i.offered |= uint8_t(1u << channel);
  const flight& f = flights_[i.of[channel].first];
  const bool home = f.to == vertex;
  const route_step s = home ? route_step{graph_.ports(vertex), 0} : graph_.next(vertex, f.to);
  out(vertex, s.port)
      .waiting.push_back({uint16_t(port), uint8_t(channel), uint8_t(channel % vcs + vcs * (home ? 0 : s.lane))});
  pump(vertex, s.port);
}

unsigned switch_network::port_to(unsigned vertex, const flight& f) const {
  return f.to == vertex ? graph_.ports(vertex) : graph_.next(vertex, f.to).port;
}

// An input is free again: for the first of each of its channels.
void switch_network::taken(unsigned vertex, unsigned port) {
  const input& i = in(vertex, port);
  for (unsigned channel = 0; channel < channels; ++channel)
    if (i.offered >> channel & 1) pump(vertex, port_to(vertex, flights_[i.of[channel].first]));
}

// As long as the output is free and a packet can go.
void switch_network::pump(unsigned vertex, unsigned port) {
  if (is_own(vertex, port)) return hand_over(vertex);
  output& o = out(vertex, port);
  while (o.free_ps <= pcie::now_ps() && send_one(vertex, port)) {
  }
  if (o.waiting.empty() || o.free_ps <= pcie::now_ps() || std::exchange(o.woken, true)) return;
  schedule(o.free_ps, {what::wake, 0, uint16_t(port), vertex, 0});
}

// To a NIC: each virtual channel has a way of its own into it.
void switch_network::hand_over(unsigned node) {
  output& o = out(node, graph_.ports(node));
  unsigned refused = 0;
  for (size_t n = 0; n < o.waiting.size();) {
    const waiter w = o.waiting[n];
    const uint32_t f = in(node, w.port).of[w.channel].first;
    if (refused >> w.leaves_by & 1 || !sinks_[node]->deliver(packets_[f])) {
      refused |= 1u << w.leaves_by;
      ++n;
      continue;
    }
    o.waiting.erase(o.waiting.begin() + std::ptrdiff_t(n));
    leave(node, w, pcie::now_ps());
    unused_.push_back(f);
    n = 0;
  }
}

bool switch_network::can_leave(const output& o, const input& i, const waiter& w) const {
  if (i.free_ps > pcie::now_ps()) return false;
  return o.there ? o.there->has_room(w.leaves_by) : o.units[w.leaves_by] >= flights_[i.of[w.channel].first].units;
}

// Takes the next packet, after the place served last, that may leave and for which there is room at the other end.
bool switch_network::send_one(unsigned vertex, unsigned port) {
  output& o = out(vertex, port);
  const unsigned places = (graph_.ports(vertex) + 1) * channels;
  auto best = o.waiting.end();
  unsigned least = ~0u;
  for (auto w = o.waiting.begin(); w != o.waiting.end(); ++w) {
    const unsigned turn = (w->place() + places - o.last - 1) % places;
    const input& i = in(vertex, w->port);
    if (turn >= least || !can_leave(o, i, *w)) continue;
    best = w;
    least = turn;
  }
  if (best == o.waiting.end()) return false;
  const waiter w = *best;
  o.waiting.erase(best);
  o.last = w.place();
  transmit(vertex, port, w, in(vertex, w.port).of[w.channel].first);
  return true;
}

void switch_network::transmit(unsigned vertex, unsigned port, const waiter& w, uint32_t f) {
  output& o = out(vertex, port);
  const end_of_link there = graph_.across(vertex, port);
  const flight& it = flights_[f];
  const uint64_t start = pcie::now_ps();
  if (!o.there) o.units[w.leaves_by] -= it.units;
  o.free_ps = start + it.flits * o.flit_ps;
  if (graph_.is_nic(vertex)) {
    flits_of_[vertex] += it.flits;
  } else {
    ++stats_.forwarded;
    uint64_t& free_ps = in(vertex, w.port).free_ps;
    free_ps = start + it.flits * out(vertex, w.port).flit_ps;
    schedule(free_ps, {what::taken, 0, w.port, vertex, 0});
  }
  const uint64_t head = start + o.flit_ps + o.latency_ps, tail = o.free_ps + o.latency_ps;
  const uint64_t at = graph_.is_nic(there.node) ? tail : ready_ps(there.node, it, head, tail);
  leave(vertex, w, o.free_ps);
  if (o.there) {
    unused_.push_back(f);
    return o.there->take(std::move(packets_[f]), w.leaves_by);
  }
  schedule(at, {what::arrival, w.leaves_by, uint16_t(there.port), there.node, f});
}

// When a switch may send a packet on. With cut-through its last flit must be there when it is to leave.
uint64_t switch_network::ready_ps(unsigned vertex, const flight& f, uint64_t head_ps, uint64_t tail_ps) const {
  const switch_settings& s = graph_.settings;
  if (!s.cut_through) return tail_ps + s.forward_ps;
  const uint64_t flit = out(vertex, graph_.next(vertex, f.to).port).flit_ps;
  const uint64_t last = tail_ps + flit, all = f.flits * flit;
  return s.forward_ps + std::max(head_ps, last > all ? last - all : 0);
}

// By the cable's other direction; an edge says it itself.
void switch_network::give_back(unsigned vertex, unsigned port, unsigned channel, unsigned units, uint64_t at_ps) {
  const output& back = out(vertex, port);
  const end_of_link from = back.there ? end_of_link{vertex, port} : graph_.across(vertex, port);
  const uint64_t flies = back.there ? 0 : back.latency_ps + back.flit_ps;
  schedule(at_ps + flies, {what::credit, uint8_t(channel), uint16_t(from.port), from.node, units});
}

// The first of an input is gone: its room is free when its last flit has left, and the next one asks.
void switch_network::leave(unsigned vertex, const waiter& w, uint64_t gone_ps) {
  input& i = in(vertex, w.port);
  input::fifo& q = i.of[w.channel];
  const flight& f = flights_[q.first];
  q.first = f.next;
  i.offered &= uint8_t(~(1u << w.channel));
  if (is_own(vertex, w.port)) {
    --at_home_[vertex][w.channel];
    sinks_[vertex]->left();
  } else {
    give_back(vertex, w.port, w.channel, f.units, gone_ps);
  }
  offer(vertex, w.port, w.channel);
  if (w.channel % vcs != posted) return;
  offer(vertex, w.port, non_posted);
  offer(vertex, w.port, non_posted + vcs);
}

}  // namespace ggas::fabric
