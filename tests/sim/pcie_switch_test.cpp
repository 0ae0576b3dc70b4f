// SPDX-License-Identifier: Apache-2.0
// The PCIe switch: random traffic among devices and the root complex, compared with a reference without queues, with
// idle times and receivers that refuse; turns of the inputs; latency; requests without a target.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

#include "sim/pcie/switch.hpp"
#include "tests/sim/fixture.hpp"

namespace ggas::test::pcie_switch_test {
namespace {

constexpr uint64_t bar = 0x8000000000, bar_bytes = 0x100000;
constexpr uint16_t first_id = 0x200;
const pcie::link_config narrow{.generation = 2, .lanes = 4, .latency_ps = 50'000};

// A switch with devices 0 ... n - 1; the root complex is number n.
struct bench {
  explicit bench(unsigned devices, pcie::switch_config cfg = {.forward_ps = 100'000, .queue_packets = 4})
      : sw("switch", cfg) {
    for (unsigned i = 0; i <= devices; ++i) {
      parts.push_back(std::make_unique<device>(("part" + std::to_string(i)).c_str()));
      pcie::port& across = i == devices ? sw.root_side()
                                        : sw.add_device("port" + std::to_string(i), uint16_t(first_id + i),
                                                        bar + i * bar_bytes, bar_bytes);
      pcie::port::connect(parts.back()->port, across, narrow);
    }
  }
  unsigned root() const { return unsigned(parts.size()) - 1; }
  uint64_t base(unsigned part) const { return part == root() ? 0x1000 : bar + part * bar_bytes; }
  uint16_t id(unsigned part) const { return part == root() ? uint16_t{1} : uint16_t(first_id + part); }

  sim::kernel k;
  pcie::packet_switch sw;
  std::vector<std::unique_ptr<device>> parts;
};

// What a packet is, in its address or tag; who sent it, in its requester or completer.
struct sent {
  unsigned from, to, number;
  pcie::fc kind;
};

class traffic {
 public:
  traffic(bench& b, uint64_t seed) : bench_(b), random_(seed) {
    for (unsigned i = 0; i < b.parts.size(); ++i)
      b.parts[i]->accept = [this](const pcie::tlp&) { return random_() % 3 != 0; };
  }
  void send_some() {
    const unsigned parts = unsigned(bench_.parts.size()), from = unsigned(random_() % parts);
    const unsigned to = unsigned((from + 1 + random_() % (parts - 1)) % parts);
    const auto kind = pcie::fc(random_() % 3);
    const unsigned number = count_++;
    bench_.parts[from]->port.send(make({from, to, number, kind}));
    all_.push_back({from, to, number, kind});
  }
  // Gives receivers that have refused another chance.
  void go_on(uint64_t ps) {
    run_idle(bench_.k, ps);
    bench_.k.enter();
    for (auto& p : bench_.parts) p->port.resume();
  }
  size_t arrived() const {
    return std::accumulate(bench_.parts.begin(), bench_.parts.end(), size_t{0},
                           [](size_t sum, const auto& p) { return sum + p->got.size(); });
  }
  size_t count() const { return all_.size(); }

  // Everything is where it belongs, once; of one source, destination and class in order; nothing passed a write.
  void check() const {
    std::map<std::tuple<unsigned, unsigned, pcie::fc>, unsigned> last;
    std::map<std::pair<unsigned, unsigned>, std::set<unsigned>> writes_left;
    for (const sent& s : all_)
      if (s.kind == pcie::fc::p) writes_left[{s.from, s.to}].insert(s.number);
    for (unsigned to = 0; to < bench_.parts.size(); ++to) {
      for (const received& r : bench_.parts[to]->got) {
        const unsigned number = number_of(r.packet);
        ASSERT_LT(number - first_number, all_.size());
        const sent& s = all_[number - first_number];
        ASSERT_EQ(s.to, to) << "packet " << number;
        ASSERT_EQ(s.kind, pcie::fc_of(r.packet));
        unsigned& before = last[{s.from, to, s.kind}];
        ASSERT_GT(number, before) << "twice, or out of order";
        before = number;
        auto& writes = writes_left[{s.from, to}];
        if (s.kind == pcie::fc::p)
          writes.erase(number);
        else
          ASSERT_TRUE(writes.empty() || *writes.begin() > number) << "packet " << number << " passed a write";
      }
    }
  }

 private:
  static unsigned number_of(const pcie::tlp& t) {
    return t.completion() ? unsigned(t.data[0]) : unsigned(t.posted() ? t.data[0] : t.len_dw << 10 | t.tag);
  }
  // Reads carry their number in tag and length, the others in their data.
  pcie::tlp make(const sent& s) {
    const uint64_t at = bench_.base(s.to) + 64 * (s.number % 1000);
    if (s.kind == pcie::fc::np) return read(s, at);
    std::vector<uint32_t> dws(1 + random_() % 16, s.number);
    if (s.kind == pcie::fc::p) return pcie::memory_write(at, std::as_bytes(std::span(dws)), bench_.id(s.from));
    const pcie::tlp request = pcie::memory_read(0, unsigned(dws.size()) * 4, bench_.id(s.to), 3);
    return pcie::read_completions(request, dws, 256, 64, bench_.id(s.from)).front();
  }
  pcie::tlp read(const sent& s, uint64_t at) const {
    pcie::tlp t = pcie::memory_read(at, 4, bench_.id(s.from), 0);
    t.tag = uint16_t(s.number & 0x3ff);
    t.len_dw = uint16_t(s.number >> 10);
    if (t.len_dw == 0) t.last_be = 0;
    return t;
  }

  bench& bench_;
  std::mt19937_64 random_;
  std::vector<sent> all_;
  static constexpr unsigned first_number = 1024;  // a read has one DW at least
  unsigned count_ = first_number;
};

TEST(pcie_switch, latency_is_the_sum_of_its_parts) {
  bench b(2);
  b.parts[0]->port.send(write_of(b.base(1), 8, b.id(0)));
  b.parts[0]->port.send(write_of(b.base(b.root()), 8, b.id(0)));
  run_idle(b.k);
  const uint64_t link_ps = (8 + 16 + 8) * 500u + 50'000u;  // header of a 64-bit address
  ASSERT_EQ(b.parts[1]->got.size(), 1u);
  EXPECT_EQ(b.parts[1]->got[0].at_ps, 2 * link_ps + 100'000u);
  ASSERT_EQ(b.parts[2]->got.size(), 1u);
}

TEST(pcie_switch, what_belongs_to_nobody) {
  bench b(2);
  b.parts[b.root()]->port.send(pcie::memory_read(0x99, 1, 1, 3));  // not sent back where it came from
  b.parts[0]->port.send(pcie::memory_read(0x99, 1, b.id(0), 3));   // the root complex may know
  run_idle(b.k);
  EXPECT_EQ(b.sw.stats().unmapped, 1u);
  ASSERT_EQ(b.parts[b.root()]->got.size(), 2u);  // the error and the read
}

// Two inputs that always have something: each gets half of the output, also if one was there first.
TEST(pcie_switch, inputs_take_turns) {
  bench b(3);
  for (const unsigned from : {0u, 1u})
    for (int i = 0; i < 400; ++i) b.parts[from]->port.send(write_of(b.base(2), 64, b.id(from)));
  run_idle(b.k, 20'000'000);
  const auto& got = b.parts[2]->got;
  ASSERT_GT(got.size(), 200u);
  ASSERT_LT(got.size(), 800u);
  const auto first = std::ranges::count_if(got, [&](const received& r) { return r.packet.requester == b.id(0); });
  EXPECT_NEAR(double(first) / double(got.size()), 0.5, 0.05);
}

// A device that takes no writes holds up those for it; others go on once they are in front.
TEST(pcie_switch, a_full_output_holds_up_its_inputs_and_no_others) {
  bench b(3);
  b.parts[2]->accept = [](const pcie::tlp&) { return false; };
  for (int i = 0; i < 400; ++i) b.parts[0]->port.send(write_of(b.base(2), 64, b.id(0)));
  for (int i = 0; i < 400; ++i) b.parts[1]->port.send(write_of(b.base(b.root()), 64, b.id(1)));
  run_idle(b.k);
  EXPECT_TRUE(b.parts[2]->got.empty());
  EXPECT_EQ(b.parts[b.root()]->got.size(), 400u);
  EXPECT_GT(b.parts[0]->port.tx_pending(pcie::fc::p), 0u);  // no credits left
  b.parts[2]->accept = nullptr;
  b.k.enter();
  b.parts[2]->port.resume();
  run_idle(b.k);
  EXPECT_EQ(b.parts[2]->got.size(), 400u);
}

class random_traffic : public testing::TestWithParam<unsigned> {};

TEST_P(random_traffic, arrives_once_and_in_order) {
  const unsigned seed = GetParam();
  bench b(2 + seed % 3, {.forward_ps = 1000u * (seed % 4) * 50, .queue_packets = 1 + seed % 5});
  traffic t(b, seed);
  std::mt19937_64 random(seed + 100);
  for (int burst = 0; burst < 60; ++burst) {
    b.k.enter();
    for (auto left = random() % 40; left > 0; --left) t.send_some();
    t.go_on(random() % 4 == 0 ? 20'000'000 : 300'000);  // now and then all is quiet
  }
  for (int turn = 0; turn < 4000 && t.arrived() < t.count(); ++turn) t.go_on(1'000'000);
  ASSERT_EQ(t.arrived(), t.count());
  t.check();
}

INSTANTIATE_TEST_SUITE_P(seeds, random_traffic, testing::Range(0u, 12u));

}  // namespace
}  // namespace ggas::test::pcie_switch_test
