// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/network.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/pcie/port.hpp"

namespace ggas::fabric {

network::network(sc_core::sc_module_name name, topology shape, const network_config& cfg)
    : sc_module(name),
      shape_(std::move(shape)),
      cfg_(cfg),
      most_units_(1 + nic::mtu_dw * 32 / cfg.flit_bits),
      sinks_(shape_.nodes()) {
  const size_t ports = size_t{shape_.nodes()} * (own_port() + 1);
  inputs_.resize(ports);
  outputs_.resize(ports);
  injected_ps_.resize(shape_.nodes());
  at_home_.resize(shape_.nodes());
  flits_of_.resize(shape_.nodes());
  for (output& o : outputs_) o.units.fill(uint16_t(cfg.units));
  for (unsigned node = 0; node < shape_.nodes(); ++node)
    for (unsigned port = 0; port < own_port(); ++port)
      across_.push_back(shape_.across(node, port).value_or(topology::end{none, none}));
}

// ---------------------------------------------------------------------------------------------- from and to the NICs

void network::send(unsigned node, nic::packet&& p, uint64_t at_ps) {
  const unsigned channel = p.vc % vcs;
  uint64_t& last = injected_ps_[node][channel];
  last = std::max({last, at_ps, pcie::now_ps()});
  if (channel == non_posted) last = std::max(last, injected_ps_[node][posted]);
  ++stats_.packets;
  schedule(last, what::arrival, node, own_port(), channel, new_flight(std::move(p)));
}

size_t network::waiting(unsigned node, nic::vc channel) const { return at_home_[node][unsigned(channel)]; }

void network::resume(unsigned node) { pump(node, own_port()); }

uint32_t network::new_flight(nic::packet&& p) {
  if (unused_.empty()) {
    unused_.push_back(uint32_t(flights_.size()));
    flights_.emplace_back();
    packets_.emplace_back();
  }
  const uint32_t f = unused_.back();
  unused_.pop_back();
  const unsigned beat_dws = cfg_.flit_bits / 32;
  flights_[f] = {.units = uint16_t(1 + (p.len_dw + beat_dws - 1) / beat_dws),
                 .flits = uint16_t(nic::flit_count(p.len_dw, cfg_.flit_bits)),
                 .to = p.dst,
                 .chooses = p.unordered(),
                 .grouped = (p.op & nic::op_multicast) != 0};
  packets_[f] = std::move(p);
  return f;
}

// ---------------------------------------------------------------------------------------------- events

void network::schedule(uint64_t at_ps, what kind, unsigned node, unsigned port, unsigned channel, uint32_t value) {
  events_.push(at_ps, {kind, uint8_t(port), uint8_t(channel), node, value});
  if (draining_ || at_ps >= notified_ps_) return;
  notified_ps_ = at_ps;
  wake_.notify(sc_core::sc_time::from_value(at_ps - pcie::now_ps()));
}

void network::drain() {
  draining_ = true;
  const uint64_t now = pcie::now_ps();
  while (events_.next() <= now) {
    const event e = events_.pop();
    if (e.kind == what::arrival) {
      if (!broken_ || !lost_on_link(e)) arrive(e.node, e.port, e.channel, e.value);
    } else if (e.kind == what::again) {
      in(e.node, e.port).offered &= uint8_t(~(1u << e.channel));
      offer(e.node, e.port, e.channel);
    } else if (e.kind == what::move) {
      in(e.node, e.port).woken = false;
      move(e.node, e.port);
    } else if (e.kind == what::freed) {
      owe_control(e.node, e.port);
    } else if (e.kind == what::gone) {
      end(e.node, {e.port, e.channel});
    } else {
      output& o = out(e.node, e.port);
      if (e.kind == what::credit) o.units[e.channel] = uint16_t(o.units[e.channel] + e.value);
      if (e.kind == what::wake) o.woken = false;
      if (e.kind == what::taken) o.begun &= uint8_t(~(1u << e.value));
      pump(e.node, e.port);
    }
  }
  draining_ = false;
  notified_ps_ = events_.next();
  if (notified_ps_ != events_.never) wake_.notify(sc_core::sc_time::from_value(notified_ps_ - now));
}

// ---------------------------------------------------------------------------------------------- through a node

void network::waiters::remove(waiter w) {
  const auto end = at_.begin() + count_;
  const auto it = std::find(at_.begin(), end, uint8_t(w.input * channels + w.channel));
  if (it == end) return;
  std::copy(it + 1, end, it);
  --count_;
}

void network::arrive(unsigned node, unsigned port, unsigned channel, uint32_t f) {
  if (flights_[f].grouped && !branch(node, port, channel, f)) return;
  flights_[f].arrived = ++arrivals_;
  in(node, port).append(flights_, channel, f);
  if (port == own_port())
    ++at_home_[node][channel];
  else
    owe_control(node, port);
  offer(node, port, channel);
}

// The front of an input's channel asks for its way out.
void network::offer(unsigned node, unsigned port, unsigned channel) {
  input& i = in(node, port);
  if (i.of[channel].first == none || i.offered >> channel & 1 || i.behind_posted(flights_, channel)) return;
  const waiter w{uint8_t(port), uint8_t(channel)};
  const flight& f = flights_[i.of[channel].first];
  i.offered |= uint8_t(1u << channel);
  if (f.grouped) {
    if (broken_) lose_dead_branches(node, w);
    if (f.left == 0) return end(node, w);
    return ask(node, w, next_copy(f, channel), std::nullopt);
  }
  if (f.to == node) {
    const bool moves = i.last == channel && i.free_ps > pcie::now_ps();  // the one before is not in its queue yet
    if (moves) return schedule(i.free_ps, what::again, node, port, channel, 0);
    return ask(node, w, {own_port(), channel / vcs}, std::nullopt);
  }
  if (broken_) return ask_what_is_left(node, w);
  ask(node, w, shape_.next(node, f.to), f.chooses ? shape_.second(node, f.to) : std::nullopt);
}

// A packet has left its buffer: for the own units, or with the last copy for a group, which may be lost.
void network::end(unsigned node, waiter w) {
  const uint32_t f = in(node, w.input).of[w.channel].first;
  give_back(node, w, flights_[f].units, pcie::now_ps());
  unused_.push_back(f);
  leave(node, w);
}

// Where the next copy for a group goes.
topology::step network::next_copy(const flight& f, unsigned channel) const {
  const auto next = unsigned(std::countr_zero(f.left));
  return next == own_branch ? topology::step{own_port(), channel / vcs} : topology::step{next / 2, next % 2};
}

void network::ask(unsigned node, waiter w, const topology::step& way, const std::optional<topology::step>& also) {
  input& i = in(node, w.input);
  i.first[w.channel] = code(way);
  if (also) i.second[w.channel] = code(*also);
  wait(node, code(way), w);
  if (also) wait(node, code(*also), w);
  pump(node, way.port);
  if (also) pump(node, also->port);
}

void network::wait(unsigned node, uint8_t way, waiter w) {
  const unsigned channel = on_link(w, way);
  output& o = out(node, (way - 1u) / 2);
  o.waiting[channel].push(w);
  o.asked |= uint8_t(1u << channel);
}

void network::stop_waiting(unsigned node, uint8_t way, waiter w) {
  const unsigned channel = on_link(w, way);
  output& o = out(node, (way - 1u) / 2);
  o.waiting[channel].remove(w);
  if (o.waiting[channel].empty()) o.asked &= uint8_t(~(1u << channel));
}

// Gives the output to channel after channel, as long as it is free and one of them can go.
void network::pump(unsigned node, unsigned port) {
  if (queued(port)) {
    let_in(node, port);
    return send_next(node, port);
  }
  output& o = out(node, port);
  const uint64_t now = pcie::now_ps();
  for (unsigned tried = 0; tried < channels && o.asked != 0 && o.free_ps <= now;) {
    const unsigned channel = (o.last + 1 + tried) % channels;
    if (o.asked >> channel & 1 && go(node, port, channel)) {
      o.last = uint8_t(channel);
      tried = 0;
    } else {
      ++tried;
    }
  }
  if (o.free_ps > now && o.asked != 0) wake(node, port, o.free_ps);
}

// As soon as it is free, or there is something for it.
void network::wake(unsigned node, unsigned port, uint64_t at_ps) {
  if (std::exchange(out(node, port).woken, true)) return;
  schedule(at_ps, what::wake, node, port, 0, 0);
}

bool network::go(unsigned node, unsigned port, unsigned channel) {
  output& o = out(node, port);
  const waiter w = o.waiting[channel].front();
  const input& i = in(node, w.input);
  const uint32_t f = i.of[w.channel].first;
  if (port != own_port()) {
    if (o.units[channel] < flights_[f].units) return false;
    transmit(node, port, channel, f);
    taken(node, w, code({port, channel / vcs}), o.free_ps);
    return true;
  }
  if (!sinks_[node]->deliver(packets_[f])) return false;
  // The unit looks at the header of a store for a cycle (smfu_ingress) and then takes a beat in each.
  const uint64_t look_ps = channel % vcs == posted ? cfg_.beat_ps : 0;
  taken(node, w, code({port, channel / vcs}), pcie::now_ps() + look_ps + beats_ps(flights_[f]));
  return true;
}

// The front of an input goes that way; its place is free then. The next copy for a group begins then, and so does the
// next packet after one for the own units.
void network::taken(unsigned node, waiter w, uint8_t way, uint64_t gone_ps) {
  input& i = in(node, w.input);
  const uint8_t first = std::exchange(i.first[w.channel], 0), second = std::exchange(i.second[w.channel], 0);
  stop_waiting(node, first, w);
  if (second != 0) stop_waiting(node, second, w);
  stats_.second += way == second;
  flight& f = flights_[i.of[w.channel].first];
  if (f.grouped) {
    f.left = uint16_t(f.left & (f.left - 1u));
    return schedule(gone_ps, what::again, node, w.input, w.channel, 0);
  }
  if ((way - 1u) / 2 == own_port()) return schedule(gone_ps, what::gone, node, w.input, w.channel, 0);
  give_back(node, w, f.units, gone_ps);
  leave(node, w);
}

void network::give_back(unsigned node, waiter w, unsigned units, uint64_t at_ps) {
  if (w.input == own_port()) return;
  if (cfg_.control_gap != 0) schedule(at_ps, what::freed, node, w.input, w.channel, 0);
  const topology::end from = across(node, w.input);
  schedule(at_ps + cfg_.latency_ps + cfg_.flit_ps, what::credit, from.node, from.port, w.channel, units);
}

void network::transmit(unsigned node, unsigned port, unsigned channel, uint32_t f) {
  output& o = out(node, port);
  const topology::end to = across(node, port);
  const flight& it = flights_[f];
  o.units[channel] = uint16_t(o.units[channel] - it.units);
  uint64_t start = pcie::now_ps();
  if (o.owes && start > o.free_ps) {  // control left while the link was idle
    start = std::max(start, o.free_ps + cfg_.flit_ps);
    o.control_ps = o.free_ps;
    o.gap = 0;
    o.owes = false;
  }
  o.free_ps = start + it.flits * cfg_.flit_ps;
  stats_.flits += it.flits;
  flits_of_[node] += it.flits;
  o.gap = uint16_t(std::min<unsigned>(o.gap, cfg_.control_gap) + it.flits);
  if (o.owes) send_control(o, start);
  const group_line* line = it.grouped ? line_of(to.node, it.to, channel / vcs) : nullptr;
  const bool there = it.grouped ? !line || !line->branches : it.to == to.node;
  stats_.hops += !there;
  // The time of the hop is added before the packet arrives, so that packets for groups and others do not pass each
  // other.
  uint64_t at = o.free_ps + cfg_.latency_ps + (there ? 0 : cfg_.hop_ps - cfg_.beat_ps);
  at = std::max(at, it.grouped ? o.last_ps : o.grouped_ps);
  o.last_ps = std::max(o.last_ps, at);
  if (it.grouped) o.grouped_ps = at;
  schedule(at, what::arrival, to.node, to.port, channel, f);
}

// ---------------------------------------------------------------------------------------------- groups

void network::set_group_line(unsigned group, const group_line& line, bool valid) {
  if (group >= groups) return;
  if (lines_.empty()) lines_.resize(size_t{shape_.nodes()} * groups * 2);
  auto& place = lines_[(line.node * groups + group) * 2 + line.lane];
  place = valid ? std::optional(line) : std::nullopt;
}

const group_line* network::line_of(unsigned node, unsigned group, unsigned lane) const {
  if (group >= groups || lines_.empty()) return nullptr;
  const auto& line = lines_[(node * groups + group) * 2 + lane];
  return line ? &*line : nullptr;
}

// Where a packet for a group goes on from here; false: nowhere, it is lost.
bool network::branch(unsigned node, unsigned port, unsigned channel, uint32_t f) {
  const bool home = port == own_port();
  const group_line* line = line_of(node, flights_[f].to, channel / vcs);
  if (channel % vcs != posted || (line && line->port != (home ? own_units : port))) line = nullptr;
  if (line) flights_[f].left = uint16_t(line->branches | unsigned(line->member && !home) << own_branch);
  if (line && flights_[f].left) return true;
  sinks_[node]->lost(packets_[f], true);
  give_back(node, {uint8_t(port), uint8_t(channel)}, flights_[f].units, pcie::now_ps());
  unused_.push_back(f);
  return false;
}

// A packet has come by this port, or has left its buffer: the way back says so, by the flit that is planned, or another
// one.
void network::owe_control(unsigned node, unsigned port) {
  output& o = out(node, port);
  const uint64_t now = pcie::now_ps();
  if (cfg_.control_gap == 0 || o.control_ps > now) return;
  o.owes = true;
  send_control(o, now);
}

// At once on an idle link, else as soon as enough flits of the packet under way have left; if it ends before, at its
// end or with the next one.
void network::send_control(output& o, uint64_t now) const {
  const uint64_t left = o.free_ps > now ? (o.free_ps - now + cfg_.flit_ps - 1) / cfg_.flit_ps : 0;  // of its flits
  const uint64_t since = o.gap - std::min<uint64_t>(o.gap, left);
  const uint64_t wait = left == 0 ? 0 : cfg_.control_gap - std::min<uint64_t>(since, cfg_.control_gap);
  if (wait > 0 && wait >= left) return;
  o.control_ps = now + wait * cfg_.flit_ps;
  o.free_ps = std::max(o.free_ps, now) + cfg_.flit_ps;
  o.gap = uint16_t(left - wait);
  o.owes = false;
}

// The front of an input is gone: the next one asks, and NP packets that waited for it.
void network::leave(unsigned node, waiter w) {
  input& i = in(node, w.input);
  input::fifo& q = i.of[w.channel];
  q.first = flights_[q.first].next;
  i.offered &= uint8_t(~(1u << w.channel));
  if (w.input == own_port()) {
    --at_home_[node][w.channel];
    sinks_[node]->left();
  }
  offer(node, w.input, w.channel);
  if (w.channel % vcs != posted) return;
  offer(node, w.input, non_posted);
  offer(node, w.input, non_posted + vcs);
}

}  // namespace ggas::fabric
