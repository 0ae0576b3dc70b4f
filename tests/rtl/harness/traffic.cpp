// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/traffic.hpp"

#include <algorithm>

#include "sim/nic/tlp_rules.hpp"

namespace ggas::test {

namespace {
constexpr uint64_t hot_bytes = 8192;                    // where most accesses go
constexpr uint8_t from_byte[4] = {0xf, 0xe, 0xc, 0x8};  // enables from that byte on
constexpr uint8_t up_to_byte[4] = {0x1, 0x3, 0x7, 0xf};
// Registers that may change at any time without effect on the traffic.
constexpr uint16_t free_registers[] = {GGAS_REG_MSIX_ADDR(9), GGAS_REG_MSIX_ADDR(15), GGAS_REG_INTERVAL_START(63),
                                       GGAS_REG_INTERVAL_END(40)};
}  // namespace

traffic::traffic(rig& r, const traffic_config& cfg, uint64_t seed) : rig_(r), cfg_(cfg), rng_(seed) {}

bool traffic::run(uint64_t accesses) {
  const uint64_t goal = made_.all() + accesses, limit = rig_.now() + 2'000 + accesses * 400;
  while (made_.all() < goal && rig_.now() < limit && rig_.fail.count() < 50) {
    for (unsigned n = 0; n < 2; ++n) {
      if (!rng_.chance(cfg_.burst)) active_[n] = !active_[n];
      while (active_[n] && rig_.s[n].host->queued() < cfg_.queue) make(n);
    }
    rig_.step();
  }
  if (made_.all() < goal) rig_.fail.add("{} of {} accesses made", made_.all(), goal);
  return rig_.settle();
}

void traffic::make(unsigned n) {
  const unsigned all = cfg_.stores + cfg_.loads + cfg_.quiets + cfg_.registers;
  const uint64_t x = rng_.below(all);
  if (x < cfg_.stores)
    store(n);
  else if (x < cfg_.stores + cfg_.loads)
    load(n);
  else if (x < cfg_.stores + cfg_.loads + cfg_.quiets)
    quiet(n);
  else
    register_access(n);
}

// The half of each segment that source n writes begins at n * stride / 2.
traffic::shape traffic::choose(unsigned n, bool own_half, unsigned max_bytes) {
  shape a;
  a.target = rng_.chance(cfg_.own_node) ? n : 1 - n;
  const unsigned limit = rng_.chance(cfg_.small) ? 16 : max_bytes;
  // Accesses to the own node keep to the upper quarter, so that the scoreboard can distinguish the two sources.
  const bool self = a.target == n;
  const uint64_t quarter = rig_.cfg.stride / 4,
                 begin = (own_half || self ? n : 1 - n) * 2 * quarter + (self ? quarter : 0);
  // A few hot pages, so that accesses meet; and now and then anywhere.
  const uint64_t area = rng_.chance(0.8) ? hot_bytes : quarter;
  uint64_t at = rng_.below(area);
  unsigned bytes = unsigned(rng_.range(1, limit));
  if (rng_.chance(0.3)) at &= ~uint64_t{63}, bytes = std::min(limit, 64u);
  bytes = unsigned(std::min<uint64_t>({bytes, 4096 - at % 4096, max_bytes - at % 4}));
  const uint64_t end = at + bytes;
  a.offset = begin + (at & ~uint64_t{3});
  a.dws = unsigned(((end + 3) & ~uint64_t{3}) - (at & ~uint64_t{3})) / 4;
  a.first_be = from_byte[at & 3];
  a.last_be = up_to_byte[(end - 1) & 3];
  if (a.dws == 1) {
    a.first_be &= a.last_be;
    a.last_be = 0;
    if (rng_.chance(0.02)) a.first_be = 0;
  }
  return a;
}

void traffic::store(unsigned n) {
  const shape a = choose(n, true, rig_.cfg.host.mps);
  std::vector<uint32_t> dws(a.dws);
  for (auto& d : dws) d = uint32_t(rng_.next());
  auto t = make_write(bar_window, rig_.window(a.target, a.offset), std::move(dws), a.first_be, a.last_be);
  for (unsigned i = 0; i < a.dws; ++i) {
    const unsigned be = nic::byte_enables(t, i);
    shadow_[a.target].store32(rig_.bus(a.target, a.offset + 4 * i), t.data[i], be);
    for (unsigned b = 0; b < 4; ++b)
      if (be >> b & 1) ++stored_[a.target][a.offset + 4 * i + b];
  }
  for (auto& l : open_[n]) {
    if (l.target != a.target || a.offset >= l.offset + l.expected.size() || a.offset + 4 * a.dws <= l.offset) continue;
    for (unsigned i = 0; i < 4 * a.dws; ++i)
      if (nic::byte_enables(t, i / 4) >> i % 4 & 1)
        l.later.push_back({a.offset + i, uint8_t(t.data[i / 4] >> 8 * (i % 4))});
  }
  t.requester = uint16_t(rng_.next());
  rig_.write(n, t);
  ++made_.stores;
}

void traffic::load(unsigned n) {
  const bool own_half = rng_.chance(0.8);
  const shape a = choose(n, own_half, cfg_.max_load);
  auto t = make_read(bar_window, rig_.window(a.target, a.offset), a.dws, a.first_be, a.last_be);
  t.attr = uint8_t(rng_.below(8));
  t.requester = uint16_t(rng_.next());
  open_load l{.target = a.target, .offset = a.offset, .expected = {}, .later = {}, .checked = own_half};
  for (unsigned i = 0; i < 4 * a.dws; ++i)
    l.expected.push_back(shadow_[a.target].load8(rig_.bus(a.target, a.offset + i)));
  open_[n].push_back(std::move(l));
  const auto it = std::prev(open_[n].end());
  rig_.s[n].host->read(t, [this, it, n, t](const read_result& r) { loaded(it, t, r, n); });
  ++made_.loads;
}

void traffic::loaded(const std::list<open_load>::iterator& l, const pcie::tlp& request, const read_result& r,
                     unsigned n) {
  if (!r.ok()) rig_.fail.add("load of {:#x} ended with status {}", request.addr, unsigned(r.status));
  for (unsigned i = 0; l->checked && r.ok() && i < l->expected.size(); ++i) {
    if (!(nic::byte_enables(request, i / 4) >> i % 4 & 1)) continue;
    const uint8_t got = uint8_t(r.dws[i / 4] >> 8 * (i % 4));
    const bool later =
        std::ranges::any_of(l->later, [&](const auto& s) { return s.first == l->offset + i && s.second == got; });
    if (got == l->expected[i] || later) continue;
    rig_.fail.add("side {} load of segment {} byte {:#x}: {:02x}, stored was {:02x}", n, l->target, l->offset + i, got,
                  l->expected[i]);
    break;
  }
  open_[n].erase(l);
}

// After it, everything this side stored before must be in memory.
void traffic::quiet(unsigned n) {
  if (quiet_open_[n]) return store(n);
  struct sample {
    unsigned target;
    uint64_t offset;
    uint8_t value;
    uint32_t stored;
  };
  auto samples = std::make_shared<std::vector<sample>>();
  const uint64_t quarter = rig_.cfg.stride / 4;
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned target = unsigned(rng_.below(2));
    const uint64_t offset = (2 * n + (target == n)) * quarter + rng_.below(hot_bytes);
    samples->push_back({target, offset, shadow_[target].load8(rig_.bus(target, offset)), stored_[target][offset]});
  }
  quiet_open_[n] = true;
  const uint64_t page = rng_.below(nic::rma_contexts) * nic::rma_context_bytes;
  rig_.s[n].host->read(make_read(bar_pages, page, rng_.chance(0.5) ? 1 : 2), [this, samples, n](const read_result& r) {
    quiet_open_[n] = false;
    if (!r.ok() || r.value() != 0)
      rig_.fail.add("side {}: quiet ended with status {} value {}", n, unsigned(r.status), r.value());
    for (const auto& x : *samples) {
      if (stored_[x.target][x.offset] != x.stored) continue;  // stored again meanwhile: either value may be there
      const uint8_t got = rig_.s[x.target].host->mem.load8(rig_.bus(x.target, x.offset));
      if (got != x.value)
        return rig_.fail.add("side {}: byte {:#x} of segment {} is {:02x} after a quiet, stored was {:02x}", n,
                             x.offset, x.target, got, x.value);
    }
  });
  ++made_.quiets;
}

