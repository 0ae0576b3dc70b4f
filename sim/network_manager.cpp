// SPDX-License-Identifier: Apache-2.0
#include "sim/network_manager.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "ggas_regs.h"

namespace ggas::sim {

namespace {

// Our own choices: the time of a datagram between drivers of two nodes over a gigabit Ethernet, one way; the wait for
// further reports of the same failure, which nodes send within microseconds; and the time after which a driver without
// an answer is dead (an answer takes two datagrams and some register accesses).
constexpr uint64_t ethernet_ps = 30'000'000, settle_ps = 30'000'000, timeout_ps = 1'000'000'000;
constexpr unsigned most_drains = 1000;  // a NIC that no one stops may send for ever

}  // namespace

network_manager::network_manager(const fabric::topology& shape, uint64_t link_ctrl, drivers all)
    : shape_(shape),
      link_ctrl_(link_ctrl),
      all_(std::move(all)),
      reported_(shape.nodes()),
      ends_(shape.nodes()),
      silent_(shape.nodes()),
      written_(shape),
      answers_(shape.nodes()),
      ethernet_("management_ethernet", [](std::function<void()>&& message) { message(); }) {}

void network_manager::send(std::function<void()> message) {
  ethernet_.push_at(pcie::now_ps() + ethernet_ps, std::move(message));
}

// ---------------------------------------------------------------------------------------------- what is known

// Links that come up for the first time are no news.
void network_manager::heard(unsigned node, bool up) {
  if (!all_.alive(node) || (up && reported_[node] == 0)) return;
  all_.read(node, GGAS_REG_LINKS, [=, this](std::optional<uint64_t> links) {
    if (!links || !all_.alive(node)) return;
    uint8_t dead = 0;
    for (unsigned port = 0; port < shape_.ports(); ++port) {
      const bool is_up = (*links >> (GGAS_LINKS_STATES_SHIFT + 2 * port) & 3) == GGAS_LINK_STATE_UP;
      if (shape_.across(node, port) && !is_up) dead |= uint8_t(1u << port);
    }
    if (std::exchange(reported_[node], dead) != dead) send([=, this] { news(node, dead); });
  });
}

void network_manager::found_dead(unsigned node, unsigned port) {
  reported_[node] |= uint8_t(1u << port);
  news(node, reported_[node]);
}

void network_manager::news(unsigned node, uint8_t dead) {
  ends_[node] = dead;
  if (!busy_) settle();
}

void network_manager::settle() {
  busy_ = true;
  settle_.notify(sc_core::sc_time::from_value(settle_ps));
}

fabric::damage network_manager::now() const {
  fabric::damage dead(shape_);
  for (unsigned n = 0; n < shape_.nodes(); ++n) {
    for (unsigned port = 0; port < shape_.ports(); ++port)
      if (ends_[n] >> port & 1) dead.set_link(n, port, true);
    dead.set_node(n, silent_[n]);
  }
  return dead;
}

// ---------------------------------------------------------------------------------------------- rounds of all drivers

void network_manager::ask_all(const std::function<void(unsigned)>& act, const values& registers,
                              std::function<void()> then) {
  ++round_;
  then_ = std::move(then);
  left_ = 0;
  before_ = std::exchange(answers_, std::vector<std::optional<values>>(shape_.nodes()));
  for (unsigned n = 0; n < shape_.nodes(); ++n) {
    if (silent_[n]) continue;
    ++left_;
    send([=, this, round = round_] {
      if (!all_.alive(n)) return;
      act(n);
      read(n, registers, {}, round);
    });
  }
  timeout_.notify(sc_core::sc_time::from_value(timeout_ps));
}

void network_manager::read(unsigned node, const values& registers, values so_far, uint64_t round) {
  if (so_far.size() == registers.size()) return send([=, this]() mutable { answered(node, std::move(so_far), round); });
  const auto offset = uint16_t(registers[so_far.size()]);
  all_.read(node, offset, [=, this](std::optional<uint64_t> value) mutable {
    if (!value || !all_.alive(node)) return;
    so_far.push_back(*value);
    read(node, registers, std::move(so_far), round);
  });
}

void network_manager::answered(unsigned node, values&& reported, uint64_t round) {
  if (round != round_) return;
  answers_[node] = std::move(reported);
  if (--left_ == 0) end_round();
}

void network_manager::give_up_silent() {
  for (unsigned n = 0; n < shape_.nodes(); ++n) silent_[n] = silent_[n] || !answers_[n];
  end_round();
}

void network_manager::end_round() {
  ++round_;
  timeout_.cancel();
  std::exchange(then_, {})();
}

// ---------------------------------------------------------------------------------------------- new tables

// Units refuse requests for other nodes, and operations that wait for other nodes end with an error. So the initiator
// of every packet that may be lost is informed.
void network_manager::stop() {
  if (now() == written_) {
    busy_ = false;
    return;
  }
  drains_ = 0;
  const uint64_t none = shape_.nodes() - 1;
  ask_all(
      [=, this](unsigned n) {
        all_.set_group(n, false);
        all_.write(n, GGAS_REG_LINK_PEER, none);
      },
      {GGAS_REG_LINK_PEER}, [this] { drain(); });
}

void network_manager::drain() {
  ask_all([](unsigned) {}, {GGAS_REG_LINK_TX_PACKETS, GGAS_REG_LINK_RX_PACKETS, GGAS_REG_LINK_STATUS},
          [this] { look_at_counters(); });
}

// While a packet is in a buffer of a hop, one moves somewhere, in much less than a round.
void network_manager::look_at_counters() {
  const auto waits = [](const std::optional<values>& v) { return v && (*v)[2] & GGAS_LINK_STATUS_UNACKED_MASK; };
  const bool empty = drains_ != 0 && answers_ == before_ && std::ranges::none_of(answers_, waits);
  if (empty || ++drains_ == most_drains) return write_tables();
  drain();
}

void network_manager::write_tables() {
  next_ = now();
  const auto before = std::make_shared<fabric::routes>(shape_, written_);
  const auto after = std::make_shared<fabric::routes>(shape_, *next_);
  ask_all(
      [=, this](unsigned n) {
        write_lines(n, *before, *after);
        if (ends_[n] != 0) all_.write(n, GGAS_REG_LINK_CTRL, link_ctrl_ | GGAS_LINK_CTRL_RETRAIN_MASK);
      },
      {GGAS_REG_LINK_PEER}, [this] { go(); });
}

void network_manager::write_lines(unsigned node, const fabric::routes& before, const fabric::routes& after) {
  for (unsigned to = 0; to < shape_.nodes(); ++to)
    if (to != node && before.of(node, to) != after.of(node, to))
      all_.write(node, GGAS_REG_ROUTE, route_register(to, after.of(node, to)));
}

void network_manager::go() {
  const uint64_t all = (shape_.nodes() - 1) | GGAS_LINK_PEER_VALID_MASK;
  const bool whole = !next_->any();
  ask_all(
      [=, this](unsigned n) {
        if (whole) all_.set_group(n, true);
        all_.write(n, GGAS_REG_LINK_PEER, all);
      },
      {GGAS_REG_LINK_PEER}, [this] { end(); });
}

void network_manager::end() {
  written_ = *std::exchange(next_, std::nullopt);
  ++changes_;
  busy_ = false;
  if (now() != written_) settle();
}

uint64_t route_register(unsigned to, const std::optional<fabric::routes::line>& line) {
  uint64_t value = to | GGAS_ROUTE_SET_MASK;
  if (!line) return value;
  value |= uint64_t(line->first.port) << GGAS_ROUTE_LINK_SHIFT | uint64_t(line->first.lane) << GGAS_ROUTE_LANE_SHIFT |
           GGAS_ROUTE_VALID_MASK;
  if (line->second)
    value |= uint64_t(line->second->port) << GGAS_ROUTE_SECOND_LINK_SHIFT |
             uint64_t(line->second->lane) << GGAS_ROUTE_SECOND_LANE_SHIFT | GGAS_ROUTE_SECOND_MASK;
  return value;
}

uint64_t group_register(unsigned group, const fabric::group_line& line, bool valid) {
  return group | uint64_t(line.lane) << GGAS_MULTICAST_LANE_SHIFT | uint64_t(line.port) << GGAS_MULTICAST_LINK_SHIFT |
         uint64_t(line.member) << GGAS_MULTICAST_MEMBER_SHIFT | uint64_t(valid) << GGAS_MULTICAST_VALID_SHIFT |
         uint64_t(line.branches) << GGAS_MULTICAST_BRANCHES_SHIFT | GGAS_MULTICAST_SET_MASK;
}

}  // namespace ggas::sim
