// SPDX-License-Identifier: Apache-2.0
// Everything at once, at random: stores, loads and quiets of the host; stores, loads and quiets of two other nodes;
// idle cycles and back-pressure on every stream; MPS, MRRS and RCB large and small.
#include <set>

#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

template <class T>
class smfu_random : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;

  struct wanted_load {
    tlp t;
    uint16_t node;  // no one: all ones
    uint64_t addr;
  };
  static constexpr uint16_t nobody = 0xffff;
  unsigned mps = 256;
  std::vector<packet> stores;               // what tx_p must show
  std::vector<packet> loads;                // what tx_np must show, quiets apart
  std::vector<uint64_t> load_marks;         // store packets that must have left before each
  std::map<unsigned, wanted_load> waiting;  // by tag
  std::set<unsigned> quiets;
  unsigned next_tag = 0;
  std::multiset<logged_event> events;

  // Any byte enables PCIe allows for an access of `len` DWs.
  std::pair<unsigned, unsigned> enables(uint64_t addr, unsigned len) {
    if (len == 1) return {b.random(16), 0};
    if (len == 2 && !(addr & 4)) return {1 + b.random(15), 1 + b.random(15)};
    return {0xf << b.random(4) & 0xf, 0xf >> b.random(4)};
  }

  // Does not cross 4 KB.
  std::pair<uint64_t, unsigned> extent(unsigned most) {
    const unsigned len = b.chance(50) ? 1 + b.random(std::min(most, 4u)) : 1 + b.random(most);
    const uint64_t page = uint64_t{b.random(1 << 16)} << 12;
    return {page + 4 * b.random(1024 - len + 1), len};
  }

  void host_store() {
    auto [off, len] = extent(b.chance(5) ? 1024 : 64);
    const unsigned where = b.random(40);  // mostly node 2, then ourselves, no route, nowhere
    const unsigned place = where < 30 ? 0 : where < 37 ? 1 : where < 38 ? 2 : 3;
    const auto [first_be, last_be] = enables(off, len);
    tlp t = this->store(base::window + place * base::span + off, len, first_be, last_be);
    b.host(t);
    if (place == 2) events.insert({GGAS_EV_STORE_UNREACHABLE, 3, t.addr & 0xff'ffff'ffff});
    if (place == 3) events.insert({GGAS_EV_STORE_UNMAPPED, 0, t.addr & 0xff'ffff'ffff});
    if (place < 2)
      for (const packet& p : store_packets(t, place == 0 ? 2 : 1, off, T::mtu)) stores.push_back(p);
  }

  void host_load() {
    while (waiting.contains(next_tag) || quiets.contains(next_tag)) next_tag = (next_tag + 1) % 1024;
    auto [off, len] = extent(b.chance(10) ? 1024 : 64);
    const unsigned where = b.random(40);
    const unsigned place = where < 30 ? 0 : where < 37 ? 1 : where < 38 ? 2 : 3;
    const auto [first_be, last_be] = enables(off, len);
    tlp t = this->load(base::window + place * base::span + off, len, next_tag, first_be, last_be);
    b.host(t);
    if (place == 2) events.insert({GGAS_EV_LOAD_UNREACHABLE, 3, t.addr & 0xff'ffff'ffff});
    if (place == 3) events.insert({GGAS_EV_LOAD_UNMAPPED, 0, t.addr & 0xff'ffff'ffff});
    const uint16_t node = place == 0 ? 2 : place == 1 ? 1 : nobody;
    waiting[t.tag] = {t, node, off};
    if (node == nobody) return;
    for (const packet& p : load_packets(t, node, off, mps)) {
      loads.push_back(p);
      load_marks.push_back(stores.size());
    }
  }

  // A read of a context's page where nothing is to be read.
  void host_page_read() {
    while (waiting.contains(next_tag) || quiets.contains(next_tag)) next_tag = (next_tag + 1) % 1024;
    auto [off, len] = extent(64);
    off = (off & 0xff000) | std::max<uint64_t>(off & 0xfff, 4);
    len = std::min<unsigned>(len, unsigned(0x1000 - (off & 0xfff)) / 4);
    const auto [first_be, last_be] = enables(off, len);
    tlp t = this->load(off, len, next_tag, first_be, last_be);
    t.bar = 4;
    b.host(t);
    events.insert({GGAS_EV_PAGE_ACCESS, 0, t.addr});
    waiting[t.tag] = {t, nobody, off};
  }

  void host_quiet() {
    while (waiting.contains(next_tag) || quiets.contains(next_tag)) next_tag = (next_tag + 1) % 1024;
    b.host(quiet_read(next_tag, 1 + b.random(2)));
    quiets.insert(next_tag);
  }

  // ---- the other side
  std::deque<packet> remote_answers;  // what tx_rsp must show
  unsigned remote_writes = 0, remote_reads = 0;
  void remote_store() {
    auto [off, len] = extent(b.chance(20) ? T::mtu / 4 : 64);
    const bool outside = b.chance(3);
    packet p =
        net_packet(nic::op::store, uint16_t(b.chance(50) ? 2 : 1), (off & 0x7ffff) | (outside ? 1 << 20 : 0), len);
    const auto [first_be, last_be] = enables(p.addr, len);
    p.first_be = uint8_t(first_be);
    p.last_be = uint8_t(last_be);
    for (unsigned i = 0; i < len; ++i) p.data.push_back(uint32_t(b.rng()));
    b.push(b.rx_p, p);
    if (outside) {
      events.insert({GGAS_EV_TARGET_RANGE, p.src, uint64_t{p.export_no} << 32 | p.addr});
    } else {
      written.push_back(p);
    }
  }
  std::vector<packet> written;
  // Loads look at the upper half of the segment, which no one writes.
  void remote_load() {
    const unsigned len = 1 + b.random(64);
    uint64_t addr = (1u << 19) + uint64_t{b.random(1 << 11)} * 256 + 4 * b.random(64 - len + 1);
    const bool outside = b.chance(3);
    if (outside) addr += 1 << 20;
    packet p = net_packet(nic::op::load, uint16_t(b.chance(50) ? 2 : 1), addr, len);
    p.tag = uint16_t(b.rng());
    p.set_whole(b.chance(50));
    const auto [first_be, last_be] = enables(p.addr, len);
    p.first_be = uint8_t(first_be);
    p.last_be = uint8_t(last_be);
    b.push(b.rx_np, p);
    packet r = net_packet(nic::op::load_rsp, 1, 0, 0);
    r.dst = p.src;
    r.tag = p.tag;
    r.addr = p.piece();
    r.set_whole(p.whole());
    r.first_be = r.last_be = 0;
    if (outside) {
      r.status = uint8_t(nic::net_status::range);
      events.insert({GGAS_EV_TARGET_RANGE, p.src, uint64_t{p.export_no} << 32 | p.addr});
    } else {
      r.len_dw = p.req_dw;
      for (unsigned i = 0; i < len; ++i) r.data.push_back(content(0, home_base + addr + 4 * i));
    }
    remote_answers.push_back(r);
  }

  void check_host_side() {
    ASSERT_EQ(b.tx_p.all.size(), stores.size());
    for (size_t i = 0; i < stores.size(); ++i)
      ASSERT_TRUE(same(b.tx_p.all[i].t, stores[i], true)) << i << "\n"
                                                          << text(b.tx_p.all[i].t) << "\n"
                                                          << text(stores[i]);
    size_t n = 0;
    for (const auto& s : b.tx_np.all) {
      if (s.t.is(nic::op::quiet)) continue;
      ASSERT_LT(n, loads.size());
      ASSERT_TRUE(same(s.t, loads[n], false)) << n << "\n" << text(s.t) << "\n" << text(loads[n]);
      if (load_marks[n] > 0) {
        ASSERT_LT(b.tx_p.all[load_marks[n] - 1].last, s.last) << "load overtook a store";
      }
      ++n;
    }
    EXPECT_EQ(n, loads.size());
  }

  void check_completions() {
    std::map<unsigned, std::vector<tlp>> by_tag;
    for (const auto& s : b.ld_cpl.all) by_tag[s.t.tag].push_back(s.t);
    EXPECT_EQ(by_tag.size(), waiting.size() + quiets.size());
    for (unsigned tag : quiets) {
      ASSERT_EQ(by_tag[tag].size(), 1u) << "quiet";
      EXPECT_EQ(by_tag[tag][0].byte_count, 4 * by_tag[tag][0].len_dw);
    }
    for (auto& [tag, w] : waiting) check_load(w, by_tag[tag]);
  }

  void check_load(const wanted_load& w, const std::vector<tlp>& cpls) {
    unsigned done = 0, left = byte_count(w.t);
    ASSERT_FALSE(cpls.empty()) << "no answer to tag " << w.t.tag;
    for (const tlp& c : cpls) {
      ASSERT_EQ(c.status, pcie::cpl_status::sc);
      ASSERT_EQ(c.requester, w.t.requester);
      ASSERT_EQ(c.attr, w.t.attr);
      ASSERT_EQ(c.byte_count, left);
      const uint64_t at = w.addr + 4 * done;
      ASSERT_EQ(c.lower_addr, (at + (done ? 0 : lead(w.t.first_be))) & 0x7f);
      ASSERT_LE(c.len_dw * 4u, mps);
      for (unsigned i = 0; i < c.len_dw; ++i)
        ASSERT_EQ(c.data[i], w.node == nobody ? ~0u : content(w.node, at + 4 * i));
      const unsigned bytes = 4 * c.len_dw - (done ? 0 : lead(w.t.first_be));
      done += c.len_dw;
      ASSERT_TRUE(done == w.t.len_dw || (at + 4 * c.len_dw) % 128 == 0) << "RCB";
      left = done == w.t.len_dw ? 0 : left - bytes;
    }
    ASSERT_EQ(done, w.t.len_dw);
  }

  void check_target() {
    // Writes: the pieces of every store, in order.
    size_t n = 0;
    std::vector<tlp> writes;
    for (const auto& s : b.tgt_req.all)
      if (s.t.kind == tlp_kind::mwr) writes.push_back(s.t);
    for (const packet& p : written) {
      for (auto [first, len] : cut(p.len_dw, [&](unsigned) { return mps / 4; })) {
        ASSERT_LT(n, writes.size());
        const tlp& t = writes[n++];
        ASSERT_EQ(t.addr, home_base + p.addr + 4 * first);
        ASSERT_EQ(t.len_dw, len);
        ASSERT_EQ(t.first_be, piece_first_be(first, len, p.len_dw, p.first_be, p.last_be));
        ASSERT_EQ(t.last_be, piece_last_be(first, len, p.len_dw, p.last_be));
        ASSERT_TRUE(std::equal(t.data.begin(), t.data.end(), p.data.begin() + first));
      }
    }
    EXPECT_EQ(n, writes.size());
    std::vector<packet> rsp;
    for (const auto& s : b.tx_rsp.all) rsp.push_back(s.t);
    ASSERT_EQ(rsp.size(), remote_answers.size());
    for (size_t i = 0; i < rsp.size(); ++i)
      ASSERT_TRUE(same(rsp[i], remote_answers[i], true)) << i << "\n"
                                                         << text(rsp[i]) << "\n"
                                                         << text(remote_answers[i]);
  }

  void check_events() {
    std::multiset<logged_event> logged(b.events.begin(), b.events.end());
    EXPECT_TRUE(std::includes(events.begin(), events.end(), logged.begin(), logged.end()));
    std::array<uint64_t, GGAS_EVENT_COUNT_NUM> count{};
    for (const auto& e : events) ++count[e.code];
    EXPECT_EQ(count, b.event_count);
    for (size_t i = 0; i < b.events.size(); ++i) {
      const unsigned code = b.events[i].code;
      const bool mapped = code == GGAS_EV_STORE_UNREACHABLE || code == GGAS_EV_LOAD_UNREACHABLE;
      EXPECT_TRUE(mapped ? b.event_intervals[i] == 2 : b.event_intervals[i] >= 64) << "code " << code;
    }
  }

  void pace() {
    static constexpr unsigned levels[] = {100, 90, 50, 10};
    auto level = [&] { return levels[b.random(4)]; };
    b.win_p.percent = level(), b.win_np.percent = level(), b.tgt_cpl.percent = level();
    b.rx_p.percent = level(), b.rx_np.percent = level(), b.rx_rsp.percent = level();
    b.ld_cpl.percent = level(), b.tgt_req.percent = level(), b.tx_p.percent = level();
    b.tx_np.percent = level(), b.tx_rsp.percent = level(), b.event_percent = level();
  }

  void rounds(unsigned how_many) {
    for (unsigned round = 0; round < how_many; ++round) {
      b.clear_outputs();
      stores.clear(), loads.clear(), load_marks.clear(), waiting.clear(), quiets.clear(), events.clear();
      remote_answers.clear(), written.clear();
      nodes world(b);
      memory host(b);
      mps = b.chance(50) ? 256 : 128u << b.random(6);
      b.cfg.mps = mps;
      b.cfg.mrrs = b.chance(50) ? 512 : 128;
      host.rcb = b.chance(50) ? 64 : 128;
      host.percent = b.chance(50) ? 100 : 5;
      world.percent = b.chance(50) ? 100 : 5;
      b.gate = b.chance(50);
      pace();
      for (unsigned i = 0; i < 300; ++i) {
        const unsigned what = b.random(100);
        if (what < 35)
          host_store();
        else if (what < 60)
          host_load();
        else if (what < 62)
          host_quiet();
        else if (what < 63)
          host_page_read();
        else if (what < 80)
          remote_store();
        else
          remote_load();
        for (unsigned k = b.random(8); k > 0; --k) tick(world, host);
        if (i % 50 == 0) pace();
      }
      bool done = false;
      for (unsigned k = 0; k < 200000 && !done; ++k) {
        tick(world, host);
        b.v.eval();
        done = b.inputs_empty() && world.idle() && host.idle() && !b.v.busy_o && !b.v.timer_o;
      }
      ASSERT_TRUE(done) << "round " << round << " hangs";
      check_host_side();
      check_completions();
      check_target();
      check_events();
      check_counters();
      if (this->HasFailure()) {
        std::printf("round %u\n", round);
        return;
      }
    }
  }
  void check_counters() {
    EXPECT_EQ(b.counters["stores_in"], b.win_p.taken - stores_before_);
    stores_before_ = b.win_p.taken;
    uint64_t in_window = 0, ones = 0;
    for (const auto& [tag, w] : waiting) in_window += w.t.bar == 2, ones += w.node == nobody;
    EXPECT_EQ(b.counters["loads_in"], in_window);
    EXPECT_EQ(b.counters["store_packets"], stores.size());
    EXPECT_EQ(b.counters["load_packets"], loads.size());
    EXPECT_EQ(b.counters["load_cpls"], loads.size());
    EXPECT_EQ(b.counters["load_errors"], ones);
    EXPECT_EQ(b.counters["quiets"], quiets.size());
    EXPECT_EQ(b.counters["target_stores"], written.size());
    EXPECT_EQ(b.counters["target_loads"], uint64_t(std::count_if(remote_answers.begin(), remote_answers.end(),
                                                                 [](const packet& p) { return p.status == 0; })));
  }
  uint64_t stores_before_ = 0;
  void tick(auto& world, auto& host) {
    world.step();
    host.step();
    b.step();
  }
};

TYPED_TEST_SUITE(smfu_random, widths);

TYPED_TEST(smfu_random, traffic) { this->rounds(40); }

}  // namespace
}  // namespace ggas::test::smfu
