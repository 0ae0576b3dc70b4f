// SPDX-License-Identifier: Apache-2.0
// The queues in front of several links, one for each input, like those of the RTL's crossbar (docs/network.md). An
// input moves one packet at a time, a beat a cycle, as soon as its queue and the other side have room; the link takes
// packets from the queues by virtual time.
#include <algorithm>
#include <bit>
#include <utility>

#include "sim/fabric/network.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::fabric {

namespace {
constexpr unsigned room_cycles = 2;  // registers between a packet that begins and the room for the next one (link_tx)
}  // namespace

// What waits for that link, by virtual time: the other side may have room for one of them only.
void network::let_in(unsigned node, unsigned port) {
  const output& o = out(node, port);
  std::array<uint8_t, max_ports + 1> vtime{};
  unsigned places = 0;
  for (unsigned asked = o.asked; asked != 0; asked &= asked - 1) {
    const waiters& of_channel = o.waiting[unsigned(std::countr_zero(asked))];
    for (unsigned n = 0; n < of_channel.size(); ++n) {
      const waiter w = of_channel[n];
      places |= 1u << place(w.input);
      vtime[place(w.input)] = flights_[in(node, w.input).of[w.channel].first].vtime;
    }
  }
  while (places != 0) {
    const unsigned next = o.turns.earliest(places, o.last, [&](unsigned at) { return vtime[at]; });
    places &= ~(1u << next);
    move(node, next == shares::own ? own_port() : next);
  }
}

// The next packet of an input, channel after channel.
void network::move(unsigned node, unsigned port) {
  input& i = in(node, port);
  const uint64_t now = pcie::now_ps();
  for (unsigned tried = 0; tried < channels && i.free_ps <= now;) {
    const waiter w{uint8_t(port), uint8_t((i.last + 1 + tried++) % channels)};
    const uint8_t first = i.first[w.channel], second = i.second[w.channel];
    const uint8_t way = takes(node, w, first) ? first : takes(node, w, second) ? second : 0;
    if (way == 0) continue;
    i.last = w.channel;
    move_to(node, w, way);
    tried = 0;
  }
  if (i.offered == 0 || i.free_ps <= now || std::exchange(i.woken, true)) return;
  schedule(i.free_ps, what::move, node, port, 0, 0);
}

// Its queue has room for a packet, and the other side for any packet in addition to those that wait.
bool network::takes(unsigned node, waiter w, uint8_t way) const {
  const unsigned port = (way - 1u) / 2;
  if (way == 0 || !queued(port)) return false;
  const output& o = out(node, port);
  if (o.queue[place(w.input)] != none || o.begun >> place(w.input) & 1) return false;
  const unsigned channel = on_link(w, way);
  const auto of_channel = [&](uint32_t f) { return f != none && flights_[f].channel == channel; };
  return o.units[channel] >= (1 + unsigned(std::ranges::count_if(o.queue, of_channel))) * most_units_;
}

void network::move_to(unsigned node, waiter w, uint8_t way) {
  input& i = in(node, w.input);
  const unsigned port = (way - 1u) / 2;
  uint32_t f = i.of[w.channel].first;
  i.free_ps = pcie::now_ps() + beats_ps(flights_[f]);
  if (flights_[f].grouped) {
    const uint8_t vtime = flights_[f].vtime;
    f = new_flight(nic::packet(packets_[f]));
    flights_[f].vtime = vtime;
  }
  flights_[f].channel = uint8_t(on_link(w, way));
  flights_[f].ready_ps = pcie::now_ps() + cfg_.beat_ps;
  output& o = out(node, port);
  o.queue[place(w.input)] = f;
  o.last = uint8_t(place(w.input));
  taken(node, w, way, i.free_ps);
  send_next(node, port);
}

// A place in a queue is free as soon as the first beat of its packet is taken.
void network::send_next(unsigned node, unsigned port) {
  output& o = out(node, port);
  constexpr uint64_t never = ~uint64_t{0};
  const uint64_t now = pcie::now_ps();
  uint64_t first = never;
  unsigned heads = 0;
  for (unsigned n = 0; n < o.queue.size(); ++n) {
    if (o.queue[n] == none) continue;
    const uint64_t ready = flights_[o.queue[n]].ready_ps;
    first = std::min(first, ready);
    heads |= unsigned(ready <= now) << n;
  }
  if (first == never) return;
  if (const uint64_t at = std::max(first, o.free_ps); at > now) return wake(node, port, at);
  const unsigned input = o.turns.next(heads, [&](unsigned n) { return flights_[o.queue[n]].vtime; });
  const uint32_t f = std::exchange(o.queue[input], none);
  flights_[f].vtime = o.turns.begin(input, flights_[f].vtime, packets_[f].len_dw);
  transmit(node, port, flights_[f].channel, f);
  if (const unsigned ahead = std::min(cfg_.flits_ahead, flights_[f].flits - 2u); ahead > 0) {
    o.begun |= uint8_t(1u << input);
    schedule(now + ahead * cfg_.beat_ps, what::taken, node, port, 0, input);
    count_twice(node, port, flights_[f].channel, now + (ahead + room_cycles) * cfg_.beat_ps);
  }
  let_in(node, port);
  send_next(node, port);
}

// The link has paid for a packet when its first flit leaves, and counts it as waiting until its first beat is taken,
// too (link_tx). So there is room for one packet less in its channel for these cycles.
void network::count_twice(unsigned node, unsigned port, unsigned channel, uint64_t until_ps) {
  uint16_t& units = out(node, port).units[channel];
  const auto held = std::min<unsigned>(units, most_units_);
  units = uint16_t(units - held);
  schedule(until_ps, what::credit, node, port, channel, held);
}

}  // namespace ggas::fabric
