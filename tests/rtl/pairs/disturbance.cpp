// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/pairs/disturbance.hpp"

#include <bit>

namespace ggas::test {

namespace {
constexpr uint64_t timeout = 400'000;  // cycles for users to get on
}  // namespace

const char* to_text(disturbance f) {
  static constexpr const char* names[disturbances] = {
      "dead branch", "flap",           "retrain",          "routes",    "stop",       "reset",
      "FLR",         "revoked export", "ATU invalidation", "MPS, MRRS", "host stall", "malformed packets"};
  return names[unsigned(f)];
}

pair_run::pair_run(kind k, disturbance f, uint64_t seed) : w(seed), kind_(k), disturbance_(f) {
  feature_ = make_feature(k, w, {.domains = {0, 1}, .nodes = {0, 1, 2}});
  if (f == disturbance::malformed)
    for (unsigned i = 0; i < kinds; ++i)
      if (kind(i) != kind::second_choices)
        intruders_.push_back(make_feature(kind(i), w, {.domains = {hostile}, .nodes = {hostile}}));
}

bool pair_run::set_up() {
  if (!w.set_up()) return false;
  for (unsigned n = 0; n < triangle::size; ++n) {
    feature_->set_up(n);
    for (auto& s : intruders_) s->set_up(n);
  }
  for (unsigned n = 0; n < triangle::size; ++n) w.t.read_register(n, GGAS_REG_NODE);
  w.t.on_step = [this] {
    if (!working_ || w.t.now() % 4) return;
    feature_->work();
    for (auto& s : intruders_) s->work();
  };
  working_ = true;
  expect_alive();
  return w.t.fail.none();
}

bool pair_run::loses_packets() const {
  switch (disturbance_) {
    case disturbance::retrain:
    case disturbance::stop:
    case disturbance::revoke:
    case disturbance::invalidate:
    case disturbance::sizes:
      return false;
    default:
      return true;
  }
}

void pair_run::round() {
  traffic(w.random.range(200, 1'500));
  w.calm = false;
  may_die_ = {};
  happen();
  check_healthy();
  if (loses_packets()) recover();
  ++w.epoch;
  w.calm = true;
  expect_alive();
}

void pair_run::happen() {
  const auto n = unsigned(w.random.below(triangle::size)), d = unsigned(w.random.below(2));
  switch (disturbance_) {
    case disturbance::dead_branch:
      return cut(3'000, 8'000);
    case disturbance::flap:
      return cut(1, 100);
    case disturbance::retrain:
      return write_link_ctrl();
    case disturbance::routes:
      return change_routes();
    case disturbance::stop:
      ++events_;
      return feature_->stop_and_start(d, n);
    case disturbance::reset:
      return stop_nic(n);
    case disturbance::flr:
      return reset_function(n);
    case disturbance::revoke:
      return revoke(n, d);
    case disturbance::invalidate:
      return invalidate(n, d);
    case disturbance::sizes:
      return change_sizes(n);
    case disturbance::stall:
      return stall(n);
    case disturbance::malformed:
      return be_hostile();
  }
}

void pair_run::cut(uint64_t least, uint64_t most) {
  const auto c = w.random.below(cables.size());
  may_die_[c] = true;
  unplug(unsigned(c), w.random.range(least, most));
  traffic(500);
  ++events_;
}

void pair_run::unplug(unsigned c, uint64_t cycles) {
  w.t.cable(cables[c].first, cables[c].second, false);
  traffic(cycles);
  w.t.cable(cables[c].first, cables[c].second, true);
}

void pair_run::write_link_ctrl() {
  for (unsigned k = 0; k < 8; ++k) {
    w.t.write_register(unsigned(w.random.below(triangle::size)), GGAS_REG_LINK_CTRL,
                       GGAS_LINK_CTRL_RETRAIN_MASK | w.random.range(16, 255) << GGAS_LINK_CTRL_REPLAY_LIMIT_SHIFT |
                           w.random.range(500, 4'000) * triangle::slow << GGAS_LINK_CTRL_REPLAY_TIMEOUT_SHIFT);
    traffic(w.random.below(200));
    ++events_;
  }
}

void pair_run::change_routes() {
  for (unsigned k = 0; k < 24; ++k) {
    const auto n = unsigned(w.random.below(triangle::size));
    const bool on = k >= 12 || w.random.chance(0.5);
    switch (w.random.below(3)) {
      case 0:
        w.t.write_register(n, GGAS_REG_LINK_PEER, (triangle::size - 1) | uint64_t{on} << GGAS_LINK_PEER_VALID_SHIFT);
        break;
      case 1:
        w.t.set_second(n % 2, on);
        break;
      default:
        w.t.set_group(n, unsigned(w.random.below(2)), on);
    }
    traffic(w.random.below(100));
    ++events_;
  }
  for (unsigned n = 0; n < triangle::size; ++n) {
    if (n < 2) w.t.set_second(n, true);
    for (unsigned group = 0; group < triangle::size; ++group) w.t.set_group(n, group, true);
  }
}

// After a reset or a stop of a whole NIC.
void pair_run::set_up_again(unsigned n) {
  working_ = false;
  w.set_up_node(n);
  feature_->set_up(n);
  for (auto& s : intruders_) s->set_up(n);
  w.t.read_register(n, GGAS_REG_NODE);
  working_ = true;
}

void pair_run::stop_nic(unsigned n) {
  w.t.write_register(n, GGAS_REG_STOP, GGAS_STOP_NIC_MASK);
  const uint64_t limit = w.t.now() + timeout;
  while (!(w.t.read_register(n, GGAS_REG_STOPPED) & GGAS_STOPPED_NIC_MASK))
    if (w.t.now() > limit) return w.t.fail.add("node {} does not stop", n);
  w.close(n, 0, ~uint64_t{0});
  traffic(w.random.below(1'000));
  w.open_all();
  set_up_again(n);
  w.t.write_register(n, GGAS_REG_STOP, 0);
  ++events_;
}

void pair_run::reset_function(unsigned n) {
  for (unsigned c = 0; c < cables.size(); ++c) may_die_[c] = cables[c].first == n || cables[c].second == n;
  w.t.nic(n).reset_function();
  w.t.run_until([&] { return !w.t.nic(n).in_reset(); }, timeout, "function-level reset");
  working_ = false;
  traffic(3'000 * triangle::slow);  // requests of the host that were in flight
  w.t.host(n).forget_reads();
  set_up_again(n);
  ++events_;
}

void pair_run::revoke(unsigned n, unsigned d) {
  const unsigned number = world::export_number + d;
  w.t.write_register(n, uint16_t(GGAS_REG_EXPORT_ACCESS(number)), 0);
  const uint64_t limit = w.t.now() + timeout;
  while (!(w.t.read_register(n, uint16_t(GGAS_REG_EXPORT_STATE(number))) & GGAS_EXPORT_STATE_STOPPED_MASK))
    if (w.t.now() > limit) return w.t.fail.add("node {}: export of domain {} does not stop", n, d);
  w.close(n, world::home(d), 2 * world::region_bytes);
  traffic(w.random.below(1'000));
  w.open_all();
  w.give_out(n, d);
  w.t.read_register(n, GGAS_REG_NODE);
  ++events_;
}

void pair_run::invalidate(unsigned n, unsigned d) {
  w.map(n, d, false);
  w.driver.invalidate(n, std::nullopt);
  for (const region r : {region::puts, region::gets, region::counters, region::results})
    w.close(n, world::at(d, r, 0), world::region_bytes);
  traffic(w.random.below(1'000));
  w.open_all();
  w.map(n, d, true);
  w.driver.invalidate(n, std::nullopt);
  ++events_;
}

void pair_run::change_sizes(unsigned n) {
  for (unsigned k = 0; k < 16; ++k) {
    const bool last = k == 15;
    const auto sizes = std::bit_width(triangle::mtu / 128);
    w.t.nic(n).sizes(uint16_t(last ? triangle::mtu : 128 << w.random.below(sizes)),
                     uint16_t(last ? 512 : 128 << w.random.below(3)));
    traffic(w.random.below(100));
    ++events_;
  }
}

void pair_run::stall(unsigned n) {
  w.t.host(n).behaviour.hold = true;
  traffic(w.random.range(500, 6'000));
  w.t.host(n).behaviour.hold = false;
  traffic(500);
  ++events_;
}

// Changes any field, but never to the domain of others, because their NICs guarantee it. Fields on which the link
// itself depends are changed rarely, because the link may then die.
void pair_run::forge(nic::packet& p) {
  if (p.src != hostile || p.domain != domain_number[hostile] || w.random.chance(0.2)) return;
  rng& g = w.random;
  ++events_;
  for (auto& dw : p.data) dw = 0xbad00000 | uint32_t(g.below(0x10000));
  for (unsigned k = 1 + unsigned(g.below(4)); k; --k) {
    switch (g.below(14)) {
      case 0:
        p.dst = uint16_t(g.chance(0.7) ? g.below(3) : g.next());
        break;
      case 1:
        p.src = uint16_t(g.chance(0.7) ? g.below(3) : g.next());
        break;
      case 2:
        p.op = uint8_t(g.next());
        break;
      case 3:
        p.status = uint8_t(g.below(16));
        break;
      case 4:
        p.first_be = uint8_t(g.below(16));
        p.last_be = uint8_t(g.below(16));
        break;
      case 5:
        p.tag = uint16_t(g.next());
        break;
      case 6:
        p.vpid = uint8_t(g.chance(0.5) ? world::vpid + g.below(3) : g.next());
        break;
      case 7:
        p.req_dw = uint16_t(g.below(2048));
        break;
      case 8:
        p.addr = g.chance(0.7) ? world::logical(world::at(unsigned(g.below(2)), region(g.below(8)), g.below(0x8000)))
                               : g.next();
        break;
      case 9:
        p.domain = uint16_t(g.next());
        if (p.domain == domain_number[0] || p.domain == domain_number[1]) ++p.domain;
        break;
      case 10:
        p.export_no = uint8_t(g.chance(0.7) ? world::export_number + g.below(3) : g.next());
        break;
      case 11:
        p.hops = uint8_t(g.next());
        break;
      case 12:
        p.detail = uint16_t(g.below(4096));
        p.reserved = uint16_t(g.below(2048));
        break;
      default:
        if (!g.chance(0.2)) break;
        may_die_[1] = may_die_[2] = true;
        p.vc = uint8_t(g.below(8));
        p.version = uint8_t(g.below(8));
        p.len_dw = uint16_t(g.below(triangle::mtu / 4 + 16));
        p.data.resize(p.len_dw, 0xbad);
    }
  }
}

void pair_run::be_hostile() {
  for (unsigned to = 0; to < 2; ++to) w.t.wire(hostile, to).forge = [this](nic::packet& p) { forge(p); };
  traffic(w.random.range(2'000, 5'000));
  for (unsigned to = 0; to < 2; ++to) w.t.wire(hostile, to).forge = nullptr;
  // What changed its channel or length on the wire was paid for as something else (docs/link.md): such sessions end.
  for (unsigned c = 0; c < cables.size(); ++c)
    if (may_die_[c]) unplug(c, 100);
}

void pair_run::check_healthy() {
  for (unsigned c = 0; c < cables.size(); ++c)
    if (!may_die_[c] && !w.t.up(cables[c].first, cables[c].second))
      w.t.fail.add("the healthy link of nodes {} and {} is dead", cables[c].first, cables[c].second);
}

// As docs/network.md says for groups that may have lost packets: every member is informed by the loss of its route.
void pair_run::recover() {
  working_ = false;
  w.t.retrain();
  w.t.peers(false);
  traffic(3'000 * triangle::slow);
  for (unsigned n = 0; n < triangle::size; ++n)
    w.t.write_register(n, GGAS_REG_WATCHDOG, w.t.read_register(n, GGAS_REG_WATCHDOG) | GGAS_WATCHDOG_RESUME_MASK);
  w.t.peers(true);
  traffic(100);
  feature_->recover();
  for (auto& s : intruders_) s->recover();
  working_ = true;
}

void pair_run::expect_alive() {
  auto want = feature_->progress();
  for (auto& p : want) p += 2;
  const auto there = [&] {
    const auto now = feature_->progress();
    for (size_t i = 0; i < now.size(); ++i)
      if (now[i] < want[i]) return false;
    return true;
  };
  w.t.run_until(there, timeout, "later traffic");
}

void pair_run::check_finished() {
  working_ = false;
  for (unsigned n = 0; n < triangle::size; ++n)
    if (disturbance_ != disturbance::malformed && kind_ != kind::coll && w.t.events(n, GGAS_EV_BAD_PACKET))
      w.t.fail.add("node {} met a packet that makes no sense", n);
}

}  // namespace ggas::test
