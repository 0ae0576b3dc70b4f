// SPDX-License-Identifier: Apache-2.0
// Allreduce by the NICs' units: group d is domain d's, of all nodes, with node 0 as its root.
#include <algorithm>

#include "sim/nic/coll_format.hpp"
#include "tests/rtl/pairs/feature.hpp"

namespace ggas::test {
namespace {

class coll_feature : public feature {
 public:
  coll_feature(world& w, const users_of& who) : feature(w, who) {
    for (unsigned d : who.domains) {
      for (unsigned n = 0; n < triangle::size; ++n) members_.push_back({d, n});
      w.checks[d][region::sums] = [this, d](unsigned n, uint64_t offset, uint32_t dw) {
        if (offset == nic::coll::flag_offset) return dw <= of(d, n).begun;
        if (offset > nic::coll::flag_offset) return offset == nic::coll::flag_offset + 4 && dw < 16;
        return dw == uint32_t(sum(d, offset % nic::coll::result_bytes / 8) >> (offset & 4 ? 32 : 0));
      };
    }
  }
  void set_up(unsigned n) override {
    for (unsigned d : who_.domains) {
      start(d, n);
      of(d, n).now = state::good;
    }
  }
  void work() override {
    for (member& m : members_) {
      const uint64_t flag = w_.t.host(m.n).mem.load64(world::at(m.d, region::sums, nic::coll::flag_offset));
      if (m.open && uint32_t(flag) == m.begun) end(m, unsigned(flag >> 32));
      if (!m.open && m.now == state::good && w_.t.host(m.n).queued() < 4) begin(m);
    }
  }
  void recover() override {
    for (unsigned d : who_.domains) restart(d);
  }
  void stop_and_start(unsigned d, unsigned) override { restart(d); }
  std::vector<uint64_t> progress() const override {
    std::vector<uint64_t> all;
    for (const member& m : members_) all.push_back(m.well);
    return all;
  }

 private:
  enum class state { good, failed };
  struct member {
    unsigned d, n;
    uint32_t begun = 0;
    bool open = false;
    unsigned epoch = 0;
    uint64_t well = 0;
    state now = state::good;
  };
  member& of(unsigned d, unsigned n) {
    return *std::ranges::find_if(members_, [&](const member& m) { return m.d == d && m.n == n; });
  }
  static uint64_t part(unsigned d, unsigned n, uint64_t i) {
    return world::value(0x200 + 3 * d + n, 2 * i) | uint64_t{world::value(0x200 + 3 * d + n, 2 * i + 1)} << 32;
  }
  static uint64_t sum(unsigned d, uint64_t i) { return part(d, 0, i) + part(d, 1, i) + part(d, 2, i); }
  static unsigned words(unsigned d, uint32_t count) {
    return world::value(0x300 + d, count) % nic::coll::most_words + 1;
  }
  static uint64_t result(unsigned d, uint32_t count) {
    return world::at(d, region::sums, count % 2 ? 0 : nic::coll::result_bytes);
  }

  void stop(unsigned d, unsigned n) {
    w_.t.write_register(n, uint16_t(GGAS_REG_COLL_CTRL(d)), 0);
    const uint64_t limit = w_.t.now() + 200'000;
    while (!(w_.t.read_register(n, uint16_t(GGAS_REG_COLL_STATE(d))) & GGAS_COLL_STATE_STOPPED_MASK))
      if (w_.t.now() > limit) return w_.t.fail.add("node {}: group of domain {} does not stop", n, d);
  }
  void start(unsigned d, unsigned n) {
    member& m = of(d, n);
    m.begun = 0;
    m.open = false;
    stop(d, n);
    w_.clear(n, world::at(d, region::sums, 0), nic::coll::flag_offset + 8);
    w_.t.write_register(n, uint16_t(GGAS_REG_COLL_PARENT(d)), 0);
    w_.t.write_register(n, uint16_t(GGAS_REG_COLL_CHILDREN(d)), 1 | 2 << GGAS_COLL_CHILDREN_SECOND_SHIFT);
    w_.t.write_register(n, uint16_t(GGAS_REG_COLL_RESULT(d)), world::at(d, region::sums, 0));
    w_.t.write_register(n, uint16_t(GGAS_REG_COLL_CTRL(d)),
                        GGAS_COLL_CTRL_ENABLE_MASK | uint64_t{n == 0} << GGAS_COLL_CTRL_ROOT_SHIFT |
                            (n == 0 ? 2u : 0u) << GGAS_COLL_CTRL_CHILDREN_SHIFT |
                            uint64_t{world::vpid + d} << GGAS_COLL_CTRL_OWNER_SHIFT |
                            uint64_t{life_ & 0xff} << GGAS_COLL_CTRL_EPOCH_SHIFT |
                            uint64_t{domain_number[d]} << GGAS_COLL_CTRL_DOMAIN_SHIFT);
  }
  void restart(unsigned d) {
    for (unsigned n = 0; n < triangle::size; ++n) of(d, n).now = state::failed, of(d, n).open = false;
    for (unsigned n = 0; n < triangle::size; ++n) {
      stop(d, n);
      w_.close(n, world::at(d, region::sums, 0), world::region_bytes);
    }
    w_.t.run(w_.random.below(400));
    w_.open_all();
    ++life_;
    for (unsigned n = 0; n < triangle::size; ++n) start(d, n);
    // No member begins before all are there.
    for (unsigned n = 0; n < triangle::size; ++n) w_.t.read_register(n, GGAS_REG_NODE);
    for (unsigned n = 0; n < triangle::size; ++n) of(d, n).now = state::good;
  }
  void begin(member& m) {
    ++m.begun;
    m.open = true;
    m.epoch = w_.epoch;
    const unsigned count = words(m.d, m.begun);
    w_.clear(m.n, result(m.d, m.begun), nic::coll::result_bytes);
    const nic::coll::ask a{
        .words = count, .op = nic::coll::sum, .kind = nic::coll::uint64, .contributes = true, .wants = true};
    const uint64_t block = w_.page(m.d) + nic::coll::blocks_offset;
    std::vector<uint32_t> dws{uint32_t(a.command()), uint32_t(a.command() >> 32)};
    for (unsigned i = 0; i < count; ++i) {
      dws.push_back(uint32_t(part(m.d, m.n, i)));
      dws.push_back(uint32_t(part(m.d, m.n, i) >> 32));
    }
    for (size_t at = 0; at < dws.size();) {  // in pieces of some words
      const size_t n = std::min(dws.size() - at, size_t{2} * w_.random.range(1, 16));
      w_.t.write(m.n, make_write(bar_pages, block + 4 * at, {dws.begin() + long(at), dws.begin() + long(at + n)}));
      at += n;
    }
  }
  void end(member& m, unsigned status) {
    ++done_;
    m.open = false;
    if (status != 0) {
      m.now = state::failed;  // until the group is started again
      return;
    }
    for (unsigned i = 0; i < words(m.d, m.begun); ++i)
      if (w_.t.host(m.n).mem.load64(result(m.d, m.begun) + 8 * i) != sum(m.d, i))
        return w_.wrong(m.d, "domain {}: result {} at node {} is wrong", m.d, m.begun, m.n);
    m.well += w_.calm && m.epoch == w_.epoch;
  }

  std::vector<member> members_;
  unsigned life_ = 1;
};

}  // namespace

std::unique_ptr<feature> make_coll_feature(world& w, const users_of& who) {
  return std::make_unique<coll_feature>(w, who);
}

}  // namespace ggas::test
