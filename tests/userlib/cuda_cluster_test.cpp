// SPDX-License-Identifier: Apache-2.0
// The cuda provider without a GPU: on tests/support/fake_cuda. Memory and growth in one process and in several,
// whatever call of CUDA's fails on whichever node, GPUs that do not reach each other, processes that die, drivers that
// lack something.
#include "ggas/cuda_cluster.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/support/fake_cuda.hpp"
#include "tests/support/processes.hpp"

namespace ggas {
namespace {

using test::fake_cuda;
using test::processes;
using test::voice;
constexpr std::chrono::milliseconds soon{20'000};
constexpr size_t mebi = 1 << 20;
constexpr uint64_t second = 1'000'000'000;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

size_t open_files() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

// What is in the last page of a segment.
char* mark(const cuda_cluster& c, int node) { return c.segment(node) + c.segment_bytes() - 4096; }

// ---------------------------------------------------------------------------------------------- what all of them do

// Every local node writes into every segment, as kernels do, by the window; then all is there, and the rest is zero.
std::string exchange(cuda_cluster& c, char letter) {
  for (int node : c.local_nodes()) {
    const context& k = c.device_context(node);
    for (int to = 0; to < c.nodes(); ++to) k.window[to * k.stride + k.segment_bytes - 4096 + node] = letter;
  }
  if (std::string wrong = c.meet("written"); !wrong.empty()) return wrong;
  for (int node : c.local_nodes()) {
    const std::string seen(mark(c, node), static_cast<size_t>(c.nodes()) + 1);
    if (seen != std::string(static_cast<size_t>(c.nodes()), letter) + '\0') return "not all have written";
  }
  return c.meet("read");
}

// From 4 MiB to 5, 6 and 20: contents stay where they are, and what is new is zero.
std::string grow_and_exchange(cuda_cluster& c) {
  char letter = 'a';
  for (size_t bytes : {5 * mebi, 6 * mebi, 20 * mebi}) {
    std::string wrong = exchange(c, ++letter);
    char* const old = mark(c, c.local_nodes()[0]);
    if (wrong.empty()) wrong = c.grow(bytes);
    if (!wrong.empty()) return wrong;
    if (*old != letter) return "old contents are lost";
    if (c.segment_bytes() != bytes || *mark(c, c.local_nodes()[0])) return "the new part is not what it should be";
    if (wrong = c.meet("looked"); !wrong.empty()) return wrong;
  }
  return exchange(c, 'z');
}

constexpr cuda_config small{.segment_bytes = 4 * mebi, .most_segment_bytes = 40 * mebi};

TEST(cuda_cluster, one_process_for_all_nodes) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    const size_t files = open_files();
    for (int gpus : {1, 2, 4, 8}) {
      fake_cuda::here().gpus = gpus;
      std::string why;
      if (const auto c = cuda_cluster::create(small, why); !c)
        parent.say(why);
      else
        parent.say(std::to_string(c->nodes()) + grow_and_exchange(*c));
    }
    parent.say(fake_cuda::here().holds_nothing() && open_files() == files ? "all given back" : "something is held");
  });
  for (const char* text : {"1", "2", "4", "8", "all given back"}) EXPECT_EQ(one.next(0, soon), text);
}

// ---------------------------------------------------------------------------------------------- processes

using body = std::function<std::string(int rank, cuda_cluster*, const std::string& why)>;

