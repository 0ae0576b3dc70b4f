// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/rig.hpp"

#include "sim/nic/packet.hpp"
#include "sim/nic/rtl/nic_rtl.hpp"
#include "tests/rtl/harness/model_core.hpp"

namespace ggas::test {

using pcie::tlp;

namespace {
constexpr unsigned ring_log2 = 8;
constexpr unsigned sequence_window = 127;
constexpr unsigned link_up_state = 2;
}  // namespace

rig::rig(const rig_config& c) : cfg(c), rng_(c.seed ^ 0x5151) {
  now_ = c.start_time;
  for (unsigned n = 0; n < 2; ++n) {
    side& x = s[n];
    auto made =
        cfg.model ? make_model_core(cfg.width, cfg.host) : nic::make_nic_rtl(cfg.width, cfg.host, n ? "nic1" : "nic0");
    if (!made) {
      fail.add("{}", made.error());
      continue;
    }
    x.nic = std::move(*made);
    x.host = std::make_unique<host_model>(*x.nic, cfg.host, cfg.behaviour, cfg.seed * 2 + n, fail);
    x.board = std::make_unique<scoreboard>(cfg.width, cfg.host, fail);
    x.out = std::make_unique<link_channel>(cfg.width, cfg.link_latency, cfg.seed * 3 + n);
    x.monitor = std::make_unique<nic::flit_decoder>(cfg.width);
    x.host->on_push = [&x](const tlp& t) { x.board->host_push(t); };
    x.host->on_pop = [this, &x, n](const tlp& t) {
      if (on_tlp_out) on_tlp_out(n, t);
      x.board->host_pop(t);
    };
    x.host->on_completion = [&x](const tlp& t, unsigned dw) { x.board->host_completion(t, dw); };
    x.board->own_write = own_page;
    x.nic->link_up(0, true);
    x.nic->link_ready(0, true);
    x.nic->gate(true, true, true);
  }
}

// Decodes what a NIC sends; replays (sequence numbers seen before) are not reported again.
void rig::monitor(unsigned n, const nic::flit& f) {
  if (on_flit) on_flit(n, f);
  const auto p = s[n].monitor->push(f);
  if (!p || p->seq != s[n].next_seq) return;
  ++s[n].next_seq;
  if (on_packet) on_packet(n, *p);
  nic::packet q = *p;
  q.seq = q.session = q.version = 0;
  s[n].board->link_out(q);
  s[1 - n].board->link_in(q);
}

void rig::step_side(unsigned n) {
  side& x = s[n];
  x.host->before_step(now_);
  if (const auto f = s[1 - n].out->receive(now_)) x.nic->link_in(0, *f);
  if (cfg.phy_stall > 0) x.nic->link_ready(0, !rng_.chance(cfg.phy_stall));
  const bool tick = x.nic->timer() && now_ % nic::nic_core::tick_cycles == 0;
  x.stepped = !cfg.gated || x.nic->busy() || tick;
  if (x.stepped) x.nic->step(now_);
}

void rig::step() {
  fail.now = now_;
  for (unsigned n = 0; n < 2; ++n) step_side(n);
  for (unsigned n = 0; n < 2; ++n) {
    if (const auto f = s[n].stepped ? s[n].nic->link_out(0) : std::nullopt) {
      monitor(n, *f);
      s[n].out->send(*f, now_);
    }
    s[n].host->after_step(now_);
  }
  if (on_step) on_step();
  ++now_;
}

bool rig::settle(uint64_t limit) {
  const auto idle = [&] {
    bool yes = true;
    for (const auto& x : s) yes = yes && x.host->idle() && (!x.board->enabled || x.board->quiet());
    return yes;
  };
  if (!run_until(idle, limit, "settling")) return false;
  run(200 + 4 * cfg.link_latency);
  return true;
}

bool rig::wait_link_up(uint64_t limit) {
  for (unsigned n = 0; n < 2; ++n) {
    const uint64_t end = now_ + limit;
    while ((read_register(n, GGAS_REG_LINK_STATUS) & 3) != link_up_state) {
      if (now_ > end) {
        fail.add("link of side {} does not come up", n);
        return false;
      }
    }
  }
  return true;
}

bool rig::set_up() {
  for (unsigned n = 0; n < 2; ++n) {
    if (!s[n].nic) return false;
    write_register(n, GGAS_REG_NODE, cfg.id[n]);
    write_register(n, GGAS_REG_LINK_PEER, cfg.id[1 - n] | GGAS_LINK_PEER_VALID_MASK);
    write_register(n, GGAS_REG_LINK_CTRL, cfg.replay_limit << 8 | cfg.replay_timeout << 16);
    give_out(n, segment_export, cfg.segment[n], cfg.stride, window_domain);
    write_register(n, GGAS_REG_SMFU_TIMEOUT, cfg.load_ticks | cfg.host_ticks << 16);
    for (unsigned i = 0; i < 2; ++i) {
      map(n, i,
          {.start = window(i, 0),
           .end = window(i, cfg.stride),
           .node = cfg.id[i],
           .number = segment_export,
           .domain = window_domain});
    }
    const unsigned shift = unsigned(std::countr_zero(cfg.stride));
    write_register(n, GGAS_REG_SMFU_MASK, uint64_t{0xffff} << shift);
    write_register(n, GGAS_REG_SMFU_SHIFT,
                   shift | uint64_t{std::max(cfg.id[0], cfg.id[1]) + 1u} << GGAS_SMFU_SHIFT_NODES_SHIFT |
                       uint64_t{segment_export} << GGAS_SMFU_SHIFT_EXPORT_NO_SHIFT |
                       uint64_t{window_domain} << GGAS_SMFU_SHIFT_DOMAIN_SHIFT);
    write_register(n, GGAS_REG_EVQ_BASE, event_ring);
    write_register(n, GGAS_REG_EVQ_CTRL, 1 | ring_log2 << 8 | 3 << 16);
    write_register(n, uint16_t(GGAS_REG_MSIX_ADDR(3)), msix_page);
    write_register(n, uint16_t(GGAS_REG_MSIX_CTRL(3)), 0x1234'5678);
    write_register(n, GGAS_REG_SMFU_CTRL, 3 | (cfg.mask_mode ? GGAS_SMFU_CTRL_MODE_MASK : 0));
  }
  if (!wait_link_up()) return false;
  run(100);
  return fail.none();
}

void rig::check_finished() {
  for (unsigned n = 0; n < 2; ++n)
    s[n].board->check_finished([&](uint16_t offset) { return read_register(n, offset); });
}

void rig::link_phy_up(bool up) {
  for (auto& x : s) {
    x.nic->link_up(0, up);
    x.out->cut = !up;
    x.next_seq = 0;
  }
}

bool rig::retrain(unsigned limit) {
  for (unsigned i = 0; i < limit; ++i) {
    unsigned up = 0;
    for (unsigned n = 0; n < 2; ++n) {
      const unsigned state = read_register(n, GGAS_REG_LINK_STATUS) & GGAS_LINK_STATUS_STATE_MASK;
      up += state == GGAS_LINK_STATE_UP;
      if (state != GGAS_LINK_STATE_DEAD) continue;
      s[n].next_seq = 0;
      write_register(n, GGAS_REG_LINK_CTRL,
                     GGAS_LINK_CTRL_RETRAIN_MASK | cfg.replay_limit << 8 | cfg.replay_timeout << 16);
    }
    if (up == 2) return true;
    run(1'100);  // a side that does not receive its peer asks once a tick
  }
  fail.add("the link does not come up again");
  return false;
}

std::vector<nic::event> rig::event_log(unsigned n) {
  std::vector<nic::event> log;
  const uint64_t count = read_register(n, GGAS_REG_EVQ_HEAD);
  run(200);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = event_ring + (i % (1u << ring_log2)) * 16;
    const uint64_t w = s[n].host->mem.load64(at);
    log.push_back({uint8_t(w >> 56), uint16_t(w >> 40), w & 0xff'ffff'ffff});
  }
  return log;
}

std::string rig::report() const {
  return fmt::format("seed {} width {} cycle {}: {} failures\n{}", cfg.seed, cfg.width, now_, fail.count(),
                     fail.text());
}

}  // namespace ggas::test
