// SPDX-License-Identifier: Apache-2.0
// Accesses through the window: stores, a quiet after them, a load of one; stores to groups; long loads alone, whose
// answers have a second choice of route.
#include <algorithm>

#include "tests/rtl/pairs/feature.hpp"

namespace ggas::test {
namespace {

constexpr unsigned group_interval = 3, intervals = 4;  // of a domain: each node, then the group
constexpr uint64_t interval_bytes = 2 * world::region_bytes;

uint64_t window(unsigned d, unsigned interval) { return uint64_t{d * intervals + interval + 1} << 32; }

class window_feature : public feature {
 public:
  window_feature(kind k, world& w, const users_of& who) : feature(w, who), kind_(k) {
    for (unsigned d : who.domains)
      for (unsigned n : who.nodes)
        if (takes_part(d, n)) users_.push_back({d, n});
  }
  void set_up(unsigned n) override {
    for (unsigned d : who_.domains) {
      for (unsigned target = 0; target < triangle::size; ++target)
        if (target != n) map(n, d, target, target, true);
      if (n == d) map(n, d, group_interval, d | GGAS_INTERVAL_TARGET_GROUP_MASK, true);
      for (uint64_t o = 0; kind_ == kind::second_choices && o < world::region_bytes; o += 4) {
        const uint64_t bus = world::at(d, region::stores, o);
        w_.t.host(n).mem.store32(bus, world::word(n, bus), 15);
      }
    }
  }
  void work() override {
    for (user& u : users_)
      if (u.open < (kind_ == kind::second_choices ? 3u : 1u) && w_.t.host(u.n).queued() < 6)
        kind_ == kind::second_choices ? load(u) : store(u);
  }
  void recover() override {
    ++life_;
    for (user& u : users_) {
      u.open = 0;
      w_.t.quiet(u.n);  // takes errors of what was lost
    }
    for (user& u : users_) w_.t.read(u.n, make_read(bar_pages, w_.page(u.d), 1));
  }
  // The interval, or what answers the loads.
  void stop_and_start(unsigned d, unsigned n) override {
    const unsigned target = kind_ == kind::multicast ? group_interval : (n + 1) % triangle::size;
    if (kind_ == kind::multicast && n != d) return;
    paused_ = n;
    while (w_.t.host(n).queued()) w_.t.step();
    w_.t.read(n, make_read(bar_pages, w_.page(d), 1));
    map(n, d, target, target == group_interval ? d | GGAS_INTERVAL_TARGET_GROUP_MASK : target, false);
    w_.t.read_register(n, GGAS_REG_NODE);
    for (unsigned m = 0; m < triangle::size; ++m)
      if (m != n && (target == group_interval || m == target))
        w_.close(m, world::at(d, target == group_interval ? region::copies : region::stores, world::share(n)),
                 world::share_bytes);
    w_.t.run(w_.random.below(400));
    w_.open_all();
    map(n, d, target, target == group_interval ? d | GGAS_INTERVAL_TARGET_GROUP_MASK : target, true);
    paused_ = triangle::size;
  }
  std::vector<uint64_t> progress() const override {
    std::vector<uint64_t> all;
    for (const user& u : users_) all.push_back(u.well);
    return all;
  }

