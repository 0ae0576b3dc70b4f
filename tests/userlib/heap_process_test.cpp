// SPDX-License-Identifier: Apache-2.0
// The symmetric heap of several processes: the same offsets on all of them, and an error in all of them if one makes
// another call.
#include "tests/userlib/bootstrap_rig.hpp"
#include "tests/userlib/heap_rig.hpp"

namespace ggas::userlib {
namespace {

using namespace test_rig;
using heap_rig::player;

heap_config range_of(bootstrap& b) {
  return {.begin = 8192, .end = 1 << 20, .same = [&b](const std::string& call) {
            const auto ok = b.same("comparing", call);
            return ok ? "" : ok.error();
          }};
}

class heap_processes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(sizes, heap_processes, testing::Values(1, 2, 3, 5, 8));

TEST_P(heap_processes, random_calls_give_the_same_offsets) {
  const int size = GetParam();
  processes all;
  all.start_all(size, member(size, 60'000 * ms, [=](bootstrap& b) -> std::string {
                  std::string why;
                  const heap_config range = range_of(b);
                  const auto h = heap::create(range, why);
                  if (!h) return why;
                  player calls(*h, range, test::seed());
                  for (uint64_t i = test::number_of("GGAS_TEST_SEQUENCES", 1000); i > 0 && why.empty(); --i)
                    why = calls.step();
                  if (why.empty()) why = calls.give_all_back();
                  if (!why.empty()) return why;
                  return reported(b.same("offsets", std::to_string(calls.digest())));
                }));
  const milliseconds timeout(test::number_of("GGAS_TEST_SEQUENCES", 1000) * 2 + 20'000);
  for (int r = 0; r < size; ++r) {
    EXPECT_EQ(all.next(r, timeout), "joined");
    EXPECT_EQ(all.next(r, timeout), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0");
  }
}

TEST(heap_processes, other_sizes_are_an_error_that_names_ranks_and_calls) {
  processes all;
  all.start_all(3, member(3, 8000 * ms, [](bootstrap& b) -> std::string {
                  std::string why, said;
                  const auto h = heap::create(range_of(b), why);
                  if (!h) return why;
                  static_cast<void>(h->allocate(b.rank() == 1 ? 512 : 256, said));
                  const bool unchanged = h->statistics().used == 0;
                  const auto at = h->allocate(256, why);  // and the heap goes on
                  return said + (unchanged && at == 8192u ? "" : " and then " + why);
                }));
  expect_each(all, 3,
              "the processes differ: ranks 0, 2: call 1 of the heap, allocate(256 bytes, alignment 256); "
              "rank 1: call 1 of the heap, allocate(512 bytes, alignment 256)");
}

TEST(heap_processes, another_order_is_an_error) {
  processes all;
  all.start_all(2, member(2, 8000 * ms, [](bootstrap& b) -> std::string {
                  std::string why;
                  const auto h = heap::create(range_of(b), why);
                  if (!h) return why;
                  const auto at = h->allocate(256, why);
                  if (b.rank() == 0) return h->free(*at);
                  static_cast<void>(h->allocate(64, why));
                  return why;
                }));
  expect_each(all, 2,
              "the processes differ: rank 1: call 2 of the heap, allocate(64 bytes, alignment 256); "
              "rank 0: call 2 of the heap, free(offset 8192)");
}

TEST(heap_processes, other_ranges_are_an_error) {
  processes all;
  all.start_all(2, member(2, 8000 * ms, [](bootstrap& b) -> std::string {
                  std::string why;
                  heap_config range = range_of(b);
                  range.begin += b.rank() == 1 ? 256 : 0;
                  return heap::create(range, why) ? "made" : why;
                }));
  expect_each(all, 2,
              "the processes differ: rank 0: heap of 8192 ... 1048576, at most to 0; "
              "rank 1: heap of 8448 ... 1048576, at most to 0");
}

}  // namespace
}  // namespace ggas::userlib
