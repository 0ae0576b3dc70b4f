// SPDX-License-Identifier: Apache-2.0
// The cuda provider without a GPU, on tests/support/fake_cuda: memory and growth in one process and in several, GPUs
// that do not reach each other, drivers with missing functions. Faults: cuda_fault_test.cpp.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "ggas/detail/platform/layout.hpp"
#include "tests/userlib/cuda_rig.hpp"

namespace ggas {
namespace {

using namespace test;

// From 4 MiB to 5, 6 and 20: contents stay where they are, and what is new is zero.
std::string grow_and_exchange(cluster& c) {
  char letter = 'a';
  for (size_t bytes : {5 * mebi, 6 * mebi, 20 * mebi}) {
    std::string wrong = exchange(c, ++letter);
    char* const old = mark(c, c.local_nodes()[0]);
    if (wrong.empty()) wrong = text_of(c.grow(bytes));
    if (!wrong.empty()) return wrong;
    if (*old != letter) return "old contents are lost";
    if (c.segment_bytes() != bytes || *mark(c, c.local_nodes()[0])) return "the new part is not what it should be";
    if (wrong = text_of(c.meet("looked")); !wrong.empty()) return wrong;
  }
  return exchange(c, 'z');
}

TEST(cuda_cluster, one_process_for_all_nodes) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    for (int gpus : {1, 2, 4, 8}) {
      fake_cuda::here().gpus = gpus;
      parent.say(run_one(small, 0, [](int, cluster* c, const std::string& why) {
        return c ? std::to_string(c->nodes()) + grow_and_exchange(*c) : why;
      }));
    }
  });
  for (const char* text : {"1", "2", "4", "8"}) EXPECT_EQ(one.next(0, soon), text);
}

TEST(cuda_cluster, threads_have_clusters_of_their_own) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    std::array<std::string, 4> said;
    {
      std::vector<std::jthread> threads;
      for (std::string& mine : said)
        threads.emplace_back([&mine] {
          for (int round = 0; round < 3; ++round) {
            const auto c = cluster::create(small);
            mine = c ? grow_and_exchange(**c) : c.error().text;
            if (fake_cuda::last != cudaSuccess) mine = "CUDA's last error stays";
            if (!mine.empty()) return;
          }
        });
    }
    for (const std::string& text : said) parent.say(text.empty() ? "ok" : text);
    parent.say(fake_cuda::here().holds_nothing() ? "all given back" : "something is held");
  });
  for (const char* text : {"ok", "ok", "ok", "ok", "all given back"}) EXPECT_EQ(one.next(0, soon), text);
}

// Else a cudaMemcpy before a launch and the kernel overtake each other.
TEST(cuda_cluster, streams_are_in_order_with_the_default_stream) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    const std::string made = run_one(small, 0, why_not);
    parent.say(made + " " + std::to_string(fake_cuda::here().stream_flags));
  });
  EXPECT_EQ(last_word(one, 0), "made " + std::to_string(cudaStreamDefault));
}

// The processor is free for others while kernels run.
TEST(cuda_cluster, waiting_for_kernels_takes_little_of_the_processor) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    parent.say(run_one(small, 0, [](int, cluster* c, const std::string& why) -> std::string {
      if (!c) return why;
      fake_cuda::here().busy = true;
      const std::clock_t begin = std::clock();
      const std::string text = text_of(c->run(second / 2));
      const double used = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      return used < 0.1 ? text : std::to_string(used) + " s of the processor in 0.5 s";
    }));
  });
  EXPECT_TRUE(has(one.next(0, soon), "kernels still run after 500000000 ns"));
}

TEST(cuda_cluster, waiting_can_be_cancelled) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    int asked = 0;
    cluster_config cfg = small;
    cfg.cancelled = [&] { return ++asked == 10; };
    parent.say(run_one(cfg, 0, [&](int, cluster* c, const std::string& why) -> std::string {
      if (!c) return why;
      fake_cuda::here().busy = true;
      asked = 0;
      const auto ran = c->run(3600 * second);
      return !ran && ran.error().code == errc::cancelled ? ran.error().text : "not cancelled";
    }));
  });
  EXPECT_EQ(one.next(0, soon), "cancelled; kernels still run on nodes 0 1 2 3");
}

