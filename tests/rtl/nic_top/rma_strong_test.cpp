// SPDX-License-Identifier: Apache-2.0
// Flags after data on a device: puts go to far memory, such as a GPU's, which accepts them after a delay; their
// notifications go to near memory. A reader that sees a strong one finds all data of its round. GGAS_TEST_ROUNDS sets
// the number of rounds of the long test.
#include <cstdlib>

#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::rma_strong_test {
namespace {

using nic::desc_op;
using nic::descriptor;

constexpr uint16_t domain = 9;
constexpr uint64_t device_memory = 0x70'0000'0000;
constexpr uint64_t place_bytes = 1024, part_stride = 320, part_most = 300;
constexpr unsigned depth = 16;  // rounds under way, each at a place of its own
const uint64_t far_page = nla(2, 1), near_page = nla(2, 2);

uint8_t pattern(unsigned stream, uint64_t round, uint64_t i) { return uint8_t(stream * 77 + round * 131 + i * 7); }

class RmaStrong : public testing::TestWithParam<device> {
 protected:
  struct part {
    uint64_t at;  // in the place of its round
    uint32_t bytes;
  };
  // Rounds of one context, to one of the other side.
  struct stream {
    unsigned number;
    rma_user *from, *to;
    uint64_t begun = 0, seen = 0;
    std::deque<std::vector<part>> under_way = {};
    uint64_t place(uint64_t round) const { return (number * depth + round % depth) * place_bytes; }
  };

