// SPDX-License-Identifier: Apache-2.0
// Rounds of start and stop that leave nothing, and millions of notifications. Their numbers: GGAS_TEST_ROUNDS,
// GGAS_TEST_NOTIFICATIONS.
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/number_of.hpp"
#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

using test::number_of;
const uint64_t rounds = number_of("GGAS_TEST_ROUNDS", 100);
constexpr milliseconds an_hour{3'600'000};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool counts_memory = false;  // a sanitizer keeps books of its own, and finds leaks itself
#else
constexpr bool counts_memory = true;
#endif

// What this process holds of the system.
struct holdings {
  size_t files = 0, maps = 0, pages = 0;
  static holdings now() {
    holdings h{.files = test::open_files()};
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) h.maps += line.contains("memfd:ggas");
    if (counts_memory) std::ifstream("/proc/self/statm") >> h.pages;  // of addresses
    return h;
  }
  // Files and maps to the last one. Addresses: what the allocator keeps is let pass, an arena is not.
  std::string grown_since(const holdings& before) const {
    if (files > before.files) return "files are left open";
    if (maps > before.maps) return "maps are left";
    return pages > before.pages + 2048 ? "memory is left" : "ok";
  }
};

std::set<std::string> shared_memory() {
  std::set<std::string> names;
  for (const auto& e : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = e.path().filename();
    if (name.contains("ggas")) names.insert(name);
  }
  return names;
}

TEST(library_rounds, starts_and_stops_leave_nothing_behind) {
  const std::set<std::string> before = shared_memory();
  processes all;
  constexpr int size = 2;
  const std::string job = job_name();
  all.start_all(size, [&](int r, const voice& parent) {
    holdings first;
    for (uint64_t round = 0; round < rounds; ++round) {
      be(r, size, job + "." + std::to_string(round));
      ggas_process* p = nullptr;
      if (ggas_process_start(&p, timeout) != GGAS_OK) return parent.say(ggas_error_text());
      static uint64_t word = 0;
      const bool good = ggas_segment_create(p, 0, 100'000, 0, timeout) == GGAS_OK &&
                        ggas_segment_use(p, 1, &word, 8, 0, timeout) == GGAS_OK;
      ggas_process_stop(p);
      if (!good) return parent.say(ggas_error_text());
      if (round == 10) first = holdings::now();
    }
    parent.say(holdings::now().grown_since(first));
  });
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, an_hour), "ok");
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.ending(r, soon), "0");
  EXPECT_EQ(shared_memory(), before);
}

TEST(library_rounds, segments_leave_nothing_behind) {
  run(
      2,
      [](const rank& r) -> std::string {
        static uint64_t word[8];
        holdings first;
        for (uint64_t round = 0; round < rounds; ++round) {
          MUST(r.create(0, 1 << 16), GGAS_OK);
          MUST_HOLD(r.memory<uint64_t>(0)[100] == 0);  // no one writes before all use the other one
          MUST(ggas_segment_use(r.p, 1, word, sizeof word, GGAS_GROUP_ALL, timeout), GGAS_OK);
          const ggas_part part{0, 0, 0, 800, 8}, to_bound{0, 1, 0, 8, 8};
          r.memory<uint64_t>(0)[0] = round + 1;
          MUST(ggas_queue_write(r.p, &part, 1 - r.me, 0, timeout), GGAS_OK);
          MUST(ggas_queue_write(r.p, &to_bound, 1 - r.me, 0, timeout), GGAS_OK);
          MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
          MUST(r.barrier(), GGAS_OK);
          MUST_HOLD(r.memory<uint64_t>(0)[100] == round + 1 && word[1] == round + 1);
          MUST(r.barrier(), GGAS_OK);
          MUST(ggas_segment_delete(r.p, 0), GGAS_OK);
          MUST(ggas_segment_delete(r.p, 1), GGAS_OK);
          if (round == 10) first = holdings::now();
        }
        return holdings::now().grown_since(first);
      },
      an_hour);
}

