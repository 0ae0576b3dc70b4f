// SPDX-License-Identifier: Apache-2.0
// One-sided communication of host programs and kernels in the simulator: they use the contexts of the NIC, with the
// reference model and the RTL, through the C interface.
#include "ggas/host.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "ggas/launch.hpp"
#include "tests/userlib/host_rig.hpp"

namespace ggas::test {
namespace {

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
    const auto with_queue = [](auto body) { return [body](host& h) { body(h, h.queue(0)); }; };
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
        // A slot is free once its operation has ended, so after the notification.
        EXPECT_TRUE(h.wait_until([&] { return ggas_rma_read_status(&q).consumed == 4; }, ms));
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

// Several programs, one after the other in separate runs, use one context. The NIC continues its counts, so the
// programs must do so, too. There are more descriptors, records and messages than the rings hold.
TEST_P(rma, LaterProgramsGoOnWithAContext) {
  cluster_config cfg;
  cfg.queues.notify_log2 = 4;
  cfg.queues.mailbox_log2 = 2;
  two_nodes t(GetParam(), cfg);
  constexpr uint64_t each = 3, runs = 7;
  for (uint64_t first = 0; first < runs * each; first += each) {
    SCOPED_TRACE(first);
    t.run(
        [&](host& h, ggas_rma_context& q) {
          for (uint64_t i = first; i < first + each; ++i) {
            for (const auto& d : {ggas_rma_notify(t.peer(), 0, 0, i), ggas_rma_send(t.peer(), &i, 8, 0, i)}) {
              ASSERT_TRUE(h.wait_until([&] { return ggas_rma_post(&q, &d) != 0; }, 5 * ms)) << i;
            }
          }
          EXPECT_TRUE(h.wait_until([&] { return ggas_rma_remotely_done(&q) != 0; }, 5 * ms));
          EXPECT_EQ(ggas_rma_read_status(&q).errors, 0u);
        },
        [&](host& h, ggas_rma_context& q) {
          for (uint64_t i = first; i < first + each; ++i) {
            ASSERT_EQ(next_note(h, q).cookie, i);
            ggas_rma_message m{};
            ASSERT_TRUE(h.wait_until([&] { return ggas_rma_next_message(&q, &m) != 0; }, 5 * ms)) << i;
            ASSERT_EQ(m.data[0], i);
          }
        });
  }
}

// A warp writes a descriptor with one store of 32 bytes, which leaves as one TLP; the ring is in the memory that the
// configuration names.
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
        ggas_store(reinterpret_cast<uint64_t*>(q.descriptors) + threadIdx.x, d.w[threadIdx.x]);
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

}  // namespace
}  // namespace ggas::test
