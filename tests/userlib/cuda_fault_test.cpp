// SPDX-License-Identifier: Apache-2.0
// Faults of the cuda provider, on tests/support/fake_cuda: each call of CUDA fails in turn, processes die at each of
// them, GPUs stay busy. Every process gets the cause, and no resource is kept (run_one() checks).
#include <csignal>
#include <thread>

#include "tests/userlib/cuda_rig.hpp"

namespace ggas {
namespace {

using namespace test;

std::string reported(const std::string& wrong, const char* when_well) {
  const std::string& call = fake_cuda::here().failed;  // empty on the other nodes
  if (wrong.empty()) return when_well;
  return has(wrong, call) ? wrong : call + " is not named: " + wrong;
}

// ---------------------------------------------------------------------------------------------- a call fails

// Each call of CUDA that may fail does fail in one run, once or from then on, on one node of three. All processes get
// the same error with the call and the node, and none waits until a time-out. In the last four runs the start succeeds,
// and the failing call is one that a process makes while it leaves.
class call : public testing::TestWithParam<std::tuple<int, bool>> {};
INSTANTIATE_TEST_SUITE_P(cuda_faults, call, testing::Combine(testing::Values(0, 2), testing::Bool()));

TEST_P(call, that_fails_on_one_node_while_it_is_made_is_reported_to_all) {
  const auto [victim, lost] = GetParam();
  int call = 0;
  for (int made = 0; made < 4; ++call) {
    ASSERT_LT(call, 200);
    processes all;
    start(
        all, 3, small,
        [=, victim = victim, lost = lost](int rank, fake_cuda& cuda) {
          cuda.fails_at = rank == victim ? call : -1;
          cuda.falls = lost;
        },
        [](int, cluster* c, const std::string& why) { return reported(c ? "" : why, "made"); });
    const std::string text = last_word(all, 0);
    made += text == "made";
    EXPECT_TRUE(made || text.starts_with("rank " + std::to_string(victim) + ": ")) << "call " << call << ": " << text;
    for (int r : {1, 2}) EXPECT_EQ(last_word(all, r), text) << "call " << call;
  }
  EXPECT_GT(call, 30);
}

// The same for growing: all sizes and contents are as before, and growing then works.
TEST(cuda_faults, whatever_fails_on_one_node_while_it_grows_changes_nothing) {
  for (const int victim : {0, 2}) {
    int call = 0;
    for (bool grown = false; !grown; ++call) {
      ASSERT_LT(call, 200);
      processes all;
      start(all, 3, small, as_it_is, [=](int rank, cluster* c, const std::string& why) {
        if (!c) return why;
        std::string wrong = exchange(*c, 'x');
        if (!wrong.empty()) return wrong;
        char* const old = mark(*c, rank);
        if (rank == victim) fake_cuda::here().fails_at = call;
        const std::string text = reported(text_of(c->grow(6 * mebi)), "grown");
        if (text == "grown") return text;
        if (!text.starts_with("rank " + std::to_string(victim) + ": ")) return "nobody is named: " + text;
        if (c->segment_bytes() != 4 * mebi || *old != 'x') return "not as before: " + text;
        wrong = text_of(c->meet("looked"));
        if (wrong.empty()) wrong = text_of(c->grow(5 * mebi));
        if (wrong.empty()) wrong = exchange(*c, 'y');
        return wrong.empty() ? std::string("ok") : "later: " + wrong;
      });
      for (int r = 0; r < 3; ++r) {
        const std::string text = last_word(all, r);
        if (r == 0) grown = text == "grown";
        EXPECT_EQ(text, grown ? "grown" : "ok") << "call " << call;
      }
    }
    EXPECT_GT(call, 8);
  }
}

// Four GPUs of one process: making and growing.
TEST(cuda_faults, whatever_fails_in_one_process_is_named) {
  int call = 0;
  for (bool grown = false; !grown; ++call) {
    ASSERT_LT(call, 200);
    processes one;
    one.start(0, [=](int, const voice& parent) {
      fake_cuda::here().fails_at = call;
      parent.say(run_one(small, 0, [](int, cluster* c, const std::string& why) {
        return reported(c ? text_of(c->grow(6 * mebi)) : why, "grown");
      }));
    });
    const std::string text = last_word(one, 0);
    grown = text == "grown";
    EXPECT_TRUE(grown || has(text, ": cuda") || has(text, ": cu")) << "call " << call << ": " << text;
    EXPECT_TRUE(grown || has(text, "Unknown") || has(text, "UNKNOWN") || has(text, "OUT_OF_MEMORY")) << text;
    EXPECT_FALSE(has(text, "is not named") || has(text, "held") || has(text, "open:"))
        << "call " << call << ": " << text;
  }
  EXPECT_GT(call, 50);
}

TEST(cuda_faults, one_gpu_without_memory_to_grow) {
  processes all;
  start(
      all, 3, small, [](int rank, fake_cuda& cuda) { cuda.memory = (rank == 1 ? 10 : 100) * mebi; },
      [](int, cluster* c, const std::string& why) {
        if (!c) return why;
        const std::string text = text_of(c->grow(40 * mebi));
        return text_of(c->grow(8 * mebi)).empty() ? text : "cannot grow any more";
      });
  expect_each(all, 3,
              "rank 1: a segment of 37748736 bytes on GPU 1: cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY: words of the "
              "driver; of its 10485760 bytes 5242880 are free");
}

// ---------------------------------------------------------------------------------------------- a process dies

// A process is killed at each call of CUDA in turn, while the cluster is made and while it grows: the others get its
// rank at once, keep their earlier memory, and release all of it.
TEST(cuda_faults, a_process_that_is_killed_at_any_call_is_reported_to_the_others) {
  for (const int victim : {0, 2}) {
    int call = 0;
    for (bool grown = false; !grown; ++call) {
      ASSERT_LT(call, 200);
      processes all;
      start(
          all, 3, small,
          [=](int rank, fake_cuda& cuda) {
            cuda.fails_at = rank == victim ? call : -1;
            cuda.dies = true;
          },
          [](int, cluster* c, const std::string& why) {
            if (!c) return why;
            const std::string wrong = text_of(c->grow(6 * mebi));
            if (wrong.empty()) return std::string("grown");
            return c->segment_bytes() == 4 * mebi && text_of(c->meet("later")) == wrong ? wrong
                                                                                        : "not as before: " + wrong;
          });
      grown = all.next(victim, soon) == "grown";
      EXPECT_EQ(all.ending(victim, soon), grown ? "0" : "signal 9");
      const std::string who = "rank " + std::to_string(victim) + " (process ";
      for (int r = 0; r < 3; ++r) {
        if (r == victim) continue;
        const std::string text = last_word(all, r);
        // A process that died while it was leaving is not waited for.
        EXPECT_TRUE(text == "grown" ? call > 40 : text.starts_with(who) && has(text, ") ended"))
            << call << ": " << text;
      }
    }
    EXPECT_GT(call, 50);
  }
}

// ---------------------------------------------------------------------------------------------- a GPU stays busy

// It cannot free its memory while a kernel uses it. The others learn at once that it has left.
TEST(cuda_faults, one_that_leaves_while_a_kernel_runs) {
  const auto hang = [](int rank, cluster* c, const std::string& why) -> std::string {
    if (!c) return why;
    if (rank == 1) fake_cuda::here().busy = true;
    if (rank == 1 && !has(text_of(c->run(1'000'000)), "kernels still run after 1000000 ns on nodes 1"))
      return "a kernel ended";
    const std::string text = text_of(c->grow(8 * mebi));
    return text + (rank == 1 ? "" : text_of(c->meet("later")));
  };
  processes all;
  start(all, 2, small, as_it_is, hang);
  const std::string busy = "rank 1: grow: the streams must be idle: kernels still run after 0 ns on nodes 1";
  EXPECT_EQ(all.next(1, soon), busy);
  const std::string text = last_word(all, 0);
  EXPECT_TRUE(text.starts_with(busy + "rank 1 (process ") && has(text, "ended while the others were at 'later'"))
      << text;
}

// Kernels of another program keep a GPU from clearing memory. All processes are informed before they time out; the
// memory is kept until the GPU has finished, and growing then works.
TEST(cuda_faults, a_gpu_that_does_not_come_to_make_memory_zero) {
  processes all;
  start(
      all, 3, small, as_it_is,
      [](int rank, cluster* c, const std::string& why) {
        if (!c) return why;
        fake_cuda& cuda = fake_cuda::here();
        const int before = cuda.mappings;
        cuda.slow = rank == 1;
        const std::string text = text_of(c->grow(6 * mebi));
        if (cuda.mappings != (rank == 1 ? 2 * before : before)) return "mappings: " + text;
        cuda.busy = cuda.slow = false;
        std::string wrong = text_of(c->grow(6 * mebi));
        if (wrong.empty()) wrong = exchange(*c, 'x');
        return wrong.empty() ? text : wrong;
      },
      second);
  expect_each(all, 3, "rank 1: making segments zero: kernels still run after 500000000 ns on nodes 1");
}

TEST(cuda_faults, a_run_for_ever_waits) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    parent.say(run_one(small, 0, [](int, cluster* c, const std::string&) {
      fake_cuda::here().busy = true;
      std::thread kernel([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        fake_cuda::here().busy = false;
      });
      const std::string wrong = text_of(c->run(~uint64_t{0}));
      kernel.join();
      return "run: " + wrong;
    }));
  });
  EXPECT_EQ(last_word(one, 0), "run: ");
}

}  // namespace
}  // namespace ggas
