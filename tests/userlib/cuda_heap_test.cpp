// SPDX-License-Identifier: Apache-2.0
// The symmetric heap on the cuda provider's segments, one process or several, which it makes longer.
#include "ggas/messages.hpp"
#include "tests/userlib/cuda_rig.hpp"
#include "tests/userlib/heap_rig.hpp"

namespace ggas {
namespace {

using namespace test;

std::string fill_and_grow(int, cluster* c, const std::string& not_made) {
  if (!c) return not_made;
  std::string why;
  const auto h = heap::create(heap_of(*c, 4096), why);
  if (!h) return why;
  uint64_t sum = 0, blocks = 0;
  for (auto at = h->allocate(1 << 20, why); at; at = h->allocate(1 << 20, why)) {
    for (const int node : c->local_nodes()) {
      std::byte* const block = c->segment(node) + *at;
      if (*block != std::byte{0}) return "a block is not new";
      block[0] = block[(1 << 20) - 1] = std::byte{1};
    }
    sum += *at;
    ++blocks;
  }
  if (!has(why, "may grow to") && !has(why, "does not grow")) return why;
  if (blocks < 30 || c->segment_bytes() > 40 * mebi) return std::to_string(blocks) + " blocks";
  return text_of(c->same(std::to_string(sum)));
}

TEST(cuda_heap, grows_with_the_segments_of_one_process) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    fake_cuda::here().gpus = 2;
    parent.say("ok" + run_one(small, 0, fill_and_grow));
  });
  EXPECT_EQ(one.next(0, soon), "ok");
}

TEST(cuda_heap, grows_with_the_segments_of_several_processes) {
  processes all;
  start(all, 3, small, as_it_is,
        [](int rank, cluster* c, const std::string& why) { return "ok" + fill_and_grow(rank, c, why); });
  expect_each(all, 3, "ok");
}

TEST(cuda_heap, a_process_that_asks_for_something_else_is_named) {
  processes all;
  start(all, 2, small, as_it_is, [](int rank, cluster* c, const std::string& not_made) {
    if (!c) return not_made;
    std::string why;
    const auto h = heap::create(heap_of(*c), why);
    if (h) static_cast<void>(h->allocate(rank == 1 ? 8 : 16, why));
    return why;
  });
  expect_each(all, 2,
              "the processes differ: rank 0: call 1 of the heap, allocate(16 bytes, alignment 256); "
              "rank 1: call 1 of the heap, allocate(8 bytes, alignment 256)");
}

// Messages that kernels find are the new ones on all nodes, or, if a copy fails, the old ones.
TEST(cuda_heap, a_failed_change_of_messages_changes_nothing) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    fake_cuda::here().gpus = 2;
    parent.say("ok" + run_one(small, 0, [](int, cluster* c, const std::string& not_made) -> std::string {
                 if (!c) return not_made;
                 std::string why;
                 const auto h = heap::create(heap_of(*c, 4096), why);
                 if (!h) return why;
                 message_space space(*c, *h);
                 const ggas_messages first = space.make({}, why), second = space.make({}, why);
                 if (!why.empty()) return why;
                 if (why = space.use(first); !why.empty()) return why;
                 const auto found = [&](int node) {
                   uint64_t at = 0;
                   return c->read(node, layout::messages, &at, sizeof at) ? at : ~uint64_t{0};
                 };
                 const uint64_t before = found(0);
                 int failures = 0;
                 for (int call = 0; call < 100; ++call) {
                   fake_cuda::here().fails_at = call;
                   why = space.use(second);
                   if (fake_cuda::here().fails_at = -1; why.empty()) break;
                   ++failures;
                   if (found(0) != before || found(1) != before) return "call " + std::to_string(call) + ": " + why;
                 }
                 if (failures < 4) return std::to_string(failures) + " calls failed";
                 return found(0) == found(1) && found(0) != before ? "" : "the second one is not found";
               }));
  });
  EXPECT_EQ(one.next(0, soon), "ok");
}

}  // namespace
}  // namespace ggas