  void SetUp() override {
    rig_config c{.behaviour = fast_host(), .link_latency = 10, .replay_timeout = 600, .seed = base_seed()};
    c.behaviour.far_base = device_memory;
    c.behaviour.far_bytes = uint64_t{1} << 32;
    w_ = std::make_unique<rma_world>(GetParam(), c);
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    if (!GetParam().model)
      for (auto& x : w_->r.s) x.out->drop = x.out->corrupt = 0.2e-3;
    for (unsigned side = 0; side < 2; ++side) {
      w_->driver.map(side, far_page, device_memory, domain);
      w_->driver.map(side, near_page, rma_data + 0x20'0000, domain);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned side = i % 2;
      const auto of = [&](unsigned s, unsigned vpid, bool queue) {
        return &w_->user({.side = s, .vpid = uint8_t(vpid), .pd = domain, .queue = queue, .mailbox = false});
      };
      streams_.push_back({i, of(side, 10 + i, i >= 2), of(1 - side, 20 + i, false)});
    }
  }

  descriptor transfer(const stream& s, const part& p) {
    const uint64_t at = s.place(s.begun) + p.at;
    descriptor d;
    d.node = uint16_t(s.to->cfg.side);
    d.dvpid = s.to->cfg.vpid;
    d.size = p.bytes;
    d.w2 = far_page + at;
    if (p.bytes <= 8 && random_.chance(0.5)) {
      d.op = desc_op::imm;
      for (unsigned i = p.bytes; i-- > 0;) d.w1 = d.w1 << 8 | pattern(s.number, s.begun, p.at + i);
    } else if (p.bytes <= 64) {
      d.op = desc_op::inline_put;
      for (unsigned i = 0; i < p.bytes; ++i) d.data.push_back(pattern(s.number, s.begun, p.at + i));
    } else {
      d.op = desc_op::put;
      d.w1 = near_page + at;
      const uint64_t source = rma_data + 0x20'0000 + at;
      memory& m = w_->r.s[s.from->cfg.side].host->mem;
      for (unsigned i = 0; i < p.bytes; ++i)
        m.store32((source + i) & ~uint64_t{3}, uint32_t{pattern(s.number, s.begun, p.at + i)} << 8 * ((source + i) & 3),
                  1u << ((source + i) & 3));
    }
    return d;
  }

  // One to three puts and a flag: with the last one, or alone after it.
  void begin(stream& s, bool strong) {
    std::vector<part> parts;
    const auto n = unsigned(random_.range(1, 3));
    for (unsigned k = 0; k < n; ++k) {
      const uint64_t most = random_.chance(0.3) ? part_most : random_.chance(0.5) ? 64 : 8;
      parts.push_back({k * part_stride + random_.below(part_stride - part_most), uint32_t(random_.range(1, most))});
    }
    const bool alone = random_.chance(0.3);
    for (unsigned k = 0; k < n; ++k) {
      descriptor d = transfer(s, parts[k]);
      d.notify_completer = !alone && k + 1 == n;
      d.strong = d.notify_completer && strong;
      s.from->post(d);
    }
    if (alone) {
      descriptor flag{.op = desc_op::notify, .notify_completer = true, .strong = strong};
      flag.node = uint16_t(s.to->cfg.side);
      flag.dvpid = s.to->cfg.vpid;
      flag.w2 = far_page + s.place(s.begun);
      s.from->post(flag);
    }
    s.under_way.push_back(std::move(parts));
    ++s.begun;
  }

  // Whether data of the oldest round are missing, whose flag has been seen.
  bool missing(stream& s) {
    const memory& m = w_->r.s[s.to->cfg.side].host->mem;
    unsigned wrong = 0;
    for (const part& p : s.under_way.front())
      for (unsigned i = 0; i < p.bytes; ++i)
        wrong += m.load8(device_memory + s.place(s.seen) + p.at + i) != pattern(s.number, s.seen, p.at + i);
    s.under_way.pop_front();
    ++s.seen;
    return wrong != 0;
  }

  // How many of the rounds had data missing.
  uint64_t play(uint64_t rounds, bool strong) {
    constexpr unsigned delays[] = {0, 15, 60, 250};  // of the far device, until it takes a write
    uint64_t early = 0, begun = 0, seen = 0;
    w_->r.on_step = [&] {
      if (w_->r.now() % 512 == 0)
        for (auto& x : w_->r.s) x.host->behaviour.far_delay = delays[random_.below(std::size(delays))];
      for (stream& s : streams_) {
        for (; begun < rounds && s.begun - s.seen < depth; ++begun) begin(s, strong);
        s.from->pump();
        s.to->pump();
        for (; !s.to->notes.empty(); ++seen) {
          early += missing(s);
          s.to->notes.erase(s.to->notes.begin());
        }
      }
    };
    const auto over = [&] {
      return seen == rounds && std::ranges::all_of(streams_, [](const stream& s) { return s.from->done(); });
    };
    EXPECT_TRUE(w_->r.run_until(over, 3'000 * rounds + 100'000, "rounds")) << seen << " of " << rounds;
    w_->r.on_step = nullptr;
    for (const stream& s : streams_) EXPECT_EQ(s.from->errors(), 0u);
    EXPECT_CLEAN(w_->r);
    std::printf("%llu rounds, %llu with data missing, %llu cycles, %llu faults of the link\n",
                (unsigned long long)rounds, (unsigned long long)early, (unsigned long long)w_->r.now(),
                (unsigned long long)(w_->r.s[0].out->faults() + w_->r.s[1].out->faults()));
    return early;
  }

  std::unique_ptr<rma_world> w_;
  std::vector<stream> streams_;
  rng random_{base_seed()};
};

TEST_P(RmaStrong, DataAreThereWithTheirFlag) { EXPECT_EQ(play(GetParam().model ? 3'000 : 800, true), 0u); }

// The same look at weak flags: it does find what is missing.
TEST_P(RmaStrong, WeakFlagsComeEarly) { EXPECT_GT(play(200, false), 0u); }

TEST_P(RmaStrong, MillionLong) { EXPECT_EQ(play(test_rounds(1'000'000), true), 0u); }

INSTANTIATE_TEST_SUITE_P(Devices, RmaStrong, testing::ValuesIn(rma_devices()));

}  // namespace
}  // namespace ggas::test::rma_strong_test
