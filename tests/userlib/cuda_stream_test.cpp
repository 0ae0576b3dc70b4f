// SPDX-License-Identifier: Apache-2.0
// Streams, events, pinned memory and copies of the cuda provider, without a GPU: the calls of CUDA, and the released
// resources (run_one() checks).
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "ggas/host.hpp"
#include "tests/userlib/cuda_rig.hpp"

namespace ggas::test {
namespace {

std::string in_one_process(const std::function<std::string(cluster&)>& then) {
  processes one;
  one.start(0, [&](int, const voice& parent) {
    parent.say(run_one(with(4 * mebi, 2, 8 * mebi), 0,
                       [&](int, cluster* c, const std::string& why) { return c ? then(*c) : why; }));
  });
  return one.next(0, soon);
}

TEST(cuda_stream, priorities_are_those_that_the_gpu_has) {
  EXPECT_EQ(in_one_process([](cluster& c) {
              std::string all;
              for (const int wanted : {-3, 0, 2, 100}) {
                if (const auto s = c.make_stream(1, wanted); !s || !s->id || s->node != 1) return text_of(s);
                all += std::to_string(fake_cuda::here().priority) + " ";
              }
              return all;
            }),
            "0 0 -2 -5 ");
}

TEST(cuda_stream, multiprocessors_are_given_to_one_stream_each) {
  const auto run = [](cluster& c) {
    std::string all;
    for (const unsigned wanted : {1u, 64u, 0u, 61u, 60u, 1u}) {
      const auto s = c.make_stream_on(1, wanted);
      all += s ? std::to_string(c.multiprocessors(*s)) + " | " : s.error().text + " | ";
    }
    return all + std::to_string(c.multiprocessors(*c.make_stream(1))) + ", " + text_of(c.make_stream_on(5, 1));
  };
  EXPECT_EQ(in_one_process(run),
            "8 | 64 | stream of node 1 on 0 multiprocessors: must be 1 or more | "
            "stream of node 1 on 61 multiprocessors: 56 are left of the GPU | "
            "stream of node 1 on 60 multiprocessors: 56 are left of the GPU | 8 | "
            "0, make_stream_on on node 5: nodes are 0 ... 1");
  // An older driver.
  EXPECT_EQ(in_one_process([](cluster& c) {
              fake_cuda::here().missing = "cuGreenCtxCreate";
              return text_of(c.make_stream_on(0, 8));
            }),
            "stream of node 0 on 8 multiprocessors: the CUDA driver is too old: it has no cuGreenCtxCreate of CUDA "
            "12.4; it is for CUDA 13.0");
}

// For puts that run a part at their target: a stream and memory of each node, which all GPUs reach.
TEST(cuda_stream, puts_find_a_stream_and_memory_at_their_target) {
  EXPECT_EQ(
      in_one_process([](cluster& c) {
        const auto a = c.at_target(0), b = c.at_target(1);
        if (!a || !b || c.at_target(2) || c.at_target(-1)) return std::string("not of each node");
        if (a->work.node != 0 || b->work.node != 1 || !b->work.id) return std::string("another node's stream");
        if (!a->memory || a->memory == b->memory) return std::string("no memory of its own");
        return std::string(fake_cuda::here().pool_users == std::set<int>{0, 1} ? "ok" : "a GPU does not reach it");
      }),
      "ok");
}

// As if a kernel ran on each stream.
TEST(cuda_stream, kernels_on_any_stream_are_waited_for) {
  EXPECT_EQ(in_one_process([](cluster& c) {
              const auto s = c.make_stream(0);
              const auto e = c.make_event(0);
              if (!s || !e) return text_of(s) + text_of(e);
              if (!*c.reached(*e)) return std::string("reached before it was recorded");
              if (auto ok = c.record(*e, *s); !ok) return text_of(ok);
              if (auto ok = c.wait(1, *e); !ok) return text_of(ok);
              fake_cuda::here().busy = true;
              if (*c.poll() || *c.reached(*e)) return std::string("nothing runs");
              fake_cuda::here().busy = false;
              if (!*c.poll() || !*c.reached(*e)) return std::string("something runs");
              return c.record(*e, 1).error().text;
            }),
            "record in a stream of node 1: an event of node 0");
}

// A number that is another one each time kernels must be reported again.
TEST(cuda_stream, constants_are_those_of_the_cluster_as_it_is) {
  EXPECT_EQ(in_one_process([](cluster& c) {
              constants seen{};
              const uint64_t first = c.constants_number();
              if (auto ok = c.write_constants(1, &seen); !ok) return text_of(ok);
              if (seen.own.node != 1 || seen.own.segment_bytes != 4 * mebi) return std::string("not its constants");
              if (auto ok = c.grow(8 * mebi); !ok) return text_of(ok);
              if (c.constants_number() == first) return std::string("nobody hears that it grew");
              if (auto ok = c.write_constants(0, &seen); !ok) return text_of(ok);
              return std::to_string(seen.own.segment_bytes / mebi);
            }),
            "8");
}

TEST(cuda_stream, pinned_memory_is_zero_and_each_nodes_own) {
  EXPECT_EQ(in_one_process([](cluster& c) {
              for (const int node : c.local_nodes()) {
                const host_region m = c.host_memory(node);
                if (m.bytes != 8192 || m.base[0] != std::byte{0} || m.base[8191] != std::byte{0}) return "not zero";
                std::memset(m.base, 1 + node, m.bytes);
              }
              return c.host_memory(0).base[8191] == std::byte{1} && !c.host_memory(2).base ? "ok" : "shared";
            }),
            "ok");
}

// A graph keeps what was queued on its stream while it was made; nothing runs before it is launched.
TEST(cuda_stream, a_graph_is_launched_again) {
  EXPECT_EQ(
      in_one_process([](cluster& c) {
        const auto s = c.make_stream(0), other = c.make_stream(0);
        if (!s || !other) return text_of(s) + text_of(other);
        std::byte* const pinned = c.host_memory(0).base;
        const auto copy = [&](size_t to, size_t from) { return c.copy_on_stream(*s, pinned + to, pinned + from, 8); };
        const auto g = c.make_graph(*s, [&]() -> result<> {
          if (auto ok = copy(8, 0); !ok) return ok;
          return copy(16, 8);
        });
        if (!g) return text_of(g);
        std::string all;
        for (const int value : {1, 2}) {
          pinned[0] = std::byte(value);
          all += std::to_string(std::to_integer<int>(pinned[16]));
          if (auto ok = c.launch_graph(*g, value == 1 ? *s : *other); !ok) return text_of(ok);
          all += std::to_string(std::to_integer<int>(pinned[16])) + " ";
        }
        all += c.launch_graph(*g, 1).error().text + "; ";
        if (auto ok = c.drop_graph(*g); !ok) return text_of(ok);
        all += c.drop_graph(*g).error().text + "; " + c.launch_graph(*g, *s).error().text + "; ";
        all += c.make_graph(*s, [] { return result<>(); }).error().text + "; ";
        return all + c.make_graph(*s, [&] { return copy(0, size_t{1} << 40); }).error().text.substr(0, 20);
      }),
      "01 12 launch_graph: a graph of node 0 on a stream of node 1; drop_graph: not a graph, or one that was "
      "dropped; launch_graph: not a graph, or one that was dropped; make_graph: nothing was queued on the stream; "
      "copy_on_stream, from");
}

TEST(cuda_stream, what_the_host_engine_runs_is_refused) {
  EXPECT_EQ(in_one_process([](cluster& c) {
              return text_of(c.launch(
                  0, 1, 1, [] {}, "mine"));
            }),
            "kernel 'mine' of the host engine: not with provider 'cuda': compile it with nvcc");
}

// A program next to kernels: pinned memory by loads and stores, the node's segment by copies.
TEST(cuda_stream, a_program_of_a_node_reads_and_writes) {
  EXPECT_EQ(in_one_process([](cluster& c) -> std::string {
              uint64_t* const pinned = reinterpret_cast<uint64_t*>(c.host_memory(1).base);
              auto* const there = reinterpret_cast<uint64_t*>(c.segment(1) + c.device_context(1).reserved);
              uint64_t found = 0;
              int node = -1;
              if (auto ok = c.launch_host(1,
                                          [&](host& h) {
                                            node = h.node();
                                            if (!h.wait_until([&] { return h.load(pinned) == 7; }, 60 * second)) return;
                                            h.store(there + 1, uint64_t{42});
                                            found = h.load(there + 1);
                                            h.store(pinned + 1, found);
                                          });
                  !ok)
                return ok.error().text;
              if (auto ok = c.start(); !ok) return ok.error().text;
              if (const auto early = c.poll(); !early || *early) return "ended before it was stored";
              std::atomic_ref(*pinned).store(7);
              if (auto ran = c.run(60 * second); !ran) return ran.error().text;
              return "node " + std::to_string(node) + ": " + std::to_string(found) + " " + std::to_string(pinned[1]);
            }),
            "node 1: 42 42");
}

TEST(cuda_stream, a_program_that_throws_or_stays_is_an_error) {
  EXPECT_EQ(in_one_process([](cluster& c) -> std::string {
              if (!c.launch_host(
                      0, [](host&) { throw std::runtime_error("no"); }, "thrower"))
                return "refused";
              const auto thrown = c.run(second);
              if (thrown || thrown.error().code != errc::device_fault) return "no fault";
              if (!c.launch_host(
                      0, [](host& h) { h.sleep(~uint64_t{0}); }, "sleeper"))
                return "refused";
              const auto late = c.run(20'000'000);
              if (late || late.error().code != errc::timed_out) return "no time-out";
              const auto outside = [&c](host& h) {
                static_cast<void>(h.load(reinterpret_cast<uint64_t*>(c.segment(1))));
              };
              if (!c.launch_host(0, outside, "stray")) return "refused";
              const auto stray = c.run(second);
              return thrown.error().text + " | " + late.error().text + " | " + (stray ? "" : stray.error().text);
            }),
            "node 0: program 'thrower': exception: no | "
            "programs after 20000000 ns: node 0: program 'sleeper': still runs | "
            "node 0: program 'stray': exception: access outside of pinned host memory and segments");
}

TEST(cuda_stream, a_program_is_checked_and_ends_with_its_cluster) {
  EXPECT_EQ(in_one_process([](cluster& c) -> std::string {
              const std::string none = text_of(c.launch_host(0, nullptr, "none"));
              if (!c.launch_host(
                      0, [](host& h) { h.sleep(~uint64_t{0}); }, "sleeper"))
                return "refused";
              if (!c.start()) return "not started";
              return none + ", " +
                     text_of(c.launch_host(
                         9, [](host&) {}, "far"));
            }),
            "program 'none': no function, program 'far' on node 9: nodes are 0 ... 1");
}

}  // namespace
}  // namespace ggas::test