// A process for each rank: prepares what it sees of CUDA, makes the cluster, does something and says how that went.
void start(processes& all, int size, cuda_config cfg, std::function<void(int, fake_cuda&)> prepare, body then,
           uint64_t timeout_ns = 10 * second) {
  static int number = 0;
  const std::string name = "fake." + std::to_string(getpid()) + "." + std::to_string(number++);
  all.start_all(size, [=](int rank, const voice& parent) {
    prepare(rank, fake_cuda::here());
    cuda_config mine = cfg;
    mine.processes = {rank, size, name, timeout_ns};
    std::string why, said;
    {
      const auto c = cuda_cluster::create(mine, why);
      said = then(rank, c.get(), why);
    }
    parent.say(fake_cuda::here().holds_nothing() || fake_cuda::here().busy ? said : "something is held: " + said);
  });
}
void expect_each(processes& all, int size, const std::string& text) {
  for (int r = 0; r < size; ++r) {
    EXPECT_EQ(all.next(r, soon), text) << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}
std::string why_not(int, cuda_cluster* c, const std::string& why) { return c ? "made" : why; }

class passing : public testing::TestWithParam<std::tuple<int, const char*>> {};
INSTANTIATE_TEST_SUITE_P(processes, passing,
                         testing::Combine(testing::Values(1, 2, 5), testing::Values("files", "fabric", "hidden")));

// By file descriptors, by handles of the fabric, and with one visible GPU each.
TEST_P(passing, segments_are_everywhere_and_grow) {
  const auto [size, how] = GetParam();
  processes all;
  start(
      all, size, small,
      [how = std::string(how)](int rank, fake_cuda& cuda) {
        cuda.files = how != "fabric";
        cuda.fabric = how == "fabric";
        if (how == "hidden") cuda.gpus = 1, cuda.first_gpu = rank;
      },
      [](int, cuda_cluster* c, const std::string& why) {
        const std::string wrong = c ? grow_and_exchange(*c) : why;
        return wrong.empty() ? "ok" : wrong;
      });
  expect_each(all, size, "ok");
}

TEST(cuda_cluster, memory_that_cannot_be_passed_on) {
  processes all;
  start(
      all, 2, small, [](int, fake_cuda& cuda) { cuda.files = cuda.fabric = false; }, why_not);
  expect_each(all, 2,
              "rank 0: GPU 0 cannot pass memory on to other processes; let one process run all nodes; rank 1: GPU 1 "
              "cannot pass memory on to other processes; let one process run all nodes");
}

// ---------------------------------------------------------------------------------------------- no way between GPUs

constexpr const char* no_way =
    "GPU 1 cannot reach the memory of GPU 3: there is neither NVLink nor PCIe peer access between them; all GPUs of a "
    "cluster must reach each other (CUDA_VISIBLE_DEVICES chooses some that do)";

TEST(cuda_cluster, gpus_that_do_not_reach_each_other_are_named) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    fake_cuda::here().cut = {{1, 3}};
    std::string why;
    cuda_cluster::create({}, why);
    parent.say(why);
    parent.say(cuda_cluster::create({.nodes = 3}, why) ? "made" : why);
  });
  EXPECT_EQ(one.next(0, soon), no_way);
  EXPECT_EQ(one.next(0, soon), "made");
}

TEST(cuda_cluster, also_those_of_processes) {
  processes all;
  start(
      all, 4, small,
      [](int, fake_cuda& cuda) {
        cuda.cut = {{1, 3}};
      },
      why_not);
  std::string other = no_way;
  std::swap(other[4], other[other.find("GPU 3") + 4]);
  expect_each(all, 4, std::string("rank 1: ") + no_way + "; rank 3: " + other);
}

// Nobody sees both GPUs: mapping tells.
TEST(cuda_cluster, also_those_that_are_hidden) {
  processes all;
  start(
      all, 2, small,
      [](int rank, fake_cuda& cuda) {
        cuda.gpus = 1;
        cuda.first_gpu = rank;
        cuda.cut = {{0, 1}};
      },
      why_not);
  for (int r : {0, 1}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "rank 0: segment of node 1: GPU 0 cannot reach this memory") &&
                has(text, "rank 1: segment of node 0: GPU 0 cannot reach this memory"))
        << text;
  }
}

// ---------------------------------------------------------------------------------------------- one call fails

// Every call of CUDA's that may fail does so once, on one node of three. All processes hear of it, nothing is kept
// (start() looks), and nobody waits until a time-out. `until` counts calls for one that never comes.
TEST(cuda_cluster, whatever_fails_on_one_node_while_it_is_made_is_told_to_all) {
  for (const int victim : {0, 2}) {
    int call = 0;
    for (bool made = false; !made; ++call) {
      ASSERT_LT(call, 200);
      processes all;
      start(
          all, 3, small, [=](int rank, fake_cuda& cuda) { cuda.fails_at = rank == victim ? call : -1; }, why_not);
      for (int r = 0; r < 3; ++r) {
        const std::string text = all.next(r, soon);
        if (r == 0) made = text == "made";
        EXPECT_EQ(made, text == "made") << text;
        EXPECT_TRUE(made || has(text, "rank " + std::to_string(victim) + ": ")) << "call " << call << ": " << text;
      }
    }
    EXPECT_GT(call, 20);
  }
}

// The same for growing: all sizes and contents are as before, and growing then works.
TEST(cuda_cluster, whatever_fails_on_one_node_while_it_grows_changes_nothing) {
  for (const int victim : {0, 2}) {
    int call = 0;
    for (bool grown = false; !grown; ++call) {
      ASSERT_LT(call, 200);
      processes all;
      start(
          all, 3, small, [](int, fake_cuda&) {},
          [=](int rank, cuda_cluster* c, const std::string& why) {
            if (!c) return why;
            std::string wrong = exchange(*c, 'x');
            if (!wrong.empty()) return wrong;
            char* const old = mark(*c, rank);
            if (rank == victim) fake_cuda::here().fails_at = call;
            const std::string told = c->grow(6 * mebi);
            if (told.empty()) return std::string("grown");
            if (!has(told, "rank " + std::to_string(victim) + ": ")) return "nobody is named: " + told;
            if (c->segment_bytes() != 4 * mebi || *old != 'x') return "not as before: " + told;
            wrong = c->meet("looked");
            if (wrong.empty()) wrong = c->grow(5 * mebi);
            if (wrong.empty()) wrong = exchange(*c, 'y');
            return wrong.empty() ? std::string("ok") : "later: " + wrong;
          });
      for (int r = 0; r < 3; ++r) {
        const std::string text = all.next(r, soon);
        if (r == 0) grown = text == "grown";
        EXPECT_EQ(text, grown ? "grown" : "ok") << "call " << call;
      }
    }
    EXPECT_GT(call, 8);
  }
}