// For the test below, in a process of its own.
TEST(module_loading, DISABLED_says_what_it_is) {
  const char* const value = getenv("CUDA_MODULE_LOADING");
  std::printf("loading: %s\n", value ? value : "as CUDA does");
}

// Eagerly where one process runs several GPUs; what a launcher started for one node loads as it always does.
TEST(module_loading, is_changed_only_where_a_kernel_could_wait_for_it) {
  const auto said = [](const std::string& environment) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string command = "env -u CUDA_MODULE_LOADING " + environment + " " + self +
                                " --gtest_also_run_disabled_tests --gtest_filter=module_loading.DISABLED_*";
    std::string text(4096, '\0');
    std::FILE* const p = popen(command.c_str(), "r");
    text.resize(std::fread(text.data(), 1, text.size(), p));
    pclose(p);
    const size_t at = text.find("loading: ");
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(said(""), "loading: EAGER");
  EXPECT_EQ(said("CUDA_MODULE_LOADING=LAZY"), "loading: LAZY");
  EXPECT_EQ(said("GGAS_RANK=1 GGAS_SIZE=2 GGAS_JOB=j"), "loading: as CUDA does");
  EXPECT_EQ(said("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4"), "loading: as CUDA does");
}

// ---------------------------------------------------------------------------------------------- processes

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
      [](int, cluster* c, const std::string& why) {
        const std::string wrong = c ? grow_and_exchange(*c) : why;
        return wrong.empty() ? "ok" : wrong;
      });
  expect_each(all, size, "ok");
}

// One process informs all nodes to end their waits; a reset undoes that and clears the library's own words, and leaves
// the rest unchanged.
std::string abort_and_reset(int rank, cluster& c) {
  std::string wrong = exchange(c, 'r');
  if (wrong.empty() && rank == c.nodes() - 1) wrong = text_of(c.abort());
  if (wrong.empty()) wrong = text_of(c.meet("reported"));
  for (const int node : c.local_nodes()) {
    char* const first = reinterpret_cast<char*>(c.segment(node));
    const uint64_t reserved = c.device_context(node).reserved;
    if (*reinterpret_cast<uint64_t*>(first + layout::aborted) != 1) return "a node has not heard of the end";
    first[reserved - 1] = first[layout::broken] = 1;
    first[reserved] = 2;
    if (wrong.empty()) wrong = text_of(c.meet("looked"));
    if (wrong.empty()) wrong = text_of(c.reset(0));
    if (std::count(first, first + reserved, 0) != static_cast<ptrdiff_t>(reserved))
      return "the library's words are left";
    if (first[reserved] != 2 || *mark(c, node) != 'r') return "contents are lost";
  }
  return wrong.empty() ? text_of(c.meet("all is well")) : wrong;
}

TEST(cuda_cluster, one_ends_all_waits_and_all_reset) {
  processes all;
  start(all, 3, small, as_it_is, [](int rank, cluster* c, const std::string& why) {
    const std::string wrong = c ? abort_and_reset(rank, *c) : why;
    return wrong.empty() ? "ok" : wrong;
  });
  expect_each(all, 3, "ok");
}

// Nothing is cleared below a kernel that runs.
TEST(cuda_cluster, a_reset_beside_a_kernel_is_refused) {
  processes all;
  start(all, 2, small, as_it_is, [](int rank, cluster* c, const std::string& why) {
    if (!c) return why;
    fake_cuda::here().busy = rank == 1;
    const std::string text = text_of(c->reset(0));
    fake_cuda::here().busy = false;
    return text;
  });
  for (int r : {0, 1}) {
    const std::string text = last_word(all, r);
    EXPECT_TRUE(text.starts_with("rank 1: reset: the streams must be idle: ")) << text;
  }
}

