// SPDX-License-Identifier: Apache-2.0
// Host programs on a simulated processor: the cost of cached and uncached accesses, their requests on the bus, polling,
// sleeping, and ends of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/sim/system_fixture.hpp"

namespace ggas::test::cpu_test {
namespace {

constexpr uint64_t ns = 1000, us = 1000 * ns;
constexpr size_t pinned_bytes = 1 << 16;
constexpr uint64_t pinned = sim::pinned_base, page = sim::bar4_base + 5 * 4096;

class cpu_program : public testing::Test {
 protected:
  void SetUp() override {
    auto c = config("galibier-k20", false,
                    {"cpu.poll_ns=10.0", "cpu.miss_ns=100.0", "cpu.timer_slack_ns=5000.0", "cpu.store_ns=40.0"});
    c.nodes = 1;
    c.pinned = {memory};
    auto made = sim::system::create(std::move(c));
    ASSERT_TRUE(made) << made.error();
    s = std::move(*made);
    s->processor(0).port().on_wire = [this](const pcie::tlp& t, uint64_t, uint64_t) { sent.push_back(t); };
  }
  // Runs the body as a program; false: it has not ended within that time.
  bool run(std::function<void(cpu::core&)> body, uint64_t timeout_ps = 1000 * us) {
    sent.clear();
    program = s->make_program(0, std::move(body));
    program->runner().on_end = [this] { s->sim().stop(); };
    s->sim().enter();
    EXPECT_TRUE(program->runner().start());
    return s->run_until([this] { return program->runner().ended(); }, timeout_ps);
  }
  static uint64_t load(cpu::core& c, uint64_t at) {
    uint64_t v = 0;
    c.read(at, std::as_writable_bytes(std::span(&v, 1)));
    return v;
  }
  static void store(cpu::core& c, uint64_t at, uint64_t v) { c.write(at, std::as_bytes(std::span(&v, 1))); }
  // The device writes 8 bytes to host memory, from now on.
  void device_store(uint64_t at, uint64_t v) { gpu(*s, 0).store(at, std::as_bytes(std::span(&v, 1))); }