TEST(cuda_cluster, one_gpu_without_memory_to_grow) {
  processes all;
  start(
      all, 3, small, [](int rank, fake_cuda& cuda) { cuda.memory = (rank == 1 ? 10 : 100) * mebi; },
      [](int, cuda_cluster* c, const std::string& why) {
        if (!c) return why;
        const std::string told = c->grow(40 * mebi);
        return c->grow(8 * mebi).empty() ? told : "cannot grow any more";
      });
  expect_each(all, 3,
              "rank 1: a segment of 37748736 bytes on GPU 1: CUDA_ERROR_OUT_OF_MEMORY: words of the driver; of its "
              "10485760 bytes 5242880 are free");
}

// ---------------------------------------------------------------------------------------------- processes that go

TEST(cuda_cluster, growing_after_one_has_died) {
  for (const int victim : {0, 2}) {
    processes all;
    start(
        all, 3, small, [](int, fake_cuda&) {},
        [=](int rank, cuda_cluster* c, const std::string& why) {
          if (!c) return why;
          if (rank == victim) _exit(9);
          const std::string told = c->grow(8 * mebi);
          return c->grow(8 * mebi) != told ? "another text later" : c->segment_bytes() != 4 * mebi ? "grown" : told;
        });
    for (int r = 0; r < 3; ++r) {
      if (r == victim) continue;
      const std::string text = all.next(r, soon);
      EXPECT_TRUE(has(text, "rank " + std::to_string(victim)) && has(text, "ended")) << text;
    }
  }
}

// It cannot give its memory back while a kernel uses it; the others hear at once that it has left.
TEST(cuda_cluster, one_that_leaves_while_a_kernel_runs) {
  const auto hang = [](int rank, cuda_cluster* c, const std::string& why) -> std::string {
    if (!c) return why;
    if (rank == 1) fake_cuda::here().busy = true;
    if (rank == 1 && !has(c->run(1'000'000), "kernels still run after 1000000 ns on nodes 1")) return "a kernel ended";
    const std::string told = c->grow(8 * mebi);
    return told + (rank == 1 ? "" : c->meet("later"));
  };
  processes all;
  start(
      all, 2, small, [](int, fake_cuda&) {}, hang);
  const std::string busy = "rank 1: grow: the streams must be idle: kernels still run after 0 ns on nodes 1";
  EXPECT_EQ(all.next(1, soon), busy);
  const std::string text = all.next(0, soon);
  EXPECT_TRUE(text.starts_with(busy + "rank 1 (process ") && has(text, "ended while the others were at 'later'"))
      << text;
}

TEST(cuda_cluster, a_run_for_ever_waits) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    std::string why;
    const auto c = cuda_cluster::create(small, why);
    fake_cuda::here().busy = true;
    std::thread kernel([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      fake_cuda::here().busy = false;
    });
    parent.say("run: " + c->run(~uint64_t{0}));
    kernel.join();
  });
  EXPECT_EQ(one.next(0, soon), "run: ");
}

// ---------------------------------------------------------------------------------------------- drivers

TEST(cuda_cluster, what_a_computer_lacks_is_told) {
  const auto told = [](std::function<void(fake_cuda&)> prepare) {
    processes one;
    one.start(0, [=](int, const voice& parent) {
      prepare(fake_cuda::here());
      std::string why;
      cuda_cluster::create({}, why);
      parent.say(why);
    });
    return one.next(0, soon);
  };
  EXPECT_EQ(told([](fake_cuda& c) { c.driver_version = 0; }),
            "there is no CUDA driver (libcuda.so.1) on this computer");
  EXPECT_TRUE(has(told([](fake_cuda& c) { c.driver_version = 11040; }), "this one is for CUDA 11.4"));
  EXPECT_EQ(told([](fake_cuda& c) { c.missing = "cuMemCreate"; }),
            "the CUDA driver is too old: it has no cuMemCreate of CUDA 10.2; it is for CUDA 13.0");
  EXPECT_TRUE(has(told([](fake_cuda& c) { c.gpus = 0; }), "this process sees no GPU"));
}

}  // namespace
}  // namespace ggas
