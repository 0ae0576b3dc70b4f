// SPDX-License-Identifier: Apache-2.0
// The table of registered memory: what is counted, what is refused, and that the NIC takes no put by an address whose
// memory was freed. Reference model and RTL of the NIC.
#include "ggas/registrations.hpp"

#include <cstring>

#include "ggas/heap.hpp"
#include "tests/userlib/host_rig.hpp"

namespace ggas::test {
namespace {

constexpr uint32_t put_bytes = 3000;
constexpr int protection = 6;

class Registrations : public testing::TestWithParam<bool> {
 public:
  Registrations() : cluster_(make("sim", {}, GetParam())) {}

  // Node 0 puts from its host memory to an address of node 1: 0, or the status of the error.
  int put(uint64_t nla, std::byte value) {
    const host_region from = cluster_->host_memory(0);
    std::memset(from.base, static_cast<int>(value), put_bytes);
    int status = -1;
    EXPECT_TRUE(cluster_->launch_host(0, [&](host& h) {
      ggas_rma_context& q = h.queue(0);
      const ggas_rma_peer there{.node = 1, .vpid = static_cast<uint8_t>(cluster_->host_queues(0)[0].vpid)};
      const auto d = ggas_rma_put(there, from.nla, nla, put_bytes, GGAS_RMA_ACK | GGAS_RMA_NOTIFY_REQUESTER, 1);
      EXPECT_EQ(ggas_rma_post(&q, &d), 1);
      ggas_rma_note note{};
      EXPECT_TRUE(h.wait_until([&] { return ggas_rma_next_note(&q, &note) != 0; }, 5 * ms));
      status = note.status;
      EXPECT_TRUE(status != 0 || h.wait_until([&] { return ggas_rma_remotely_done(&q) != 0; }, 5 * ms));
      h.sleep(10 * us);  // the last words are on their way into the GPU's memory
    }));
    const auto ran = cluster_->run(50 * ms);
    EXPECT_TRUE(ran) << ran.error().text;
    return status;
  }
  static bool all_are(const std::byte* at, std::byte value) {
    for (uint32_t i = 0; i < put_bytes; ++i)
      if (at[i] != value) return false;
    return true;
  }