  alignas(4096) std::byte memory[pinned_bytes] = {};
  std::unique_ptr<sim::system> s;
  std::unique_ptr<cpu::core> program;  // before the system
  std::vector<pcie::tlp> sent;
};

TEST_F(cpu_program, pays_for_lines_and_for_those_a_device_wrote) {
  std::vector<uint64_t> took;
  ASSERT_TRUE(run([&](cpu::core& c) {
    const auto time = [&](auto f) {
      const uint64_t t = pcie::now_ps();
      f();
      took.push_back(pcie::now_ps() - t);
    };
    time([&] { store(c, pinned, 5); });
    time([&] { EXPECT_EQ(load(c, pinned), 5u); });
    device_store(pinned + 8, 7);
    c.sleep(20 * us);
    time([&] { EXPECT_EQ(load(c, pinned), 5u); });  // the same line
    time([&] { EXPECT_EQ(load(c, pinned + 8), 7u); });
    std::byte many[300];
    time([&] { c.read(pinned + 60, many); });
  }));
  EXPECT_EQ(took, (std::vector<uint64_t>{10 * ns, 10 * ns, 110 * ns, 10 * ns, 60 * ns}));
  EXPECT_TRUE(sent.empty());
  uint64_t seen;
  std::memcpy(&seen, memory + 8, 8);
  EXPECT_EQ(seen, 7u);
}

TEST_F(cpu_program, a_write_to_a_device_leaves_as_its_write_buffer_does) {
  std::byte data[256];
  for (unsigned i = 0; i < sizeof data; ++i) data[i] = std::byte(i);
  uint64_t took = 0;
  ASSERT_TRUE(run([&](cpu::core& c) {
    const uint64_t t = pcie::now_ps();
    c.write(page + 0x200, std::span(data).first(32));  // half a line: pieces
    took = pcie::now_ps() - t;
    c.write(page + 0x240, std::span(data).first(64));  // a line: whole
    c.write(page + 0x27c, std::span(data).first(76));  // the end of one, a line, the beginning of one
    c.sleep(10 * us);
  }));
  EXPECT_EQ(took, 40 * ns);
  using piece = std::pair<uint64_t, unsigned>;
  std::vector<piece> pieces;
  for (const auto& t : sent) pieces.emplace_back(t.addr - page, 4 * t.len_dw);
  EXPECT_EQ(pieces,
            (std::vector<piece>{
                {0x200, 8}, {0x208, 8}, {0x210, 8}, {0x218, 8}, {0x240, 64}, {0x27c, 4}, {0x280, 64}, {0x2c0, 8}}));
}

TEST_F(cpu_program, says_how_long_it_worked_polled_and_slept) {
  const cpu::thread_states& all = s->processor(0).states();
  ASSERT_TRUE(run([&](cpu::core& c) {
    (void)load(c, pinned);  // 10 ns
    c.sleep(20 * us);       // and 5 us of slack
    EXPECT_FALSE(c.wait_until([&] { return load(c, pinned) == 1; }, 10 * us));
    EXPECT_THROW(c.wait_until(
                     [&]() -> bool {
                       c.sleep(1 * us);
                       throw std::runtime_error("leaves");
                     },
                     10 * us),
                 std::runtime_error);
  }));
  s->run_for(50 * us);
  EXPECT_EQ(all.ps(cpu::doing::working), 10 * ns);
  EXPECT_EQ(all.ps(cpu::doing::polling), 10 * us + 10 * ns);  // a turn begins before the time is up
  EXPECT_EQ(all.ps(cpu::doing::asleep), 31 * us);
  EXPECT_EQ(all.awake_ps(), 10 * us + 20 * ns);
}

TEST_F(cpu_program, a_program_that_is_ended_is_in_no_state) {
  EXPECT_FALSE(run([](cpu::core& c) { c.wait_until([] { return false; }, 1'000'000 * us); }, 20 * us));
  program.reset();
  s->processor(0).agenda().clear();
  s->run_for(50 * us);
  EXPECT_LE(s->processor(0).states().ps(cpu::doing::polling), 21 * us);
}

TEST_F(cpu_program, polls_in_turns_of_its_own) {
  uint64_t begin = 0, found = 0, accesses = 0;
  bool good = false;
  ASSERT_TRUE(run([&](cpu::core& c) {
    (void)load(c, pinned);
    device_store(pinned, 1);
    begin = pcie::now_ps();
    good = c.wait_until([&] { return ++accesses, load(c, pinned) == 1; }, 100 * us);
    found = pcie::now_ps();
  }));
  EXPECT_TRUE(good);
  EXPECT_GT(found - begin, 150 * ns);
  EXPECT_LT(found - begin, 5 * us);
  EXPECT_EQ((found - begin) % (10 * ns), 0u) << "whole turns, the last with a miss";
  EXPECT_LE(accesses, 3u) << "turns that can find nothing cost the simulator nothing";
}

TEST_F(cpu_program, a_poll_ends_in_time_also_on_a_device) {
  uint64_t memory_took = 0, device_took = 0, nothing_took = 0;
  unsigned looks = 0;
  ASSERT_TRUE(run([&](cpu::core& c) {
    const auto time = [](uint64_t& to, auto f) {
      const uint64_t t = pcie::now_ps();
      EXPECT_FALSE(f());
      to = pcie::now_ps() - t;
    };
    time(memory_took, [&] { return c.wait_until([&] { return load(c, pinned) != 0; }, 50 * us); });
    time(nothing_took, [&] { return c.wait_until([] { return false; }, 1 * us); });
    time(device_took, [&] { return c.wait_until([&] { return ++looks, load(c, sim::endpoint_base) != 0; }, 20 * us); });
  }));
  for (const auto& [took, least] : {std::pair{memory_took, 50 * us}, {nothing_took, 1 * us}, {device_took, 20 * us}}) {
    EXPECT_GE(took, least);
    EXPECT_LE(took, least + 3 * us);
  }
  EXPECT_GT(looks, 10u);
}

TEST_F(cpu_program, programs_hear_of_each_other) {
  bool good = false;
  auto other = s->make_program(0, [&](cpu::core& c) {
    c.sleep(3 * us);
    store(c, pinned + 128, 9);
  });
  s->sim().enter();
  ASSERT_TRUE(other->runner().start());
  ASSERT_TRUE(run([&](cpu::core& c) { good = c.wait_until([&] { return load(c, pinned + 128) == 9; }, 50 * us); }));
  EXPECT_TRUE(good);
}

TEST_F(cpu_program, reaches_the_memory_of_a_device) {
  std::byte out[40], in[40] = {};
  for (unsigned i = 0; i < sizeof out; ++i) out[i] = std::byte(i + 1);
  uint64_t took = 0;
  const uint64_t before = s->processor(0).loads();
  ASSERT_TRUE(run([&](cpu::core& c) {
    c.write(sim::endpoint_base + 100, out);
    const uint64_t t = pcie::now_ps();
    c.read(sim::endpoint_base + 100, in);
    took = pcie::now_ps() - t;
  }));
  EXPECT_EQ(std::memcmp(in, out, sizeof out), 0);
  EXPECT_EQ(s->processor(0).loads() - before, 6u) << "4, 8, 8, 8, 8, 4 bytes";
  EXPECT_GT(took, 6 * 400 * ns) << "one after the other";
}

TEST_F(cpu_program, sleeps_at_least_as_long_as_asked) {
  uint64_t took = 0;
  ASSERT_TRUE(run([&](cpu::core& c) {
    const uint64_t t = pcie::now_ps();
    c.sleep(7 * us);
    took = pcie::now_ps() - t;
  }));
  EXPECT_EQ(took, 12 * us);
}

TEST_F(cpu_program, a_load_nobody_answers_is_an_error) {
  ASSERT_TRUE(run([&](cpu::core& c) { (void)load(c, 0xd0000000); }, 200'000 * us));
  EXPECT_NE(program->runner().fault().find("0xd0000000"), std::string::npos) << program->runner().fault();
}

TEST_F(cpu_program, can_be_ended_wherever_it_waits) {
  struct counted {
    int& n;
    ~counted() { --n; }
  };
  int alive = 0;
  const std::vector<std::function<void(cpu::core&)>> bodies = {
      [&](cpu::core& c) { (void)load(c, sim::endpoint_base); },
      [&](cpu::core& c) { c.sleep(1000 * us); },
      [&](cpu::core& c) { c.wait_until([&] { return load(c, pinned) == 77; }, 1000 * us); },
  };
  for (const auto& body : bodies) {
    std::ranges::fill(memory, std::byte{});
    EXPECT_FALSE(run(
        [&](cpu::core& c) {
          ++alive;
          const counted object{alive};
          body(c);
        },
        200 * ns));
    EXPECT_EQ(alive, 1);
    program->runner().kill();
    EXPECT_TRUE(program->runner().ended());
    EXPECT_EQ(alive, 0);
    // What it had asked for still comes, and what it polled still changes.
    device_store(pinned, 77);
    s->run_for(2000 * us);
    s->processor(0).agenda().clear();
    program.reset();
  }
}

}  // namespace
}  // namespace ggas::test::cpu_test
