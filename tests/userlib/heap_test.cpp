// SPDX-License-Identifier: Apache-2.0
// The symmetric heap in one process: with a program's own layout, on clusters of 1 ... 8 nodes, growing, exhausted,
// with wrong calls.
#include <gtest/gtest.h>

#include <cstring>
#include <list>

#include "ggas/cluster.hpp"
#include "tests/userlib/heap_rig.hpp"

namespace ggas {
namespace {

using heap_rig::player;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::unique_ptr<heap> heap_from(uint64_t begin, uint64_t end) {
  std::string why;
  auto h = heap::create({.begin = begin, .end = end}, why);
  EXPECT_TRUE(h) << why;
  return h;
}

TEST(heap, offsets_follow_from_the_calls) {
  const auto h = heap_from(4096, 8192);
  std::string why;
  EXPECT_EQ(h->allocate(1, why), 4096u);
  EXPECT_EQ(h->allocate(257, why), 4352u);
  EXPECT_EQ(h->allocate(8, why, 2048), 6144u);
  EXPECT_EQ(h->allocate(256, why), 4864u);
  EXPECT_EQ(h->free(4352), "");
  EXPECT_EQ(h->allocate(512, why), 4352u);  // the smallest block that fits, no other
  const heap_statistics s = h->statistics();
  EXPECT_EQ(s.bytes, 4096u);
  EXPECT_EQ(s.used, 256u * 5);
  EXPECT_EQ(s.peak, 256u * 5);
  EXPECT_EQ(s.allocations, 4u);
  EXPECT_EQ(s.free_blocks, 2u);
  EXPECT_EQ(s.largest_free, 1792u);
  EXPECT_EQ(s.calls, 6u);
}

TEST(heap, exhaustion_is_an_error_with_the_numbers) {
  const auto h = heap_from(4096, 8192);
  std::string why;
  ASSERT_TRUE(h->allocate(1024, why));
  EXPECT_FALSE(h->allocate(4000, why));
  EXPECT_EQ(why,
            "heap: no room for 4000 bytes, alignment 256: of 4096 bytes 3072 are free, at most 3072 in one piece; ends "
            "at 8192, does not grow");
  for (const uint64_t bytes : {~uint64_t{0}, ~uint64_t{0} - 300, uint64_t{1} << 63}) {
    EXPECT_FALSE(h->allocate(bytes, why));
    EXPECT_TRUE(has(why, std::to_string(bytes) + " bytes")) << why;
  }
  EXPECT_EQ(h->allocate(3072, why), 5120u) << why;
}

TEST(heap, wrong_arguments_are_named) {
  std::string why;
  EXPECT_FALSE(heap::create({.begin = 8192, .end = 8192}, why));
  EXPECT_EQ(why, "heap of 8192 ... 8192: has no 256 bytes at a multiple of 256");
  EXPECT_FALSE(heap::create({.begin = 4097, .end = 4352}, why));
  EXPECT_FALSE(heap::create({.begin = 0, .end = ~uint64_t{0}}, why));
  EXPECT_EQ(why, "heap of 0 ... 18446744073709551615: must end at 2^56 or before");
  EXPECT_FALSE(heap::create({.begin = 0, .end = 4096, .most_end = 8192}, why));
  EXPECT_EQ(why, "heap that grows to 8192: must be 4096 or more, with a way to grow");
  const auto h = heap_from(0, 4096);
  EXPECT_FALSE(h->allocate(0, why));
  EXPECT_EQ(why, "allocate(0 bytes, alignment 256): must be 1 byte or more");
  for (const uint64_t alignment : {0, 3, 768}) {
    EXPECT_FALSE(h->allocate(8, why, alignment));
    EXPECT_TRUE(has(why, "the alignment must be a power of two")) << why;
  }
}

TEST(heap, wrong_frees_change_nothing) {
  const heap_config range{.begin = 8192, .end = 1 << 20};
  const auto h = heap_from(range.begin, range.end);
  player calls(*h, range, test::seed());
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(calls.step(), "");
    // Anywhere, also inside blocks; blocks that are free already.
    const uint64_t at = i % 2 ? random() >> random() % 64 : random() % (range.end + 4096);
    if (calls.book().contains(at)) continue;
    const heap_statistics before = h->statistics();
    ASSERT_EQ(h->free(at), "heap: free(offset " + std::to_string(at) + "): no allocated block begins there");
    const heap_statistics after = h->statistics();
    ASSERT_EQ(before.used, after.used);
    ASSERT_EQ(before.free_blocks, after.free_blocks);
    ASSERT_EQ(calls.book().size(), after.allocations);
  }
  EXPECT_EQ(calls.give_all_back(), "");
}

TEST(heap, grows_until_it_may_not) {
  std::vector<uint64_t> asked;
  std::string why;
  const auto h = heap::create({.begin = 4096,
                               .end = 16384,
                               .most_end = 65536,
                               .grow =
                                   [&](uint64_t end) {
                                     asked.push_back(end);
                                     return std::string(asked.size() == 2 ? "no memory" : "");
                                   }},
                              why);
  ASSERT_TRUE(h) << why;
  EXPECT_EQ(h->allocate(8192, why), 4096u);
  EXPECT_EQ(h->allocate(8192, why), 12288u) << why;  // what is free at the end counts
  EXPECT_FALSE(h->allocate(20000, why));
  EXPECT_TRUE(has(why, "no room for 20000 bytes") && has(why, "may grow to 65536; no memory")) << why;
  EXPECT_EQ(h->allocate(20000, why), 20480u) << why;
  EXPECT_FALSE(h->allocate(40000, why));  // never asked for
  EXPECT_EQ(asked, (std::vector<uint64_t>{20480, 40960, 40960}));
  EXPECT_EQ(h->statistics().grown, 2u);
  EXPECT_EQ(h->statistics().bytes, 40960u - 4096);
}

cluster_config on_shm(int nodes) {
  cluster_config cfg;
  cfg.provider = "shm";
  cfg.nodes = nodes;
  cfg.segment_bytes = 2 << 20;
  return cfg;
}

class heap_on : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(nodes, heap_on, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

// Every block is marked on every node when it is allocated and checked when it is freed; a program's own layout outside
// the heap is unchanged.
TEST_P(heap_on, random_calls_hand_out_memory_of_every_node) {
  constexpr uint64_t by_hand = 5000;
  const cluster_config cfg = on_shm(GetParam());
  auto c = cluster::create(cfg);
  ASSERT_TRUE(c) << c.error().text;
  heap_config range = heap_of(**c, by_hand);
  range.end = range.begin + (500 << 10);  // so small that it is full now and then
  const uint64_t reserved = (*c)->device_context(0).reserved;
  for (int n = 0; n < cfg.nodes; ++n) std::memset((*c)->segment(n) + reserved, 'h', by_hand);
  std::string why;
  const auto h = heap::create(range, why);
  ASSERT_TRUE(h) << why;
  player calls(*h, range, test::seed() + static_cast<uint64_t>(cfg.nodes));
  std::map<uint64_t, uint64_t> marked;
  const auto mark_of = [](uint64_t at, int node) {
    return static_cast<int>((at / 256 * 31 + static_cast<uint64_t>(node)) & 0xff);
  };
  const auto intact = [&](uint64_t at, uint64_t bytes) {
    for (int n = 0; n < cfg.nodes; ++n)
      for (uint64_t i : {uint64_t{0}, bytes / 2, bytes - 1})
        if (std::to_integer<int>((*c)->segment(n)[at + i]) != mark_of(at, n)) return false;
    return true;
  };
  for (uint64_t i = test::number_of("GGAS_TEST_SEQUENCES", 3000); i > 0; --i) {
    ASSERT_EQ(calls.step(), "");
    if (calls.last() != 0) {
      const uint64_t at = calls.last(), bytes = calls.book().at(at);
      for (int n = 0; n < cfg.nodes; ++n) std::memset((*c)->segment(n) + at, mark_of(at, n), bytes);
      marked[at] = bytes;
    } else if (marked.size() > calls.book().size()) {
      for (auto m = marked.begin(); m != marked.end();) {
        const bool gone = !calls.book().contains(m->first);
        ASSERT_TRUE(!gone || intact(m->first, m->second));
        m = gone ? marked.erase(m) : std::next(m);
      }
    }
  }
  EXPECT_GT(calls.refused(), 0u);
  EXPECT_EQ(calls.give_all_back(), "");
  for (int n = 0; n < cfg.nodes; ++n)
    for (uint64_t i = 0; i < by_hand; ++i) ASSERT_EQ(std::to_integer<char>((*c)->segment(n)[reserved + i]), 'h');
}

// Two clusters, and two heaps in one of them: each hands out its own.
TEST(heap, several_in_one_process) {
  const cluster_config cfg = on_shm(2);
  auto one = cluster::create(cfg), other = cluster::create(cfg);
  ASSERT_TRUE(one && other);
  heap_config low = heap_of(**one), high = low;
  low.end = high.begin = (low.begin + low.end) / 2 / heap::unit * heap::unit;
  const heap_config ranges[] = {low, high, heap_of(**other)};
  std::vector<std::unique_ptr<heap>> heaps;
  std::list<player> calls;
  std::string why;
  for (const heap_config& r : ranges) {
    heaps.push_back(heap::create(r, why));
    ASSERT_TRUE(heaps.back()) << why;
    calls.emplace_back(*heaps.back(), r, test::seed());
  }
  for (int i = 0; i < 3000; ++i)
    for (player& p : calls) ASSERT_EQ(p.step(), "");
  for (player& p : calls) EXPECT_EQ(p.give_all_back(), "");
}

// Nothing is handed out twice: a range has one heap at a time.
TEST(heap, a_second_one_of_a_range_is_refused) {
  auto c = cluster::create(on_shm(2));
  ASSERT_TRUE(c);
  std::string why;
  auto first = heap::create(heap_of(**c), why);
  ASSERT_TRUE(first) << why;
  const uint64_t begin = heap_of(**c).begin;
  EXPECT_FALSE(heap::create(heap_of(**c, 4096), why));
  EXPECT_NE(why.find("another heap of the cluster has " + std::to_string(begin)), std::string::npos) << why;
  first.reset();
  EXPECT_TRUE(heap::create(heap_of(**c, 4096), why)) << why;
  heap_config low = heap_of(**c);
  low.end = low.begin + 8192;
  first = heap::create(low, why);
  ASSERT_TRUE(first) << why;
  EXPECT_TRUE(heap::create(heap_of(**c, 8192), why)) << why;
  EXPECT_FALSE(heap::create(heap_of(**c, 8192 - heap::unit), why)) << "its first bytes";
  c->reset();  // heaps may outlive it
}

}  // namespace
}  // namespace ggas
