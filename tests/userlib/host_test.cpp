// SPDX-License-Identifier: Apache-2.0
// Host programs on every provider; the C interface to the contexts of the NIC by itself.
#include "ggas/host.hpp"

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "ggas/launch.hpp"
#include "tests/userlib/host_rig.hpp"
#include "tests/userlib/rma_c99.h"

namespace ggas::test {
namespace {

class host_program : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(providers, host_program, testing::ValuesIn(providers()),
                         [](const auto& i) { return i.param; });

TEST_P(host_program, talks_to_a_kernel_through_pinned_memory) {
  const auto c = make(GetParam());
  ASSERT_TRUE(c);
  auto* const ask = reinterpret_cast<uint64_t*>(c->host_memory(0).base);
  auto* const answer = ask + 8;
  ASSERT_TRUE(c->launch_host(0, [=](host& h) {
    for (uint64_t i = 1; i <= 5; ++i) {
      if (!h.wait_until([&] { return h.load(ask) == i; }, second)) return;
      h.store(answer, 10 * i);
    }
  }));
  uint64_t good = 0;
  ASSERT_TRUE(c->launch(0, 1, 1, [&, ask, answer] {
    for (uint64_t i = 1; i <= 5; ++i) {
      ggas_store(ask, i);
      good += ggas_wait_until(answer, ggas_eq, 10 * i, second) == ggas_ok;
    }
  }));
  const auto r = c->run(20 * second);
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(good, 5u);
}

TEST_P(host_program, reads_and_writes_any_bytes) {
  const auto c = make(GetParam());
  ASSERT_TRUE(c);
  std::byte* const base = c->host_memory(1).base;
  std::byte* const segment = c->segment(1) + c->device_context(1).reserved;
  std::vector<std::byte> out(300), in(300);
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::byte(7 * i + 1);
  unsigned wrong = 0;
  ASSERT_TRUE(c->launch_host(1, [&](host& h) {
    EXPECT_EQ(h.node(), 1);
    for (std::byte* at : {base, segment})
      for (size_t shift : {0, 1, 4, 63}) {
        h.write(at + shift, out.data(), out.size());
        h.read(in.data(), at + shift, in.size());
        wrong += in != out;
      }
  }));
  const auto r = c->run(20 * second);
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(std::memcmp(base + 63, out.data(), out.size()), 0);
}

TEST_P(host_program, times_out_in_a_wait_and_sleeps) {
  const auto c = make(GetParam());
  ASSERT_TRUE(c);
  auto* const never = reinterpret_cast<uint64_t*>(c->host_memory(0).base);
  bool found = true;
  uint64_t waited = 0, slept = 0;
  ASSERT_TRUE(c->launch_host(0, [&](host& h) {
    const uint64_t t0 = h.now_ns();
    found = h.wait_until([&] { return h.load(never) != 0; }, 300 * us);
    const uint64_t t1 = h.now_ns();
    h.sleep(2 * ms);
    waited = t1 - t0;
    slept = h.now_ns() - t1;
  }));
  ASSERT_TRUE(c->run(20 * second));
  EXPECT_FALSE(found);
  EXPECT_GE(waited, 300 * us);
  EXPECT_GE(slept, 2 * ms);
}

TEST_P(host_program, a_run_that_is_over_ends_it_and_its_objects) {
  const auto c = make(GetParam());
  ASSERT_TRUE(c);
  auto* const never = reinterpret_cast<uint64_t*>(c->host_memory(0).base);
  std::atomic<int> alive = 0;
  struct counted {
    std::atomic<int>& n;
    explicit counted(std::atomic<int>& n) : n(n) { ++n; }
    ~counted() { --n; }
  };
  ASSERT_TRUE(c->launch_host(
      0,
      [&](host& h) {
        const counted object(alive);
        (void)h.wait_until([&] { return h.load(never) != 0; }, ~uint64_t{0});
      },
      "waits"));
  ASSERT_TRUE(c->launch_host(
      1, [&](host& h) { h.sleep(~uint64_t{0} / 4); }, "sleeps"));
  const auto r = c->run(20 * ms);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, errc::timed_out);
  EXPECT_TRUE(has(r.error().text, "node 0: program 'waits'")) << r.error().text;
  EXPECT_TRUE(has(r.error().text, "node 1: program 'sleeps'")) << r.error().text;
  EXPECT_EQ(alive, 0);
  bool again = false;
  ASSERT_TRUE(c->launch_host(0, [&](host&) { again = true; }));
  ASSERT_TRUE(c->run(second));
  EXPECT_TRUE(again);
}

// Times that no clock reaches.
TEST_P(host_program, a_time_without_end_is_one) {
  const auto c = make(GetParam());
  ASSERT_TRUE(c);
  for (uint64_t endless : {~uint64_t{0}, ~uint64_t{0} / 4}) {
    bool ended = false;
    ASSERT_TRUE(c->launch_host(0, [&](host& h) {
      h.sleep(2 * ms);
      ended = true;
    }));
    const auto r = c->run(endless);
    EXPECT_TRUE(r) << r.error().text;
    EXPECT_TRUE(ended);
    ASSERT_TRUE(c->launch_host(0, [&](host& h) { h.sleep(endless); }));
    EXPECT_FALSE(c->run(5 * ms)) << "a sleep without end is over";
  }
}

TEST_P(host_program, failures_are_named) {
  const auto c = make(GetParam());
  ASSERT_TRUE(c);
  ASSERT_TRUE(c->launch_host(
      0, [](host&) { throw std::runtime_error("oops"); }, "thrower"));
  auto r = c->run(second);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, errc::device_fault);
  EXPECT_TRUE(has(r.error().text, "thrower")) << r.error().text;
  EXPECT_TRUE(has(r.error().text, "oops")) << r.error().text;

