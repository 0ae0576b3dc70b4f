// SPDX-License-Identifier: Apache-2.0
// The message layer of simulated hosts: order, sizes, receives before and after their messages, errors.
#include "benchmarks/messages/messages.hpp"
#include "tests/support/number_of.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>

namespace ggas::bench {
namespace {

constexpr uint64_t ms = 1'000'000, second = 1000 * ms;

std::unique_ptr<cluster> make(int nodes, unsigned mailbox_log2 = 8) {
  cluster_config cfg;
  cfg.nodes = nodes;
  cfg.nic = "model";
  cfg.segment_bytes = 1 << 20;
  cfg.host_bytes = 1 << 20;
  cfg.queues.mailbox_log2 = mailbox_log2;
  auto made = cluster::create(cfg);
  EXPECT_TRUE(made) << made.error().text;
  return made ? std::move(*made) : nullptr;
}

std::byte* memory(cluster& c, int node) { return c.host_memory(node).base; }

using program = std::function<void(messages&, host&)>;
void run(cluster& c, const std::vector<program>& all, const message_settings& set = {}) {
  for (size_t n = 0; n < all.size(); ++n)
    ASSERT_TRUE(c.launch_host(int(n), [&c, &set, body = all[n]](host& h) {
      messages m(c, h, 0, set);
      body(m, h);
    }));
  const auto ran = c.run(100 * second);
  ASSERT_TRUE(ran) << ran.error().text;
}

// ------------------------------------------------------------------------------------------------ random messages

struct letter {
  int from, to;
  uint16_t tag;
  uint32_t bytes;
};

std::vector<letter> letters(uint64_t count, int nodes) {
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t n) { return random() % n; };
  std::vector<letter> all;
  for (uint64_t i = 0; i < count; ++i) {
    const int from = int(below(uint64_t(nodes))), to = (from + 1 + int(below(uint64_t(nodes - 1)))) % nodes;
    const uint64_t kind = below(20);
    const uint64_t bytes = kind < 14 ? below(65) : kind < 19 ? below(1500) : below(16385);
    all.push_back({from, to, uint16_t(below(3)), uint32_t(bytes)});
  }
  return all;
}

// A node goes through all letters, in their order; so many of its sends and receives are in flight.
class correspondent {
 public:
  correspondent(cluster& c, messages& m, int node) : messages_(m), node_(node), memory_(memory(c, node)) {}
  void work(const std::vector<letter>& all) {
    for (uint64_t i = 0; i < all.size() && messages_.fault().empty(); ++i) {
      if (all[i].from == node_) begin(sends_, i, all, 0);
      if (all[i].to == node_) begin(receives_, i, all, slots);
    }
    while (!sends_.empty()) finish(sends_, all);
    while (!receives_.empty()) finish(receives_, all);
    EXPECT_EQ(messages_.fault(), "") << "node " << node_;
  }

 private:
  static constexpr uint64_t slots = 16, slot_bytes = 16 << 10;
  struct open {
    uint64_t number;
    messages::handle what;
    std::byte* at;
  };
  static std::byte byte_of(uint64_t number, size_t i) { return std::byte(number * 31 + i * 7 + (number >> 8)); }
  void begin(std::deque<open>& ones, uint64_t number, const std::vector<letter>& all, uint64_t first_slot) {
    if (ones.size() == slots) finish(ones, all);
    const letter& l = all[number];
    std::byte* const at = memory_ + (first_slot + begun_[first_slot]++ % slots) * slot_bytes;
    const bool sends = first_slot == 0;
    for (size_t i = 0; sends && i < l.bytes; ++i) at[i] = byte_of(number, i);
    ones.push_back({number,
                    sends ? messages_.send(l.to, l.tag, at, l.bytes) : messages_.receive(l.from, l.tag, at, slot_bytes),
                    at});
  }
  void finish(std::deque<open>& ones, const std::vector<letter>& all) {
    const open o = ones.front();
    ones.pop_front();
    const auto got = messages_.wait(o.what);
    if (!got || &ones == &sends_) return;
    const letter& l = all[o.number];
    size_t wrong = got->bytes == l.bytes && got->from == l.from ? 0 : 1;
    for (size_t i = 0; i < l.bytes; ++i) wrong += o.at[i] != byte_of(o.number, i) ? 1 : 0;
    EXPECT_EQ(wrong, 0u) << "message " << o.number << " of " << l.bytes << " bytes from " << l.from << " to " << l.to;
  }