void traffic::register_access(unsigned n) {
  const unsigned k = unsigned(rng_.below(std::size(free_registers)));
  uint64_t& open = busy_registers_[n * 8 + k];
  ++made_.registers;
  if (open == 0 && rng_.chance(0.5)) {
    const bool low = rng_.chance(0.5);
    const auto word = uint32_t(rng_.next());
    if (rng_.chance(0.5)) return rig_.write(n, make_write(bar_registers, free_registers[k] + (low ? 0 : 4), {word}));
    return rig_.write(n, make_write(bar_registers, free_registers[k], {word, uint32_t(rng_.next())}));
  }
  ++open;
  rig_.s[n].host->read(make_read(bar_registers, free_registers[k], rng_.chance(0.5) ? 1 : 2),
                       [&open](const read_result&) { --open; });
}

void traffic::check() {
  for (unsigned t = 0; t < 2; ++t) {
    shadow_[t].for_each_page([&](uint64_t page) {
      for (uint64_t a = page; a < page + 4096; ++a) {
        const uint8_t want = shadow_[t].load8(a), got = rig_.s[t].host->mem.load8(a);
        if (want == got) continue;
        rig_.fail.add("memory of side {} at {:#x}: {:02x}, expected {:02x}", t, a, got, want);
        break;
      }
    });
    rig_.s[t].host->mem.for_each_page([&](uint64_t page) {
      const bool exported = page - rig_.cfg.segment[t] < rig_.cfg.stride;
      if (rig::own_page(page) || (rig_.s[t].board->one_sided && !exported)) return;
      for (uint64_t a = page; a < page + 4096; ++a)
        if (rig_.s[t].host->mem.load8(a) != shadow_[t].load8(a))
          return rig_.fail.add("stray write into side {} at {:#x}", t, a);
    });
  }
  rig_.check_finished();
}

}  // namespace ggas::test
