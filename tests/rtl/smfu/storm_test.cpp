// SPDX-License-Identifier: Apache-2.0
// All faults at once: nodes and a host that refuse, do not answer, answer late or wrongly, a link that dies and
// returns, packets that no export allows, unexpected answers, event ports that are always busy. Every access still ends
// once, with the right data or all ones, and refused ones are counted.
#include <map>
#include <set>

#include "tests/rtl/smfu/fault_suite.hpp"

namespace ggas::test::smfu {
namespace {

template <class T>
class smfu_storm : public smfu_fault<T> {
 protected:
  using base = suite<T>;
  using base::b;
  struct load_of {
    tlp t;
    uint16_t node = 0;  // 0: all ones
    uint64_t addr = 0;
  };
  struct answer {
    uint64_t from = 0;  // cycle
    packet p;
  };

  std::map<unsigned, load_of> loads;  // by tag
  std::set<unsigned> quiets;
  std::vector<packet> asked;                          // of other nodes: what tx_rsp answers, in order
  std::array<uint64_t, GGAS_EVENT_COUNT_NUM> sure{};  // events that time does not decide
  uint64_t good_loads = 0, failed_loads = 0, good_answers = 0, failed_answers = 0;

  // ---- requests
  void host_access() {
    const unsigned place = b.random(20) < 11 ? b.random(2) : 2 + b.random(2);
    const unsigned len = b.chance(10) ? 1 + b.random(256) : 1 + b.random(16);
    const uint64_t off = (uint64_t{b.random(1 << 10)} << 12) + 4 * b.random(1024 - len + 1);
    const uint64_t addr = base::window + place * base::span + off;
    if (b.chance(50)) {
      b.host(this->store(addr, len));
      sure[GGAS_EV_STORE_UNMAPPED] += place == 3;
    } else if (b.chance(10)) {
      tlp t = this->load(4 + 4 * b.random(64), 1, tag_);
      t.bar = 4;
      add_load({t, 0, t.addr});
      ++sure[GGAS_EV_PAGE_ACCESS];
    } else {
      add_load({this->load(addr, len, tag_), uint16_t(place == 0 ? 2 : place == 1 ? 1 : 0), off});
      sure[GGAS_EV_LOAD_UNMAPPED] += place == 3;
    }
  }
  void add_load(const load_of& l) {
    loads[tag_++] = l;
    b.host(l.t);
  }
  void host_quiet() {
    for (unsigned place : {1u, 0u, 2u})
      if (b.chance(70)) b.host(this->store(base::window + place * base::span, 1));
    for (unsigned n = 1 + b.random(3); n > 0; --n) {
      b.host(quiet_read(tag_, 1 + b.random(2), b.random(256)));
      quiets.insert(tag_++);
    }
  }
  void remote_store() {
    packet p = net_packet(nic::op::store, uint16_t(1 + b.random(2)), 4 * b.random(1024), 1);
    p.data.assign(1, 7);
    if (b.chance(30))
      p.op = 0x55;
    else if (b.chance(60))
      p.addr += home_size;
    else
      p.data.assign(p.len_dw = uint16_t(1 + b.random(64)), 7), p.addr &= 0xf00, p.last_be = p.len_dw > 1 ? 0xf : 0;
    ++sure[p.op == 0x55 ? GGAS_EV_BAD_PACKET : p.addr >= home_size ? GGAS_EV_TARGET_RANGE : 0];
    b.push(b.rx_p, p);
  }
  void remote_read() {
    packet p = net_packet(b.chance(20) ? nic::op::quiet : nic::op::load, uint16_t(1 + b.random(2)), 256 * b.random(512),
                          1 + b.random(64));
    p.tag = uint16_t(asked.size());
    if (p.is(nic::op::load) && b.chance(40)) {
      p.addr += home_size;
      ++sure[GGAS_EV_TARGET_RANGE];
    } else if (b.chance(20)) {
      p.op = 0x66;
      ++sure[GGAS_EV_BAD_PACKET];
    }
    b.push(b.rx_np, p);
    if (p.op != 0x66) asked.push_back(p);
  }
  // Answers and completions that no one waits for.
  void stray() {
    packet p = net_packet(b.chance(50) ? nic::op::load_rsp : nic::op::quiet_rsp, 2, 0, 0);
    p.tag = uint16_t(0x7000 + b.random(64));  // a round that is never reached
    if (b.chance(30)) p.op = 0x77, ++sure[GGAS_EV_BAD_PACKET];
    b.push(b.rx_rsp, p);
    tlp c;
    c.kind = tlp_kind::cpl;
    c.status = cpl_status::ur;
    c.len_dw = 0;
    c.tag = uint16_t(126 + b.random(2));  // of the slot that is used last
    if (b.chance(30)) b.push(b.tgt_cpl, c);
  }

