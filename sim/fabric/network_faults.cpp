// SPDX-License-Identifier: Apache-2.0
// Links of the network that are cut, packet by packet: the effect of the RTL's links, routes and crossbar on packets on
// them and after them (docs/nic-model.md).
#include <utility>

#include "sim/fabric/network.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::fabric {

namespace {
constexpr unsigned hello_flights = 3;  // two sides agree on a session (docs/link.md)
}  // namespace

// ---------------------------------------------------------------------------------------------- links

void network::cut_links(const std::vector<cut>& cuts) {
  broken_ = std::make_unique<wreck>();
  wreck& w = *broken_;
  w.dark.resize(across_.size());
  w.lines.resize(shape_.nodes());
  for (const topology::end& e : across_) w.states.push_back(e.node == none ? link_state::down : link_state::up);
  w.timer.emplace([this] {
    auto& agenda = broken_->agenda;
    while (!agenda.empty() && agenda.begin()->first <= pcie::now_ps()) agenda.extract(agenda.begin()).mapped()();
    if (!agenda.empty()) broken_->timer->notify(sc_core::sc_time::from_value(agenda.begin()->first - pcie::now_ps()));
  });
  for (const cut& c : cuts) {
    const topology::end end = across(c.node, c.port);
    when(c.from_ps + cfg_.latency_ps, [=, this] { signal(end.node, end.port, false); });
    if (c.to_ps != ~uint64_t{0}) when(c.to_ps + cfg_.latency_ps, [=, this] { signal(end.node, end.port, true); });
  }
}

void network::when(uint64_t at_ps, std::function<void()> what) {
  broken_->agenda.emplace(at_ps, std::move(what));
  broken_->timer->notify(sc_core::sc_time::from_value(at_ps - pcie::now_ps()));
}

link_state network::state(unsigned node, unsigned port) const {
  if (broken_) return broken_->states[node * own_port() + port];
  return across(node, port).node == none ? link_state::down : link_state::up;
}

void network::signal(unsigned node, unsigned port, bool on) {
  unsigned& dark = broken_->dark[node * own_port() + port];
  on ? --dark : ++dark;
  if (!on && state(node, port) == link_state::up) die(node, port);
  if (on) try_link(node, port);
}

// The other side loses its signal, or gets a message.
void network::die(unsigned node, unsigned port) {
  broken_->states[node * own_port() + port] = link_state::dead;
  for (const waiters& of : out(node, port).waiting)
    while (!of.empty()) lose_way(node, port, of.front());
  for (uint32_t& queued : out(node, port).queue)
    if (const uint32_t f = std::exchange(queued, none); f != none) {
      sinks_[node]->lost(packets_[f], true);
      unused_.push_back(f);
    }
  const topology::end there = across(node, port);
  when(pcie::now_ps() + cfg_.latency_ps + cfg_.flit_ps, [=, this] {
    const bool heard = broken_->dark[there.node * own_port() + there.port] == 0;
    if (heard && state(there.node, there.port) == link_state::up) die(there.node, there.port);
  });
  sinks_[node]->link_changed(port, false);
}

void network::retrain(unsigned node) {
  for (unsigned port = 0; port < own_port(); ++port) {
    if (state(node, port) != link_state::dead) continue;
    broken_->states[node * own_port() + port] = link_state::down;
    try_link(node, port);
  }
}

bool network::can_start(unsigned node, unsigned port) const {
  return state(node, port) == link_state::down && broken_->dark[node * own_port() + port] == 0;
}

void network::try_link(unsigned node, unsigned port) {
  const topology::end there = across(node, port);
  const auto ready = [=, this] { return can_start(node, port) && can_start(there.node, there.port); };
  if (!ready()) return;
  when(pcie::now_ps() + hello_flights * (cfg_.latency_ps + cfg_.flit_ps), [=, this] {
    if (!ready()) return;
    for (const topology::end& e : {topology::end{node, port}, there})
      broken_->states[e.node * own_port() + e.port] = link_state::up;
    for (const topology::end& e : {topology::end{node, port}, there}) sinks_[e.node]->link_changed(e.port, true);
  });
}

// ---------------------------------------------------------------------------------------------- ways

void network::set_route(unsigned node, unsigned to, const std::optional<routes::line>& line) {
  std::vector<std::optional<routes::line>> table = std::move(broken_->lines[node]);
  for (auto n = unsigned(table.size()); n < shape_.nodes(); ++n) table.push_back(this->line(node, n));
  if (to < table.size()) table[to] = line;
  broken_->lines[node] = std::move(table);
}

std::optional<routes::line> network::line(unsigned node, unsigned to) const {
  const auto& table = broken_->lines[node];
  if (!table.empty()) return table[to];
  if (node == to) return std::nullopt;
  return routes::line{shape_.next(node, to), shape_.second(node, to)};
}

// Over links that are up; a packet without such a one is discarded.
void network::ask_what_is_left(unsigned node, waiter w) {
  const flight& f = flights_[in(node, w.input).of[w.channel].first];
  const auto up = [&](const topology::step& s) { return s.port < own_port() && state(node, s.port) == link_state::up; };
  const auto l = line(node, f.to);
  const auto also = l && f.chooses && l->second && up(*l->second) ? l->second : std::nullopt;
  if (l && up(l->first)) return ask(node, w, l->first, also);
  if (also) return ask(node, w, *also, std::nullopt);
  discard(node, w);
}

// Copies for a group over links that are dead are lost, each of them reported, up to the next one that is not.
void network::lose_dead_branches(unsigned node, waiter w) {
  const uint32_t id = in(node, w.input).of[w.channel].first;
  for (flight& f = flights_[id]; f.left != 0; f.left = uint16_t(f.left & (f.left - 1u))) {
    const topology::step way = next_copy(f, w.channel);
    if (way.port == own_port() || state(node, way.port) == link_state::up) return;
    sinks_[node]->lost(packets_[id], true);
  }
}

// Who waits for a link that died goes by the other choice, if there is one.
void network::lose_way(unsigned node, unsigned port, waiter w) {
  input& i = in(node, w.input);
  if (const flight& f = flights_[i.of[w.channel].first]; f.grouped) {
    stop_waiting(node, std::exchange(i.first[w.channel], 0), w);
    i.offered &= uint8_t(~(1u << w.channel));
    return offer(node, w.input, w.channel);
  }
  uint8_t &first = i.first[w.channel], &second = i.second[w.channel];
  const bool of_first = (first - 1u) / 2 == port;
  stop_waiting(node, of_first ? first : second, w);
  if (of_first) first = second;
  second = 0;
  if (first == 0) discard(node, w);
}

void network::discard(unsigned node, waiter w) {
  const uint32_t f = in(node, w.input).of[w.channel].first;
  sinks_[node]->lost(packets_[f], true);
  give_back(node, w, flights_[f].units, pcie::now_ps());
  unused_.push_back(f);
  leave(node, w);
}

// What arrives at a dead end was on the link as it died. The sender's account of the buffer is put right.
bool network::lost_on_link(const event& e) {
  if (e.port == own_port() || state(e.node, e.port) == link_state::up) return false;
  const topology::end from = across(e.node, e.port);
  sinks_[from.node]->lost(packets_[e.value], false);
  uint16_t& units = out(from.node, from.port).units[e.channel];
  units = uint16_t(units + flights_[e.value].units);
  unused_.push_back(e.value);
  return true;
}

}  // namespace ggas::fabric
