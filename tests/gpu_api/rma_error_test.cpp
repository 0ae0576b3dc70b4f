// SPDX-License-Identifier: Apache-2.0
// Device API over queues of the NIC with errors: rings that are not read, addresses that are not registered, a link
// that is cut. With the reference model, the cut with the RTL.
#ifdef GGAS_TEST_SIM
#include <fstream>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t limit_ns = 20'000'000, brief_ns = 20'000;

class RmaError : public testing::Test {
 protected:
  void make(const cluster_config& cfg, bool reference = true) {
    auto c = make_cluster({.provider = "sim", .reference = reference}, cfg);
    ASSERT_TRUE(c) << c.error().text;
    cluster_ = std::move(*c);
    base_ = cluster_->device_context(0).reserved;
  }
  cluster_config config() const {
    cluster_config c;
    c.segment_bytes = c.host_bytes = 1 << 20;
    return c;
  }
  void on(int node, std::function<void()> kernel) {
    const auto ok = cluster_->launch(node, 1, 1, std::move(kernel));
    ASSERT_TRUE(ok) << ok.error().text;
    const auto r = cluster_->run(10 * limit_ns);
    ASSERT_TRUE(r) << r.error().text;
  }
  uint64_t* there() const { return ggas_global_pointer<uint64_t>(1, base_); }

  std::unique_ptr<cluster> cluster_;
  uint64_t base_ = 0;
};

// A full ring holds its senders back; they give up in time and leaves nothing; other queues go on.
TEST_F(RmaError, ARingThatNobodyReadsHoldsItsSendersBack) {
  cluster_config cfg = config();
  cfg.queues.notify_log2 = 4;
  make(cfg);
  uint64_t posted = 0;
  on(0, [&] {
    const ggas_queue q = ggas_queue_of(0);
    while (ggas_put_value_notify(there(), posted, posted, 0, brief_ns, q) == ggas_ok) ++posted;
    EXPECT_EQ(ggas_put_value_notify(there(), posted, posted, 0, 0, q), ggas_timed_out);
    EXPECT_EQ(ggas_quiet(q, brief_ns), ggas_timed_out);
    EXPECT_EQ(ggas_put_value(there() + 1, uint64_t{77}, limit_ns, ggas_queue_of(1)), ggas_ok);
    EXPECT_EQ(ggas_notify(1, 5, 1, limit_ns, ggas_queue_of(1)), ggas_ok);
  });
  EXPECT_GE(posted, 32u);  // a ring and a page
  EXPECT_LT(posted, 48u);
  on(1, [&] {
    const ggas_queue q = ggas_queue_of(0), other = ggas_queue_of(1);
    EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint64_t>(1, base_ + 8)), 77u);
    ggas_notification note{};
    EXPECT_EQ(ggas_notification_wait(&note, 0, other), ggas_ok);
    for (uint64_t i = 0; i < posted; ++i) {
      ASSERT_EQ(ggas_notification_wait(&note, limit_ns, q), ggas_ok);
      EXPECT_EQ(note.cookie, i);
    }
    EXPECT_EQ(ggas_notification_wait(&note, brief_ns, q), ggas_timed_out);
  });
  on(0, [&] {
    EXPECT_EQ(ggas_quiet(ggas_queue_of(0), limit_ns), ggas_ok);
    EXPECT_EQ(ggas_put_value_notify(there(), posted, posted, 0, limit_ns, ggas_queue_of(0)), ggas_ok);
  });
}

// Without back-pressure what does not fit is dropped, counted and reported.
TEST_F(RmaError, LostNotificationsAreCounted) {
  cluster_config cfg = config();
  cfg.queues.notify_log2 = 4;
  cfg.queues.backpressure = false;
  make(cfg);
  constexpr uint64_t sent = 40;
  on(0, [&] {
    for (uint64_t i = 0; i < sent; ++i) EXPECT_EQ(ggas_notify(1, i, 0, limit_ns, ggas_queue_of(0)), ggas_ok);
    EXPECT_EQ(ggas_quiet(ggas_queue_of(0), limit_ns), ggas_peer_error);  // some were lost
    ggas_queue_forgive(ggas_queue_of(0));
    EXPECT_EQ(ggas_quiet(ggas_queue_of(0), limit_ns), ggas_ok);
  });
  uint64_t got = 0;
  on(1, [&] {
    ggas_notification note{};
    const ggas_queue q = ggas_queue_of(0);
    while (ggas_notification_wait(&note, brief_ns, q) == ggas_ok) EXPECT_EQ(note.cookie, got++);
  });
  EXPECT_GE(got, 14u);
  EXPECT_LE(got, 16u);
  on(0, [&] { EXPECT_EQ(ggas_notify(1, 1234, 0, limit_ns, ggas_queue_of(1)), ggas_ok); });
  on(1, [&] {
    ggas_notification notes[2];
    size_t taken = 0;
    EXPECT_EQ(ggas_notification_wait_all(notes, 2, &taken, limit_ns, ggas_queue_of(0)), ggas_peer_error);
    EXPECT_EQ(notes[0].kind, static_cast<uint32_t>(ggas_note_lost));
    EXPECT_EQ(notes[0].cookie, sent - got);
    EXPECT_EQ(notes[1].cookie, 1234u);
  });
}

