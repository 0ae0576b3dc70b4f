// SPDX-License-Identifier: Apache-2.0
// A misbehaving rank writes noise wherever it may: into the headers of its segments, its mailboxes and requests at the
// others. Calls of the others end with some code; they neither crash nor hang, and their own memory is unchanged.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"
#include "userlib/libggas/shm/control.hpp"

namespace ggas::library_test {
namespace {

using namespace ggas::library;
using shm::control;
using shm::segment_entry;

constexpr uint64_t box_bytes = 8192;
constexpr uint32_t sound = 9;  // a segment that is let alone
constexpr int calls = 30'000;

// Arenas that this process has mapped: its own, and the other one's.
struct arenas {
  std::byte *own = nullptr, *other = nullptr;
};
arenas find(const std::byte* in_own) {
  arenas found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:ggas ") == line.npos) continue;
    uint64_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    const auto at = reinterpret_cast<uint64_t>(in_own);
    (at >= begin && at < end ? found.own : found.other) = reinterpret_cast<std::byte*>(begin);
  }
  return found;
}

class madness {
 public:
  madness(arenas a, uint32_t me) : a_(a), me_(me) {}

  void header() {
    segment_entry& e = reinterpret_cast<control*>(a_.own)->segments[random_() % 4];
    switch (random_() % 7) {
      case 0:
        return e.offset.store(number());
      case 1:
        return e.bytes.store(number());
      case 2:
        return e.slots.store(number());
      case 3:
        return e.address.store(number());
      case 4:
        return e.made_of.store(static_cast<shm::memory>(random_() % 6));
      case 5:
        return e.generation.store(random_() % 4);
      default:
        e.permitted[0].store(random_() % 4 ? ~0ull : number());
    }
  }
  void mailbox() {
    auto& box = reinterpret_cast<shm::mailbox*>(a_.other + where_.mailboxes())[me_];
    box.bytes = static_cast<uint32_t>(number());
    box.full.store(random_() % 3);
  }
  void request() {
    auto& r = reinterpret_cast<shm::request*>(a_.other + where_.requests())[me_];
    r.what = static_cast<shm::request::kind>(random_() % 5);
    r.segment = random_() % 4 ? 10 : 200;
    r.offset = number();
    r.bytes = number();
    r.now.store(random_() % 4);
    auto& rings = reinterpret_cast<control*>(a_.other)->asked.rings;
    rings.fetch_add(1);
    syscall(SYS_futex, &rings, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }

 private:
  uint64_t number() {
    constexpr uint64_t edges[] = {0,          1,          7,          8,     508,  512, 4096, box_bytes, box_bytes - 8,
                                  1ull << 32, 1ull << 45, 1ull << 63, ~0ull, ~7ull};
    return random_() % 3 ? edges[random_() % std::size(edges)] : random_();
  }
  arenas a_;
  uint32_t me_;
  shm::layout where_{2};
  std::mt19937_64 random_{GTEST_FLAG_GET(random_seed) + 11u};
};

std::string be_mad(const rank& r, madness m) {
  for (uint64_t i = 0;; ++i) {
    m.header();
    if (i % 3 == 0) m.mailbox();
    if (i % 5 == 0) m.request();
    if (i % 64) continue;
    if (ggas_rc rc = r.get(sound, 8, 0, 0, 8); rc != GGAS_OK) return ggas_error_text();
    if (r.memory<uint64_t>(sound)[1] == 1) return "ok";
  }
}

// Every call that looks at the other one's headers, or takes what it left here.
void call_all(const rank& r, uint32_t segment, std::mt19937& random) {
  const uint64_t at = random() % (box_bytes - 64) / 8 * 8;
  uint64_t old = 0;
  uint32_t who = 0;
  static_cast<void>(ggas_segment_size(r.p, segment, 1, &old));
  const ggas_part p{sound, segment, 4096, at, 64};
  static_cast<void>(ggas_queue_write(r.p, &p, 1, 0, ms));
  static_cast<void>(ggas_queue_read(r.p, &p, 1, 0, ms));
  static_cast<void>(ggas_queue_notify(r.p, segment, 1, random() % GGAS_NOTIFICATIONS, 1, 0, ms));
  static_cast<void>(ggas_segment_fetch_add(r.p, segment, at, 1, 1, &old, ms));
  static_cast<void>(ggas_segment_compare_swap(r.p, segment, at, 1, 0, 1, &old, ms));
  static_cast<void>(ggas_passive_receive(r.p, sound, 4096, &who, 64, GGAS_TEST));
}

TEST(library_fuzz, noise_in_headers_mailboxes_and_requests_harms_nobody) {
  run(2, [](const rank& r) -> std::string {
    std::vector<uint64_t> mine(64 + 2, 77);  // of the user: its helper serves the other one's requests
    for (uint32_t s = 0; s < 4; ++s) MUST(r.create(s, box_bytes), GGAS_OK);
    MUST(r.create(sound, box_bytes), GGAS_OK);
    // Only here: a helper of the malformed rank would believe its headers, and end it.
    if (r.me == 0) MUST(ggas_segment_bind(r.p, 10, mine.data() + 1, 64 * 8), GGAS_OK);
    if (r.me == 1) {
      const arenas a = find(r.memory(sound));
      MUST_HOLD(a.own && a.other);
      const std::string said = be_mad(r, madness(a, r.me));
      // What the library looks at when the rank leaves.
      MUST(r.barrier(), GGAS_OK);
      return said;
    }
    std::mt19937 random(5);
    auto* const words = r.memory<uint64_t>(sound);
    for (size_t i = 512 + 8; i < box_bytes / 8; ++i) words[i] = 99;
    for (int i = 0; i < calls; ++i) call_all(r, random() % 4, random);
    for (size_t i = 512 + 8; i < box_bytes / 8; ++i) MUST_HOLD(words[i] == 99);
    MUST_HOLD(mine.front() == 77 && mine.back() == 77);
    std::atomic_ref(words[0]).store(1);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

// What is written to a segment never lands in the tables of a rank.
TEST(library_fuzz, an_entry_that_leads_into_tables_is_damaged) {
  run(2, [](const rank& r) -> std::string {
    for (uint32_t s = 0; s < 3; ++s) MUST(r.create(s, box_bytes), GGAS_OK);
    auto& entries = reinterpret_cast<control*>(find(r.memory(0)).own)->segments;
    if (r.me == 1) {
      entries[0].offset.store(shm::layout(r.size).segments() - shm::page);
      entries[1].slots.store(0);
    }
    MUST(r.barrier(), GGAS_OK);
    if (r.me == 0) {
      MUST(r.put(0, 0, 1, 0, 8), GGAS_ERR_SEGMENT);
      MUST_HOLD(std::string(ggas_error_text()) == "segment 0 of rank 1: its entry is damaged");
      MUST(r.notify(1, 1, 0, 5), GGAS_ERR_SEGMENT);
      MUST(r.put(2, 0, 1, 0, 8), GGAS_OK);
    }
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
