// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/pairs/world.hpp"

#include <algorithm>

#include "sim/nic/tlp_rules.hpp"

namespace ggas::test {

namespace {
constexpr unsigned table_entries = 512;
constexpr uint64_t rings_of_context = 0x100'0000;  // as in rma_user.cpp
constexpr unsigned load_ticks = 8 * triangle::slow, host_ticks = 4 * triangle::slow, answer_ticks = 10 * triangle::slow;
}  // namespace

uint32_t world::value(uint64_t key, uint64_t index) {
  uint64_t x = (key << 48 ^ index) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  return uint32_t(x * 0xbf58476d1ce4e5b9ull >> 32) | 1;  // never 0
}

uint32_t world::word(unsigned node, uint64_t bus) { return value(node, bus >> 2); }

world::world(uint64_t seed) : t(seed), driver(t), random(seed) {
  t.on_tlp_out = [this](unsigned n, const pcie::tlp& x) { see(n, x); };
  for (unsigned d = 0; d < domains; ++d)
    for (unsigned n = 0; n < triangle::size; ++n)
      users_[d][n] = std::make_unique<rma_user>(t,
                                                user_config{.side = n,
                                                            .vpid = uint8_t(vpid + d),
                                                            .pd = domain_number[d],
                                                            .queue = (d + n) % 2 == 0,
                                                            .mailbox_log2 = 5},
                                                seed);
}

void world::map(unsigned n, unsigned d, bool valid) {
  for (uint64_t bus = home(d); bus < home(d) + unsigned(region::all) * region_bytes; bus += 0x1000)
    driver.map(n, logical(bus), bus, domain_number[d], {.valid = valid});
}

void world::set_up_node(unsigned n) {
  t.set_up_network(n);
  t.write_register(n, GGAS_REG_SMFU_TIMEOUT, load_ticks | host_ticks << 16);
  t.write_register(n, GGAS_REG_RMA_TIMEOUT, answer_ticks | host_ticks << 16);
  driver.set_up_node(n, table_entries, 2, 1, 3);
  for (unsigned d = 0; d < domains; ++d) {
    give_out(n, d);
    map(n, d, true);
    user(d, n).enable();
    for (unsigned target = 0; target < triangle::size; ++target)
      for (uint64_t o = 0; o < region_bytes; o += 4)
        t.host(n).mem.store32(source(d, target, o), word(target, at(d, region::puts, o)), 15);
    for (uint64_t o = 0; o < region_bytes; o += 4)
      t.host(n).mem.store32(at(d, region::gives, o), word(any_node, at(d, region::gets, o)), 15);
  }
  t.write_register(n, GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK);
}

bool world::set_up() {
  if (!t.fail.none()) return false;  // there is no such NIC
  for (unsigned n = 0; n < triangle::size; ++n) {
    set_up_node(n);
    for (unsigned d = 0; d < domains; ++d)
      for (region r : {region::stores, region::copies, region::puts, region::gets, region::counters, region::results,
                       region::sums})
        clear(n, at(d, r, 0), region_bytes);
  }
  if (!t.retrain()) return false;
  t.peers(true);
  t.run(200);
  return t.fail.none();
}

void world::clear(unsigned n, uint64_t bus, uint64_t bytes) {
  for (uint64_t a = bus; a < bus + bytes; ++a) t.host(n).mem.store8(a, 0);
}

bool world::holds(unsigned n, uint64_t bus, uint64_t bytes, unsigned as_node) {
  for (uint64_t a = bus; a < bus + bytes; ++a)
    if (t.host(n).mem.load8(a) != uint8_t(word(as_node, a) >> 8 * (a & 3))) return false;
  return true;
}

void world::see(unsigned n, const pcie::tlp& x) {
  if (x.kind != pcie::tlp_kind::mwr) return;
  for (unsigned i = 0; i < x.len_dw; ++i) {
    const uint64_t bus = x.addr + 4 * i;
    const bool closed =
        std::ranges::any_of(closed_, [&](const range& r) { return r.n == n && bus - r.first < r.bytes; });
    if (closed) t.fail.add("node {}: write to {:#x}, which is nobody's", n, bus);
    if (!belongs(n, bus, x.data[i], nic::byte_enables(x, i)))
      t.fail.add("node {}: foreign word {:#010x} at {:#x}", n, x.data[i], bus);
  }
}

bool world::belongs(unsigned n, uint64_t bus, uint32_t dw, unsigned be) {
  if (bus >> 32 == rma_tables >> 32) return true;  // the acknowledgement of invalidations
  if (bus >= rma_rings) return (bus - rma_rings) / rings_of_context - vpid < domains;
  const uint64_t d = (bus >> 32) - 1;
  if (d == hostile) return true;
  if (d >= domains) return false;
  const auto r = region((bus & 0xffff'ffff) / region_bytes);
  const uint64_t offset = (bus & 0xffff'ffff) % region_bytes;
  const auto right = [&](unsigned as_node) {
    uint32_t mask = 0;
    for (unsigned b = 0; b < 4; ++b) mask |= (be >> b & 1) * (0xffu << 8 * b);
    return ((dw ^ word(as_node, bus)) & mask) == 0;
  };
  switch (r) {
    case region::stores:
    case region::puts:
      return right(n);
    case region::copies:
    case region::gets:
      return right(any_node);
    default: {
      const auto it = checks[d].find(r);
      return it != checks[d].end() && it->second(n, offset, dw);
    }
  }
}

}  // namespace ggas::test
