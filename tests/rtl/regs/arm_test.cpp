// SPDX-License-Identifier: Apache-2.0
// Readers that arm their contexts and sleep, records that arrive at any time, a driver that reads the ring of fired
// contexts: every reader with a record wakes (docs/interrupts.md). GGAS_SEED sets the seed.
#include <deque>
#include <map>
#include <random>

#include "tests/rtl/regs/suite.hpp"
#include "tests/rtl/rma/unit/streams.hpp"

namespace ggas::test {
namespace {

class arm_test : public regs_test {
 protected:
  static constexpr uint64_t ring = 0x7654'3000, forever = 30'000;

  struct reader {
    unsigned vpid, ring;
    uint32_t written = 0, seen = 0;  // records in memory; of those it read
    bool asleep = false;
    uint64_t since = 0;  // when a record came while it slept
  };
  struct context {
    unsigned vector = 0;
    bool list = false;
    uint64_t arms = 0, fires = 0;
  };

  bool chance(unsigned percent) { return rng() % 100 < percent; }

  void start(unsigned vpid, unsigned vector, bool list) {
    contexts[vpid] = {.vector = vector, .list = list};
    write(uint16_t(GGAS_REG_CONTEXT_CTRL(vpid)), GGAS_CONTEXT_CTRL_ENABLE_MASK | GGAS_CONTEXT_CTRL_IRQ_MASK |
                                                     (list ? GGAS_CONTEXT_CTRL_LIST_MASK : 0) |
                                                     vector << GGAS_CONTEXT_CTRL_VECTOR_SHIFT);
  }
  void enable_fired() {
    write(GGAS_REG_FIRED_BASE, ring);
    write(GGAS_REG_FIRED_TAIL, 0);
    write(GGAS_REG_FIRED_CTRL, 1);
  }

  // ---- what the RMA does: a record is in memory before it is counted here
  void record(reader& r) {
    if (r.asleep && r.written == r.seen) r.since = now;
    r.written += chance(90) ? 1 : 2;
    tells[r.ring].push_back({r.vpid, r.written});
  }
  void sleep(reader& r) {
    r.seen = r.written;
    r.asleep = true;
    ++contexts[r.vpid].arms;
    arms.push_back({r.vpid, r.ring, r.seen});
  }
  void offers() {
    for (unsigned i = 0; i < 2; ++i) {
      if (tells[i].empty() || (!(v.written_valid_i >> i & 1) && !chance(pace))) continue;
      const auto [vpid, count] = tells[i].front();
      v.written_valid_i |= uint8_t(1u << i);
      v.written_vpid_i = uint16_t((v.written_vpid_i & ~(0xffu << 8 * i)) | vpid << 8 * i);
      v.written_count_i = (v.written_count_i & ~(0xffffffffull << 32 * i)) | uint64_t{count} << 32 * i;
    }
    if (!arms.empty() && (v.arm_valid_i || chance(pace))) {
      v.arm_valid_i = 1;
      v.arm_vpid_i = uint8_t(arms.front().vpid);
      v.arm_ring_i = uint8_t(arms.front().ring);
      v.arm_count_i = arms.front().count;
    }
    v.rec_ready_i = chance(pace);
    v.msg_ready_i = chance(pace);
  }
  void step() {
    offers();
    v.clk_i = 0;
    v.eval();
    const unsigned reported = v.written_valid_i & v.written_ready_o;
    const bool armed = v.arm_valid_i && v.arm_ready_o;
    cycle();
    for (unsigned i = 0; i < 2; ++i)
      if (reported >> i & 1) tells[i].pop_front(), v.written_valid_i &= uint8_t(~(1u << i));
    if (armed) arms.pop_front(), v.arm_valid_i = 0;
    entries();
    handler();
  }