  // ---- the others
  std::deque<answer> answers_;                         // of other nodes
  std::vector<std::pair<uint64_t, tlp>> completions_;  // of the host: from this cycle on
  std::set<uint16_t> muted_;                           // tags
  size_t np_seen_ = 0, read_seen_ = 0;
  unsigned tag_ = 0, trouble_ = 20;
  uint64_t slow_ = 200;

  void others() {
    for (; np_seen_ < b.tx_np.all.size(); ++np_seen_) {
      const packet& q = b.tx_np.all[np_seen_].t;
      // Never answered, nor is what comes after it of the same load: nodes answer in order.
      if (b.chance(trouble_ / 2)) muted_.insert(q.tag);
      if (muted_.contains(q.tag)) continue;
      packet r = answer_to(q, b.chance(trouble_) ? net_status::host_error : net_status::ok);
      if (r.data.size() > 1 && b.chance(trouble_ / 4)) r.data.resize(r.len_dw = uint16_t(r.len_dw - 1));
      answers_.push_back({b.now + 5 + b.random(unsigned(slow_)), r});
    }
    while (!answers_.empty() && answers_.front().from <= b.now) {
      b.push(b.rx_rsp, answers_.front().p);
      answers_.pop_front();
    }
    for (; read_seen_ < b.tgt_req.all.size(); ++read_seen_) host_request(b.tgt_req.all[read_seen_].t);
    for (size_t i = 0; i < completions_.size();) {
      if (completions_[i].first > b.now) {
        ++i;
        continue;
      }
      b.push(b.tgt_cpl, completions_[i].second);
      completions_.erase(completions_.begin() + long(i));
    }
  }
  void host_request(const tlp& t) {
    EXPECT_TRUE(t.addr >= home_base && t.addr + 4 * t.len_dw <= home_base + home_size) << std::hex << t.addr;
    if (t.kind == tlp_kind::mwr || b.chance(trouble_ / 4)) return;
    const bool bad = b.chance(trouble_);
    tlp c = this->completion(t, bad && b.chance(30) ? 0 : t.len_dw, bad ? cpl_status::ca : cpl_status::sc);
    if (bad && c.len_dw) c.status = cpl_status::sc, c.poisoned = true;
    const uint64_t late = b.chance(trouble_ / 4) ? 2000 + b.random(3000) : b.random(unsigned(slow_));
    completions_.push_back({b.now + 5 + late, c});
  }
  bool rests() {
    b.v.eval();
    return b.inputs_empty() && !b.v.busy_o && !b.v.timer_o && answers_.empty() && completions_.empty() &&
           np_seen_ == b.tx_np.all.size() && read_seen_ == b.tgt_req.all.size();
  }

  // ---- what came of it
  void check_loads() {
    std::map<unsigned, std::vector<tlp>> got;
    for (const auto& s : b.ld_cpl.all) got[s.t.tag].push_back(s.t);
    ASSERT_EQ(got.size(), loads.size() + quiets.size());
    for (const unsigned tag : quiets) ASSERT_EQ(got[tag].size(), 1u) << "quiet " << tag;
    for (const auto& [tag, l] : loads) {
      unsigned done = 0, failed = 0;
      for (const tlp& c : got[tag]) {
        ASSERT_EQ(c.byte_count, 4 * (l.t.len_dw - done)) << "tag " << tag;
        ASSERT_EQ(c.data.size(), c.len_dw);
        for (unsigned i = 0; i < c.len_dw; ++i, ++done) {
          const bool right = l.node && c.data[i] == content(l.node, l.addr + 4 * done);
          ASSERT_TRUE(right || c.data[i] == ~0u) << "tag " << tag << " DW " << done;
          failed += !right;
        }
      }
      ASSERT_EQ(done, l.t.len_dw) << "tag " << tag;
      ++(failed ? failed_loads : good_loads);
    }
  }
  void check_answers() {
    ASSERT_EQ(b.tx_rsp.all.size(), asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      const packet &a = b.tx_rsp.all[i].t, &q = asked[i];
      ASSERT_TRUE(a.tag == q.tag && a.dst == q.src) << text(a) << "\n" << text(q);
      ASSERT_TRUE(a.is(q.is(nic::op::load) ? nic::op::load_rsp : nic::op::quiet_rsp)) << text(a);
      if (!q.is(nic::op::load)) continue;
      ASSERT_EQ(a.data.size(), a.status ? 0u : q.req_dw) << text(a);
      for (unsigned k = 0; k < a.data.size(); ++k) ASSERT_EQ(a.data[k], content(0, home_base + q.addr + 4 * k));
      if (q.addr >= home_size) {
        ASSERT_EQ(a.status, uint8_t(net_status::range));
      }
      ++(a.status ? failed_answers : good_answers);
    }
  }
  void check_events() {
    for (const unsigned code :
         {GGAS_EV_STORE_UNMAPPED, GGAS_EV_LOAD_UNMAPPED, GGAS_EV_PAGE_ACCESS, GGAS_EV_TARGET_RANGE})
      EXPECT_EQ(b.event_count[code], sure[code]) << "event " << code;
    EXPECT_GE(b.event_count[GGAS_EV_BAD_PACKET], sure[GGAS_EV_BAD_PACKET]);  // and answers of a wrong length
  }