TEST(library_rounds, killed_ranks_leave_nothing_in_shared_memory) {
  const std::set<std::string> before = shared_memory();
  processes all;
  constexpr int size = 4;
  all.start_all(size, member(size, [](const rank& r) -> std::string {
                  MUST(r.create(0, 1 << 20), GGAS_OK);
                  r.parent.say("ready");
                  for (;;) pause();
                }));
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, soon), "ready");
  for (int r = 0; r < size; ++r) all.kill(r);
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.ending(r, soon), "signal 9");
  EXPECT_EQ(shared_memory(), before);
}

// Two threads of each rank send to the right neighbour, two take from the left one.
constexpr uint32_t threads = 2, slots = 256, acks = threads * slots, ranks = 8;

class soak {
 public:
  soak(const rank& r, uint32_t last) : r_(r), last_(last) {}

  // A round: a word, after it a notification of each slot, then the receiver's answer.
  void send(uint32_t thread) {
    const uint32_t to = (r_.me + 1) % r_.size, mine = thread * slots;
    uint64_t* const word = r_.memory<uint64_t>(0) + acks + mine;  // after what arrives here
    for (uint32_t round = 1; round <= last_ && good_; ++round) {
      for (uint32_t s = 0; s < slots; ++s) {
        word[s] = round;
        const ggas_part part{0, 0, 8ull * (acks + mine + s), 8ull * (mine + s), 8};
        must(ggas_queue_write(r_.p, &part, to, thread, timeout) == GGAS_OK);
        must(ggas_queue_notify(r_.p, 0, to, mine + s, round, thread, timeout) == GGAS_OK);
      }
      must(ggas_queue_wait(r_.p, thread, timeout) == GGAS_OK);
      uint32_t found, value = 0;
      must(ggas_notification_waitsome(r_.p, 0, acks + thread, 1, &found, timeout) == GGAS_OK);
      must(ggas_notification_reset(r_.p, 0, found, &value) == GGAS_OK && value == round);
    }
  }

  // Any thread takes any slot. A value that does not follow the one before was lost or doubled; a missing word was
  // overtaken.
  void take() {
    while (taken_ < uint64_t{last_} * acks && good_) {
      uint32_t s, value = 0;
      if (ggas_notification_waitsome(r_.p, 0, 0, acks, &s, 100 * ms) != GGAS_OK) continue;
      must(ggas_notification_reset(r_.p, 0, s, &value) == GGAS_OK);
      if (value == 0) continue;  // another thread had it
      must(value == ++seen_[s]);
      must(std::atomic_ref(r_.memory<uint64_t>(0)[s]).load() == value);
      ++taken_;
      const uint32_t sender = s / slots;
      if (++of_round_[sender] % slots != 0) continue;
      must(ggas_queue_notify(r_.p, 0, (r_.me + r_.size - 1) % r_.size, acks + sender, value, 4, timeout) == GGAS_OK);
    }
  }

  bool good() const { return good_; }
  uint64_t taken() const { return taken_; }

 private:
  void must(bool holds) {
    if (!holds) good_ = false;
  }

  const rank& r_;
  uint32_t last_;
  std::atomic<bool> good_{true};
  std::atomic<uint64_t> taken_{0};
  std::array<std::atomic<uint32_t>, acks> seen_{};
  std::array<std::atomic<uint64_t>, threads> of_round_{};
};

TEST(library_soak, no_notification_is_lost_doubled_or_early) {
  const uint64_t wanted = number_of("GGAS_TEST_NOTIFICATIONS", 200'000);
  const auto last = static_cast<uint32_t>((wanted + ranks * acks - 1) / (ranks * acks));
  const auto program = [last](const rank& r) -> std::string {
    MUST(r.create(0, 8 * 2 * acks), GGAS_OK);
    soak s(r, last);
    std::vector<std::thread> running;
    for (uint32_t t = 0; t < threads; ++t) {
      running.emplace_back([&s, t] { s.send(t); });
      running.emplace_back([&s] { s.take(); });
    }
    for (std::thread& t : running) t.join();
    MUST_HOLD(s.good());
    MUST_HOLD(s.taken() == uint64_t{last} * acks);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  };
  run(ranks, program, an_hour);
}

}  // namespace
}  // namespace ggas::library_test