  uint64_t own = 0;
  ASSERT_TRUE(c->launch_host(
      0, [&](host& h) { h.store(&own, uint64_t{1}); }, "stray"));
  r = c->run(second);
  ASSERT_FALSE(r);
  EXPECT_TRUE(has(r.error().text, "stray")) << r.error().text;
  EXPECT_EQ(own, 0u);

  EXPECT_TRUE(has(c->launch_host(
                       2, [](host&) {}, "far")
                      .error()
                      .text,
                  "'far' on node 2: nodes are 0 ... 1"));
  EXPECT_TRUE(has(c->launch_host(0, nullptr, "none").error().text, "no function"));
  EXPECT_EQ(c->host_memory(7).base, nullptr);
  EXPECT_TRUE(c->host_queues(-1).empty());
}

TEST(Rma, CInterfaceIsC99) { EXPECT_EQ(check_rma_c99(), 0) << "line of tests/userlib/rma_c99.c"; }

TEST(Queues, RefusesBadConfigurations) {
  const auto text = [](auto change) {
    cluster_config c;
    c.provider = "shm";
    change(c);
    auto made = cluster::create(c);
    return made ? std::string("accepted") : made.error().text;
  };
  EXPECT_TRUE(has(text([](auto& c) { c.queues.count = -1; }), "queues.count = -1: must be 0 ... 128"));
  EXPECT_TRUE(has(text([](auto& c) { c.queues.host_count = 129; }), "queues.host_count = 129"));
  EXPECT_TRUE(has(text([](auto& c) { c.queues.notify_log2 = 3; }), "queues.notify_log2 = 3: must be 4 ... 16"));
  EXPECT_TRUE(has(text([](auto& c) { c.queues.slots_log2 = 17; }), "queues.slots_log2 = 17"));
  EXPECT_TRUE(has(text([](auto& c) { c.queues.mailbox_log2 = 13; }), "queues.mailbox_log2 = 13"));
  EXPECT_TRUE(has(text([](auto& c) { c.host_bytes = 5000; }), "host_bytes = 5000"));
}

}  // namespace
}  // namespace ggas::test