  // ---- what the driver does: on a message of a vector it reads the ring, or wakes who has that vector
  void entries() {
    for (; arrived < records.size(); ++arrived) {
      const auto& e = records[arrived];
      const auto vpid = unsigned(e.event);
      ASSERT_EQ(e.addr, ring + 16 * (arrived % 256));
      ASSERT_EQ(e.sequence(), arrived);
      ASSERT_EQ(e.phase(), arrived / 256 % 2 == 0);
      ASSERT_LE(arrived - read_reported, 255u) << "an entry that was not read is overwritten";
      ASSERT_TRUE(contexts.contains(vpid) && contexts[vpid].list) << "context " << vpid;
      for (size_t i = read_reported; i < arrived; ++i) ASSERT_NE(unsigned(records[i].event), vpid) << "entered twice";
      ASSERT_LE(++contexts[vpid].fires, contexts[vpid].arms) << "context " << vpid << " fired without an arm";
    }
  }
  void wake(unsigned vpid) {
    for (auto& r : readers)
      if (r.vpid == vpid) r.asleep = false;
  }
  void handler() {
    for (; heard < messages.size(); ++heard) {
      const auto vector = unsigned((messages[heard].addr - 0xfee00000) / 16);
      bool lists = false;
      for (auto& [vpid, c] : contexts) {
        if (c.vector != vector) continue;
        lists |= c.list;
        if (!c.list) wake(vpid);
      }
      if (lists) to_read = arrived;
    }
    while (read < to_read && chance(30)) wake(unsigned(records[read++].event));
  }
  void tell_tail() {
    if (read == read_reported) return;
    read_reported = read;
    v.req_i = v.write_i = 1, v.addr_i = GGAS_REG_FIRED_TAIL, v.wdata_i = read, v.wstrb_i = 0xff;
    step();  // what is offered may be taken in this cycle, too
    v.req_i = 0;
  }
  void nobody_sleeps_on() {
    for (const auto& r : readers) {
      if (!r.asleep || r.written == r.seen) continue;
      ASSERT_LT(now - r.since, forever) << "context " << r.vpid << ", ring " << r.ring << " sleeps on";
    }
  }

  void play(uint64_t want) {
    uint64_t slept = 0;
    for (uint64_t k = 0; slept < want; ++k) {
      if (k % 4096 == 0) pace = 10 + unsigned(rng() % 91), rate = 1 + unsigned(rng() % 40);
      reader& r = readers[rng() % readers.size()];
      if (chance(rate)) record(r);
      if (reader& s = readers[rng() % readers.size()]; !s.asleep && arms.size() < 8) sleep(s), ++slept;
      if (chance(1)) tell_tail();
      step();
      ASSERT_FALSE(HasFatalFailure());
      if (k % 1024 == 0) nobody_sleeps_on();
    }
    pace = 100;
    for (unsigned i = 0; i < 20'000; ++i) {
      if (i % 16 == 0) tell_tail();
      step();
    }
    for (const auto& r : readers) EXPECT_TRUE(!r.asleep || r.written == r.seen) << "context " << r.vpid;
    EXPECT_FALSE(v.busy_o);
  }

  // Many contexts, some in the ring and some with a vector of their own, both rings of each.
  void crowd(unsigned many) {
    for (unsigned i = 0; i < 16; ++i) enable_vector(i);
    enable_fired();
    for (unsigned i = 0; i < many; ++i) {
      const unsigned vpid = (17 * i + 3) % 256;
      const bool list = i % 4 != 0;
      start(vpid, list ? i % 3 : 3 + i % 13, list);
      for (unsigned k = 0; k < 2; ++k) readers.push_back({.vpid = vpid, .ring = k});
    }
  }

