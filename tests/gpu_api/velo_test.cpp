// SPDX-License-Identifier: Apache-2.0
// Device API: messages of VELO into the mailboxes of queues, by the NIC's RTL and by its model; refused without a NIC.
#include <algorithm>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

constexpr unsigned mailbox_log2 = 3;
constexpr int to_queue = 1;

std::vector<target> velo_targets() {
  std::vector<target> all;
#ifdef GGAS_TEST_SIM
  using place = queue_config::place;
  const queue_config boxes{.mailbox = place::gpu, .mailbox_log2 = mailbox_log2};
  queue_config in_host = boxes;
  in_host.mailbox = in_host.work_queue = place::host;
  all.push_back({.provider = "sim", .nodes = 2, .queues = boxes, .label = "rtl"});
  all.push_back({.provider = "sim", .nodes = 3, .queues = boxes, .label = "model", .nic = "model"});
  all.push_back({.provider = "sim", .nodes = 2, .reference = true, .queues = in_host, .label = "inhost"});
#endif
  return all;
}

class Velo : public api_test {
 protected:
  // What message `i` of a node carries.
  static uint8_t byte_of(int node, unsigned i, unsigned at) {
    return static_cast<uint8_t>(37 * node + 11 * i + at + 1);
  }
  static uint64_t cookie_of(int node, unsigned i) { return uint64_t{0xabcd} << 48 | unsigned(node) << 16 | i; }
  static unsigned bytes_of(unsigned i) { return (29 * i) % 65; }
  static void expect_message(const ggas_velo_message& m, int from, unsigned i) {
    EXPECT_EQ(m.from.cookie, cookie_of(from, i));
    EXPECT_EQ(m.from.size, bytes_of(i));
    EXPECT_EQ(m.from.node, static_cast<uint32_t>(from));
    EXPECT_EQ(m.from.action, detail::desc_send);
    const auto* const data = reinterpret_cast<const uint8_t*>(m.data);
    for (unsigned at = 0; at < 64; ++at) {
      const uint8_t want = at < bytes_of(i) ? byte_of(from, i, at) : 0;
      ASSERT_EQ(data[at], want) << "message " << i << ", byte " << at;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, Velo, testing::ValuesIn(velo_targets()),
                         [](const auto& i) { return i.param.name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Velo);

// From variables and memory of any alignment, by a thread, a warp and a block: in order, more than a mailbox holds.
TEST_P(Velo, MessagesCarryDataAndCookieInOrder) {
  constexpr unsigned messages = 4u << mailbox_log2;
  on_all(1, 32, [&] {
    const int me = ggas_node(), right = right_of(me), left = (me + ggas_nodes() - 1) % ggas_nodes();
    const ggas_queue q = ggas_queue_of(0), in = ggas_queue_of(to_queue);
    for (unsigned i = 0; i < messages; ++i) {
      auto* const shared = ggas_pointer_of_node<uint8_t>(me, base()) + i % 8;
      uint8_t own[64];
      for (unsigned at = 0; at < 64; ++at) own[at] = byte_of(me, i, at);
      for (unsigned at = threadIdx.x; at < 64; at += 32) shared[at] = byte_of(me, i, at);
      __syncwarp();
      if (i % 3 == 0) {
        if (threadIdx.x == 0)
          EXPECT_EQ(ggas_velo_send(right, own, bytes_of(i), cookie_of(me, i), to_queue, enough(), q), ggas_ok);
      } else if (i % 3 == 1) {
        EXPECT_EQ(ggas_velo_send_warp(right, shared, bytes_of(i), cookie_of(me, i), to_queue, enough(), q), ggas_ok);
      } else {
        EXPECT_EQ(ggas_velo_send_block(right, shared, bytes_of(i), cookie_of(me, i), to_queue, enough(), q), ggas_ok);
      }
      __syncwarp();
      if (threadIdx.x == 0) {
        ggas_velo_message m{};
        ASSERT_EQ(ggas_velo_take(&m, enough(), in), ggas_ok);
        expect_message(m, left, i);
      }
      __syncwarp();
    }
    ggas_velo_message none{};
    if (threadIdx.x == 0) EXPECT_EQ(ggas_velo_take(&none, 0, in), ggas_timed_out);
  });
  run();
}

// The reader begins when the mailbox has been full for long: the NIC of the sender tries again, and none is lost.
TEST_P(Velo, AFullMailboxHoldsTheSenderUp) {
  constexpr unsigned messages = 3u << mailbox_log2;
  on(0, 1, 1, [&] {
    uint8_t own[64];
    for (unsigned i = 0; i < messages; ++i) {
      for (unsigned at = 0; at < 64; ++at) own[at] = byte_of(0, i, at);
      EXPECT_EQ(ggas_velo_send(1, own, bytes_of(i), cookie_of(0, i), to_queue, enough(), ggas_queue_of(2)), ggas_ok);
    }
    EXPECT_EQ(ggas_quiet(ggas_queue_of(2), enough()), ggas_ok);
  });
  on(1, 1, 1, [&] {
    const auto* const never = ggas_pointer_of_node<uint64_t>(1, base());
    EXPECT_EQ(ggas_wait_until(never, ggas_ne, uint64_t{0}, 2 * brief()), ggas_timed_out);
    for (unsigned i = 0; i < messages; ++i) {
      ggas_velo_message m{};
      ASSERT_EQ(ggas_velo_take(&m, enough(), ggas_queue_of(to_queue)), ggas_ok);
      expect_message(m, 0, i);
    }
  });
  run();
}

// Several blocks take from one mailbox: each message once.
TEST_P(Velo, EachMessageIsTakenOnce) {
  constexpr unsigned takers = 3, each = 12;
  std::vector<uint64_t> cookies(static_cast<size_t>(nodes()) * takers * each);
  on_all(takers, 1, [&] {
    const int me = ggas_node();
    for (unsigned i = 0; i < each; ++i) {
      const uint64_t cookie = (static_cast<unsigned>(me) * takers + blockIdx.x) * each + i;
      EXPECT_EQ(ggas_velo_send(right_of(me), &cookie, 8, cookie, to_queue, enough(), ggas_queue_of(0)), ggas_ok);
      ggas_velo_message m{};
      ASSERT_EQ(ggas_velo_take(&m, enough(), ggas_queue_of(to_queue)), ggas_ok);
      EXPECT_EQ(m.from.cookie, m.data[0]);
      cookies[cookie] = m.from.cookie;
    }
  });
  run();
  std::ranges::sort(cookies);
  for (uint64_t i = 0; i < cookies.size(); ++i) ASSERT_EQ(cookies[i], i);
}

TEST_P(Velo, WrongArgumentsAreRefused) {
  on(0, 1, 1, [&] {
    const uint64_t data[9] = {};
    ggas_velo_message m{};
    EXPECT_EQ(ggas_velo_send(1, data, 65, 0, to_queue, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_velo_send(1, nullptr, 1, 0, to_queue, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_velo_send(ggas_nodes(), data, 8, 0, to_queue, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_velo_send(1, data, 8, 0, ggas_queues(), enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_velo_send(1, data, 8, 0, to_queue, enough(), ggas_queue_of(-1)), ggas_bad_argument);
    EXPECT_EQ(ggas_velo_take(nullptr, enough(), ggas_queue_of(to_queue)), ggas_bad_argument);
    EXPECT_EQ(ggas_velo_take(&m, brief(), ggas_queue_of(to_queue)), ggas_timed_out);
  });
  run();
}

GGAS_API_SUITE(VeloWithoutMailbox);
TEST_P(VeloWithoutMailbox, IsRefused) {
  on(0, 1, 1, [&] {
    ggas_velo_message m{};
    EXPECT_EQ(ggas_velo_take(&m, brief()), ggas_no_queue);
    const uint64_t data = 1;
    if (!detail::posts_descriptors()) EXPECT_EQ(ggas_velo_send(0, &data, 8, 0, 0, enough()), ggas_no_queue);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