// A job may have several: each create() is a barrier of its own.
TEST(cuda_cluster, clusters_of_a_job_side_by_side_and_one_after_another) {
  const std::string name = "fake." + std::to_string(getpid()) + ".several";
  processes all;
  all.start_all(3, [=](int rank, const voice& parent) {
    cluster_config cfg = small;
    cfg.processes = {rank, 3, name, 10 * second};
    std::string wrong;
    for (int i = 0; i < 5 && wrong.empty(); ++i) {
      wrong = run_one(cfg, rank, [=](int, cluster* first, const std::string& why) {
        if (!first) return why;
        const auto other = cluster::create(cfg);
        if (!other) return other.error().text;
        return exchange(*first, 'a') + exchange(**other, 'b') + grow_and_exchange(*first) + exchange(**other, 'c');
      });
    }
    parent.say(wrong.empty() ? "ok" : wrong);
  });
  expect_each(all, 3, "ok");
}

TEST(cuda_cluster, memory_that_cannot_be_passed_on) {
  for (const bool old : {false, true}) {
    processes all;
    start(
        all, 2, small,
        [=](int, fake_cuda& cuda) {
          cuda.files = false;
          cuda.knows_fabric = !old;
        },
        why_not);
    expect_each(all, 2,
                "rank 0: GPU 0 cannot pass memory on to other processes; let one process run all nodes; rank 1: GPU 1 "
                "cannot pass memory on to other processes; let one process run all nodes");
  }
}

// Each process has its own idea of the cluster: it is not made, or does not grow, and all receive who says what.
TEST(cuda_cluster, processes_that_ask_for_different_things) {
  const std::string name = "fake." + std::to_string(getpid()) + ".differ";
  const auto reported = [&](std::function<void(int, cluster_config&)> change, size_t grown_by) {
    processes all;
    all.start_all(2, [=](int rank, const voice& parent) {
      cluster_config cfg = small;
      cfg.processes = {rank, 2, name, 10 * second};
      change(rank, cfg);
      parent.say(run_one(cfg, rank, [=](int, cluster* c, const std::string& why) {
        return c ? text_of(c->grow(8 * mebi + static_cast<size_t>(rank) * grown_by)) : why;
      }));
    });
    const std::string text = last_word(all, 0);
    EXPECT_EQ(last_word(all, 1), text);
    return text;
  };
  EXPECT_EQ(reported([](int, cluster_config&) {}, 0), "");
  EXPECT_EQ(reported([](int rank, cluster_config& c) { c.segment_bytes += rank * mebi; }, 0),
            "segment_bytes must be the same in all processes: rank 0 says 4194304, rank 1 says 5242880");
  EXPECT_EQ(reported([](int rank, cluster_config& c) { c.most_segment_bytes += rank * mebi; }, 0),
            "most_segment_bytes must be the same in all processes: rank 0 says 41943040, rank 1 says 42991616");
  EXPECT_EQ(reported([](int rank, cluster_config& c) { c.nodes = rank ? 3 : 0; }, 0),
            "rank 1: nodes = 3: with a process for each node it must be 0 or their number, 2");
  EXPECT_EQ(reported([](int rank, cluster_config&) { setenv("GGAS_TUNING", rank ? "/nowhere" : "", 1); }, 0),
            "rank 1: GGAS_TUNING = /nowhere: cannot be read");
  EXPECT_EQ(reported([](int, cluster_config&) {}, mebi),
            "grow: all processes must ask for the same: rank 0 says 8388608, rank 1 says 9437184");
}

// ---------------------------------------------------------------------------------------------- no way between GPUs

constexpr const char* no_way =
    "GPU 1 cannot reach the memory of GPU 3: there is neither NVLink nor PCIe peer access between them; all GPUs of a "
    "cluster must reach each other (CUDA_VISIBLE_DEVICES chooses some that do)";

TEST(cuda_cluster, gpus_that_do_not_reach_each_other_are_named) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    fake_cuda::here().cut = {{1, 3}};
    parent.say(run_one(small, 0, why_not));
    parent.say(run_one(with(4 * mebi, 3), 0, why_not));
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