  struct arm {
    unsigned vpid, ring;
    uint32_t count;
  };
  std::mt19937_64 rng{seed()};
  std::vector<reader> readers;
  std::map<unsigned, context> contexts;
  std::array<std::deque<std::pair<unsigned, uint32_t>>, 2> tells;
  std::deque<arm> arms;
  size_t arrived = 0, heard = 0, to_read = 0, read = 0, read_reported = 0;
  unsigned pace = 50, rate = 10;
};

TEST_F(arm_test, NobodySleepsOnFewContexts) { crowd(4), play(50'000); }
TEST_F(arm_test, NobodySleepsOnManyContexts) { crowd(256), play(50'000); }
TEST_F(arm_test, NobodySleepsOnMillionLong) { crowd(23), play(1'000'000); }

// One record more than the reader says: at once. Else with the next one, and once.
TEST_F(arm_test, FiresAtOnceOrWithTheNextRecord) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  start(9, 5, false);
  pace = 100;
  const auto fired = [&] {
    for (unsigned i = 0; i < 20; ++i) step();
    return messages.size();
  };
  arms.push_back({9, 0, 0});
  EXPECT_EQ(fired(), 0u) << "nothing is there";
  tells[1].push_back({9, 1});
  EXPECT_EQ(fired(), 0u) << "the other ring";
  tells[0].push_back({9, 1});
  EXPECT_EQ(fired(), 1u);
  tells[0].push_back({9, 2});
  EXPECT_EQ(fired(), 1u) << "once";
  arms.push_back({9, 0, 1});
  EXPECT_EQ(fired(), 2u) << "a record is there that the reader has not seen";
  tells[0].push_back({9, 3});
  EXPECT_EQ(fired(), 2u) << "fired at once, so it is not armed";
  arms.push_back({9, 1, 1});
  EXPECT_EQ(fired(), 2u);
  tells[1].push_back({9, 2});
  EXPECT_EQ(fired(), 3u);
}

// Neither counts nor arms of a former start hold; a context without `irq` never fires.
TEST_F(arm_test, BelongsToOneStart) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  start(7, 1, false);
  pace = 100;
  const auto fired = [&] {
    for (unsigned i = 0; i < 20; ++i) step();
    return messages.size();
  };
  arms.push_back({7, 0, 0});
  EXPECT_EQ(fired(), 0u);
  write(GGAS_REG_CONTEXT_CTRL(7), 0);
  start(7, 1, false);
  tells[0].push_back({7, 1});
  EXPECT_EQ(fired(), 0u) << "armed by its former owner";
  write(GGAS_REG_CONTEXT_CTRL(7), 0);
  start(7, 1, false);
  arms.push_back({7, 0, 0});
  EXPECT_EQ(fired(), 0u) << "records of its former owner";
  tells[0].push_back({7, 1});
  EXPECT_EQ(fired(), 1u);
  write(GGAS_REG_CONTEXT_CTRL(7), 1);
  arms.push_back({7, 0, 5});
  EXPECT_EQ(fired(), 1u) << "no irq";
}

// Records of an earlier start do not count after any number of starts in between, of which none armed.
TEST_F(arm_test, ForgetsAfterAnyNumberOfStarts) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  pace = 100;
  const auto fired = [&] {
    for (unsigned i = 0; i < 20; ++i) step();
    return messages.size();
  };
  start(7, 1, false);
  for (unsigned starts = 1; starts <= 70; ++starts) {
    tells[0].push_back({7, 3});
    EXPECT_EQ(fired(), 0u);
    for (unsigned i = 0; i < starts; ++i) {
      write(GGAS_REG_CONTEXT_CTRL(7), 0);
      start(7, 1, false);
    }
    arms.push_back({7, 0, 0});
    ASSERT_EQ(fired(), 0u) << "records of " << starts << " starts ago";
    write(GGAS_REG_CONTEXT_CTRL(7), 0);
    start(7, 1, false);
  }
}

// What is in progress as the context starts again is of its former start, whichever of the two comes first by a cycle.
TEST_F(arm_test, AnArmInHandIsOfTheFormerStart) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  pace = 100;
  const auto fired = [&] {
    for (unsigned i = 0; i < 20; ++i) step();
    return messages.size();
  };
  for (unsigned wait = 0; wait < 4; ++wait) {
    start(7, 1, false);
    tells[0].push_back({7, 3});
    fired();
    v.arm_valid_i = 1, v.arm_vpid_i = 7, v.arm_ring_i = 0, v.arm_count_i = 5;
    for (unsigned i = 0; i < wait; ++i) cycle();
    start(7, 1, false);
    v.arm_valid_i = 0;
    const size_t before = fired();
    arms.push_back({7, 0, 0});
    EXPECT_EQ(fired(), before) << "records of its former start";
  }
}

// The ring off is stopped after its last entry; on again it starts from zero.
TEST_F(arm_test, RingStopsAndStartsAgain) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  const auto stopped = [&] { return regs_test::read(GGAS_REG_STOPPED) & GGAS_STOPPED_FIRED_MASK; };
  EXPECT_TRUE(stopped());
  start(200, 1, true);
  for (unsigned round = 0; round < 3; ++round) {
    enable_fired();
    run(300);
    EXPECT_FALSE(stopped());
    EXPECT_EQ(regs_test::read(GGAS_REG_FIRED_HEAD), 0u);
    v.rec_ready_i = 0;
    v.arm_valid_i = 1, v.arm_vpid_i = 200, v.arm_count_i = 77;
    cycle();
    v.arm_valid_i = 0;
    run(20);
    write(GGAS_REG_FIRED_CTRL, 0);
    for (unsigned i = 0; i < 20; ++i) EXPECT_FALSE(stopped());
    v.rec_ready_i = 1;
    run(3);
    EXPECT_TRUE(stopped());
    ASSERT_EQ(records.size(), round + 1);
    EXPECT_EQ(records.back().sequence(), 0u);
    EXPECT_TRUE(records.back().phase());
  }
}

}  // namespace
}  // namespace ggas::test