  std::string why_;
  std::unique_ptr<cluster> cluster_;
};
INSTANTIATE_TEST_SUITE_P(nics, Registrations, testing::Bool(), [](const auto& i) { return i.param ? "rtl" : "model"; });

TEST_P(Registrations, KnownAddressesAreFoundAndLongerOnesKeepTheirPlace) {
  registrations table(*cluster_);
  std::byte* const at = cluster_->host_memory(1).base + 100;
  const auto first = table.add(1, at, 5000, why_);
  ASSERT_TRUE(first) << why_;
  EXPECT_EQ(table.add(1, at, 5000, why_), first);
  EXPECT_EQ(table.add(1, at, 1, why_), first);
  const auto longer = table.add(1, at, 9000, why_);
  ASSERT_TRUE(longer) << why_;
  EXPECT_NE(longer, first);
  const auto c = table.counts(1);
  EXPECT_EQ(c.entries, 1u);
  EXPECT_EQ(c.made, 2u);
  EXPECT_EQ(c.lengthened, 1u);
  EXPECT_EQ(c.found, 2u);
  EXPECT_EQ(table.counts(0).entries, 0u);
  EXPECT_EQ(put(*longer + 5000, std::byte{7}), 0);
  EXPECT_TRUE(all_are(at + 5000, std::byte{7}));
  EXPECT_EQ(put(*first, std::byte{8}), protection);  // of the shorter one
}

TEST_P(Registrations, The257thAddressIsRefused) {
  registrations table(*cluster_);
  std::byte* const base = cluster_->host_memory(0).base;
  for (size_t i = 0; i < 256; ++i) ASSERT_TRUE(table.add(0, base + 4096 * (i / 2) + i % 2 * 64, 64, why_)) << why_;
  EXPECT_FALSE(table.add(0, base + 128, 64, why_));
  EXPECT_EQ(why_,
            "registration on node 0: the table is full: 256 addresses are registered; drop one, or free its memory");
  EXPECT_EQ(table.counts(0).entries, 256u);
  EXPECT_TRUE(table.add(0, base, 128, why_)) << why_;  // a known one, longer: its own place
  EXPECT_TRUE(table.add(1, cluster_->host_memory(1).base, 64, why_)) << why_;
  EXPECT_EQ(table.drop(0, base), "");
  EXPECT_NE(table.drop(0, base), "");
  EXPECT_TRUE(table.add(0, base + 128, 64, why_)) << why_;
}

// The NIC has the translation in its buffer from the put before.
TEST_P(Registrations, FreeInvalidatesWhatLiesThere) {
  registrations table(*cluster_);
  const auto pinned = heap::create(host_heap_of(*cluster_, 1, 4096), why_);
  const auto segments = heap::create(heap_of(*cluster_), why_);
  ASSERT_TRUE(pinned && segments) << why_;
  std::byte* const bases[] = {cluster_->host_memory(1).base, cluster_->segment(1)};
  heap* const heaps[] = {pinned.get(), segments.get()};
  for (int k = 0; k < 2; ++k) {
    const uint64_t offset = *heaps[k]->allocate(8192, why_), other = *heaps[k]->allocate(8192, why_);
    std::byte* const at = bases[k] + offset + 300;
    const auto nla = table.add(1, at, put_bytes, why_), kept = table.add(1, bases[k] + other, put_bytes, why_);
    ASSERT_TRUE(nla && kept) << why_;
    EXPECT_EQ(put(*nla, std::byte{1}), 0);
    EXPECT_TRUE(all_are(at, std::byte{1}));
    EXPECT_EQ(heaps[k]->free(offset), "");
    EXPECT_EQ(table.counts(1).entries, 1u);
    EXPECT_EQ(put(*nla, std::byte{2}), protection);
    EXPECT_TRUE(all_are(at, std::byte{1}));
    EXPECT_EQ(put(*kept, std::byte{3}), 0);
    const auto again = table.add(1, at, put_bytes, why_);
    ASSERT_TRUE(again) << why_;
    EXPECT_EQ(put(*again, std::byte{4}), 0);
    EXPECT_TRUE(all_are(at, std::byte{4}));
    EXPECT_EQ(table.drop(1, at), "");
    EXPECT_EQ(table.drop(1, bases[k] + other), "");
  }
  EXPECT_EQ(table.counts(1).dropped, 6u);
}

TEST_P(Registrations, TheEndOfTheTableEndsItsTranslations) {
  uint64_t nla = 0;
  {
    registrations table(*cluster_);
    nla = table.add(1, cluster_->host_memory(1).base, put_bytes, why_).value_or(0);
    EXPECT_EQ(put(nla, std::byte{1}), 0);
  }
  EXPECT_EQ(put(nla, std::byte{2}), protection);
  EXPECT_TRUE(all_are(cluster_->host_memory(1).base, std::byte{1}));
}

TEST_P(Registrations, BadOnesAreRefused) {
  registrations table(*cluster_);
  const int own = 0;
  EXPECT_FALSE(table.add(0, &own, sizeof own, why_));
  EXPECT_TRUE(has(why_, "lie neither in its segment nor in its host_memory")) << why_;
  EXPECT_FALSE(table.add(2, cluster_->host_memory(0).base, 8, why_));
  EXPECT_FALSE(table.add(0, cluster_->host_memory(0).base, 0, why_));
  EXPECT_FALSE(cluster_->unmap_memory(0, 4096));
  EXPECT_EQ(table.counts(0).entries, 0u);
}

TEST(RegistrationsWithoutNic, AreUnsupported) {
  const auto c = make("shm");
  std::string why;
  EXPECT_FALSE(registrations(*c).add(0, c->host_memory(0).base, 64, why));
  EXPECT_EQ(why, "memory registered with a NIC: not with provider 'shm'");
}

}  // namespace
}  // namespace ggas::test