// They reach each other's memory, but an atomic there is a load and a store: no node has any.
constexpr const char* no_atomics =
    "GPU 1 and GPU 3 have no atomics on each other's memory, as over PCIe: remote atomics, signals that add and "
    "notifications return ggas_no_queue (CUDA_VISIBLE_DEVICES chooses GPUs that are joined by NVLink)";

std::string atomics_of(int, cluster* c, const std::string& why) {
  if (!c) return why;
  for (int n = 0; n < c->nodes(); ++n)
    if (c->device_context(n).no_peer_atomics == c->lacks_atomics().empty()) return "kernels hear something else";
  return c->lacks_atomics().empty() ? "all have atomics" : c->lacks_atomics();
}

TEST(cuda_cluster, gpus_without_atomics_between_them_are_named) {
  processes one;
  one.start(0, [](int, const voice& parent) {
    parent.say(run_one(small, 0, atomics_of));
    fake_cuda::here().plain = {{1, 3}};
    parent.say(run_one(small, 0, atomics_of));
    cluster_config three = small;
    three.nodes = 3;
    parent.say(run_one(three, 0, atomics_of));
  });
  for (const char* text : {"all have atomics", no_atomics, "all have atomics"}) EXPECT_EQ(one.next(0, soon), text);
}

TEST(cuda_cluster, also_those_of_other_processes) {
  processes all;
  start(
      all, 4, small,
      [](int, fake_cuda& cuda) {
        cuda.plain = {{1, 3}};
      },
      atomics_of);
  for (int rank : {0, 2}) EXPECT_EQ(all.next(rank, soon), std::string("rank 1: ") + no_atomics);
  for (int rank : {1, 3}) EXPECT_TRUE(has(all.next(rank, soon), "have no atomics on each other's memory"));
}

// No one sees both GPUs: mapping reports.
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

// ---------------------------------------------------------------------------------------------- drivers

TEST(cuda_cluster, what_a_computer_lacks_is_reported) {
  const auto reported = [](std::function<void(fake_cuda&)> prepare, const cluster_config& cfg = small) {
    processes one;
    one.start(0, [=](int, const voice& parent) {
      prepare(fake_cuda::here());
      parent.say(run_one(cfg, 0, why_not));
    });
    return last_word(one, 0);
  };
  const auto nothing = [](fake_cuda&) {};
  EXPECT_EQ(reported(nothing, with(4 * mebi, 5)),
            "nodes = 5: this process sees 4 GPUs; nodes share a GPU only as processes of their own (./ggas run -n 5 "
            "program)");
  EXPECT_EQ(reported(nothing, with(size_t{2} << 30)),
            "a segment of 2147483648 bytes on GPU 0: cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY: words of the driver; of "
            "its 1073741824 bytes 536870912 are free");
  EXPECT_EQ(reported([](fake_cuda& c) { c.gpus = 8; }, with(4 * mebi, 0, size_t{1} << 44)),
            "140737488355328 bytes of addresses for all segments: cuMemAddressReserve: CUDA_ERROR_OUT_OF_MEMORY: words "
            "of the driver");
  EXPECT_EQ(reported([](fake_cuda& c) { c.virtual_memory = false; }), "GPU 0 has no virtual memory management");
  EXPECT_EQ(reported([](fake_cuda& c) { c.driver_version = 0; }),
            "there is no CUDA driver (libcuda.so.1) on this computer");
  EXPECT_TRUE(has(reported([](fake_cuda& c) { c.driver_version = 11040; }), "this one is for CUDA 11.4"));
  EXPECT_EQ(reported([](fake_cuda& c) { c.missing = "cuMemCreate"; }),
            "the CUDA driver is too old: it has no cuMemCreate of CUDA 10.2; it is for CUDA 13.0");
  EXPECT_TRUE(has(reported([](fake_cuda& c) { c.gpus = 0; }), "this process sees no GPU"));
}

}  // namespace
}  // namespace ggas