// A descriptor that names memory no one registered, at the initiator and at the target.
TEST_F(RmaError, UnregisteredMemoryFailsTheOperationAndNothingElse) {
  make(config());
  constexpr uint32_t protection = 6, nowhere_mb = 512;
  on(0, [&] {
    const ggas_queue q = ggas_queue_of(2);
    const uint64_t good = detail::own_nla(base_), bad = detail::own_nla(uint64_t{nowhere_mb} << 20);
    uint32_t failures = 0;
    for (const auto& [from, to] : {std::pair{bad, good}, std::pair{good, bad}}) {
      const detail::slot d{detail::first_word(detail::desc_put | detail::want_ack, 1, 256), from, to, 42};
      EXPECT_EQ(detail::post(
                    detail::thread_group{}, q, 1, 1, [&](unsigned i) { return d.word(i); }, detail::deadline(limit_ns)),
                ggas_ok);
      EXPECT_EQ(ggas_quiet(q, limit_ns), ggas_peer_error);
      EXPECT_EQ(ggas_queue_error(q).count, ++failures);
      EXPECT_EQ(ggas_queue_error(q).code, protection);
      ggas_notification note{};
      EXPECT_EQ(ggas_notification_wait(&note, limit_ns, q), ggas_peer_error);
      EXPECT_EQ(note.kind, static_cast<uint32_t>(ggas_note_error));
      EXPECT_EQ(note.code, protection);
      ggas_queue_forgive(q);
      EXPECT_EQ(ggas_quiet(q, limit_ns), ggas_ok);
    }
    EXPECT_EQ(ggas_put_value(there(), uint64_t{5}, limit_ns, q), ggas_ok);
    EXPECT_EQ(ggas_queue_error(ggas_queue_of(0)).count, 0u);
  });
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(cluster_->segment(1) + base_), 5u);
}

TEST_F(RmaError, WithoutQueuesPutsAreStoresAndAtomicsAreRefused) {
  cluster_config cfg = config();
  cfg.queues.count = 0;
  make(cfg);
  on(0, [&] {
    uint64_t old = 0;
    ggas_notification note{};
    auto* here = ggas_pointer_of_node<uint64_t>(0, base_);
    ggas_store(here, uint64_t{9});
    EXPECT_EQ(ggas_put(there(), here, 1, limit_ns), ggas_ok);
    EXPECT_EQ(ggas_get(here + 1, there(), 1, limit_ns), ggas_ok);
    EXPECT_EQ(ggas_load(here + 1), 9u);
    EXPECT_EQ(ggas_fetch_add(there(), uint64_t{1}, &old, limit_ns), ggas_no_queue);
    EXPECT_EQ(ggas_notify(1, 1, 0, limit_ns), ggas_no_queue);
    EXPECT_EQ(ggas_notification_wait(&note, limit_ns, ggas_queue_of(0)), ggas_no_queue);
  });
}

// The link is cut under way: every call ends, with a time-out of its own or with the NIC's result.
TEST_F(RmaError, ACutLinkEndsEveryWait) {
  const auto script = std::filesystem::path(testing::TempDir()) / "ggas_cut.faults";
  std::ofstream(script) << "* cut from 40\n";
  cluster_config cfg = config();
  cfg.faults = script;
  make(cfg, false);
  on(0, [&] {
    const ggas_queue q = ggas_queue_of(0);
    ggas_status s = ggas_ok;
    for (int i = 0; i < 200 && s == ggas_ok; ++i) s = ggas_put_value(there(), uint64_t{1}, limit_ns, q);
    EXPECT_NE(s, ggas_ok);
    uint64_t old = 0;
    EXPECT_NE(ggas_fetch_add(there(), uint64_t{1}, &old, limit_ns, ggas_queue_of(1)), ggas_ok);
    EXPECT_GE(ggas_queue_error(q).count, 1u);
  });
}

// The same for stores through the window: the NIC's answer to a quiet says so, and a put made of them hands it on.
TEST_F(RmaError, ACutLinkIsReportedToWhoStores) {
  const auto script = std::filesystem::path(testing::TempDir()) / "ggas_cut_stores.faults";
  std::ofstream(script) << "* cut from 40\n";
  cluster_config cfg = config();
  cfg.queues.count = 0;
  cfg.faults = script;
  make(cfg, false);
  on(0, [&] {
    auto* here = ggas_pointer_of_node<uint64_t>(0, base_);
    ggas_status s = ggas_ok;
    for (int i = 0; i < 200 && s == ggas_ok; ++i) s = ggas_put(there(), here, 1, limit_ns);
    EXPECT_EQ(s, ggas_peer_error);
    ggas_store(there(), uint64_t{1});
    EXPECT_EQ(ggas_quiet(), ggas_peer_error);
  });
}

}  // namespace
}  // namespace ggas::test
#endif