 private:
  struct user {
    unsigned d, n;
    unsigned open = 0;
    uint64_t well = 0;
  };
  bool takes_part(unsigned d, unsigned n) const {
    if (kind_ == kind::multicast) return n == d;
    return kind_ != kind::second_choices || n < 2;
  }
  void map(unsigned n, unsigned d, unsigned interval, uint64_t target, bool valid) {
    const unsigned i = d * intervals + interval;
    w_.t.write_register(n, uint16_t(GGAS_REG_INTERVAL_START(i)), window(d, interval));
    w_.t.write_register(n, uint16_t(GGAS_REG_INTERVAL_END(i)), window(d, interval) + interval_bytes);
    w_.t.write_register(n, uint16_t(GGAS_REG_INTERVAL_TARGET(i)),
                        target | (valid ? GGAS_INTERVAL_TARGET_VALID_MASK : 0) |
                            uint64_t{world::export_number + d} << GGAS_INTERVAL_TARGET_EXPORT_NO_SHIFT |
                            uint64_t{domain_number[d]} << GGAS_INTERVAL_TARGET_DOMAIN_SHIFT);
  }
  // Offset of some DWs in the share of a node, within a page.
  uint64_t place(unsigned n, unsigned dws) {
    return world::share(n) + 0x1000 * w_.random.below(2) + 4 * w_.random.below(1025 - dws);
  }
  struct span {
    std::vector<unsigned> at;  // nodes
    uint64_t bus, bytes;
    unsigned as_node;
  };
  void store(user& u) {
    if (u.n == paused_) return;
    const bool group = kind_ == kind::multicast;
    std::vector<span> spans;
    u.open = 1;
    for (unsigned k = unsigned(w_.random.range(1, 4)); k; --k) {
      const unsigned target = (u.n + 1 + unsigned(w_.random.below(2))) % triangle::size;
      const unsigned dws = unsigned(w_.random.range(1, triangle::mtu / 4));
      const uint64_t offset = place(u.n, dws) + (group ? world::region_bytes : 0);
      span s{group ? std::vector{(u.n + 1) % 3, (u.n + 2) % 3} : std::vector{target}, world::home(u.d) + offset,
             4 * dws, group ? world::any_node : target};
      std::vector<uint32_t> words(dws);
      for (unsigned i = 0; i < dws; ++i) words[i] = world::word(s.as_node, s.bus + 4 * i);
      for (unsigned n : s.at) w_.clear(n, s.bus, s.bytes);
      w_.t.write(u.n, make_write(bar_window, window(u.d, group ? group_interval : target) + offset, words));
      spans.push_back(std::move(s));
    }
    w_.t.host(u.n).read(make_read(bar_pages, w_.page(u.d), 1),
                        [this, &u, spans, life = life_, epoch = w_.epoch](const read_result& r) {
                          if (life != life_) return;
                          stored(u, spans, r, w_.calm && epoch == w_.epoch);
                        });
  }
  void stored(user& u, const std::vector<span>& spans, const read_result& r, bool calm) {
    ++done_;
    u.open = 0;
    if (!r.ok() || r.value() != 0) return;
    for (const span& s : spans)
      for (unsigned n : s.at)
        if (calm && !w_.holds(n, s.bus, s.bytes, s.as_node))
          w_.wrong(u.d, "domain {}: a store of node {} to {:#x} of node {} is not there behind its quiet", u.d, u.n,
                   s.bus, n);
    if (kind_ == kind::multicast) {
      u.well += calm;
      return;
    }
    const span& s = spans.front();
    load_of(u, s.at[0], s.bus, unsigned(s.bytes / 4), calm);
  }
  void load(user& u) {
    if (u.n == paused_) return;
    const unsigned dws = unsigned(w_.random.range(32, 128));
    const unsigned target = 1 - u.n;
    load_of(u, target, world::at(u.d, region::stores, 0x1000 * w_.random.below(8) + 4 * w_.random.below(1025 - dws)),
            dws, true);
  }
  // `there`: nothing was disturbed while the words were stored.
  void load_of(user& u, unsigned target, uint64_t bus, unsigned dws, bool there) {
    ++u.open;
    w_.t.host(u.n).read(make_read(bar_window, window(u.d, target) + (bus - world::home(u.d)), dws),
                        [this, &u, target, bus, there, life = life_, epoch = w_.epoch](const read_result& r) {
                          if (life != life_) return;
                          --u.open;
                          ++done_;
                          const bool calm = there && w_.calm && epoch == w_.epoch;
                          bool right = r.ok();
                          for (unsigned i = 0; i < r.dws.size(); ++i) {
                            const uint32_t want = world::word(target, bus + 4 * i), got = r.dws[i];
                            right = right && got == want;
                            const bool cleared = got == 0 && kind_ != kind::second_choices && !calm;
                            if (got != want && got != ~0u && !cleared)
                              w_.wrong(u.d, "domain {}: node {} loads the foreign word {:#x} from {:#x} of node {}",
                                       u.d, u.n, got, bus + 4 * i, target);
                          }
                          u.well += right && calm;
                        });
  }

  kind kind_;
  std::vector<user> users_;
  unsigned life_ = 0, paused_ = triangle::size;
};

}  // namespace

std::unique_ptr<feature> make_window_feature(kind k, world& w, const users_of& who) {
  return std::make_unique<window_feature>(k, w, who);
}

}  // namespace ggas::test
