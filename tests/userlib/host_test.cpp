// SPDX-License-Identifier: Apache-2.0
// Host programs: on the shm provider, and on simulated processors with the reference model as NIC, where they use the
// contexts of the NIC through the C interface.
#include "ggas/host.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "ggas/launch.hpp"
#include "tests/userlib/rma_c99.h"
#ifdef GGAS_HAVE_SIM
#include "tests/sim/model_core.hpp"
#include "userlib/providers/sim/sim_cluster.hpp"
#endif

namespace ggas {
namespace {

constexpr uint64_t us = 1000, ms = 1000 * us, second = 1000 * ms;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::unique_ptr<cluster> make(const std::string& provider, cluster_config cfg = {}, bool rtl = false) {
  cfg.provider = provider;
  cfg.segment_bytes = 1 << 20;
  cfg.host_bytes = 1 << 20;
#ifdef GGAS_HAVE_SIM
  const auto model = [](unsigned width, const nic::host_config& h, const char*) {
    return std::make_unique<test::model_core>(width, h);
  };
  auto made = provider == "sim" && !rtl ? userlib::make_sim_cluster(cfg, model) : cluster::create(cfg);
#else
  auto made = cluster::create(cfg);
#endif
  EXPECT_TRUE(made) << made.error().text;
  return made ? std::move(*made) : nullptr;
}

std::vector<std::string> providers() {
#ifdef GGAS_HAVE_SIM
  return {"shm", "sim"};
#else
  return {"shm"};
#endif
}

// ---------------------------------------------------------------------------------------------- every provider

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

#ifdef GGAS_HAVE_SIM

// ---------------------------------------------------------------------------------------------- one-sided
// communication

// Strong: the notification lies in host memory, the data perhaps in the GPU's.
constexpr unsigned flags_all = GGAS_RMA_NOTIFY_REQUESTER | GGAS_RMA_NOTIFY_COMPLETER | GGAS_RMA_ACK | GGAS_RMA_STRONG;

// Waits for the next notification of a context.
ggas_rma_note next_note(host& h, ggas_rma_context& q) {
  ggas_rma_note n{};
  EXPECT_TRUE(h.wait_until([&] { return ggas_rma_next_note(&q, &n) != 0; }, 5 * ms)) << "no notification";
  return n;
}

// On the reference model and on the RTL.
class rma : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(nics, rma, testing::Bool(), [](const auto& i) { return i.param ? "rtl" : "model"; });

struct two_nodes {
  explicit two_nodes(bool rtl, cluster_config cfg = {}) : c(make("sim", cfg, rtl)), queue(c->host_queues(0)[0]) {}
  ggas_rma_peer peer() const { return {.node = 1, .vpid = uint8_t(queue.vpid)}; }
  // A program on each node with its first context.
  void run(std::function<void(host&, ggas_rma_context&)> first,
           std::function<void(host&, ggas_rma_context&)> second = {}) {
    const auto with_queue = [this](auto body) {
      return [this, body](host& h) {
        auto q = open_queue(h, c->host_queues(h.node())[0]);
        body(h, q);
      };
    };
    ASSERT_TRUE(c->launch_host(0, with_queue(first), "first"));
    if (second) {
      ASSERT_TRUE(c->launch_host(1, with_queue(second), "second"));
    }
    const auto r = c->run(50 * ms);
    ASSERT_TRUE(r) << r.error().text;
  }
  std::unique_ptr<cluster> c;
  rma_queue queue;
};

TEST_P(rma, PutsFromEveryMemoryToEveryMemory) {
  two_nodes t(GetParam());
  const host_region from = t.c->host_memory(0), to = t.c->host_memory(1);
  const uint64_t reserved = t.c->device_context(0).reserved, gpu = t.c->device_context(0).segment_nla + reserved;
  std::byte* const sources[] = {from.base, t.c->segment(0) + reserved};
  std::byte* const targets[] = {to.base, t.c->segment(1) + reserved};
  const uint64_t source_nla[] = {from.nla, gpu}, target_nla[] = {to.nla, gpu};
  const uint32_t bytes = 3000;
  for (unsigned s = 0; s < 2; ++s)
    for (size_t i = 0; i < bytes; ++i) sources[s][i] = std::byte(i * 3 + s);
  unsigned notes = 0;
  t.run(
      [&](host& h, ggas_rma_context& q) {
        for (uint64_t i = 0; i < 4; ++i) {
          const auto d =
              ggas_rma_put(t.peer(), source_nla[i / 2], target_nla[i % 2] + 4096 * i, bytes, flags_all, 100 + i);
          ASSERT_EQ(ggas_rma_post(&q, &d), 1);
          const auto n = next_note(h, q);
          EXPECT_EQ(n.kind, GGAS_RMA_NOTE_REQUESTER);
          EXPECT_EQ(n.cookie, 100 + i);
          EXPECT_EQ(n.status, 0);
          EXPECT_EQ(n.size, bytes);
          EXPECT_TRUE(h.wait_until([&] { return ggas_rma_remotely_done(&q) != 0; }, ms));
        }
        EXPECT_EQ(ggas_rma_read_status(&q).consumed, 4u);
        EXPECT_EQ(ggas_rma_read_status(&q).errors, 0u);
      },
      [&](host& h, ggas_rma_context& q) {
        for (uint64_t i = 0; i < 4; ++i) {
          const auto n = next_note(h, q);
          EXPECT_EQ(n.kind, GGAS_RMA_NOTE_COMPLETER);
          EXPECT_EQ(n.cookie, 100 + i);
          EXPECT_EQ(n.peer.node, 0);
          ++notes;
        }
      });
  EXPECT_EQ(notes, 4u);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(std::memcmp(targets[i % 2] + 4096 * i, sources[i / 2], bytes), 0) << "copy " << i;
}

TEST_P(rma, EveryDescriptorOfTheCInterface) {
  for (const bool work_queue : {false, true}) {
    cluster_config cfg;
    cfg.queues.host_work_queue = work_queue;
    two_nodes t(GetParam(), cfg);
    const host_region own = t.c->host_memory(0), far = t.c->host_memory(1);
    const auto* mine = reinterpret_cast<const uint64_t*>(own.base);
    auto* theirs = reinterpret_cast<uint64_t*>(far.base);
    theirs[4] = 40;
    const char text[] = "thirty-six bytes travel in two slots";
    t.run(
        [&](host& h, ggas_rma_context& q) {
          const auto post = [&](const ggas_rma_desc& d) {
            EXPECT_TRUE(h.wait_until([&] { return ggas_rma_room(&q, d.slots) != 0; }, ms));
            EXPECT_EQ(ggas_rma_post(&q, &d), 1);
          };
          post(ggas_rma_make(GGAS_RMA_NOP, 0, {}, 0, 0, 0, 0));
          post(ggas_rma_imm(t.peer(), 0x1122334455667788, far.nla, 8, GGAS_RMA_ACK, 1));
          post(ggas_rma_inline(t.peer(), text, far.nla + 64, sizeof text, GGAS_RMA_ACK, 2));
          post(ggas_rma_atomic(t.peer(), GGAS_RMA_ADD, far.nla + 32, 8, 2, 0, own.nla + 128, 0, 3));
          EXPECT_TRUE(h.wait_until([&] { return h.load(mine + 17) == 3; }, ms)) << "no result record";
          EXPECT_EQ(h.load(mine + 16), 40u);
          post(ggas_rma_get(t.peer(), far.nla + 32, own.nla + 256, 8, GGAS_RMA_NOTIFY_COMPLETER, 4));
          EXPECT_EQ(next_note(h, q).kind, GGAS_RMA_NOTE_COMPLETER);
          EXPECT_EQ(h.load(mine + 32), 42u);
          post(ggas_rma_notify(t.peer(), far.nla, GGAS_RMA_STRONG, 5));
          post(ggas_rma_send(t.peer(), text, sizeof text, 0, 6));
          EXPECT_TRUE(h.wait_until([&] { return ggas_rma_remotely_done(&q) != 0; }, 5 * ms));
          // Refused at the target: not registered.
          post(ggas_rma_imm(t.peer(), 1, far.nla + (1ull << 40), 8, GGAS_RMA_ACK, 7));
          const auto n = next_note(h, q);
          EXPECT_EQ(n.kind, GGAS_RMA_NOTE_ERROR);
          EXPECT_EQ(n.status, 6);
          EXPECT_TRUE(h.wait_until([&] { return ggas_rma_read_status(&q).errors == 1; }, ms));
          EXPECT_EQ(ggas_rma_read_status(&q).last_error, 6);
        },
        [&](host& h, ggas_rma_context& q) {
          const auto n = next_note(h, q);
          EXPECT_EQ(n.cookie, 5u);
          EXPECT_EQ(n.op, GGAS_RMA_NOTIFY);
          EXPECT_EQ(h.load(theirs), 0x1122334455667788u);
          char got[sizeof text];
          h.read(got, far.base + 64, sizeof text);
          EXPECT_STREQ(got, text);
          ggas_rma_message m{};
          ASSERT_TRUE(h.wait_until([&] { return ggas_rma_next_message(&q, &m) != 0; }, 5 * ms));
          EXPECT_EQ(m.note.cookie, 6u);
          EXPECT_EQ(m.note.size, sizeof text);
          EXPECT_STREQ(reinterpret_cast<const char*>(m.data), text);
        });
  }
}

// More messages and notifications than the rings hold: the lazy updates keep them going.
TEST_P(rma, RingsTurn) {
  cluster_config cfg;
  cfg.queues.notify_log2 = 4;
  cfg.queues.mailbox_log2 = 2;
  two_nodes t(GetParam(), cfg);
  constexpr uint64_t rounds = 70;
  t.run(
      [&](host& h, ggas_rma_context& q) {
        for (uint64_t i = 0; i < rounds; ++i) {
          for (const auto& d : {ggas_rma_notify(t.peer(), 0, 0, i), ggas_rma_send(t.peer(), &i, 8, 0, ~i)}) {
            ASSERT_TRUE(h.wait_until([&] { return ggas_rma_room(&q, d.slots) != 0; }, 5 * ms));
            ASSERT_EQ(ggas_rma_post(&q, &d), 1);
          }
        }
        EXPECT_TRUE(h.wait_until([&] { return ggas_rma_remotely_done(&q) != 0; }, 5 * ms));
      },
      [&](host& h, ggas_rma_context& q) {
        for (uint64_t i = 0; i < rounds; ++i) {
          ASSERT_EQ(next_note(h, q).cookie, i);
          ggas_rma_message m{};
          ASSERT_TRUE(h.wait_until([&] { return ggas_rma_next_message(&q, &m) != 0; }, 5 * ms));
          ASSERT_EQ(m.data[0], i);
          ASSERT_EQ(m.note.cookie, ~i);
        }
      });
}

// A warp writes a descriptor with one store of 32 bytes, which leaves as one TLP; the ring lies where the
// configuration says and is reached accordingly.
TEST_P(rma, KernelsUseContexts) {
  for (const auto place : {queue_config::place::gpu, queue_config::place::host}) {
    cluster_config cfg;
    cfg.queues.notifications = cfg.queues.status = place;
    const auto c = make("sim", cfg, GetParam());
    ASSERT_TRUE(c);
    ASSERT_EQ(c->device_context(0).queue_count, 4);
    const uint64_t at = c->device_context(0).reserved;
    for (int n = 0; n < 2; ++n)
      ASSERT_TRUE(c->launch(n, 1, 4, [n, at] {
        const context& x = ggas::detail::device_context();
        const rma_queue& q = x.queues[1];
        const ggas_rma_desc d = ggas_rma_imm({.node = uint16_t(1 - n), .vpid = uint8_t(q.vpid)}, 0x1234,
                                             x.segment_nla + at, 8, GGAS_RMA_NOTIFY_COMPLETER, 77);
        ggas_store(reinterpret_cast<uint64_t*>(q.page + GGAS_RMA_AT_SLOTS) + threadIdx.x, d.w[threadIdx.x]);
        if (threadIdx.x) return;
        const auto* ring = reinterpret_cast<const uint64_t*>(q.notifications);
        (void)ggas_wait_until(ring + 1, ggas_ne, uint64_t{0}, 5 * ms);
        ggas_store(q.words, ggas_load(ring));
      }));
    const auto before = c->counters(0);
    const auto r = c->run(50 * ms);
    ASSERT_TRUE(r) << r.error().text;
    auto after = c->counters(0);
    uint64_t value;
    std::memcpy(&value, c->segment(1) + at, 8);
    EXPECT_EQ(value, 0x1234u);
    EXPECT_EQ(*c->device_context(1).queues[1].words, 77u);
    const bool host = place == queue_config::place::host;
    EXPECT_EQ(after["gpu.pcie_writes"] - before.at("gpu.pcie_writes"), 1u);
    EXPECT_EQ(after["gpu.host_writes"], 0u);
    EXPECT_EQ(after["gpu.host_reads"] > 2, host);
    EXPECT_EQ(after["gpu.pcie_reads"], after["gpu.host_reads"]);
  }
}

TEST_P(rma, NoContextsWhereNoneAreWanted) {
  cluster_config cfg;
  cfg.queues.count = cfg.queues.host_count = 0;
  const auto c = make("sim", cfg, GetParam());
  ASSERT_TRUE(c);
  EXPECT_EQ(c->device_context(0).queue_count, 0);
  EXPECT_TRUE(c->host_queues(0).empty());
}

#endif

}  // namespace
}  // namespace ggas