  messages& messages_;
  int node_;
  std::byte* memory_;
  std::deque<open> sends_, receives_;
  std::map<uint64_t, uint64_t> begun_;
};

TEST(messages, random) {
  const uint64_t count = test::number_of("GGAS_TEST_MESSAGES", 4000);
  constexpr int nodes = 4;
  for (const unsigned mailbox_log2 : {8u, 3u}) {  // the second one is full most of the time
    const auto c = make(nodes, mailbox_log2);
    const auto all = letters(mailbox_log2 == 8 ? count : count / 20, nodes);
    std::vector<program> each;
    for (int n = 0; n < nodes; ++n)
      each.push_back([&c, &all, n](messages& m, host&) { correspondent(*c, m, n).work(all); });
    run(*c, each, {.timeout_ns = second});
  }
}

// ------------------------------------------------------------------------------------------------ cases

TEST(messages, come_before_their_receive_and_from_any_node) {
  const auto c = make(3);
  const size_t large = 5000;
  for (int n = 1; n < 3; ++n) std::memset(memory(*c, n), n, large);
  const program sender = [&](messages& m, host& h) {
    EXPECT_TRUE(m.send_now(0, 7, memory(*c, h.node()), large));  // by rendezvous
    EXPECT_TRUE(m.send_now(0, 8, memory(*c, h.node()), 100));
    EXPECT_TRUE(m.send_now(0, 9, nullptr, 0));
  };
  run(*c, {[&](messages& m, host& h) {
             h.sleep(ms);
             std::byte* const to = memory(*c, 0);
             unsigned seen = 0;
             for (const size_t bytes : {large, large}) {
               const auto got = m.wait(m.receive(messages::any_node, 7, to, bytes));
               ASSERT_TRUE(got) << m.fault();
               EXPECT_EQ(got->bytes, large);
               EXPECT_EQ(to[large - 1], std::byte(got->from));
               seen |= 1u << got->from;
             }
             EXPECT_EQ(seen, 6u);
             for (const int from : {2, 1}) EXPECT_TRUE(m.receive_now(from, 8, to, 100));
             for (int i = 0; i < 2; ++i) EXPECT_TRUE(m.receive_now(messages::any_node, 9, to, 0));
           },
           sender, sender});
}

TEST(messages, both_send_first) {
  const auto c = make(2);
  const program both = [&](messages& m, host& h) {
    for (const size_t bytes : {size_t{8}, size_t{1024}, size_t{100000}}) {
      const int other = 1 - h.node();
      const messages::handle all[] = {m.send(other, 1, memory(*c, h.node()), bytes),
                                      m.receive(other, 1, memory(*c, h.node()) + (200 << 10), bytes)};
      EXPECT_TRUE(m.wait_all(all)) << m.fault();
    }
  };
  run(*c, {both, both});
}

TEST(messages, errors_name_what_happened) {
  const auto c = make(2);
  std::string late, large, huge;
  run(*c,
      {[&](messages& m, host&) {
         EXPECT_TRUE(m.send_now(1, 1, memory(*c, 0), 100));
         EXPECT_FALSE(m.receive_now(1, 1, memory(*c, 0), 8));
         EXPECT_FALSE(m.send_now(1, 1, memory(*c, 0), 8)) << "the first error ends later calls";
         late = m.fault();
       },
       [&](messages& m, host& h) {
         EXPECT_FALSE(m.receive_now(0, 1, memory(*c, 1), 99));
         large = m.fault();
         messages other(*c, h, 1);
         EXPECT_FALSE(other.send_now(0, 1, memory(*c, 1), messages::most_bytes + size_t{1}));
         huge = other.fault();
       }},
      {.timeout_ns = ms});
  EXPECT_EQ(late, "no end of an operation within 1000000 ns");
  EXPECT_EQ(large, "a message of 100 bytes from node 0: its receive has room for 99");
  EXPECT_EQ(huge, "a message of 8388609 bytes: at most 8388608");
}

// Where both ways take the same time, of messages between two nodes; for docs/host-messages.md.
TEST(messages, eager_and_rendezvous) {
  const auto c = make(2);
  std::map<size_t, uint64_t> ns[2];
  for (const bool rendezvous : {false, true}) {
    const auto half = [&](messages& m, host& h) {
      for (const size_t bytes : {size_t{8}, size_t{256}, size_t{512}, size_t{1024}, size_t{2048}, size_t{4096}}) {
        std::byte* const at = memory(*c, h.node());
        const uint64_t begin = h.now_ns();
        for (int round = 0; round < 4; ++round) {
          if (h.node() == 0) {
            EXPECT_TRUE(m.send_now(1, 1, at, bytes));
          }
          EXPECT_TRUE(m.receive_now(1 - h.node(), 1, at, bytes));
          if (h.node() == 1) {
            EXPECT_TRUE(m.send_now(0, 1, at, bytes));
          }
        }
        if (h.node() == 0) ns[rendezvous][bytes] = (h.now_ns() - begin) / 8;
      }
    };
    run(*c, {half, half}, {.eager_bytes = rendezvous ? 0u : 8192u});
  }
  for (const auto& [bytes, eager] : ns[0])
    std::printf("%zu bytes: eager %lu ns, rendezvous %lu ns\n", bytes, static_cast<unsigned long>(eager),
                static_cast<unsigned long>(ns[1][bytes]));
  EXPECT_LT(ns[0][8], ns[1][8]);
  EXPECT_GT(ns[0][4096], ns[1][4096]);
}

}  // namespace
}  // namespace ggas::bench