  void begin_round() {
    b.clear_outputs();
    loads.clear(), quiets.clear(), asked.clear(), muted_.clear();
    sure.fill(0);
    tag_ = 0, np_seen_ = read_seen_ = 0;
    const auto level = [&] { return b.chance(50) ? 100 : 20 + b.random(80); };
    for (auto* s : {&b.win_p, &b.win_np, &b.rx_p, &b.rx_np, &b.rx_rsp, &b.tgt_cpl}) s->percent = level();
    b.ld_cpl.percent = b.chance(30) ? 3 : level();
    b.tx_np.percent = b.chance(30) ? 1 : level();
    b.tgt_req.percent = b.tx_rsp.percent = level();
    b.tx_p.percent = level();
    b.event_percent = level();
    b.gate = b.chance(50);
    b.cfg.timeout_load = uint16_t(1 + b.random(3));
    b.cfg.timeout_host = uint16_t(1 + b.random(3));
    trouble_ = b.chance(30) ? 60 : 20;
    slow_ = b.chance(30) ? 1500 : 100;
  }
  void round() {
    begin_round();
    const bool flaky = b.chance(60);
    for (unsigned i = 0; i < 220; ++i) {
      switch (b.random(8)) {
        case 0:
        case 1:
        case 2:
          host_access();
          break;
        case 3:
          host_quiet();
          break;
        case 4:
          remote_store();
          break;
        case 5:
        case 6:
          remote_read();
          break;
        default:
          stray();
      }
      if (flaky && b.chance(5)) b.v.link_up_i = !b.v.link_up_i;
      // The export is written again as it is: what was let in before counts as old.
      for (unsigned k = b.chance(5) ? 2 : 0; k > 0; --k)
        b.write_register(uint16_t(0x3010 + 0x20 * home_export), home_domain | 1 << 16 | 3 << 17);
      for (unsigned k = b.chance(70) ? 0 : b.random(40); k > 0; --k) others(), b.step();
    }
    for (unsigned k = 0; k < 400'000 && !rests(); ++k) {
      if (flaky && b.chance(1) && b.chance(30)) b.v.link_up_i = !b.v.link_up_i;
      if (k == 3000) b.ld_cpl.percent = b.tx_np.percent = 100;
      others();
      b.step();
    }
    ASSERT_TRUE(rests()) << "hangs";
    b.v.link_up_i = 1;
    b.run(100);
    check_loads();
    check_answers();
    check_events();
  }
  void TearDown() override {
    for (auto* s : {&b.win_p, &b.win_np, &b.rx_p, &b.rx_np, &b.rx_rsp, &b.tgt_cpl}) s->percent = 100;
    b.tgt_req.percent = b.tx_rsp.percent = b.tx_p.percent = b.event_percent = 100;
    b.cfg.timeout_load = b.cfg.timeout_host = 1000;
    b.gate = false;
    smfu_fault<T>::TearDown();
  }
};
TYPED_TEST_SUITE(smfu_storm, widths);

TYPED_TEST(smfu_storm, everything_ends_once) {
  for (unsigned i = 0; i < 24; ++i) {
    this->round();
    if (this->HasFailure()) FAIL() << "round " << i;
  }
  std::printf("loads %llu good, %llu all ones; answers %llu good, %llu refused\n", (unsigned long long)this->good_loads,
              (unsigned long long)this->failed_loads, (unsigned long long)this->good_answers,
              (unsigned long long)this->failed_answers);
  EXPECT_GT(this->good_loads, 100u);
  EXPECT_GT(this->failed_loads, 100u);
  EXPECT_GT(this->good_answers, 100u);
  EXPECT_GT(this->failed_answers, 100u);
}

}  // namespace
}  // namespace ggas::test::smfu
