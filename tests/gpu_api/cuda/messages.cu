// SPDX-License-Identifier: Apache-2.0
// Messages between ranks on real GPUs: ten million random ones, and each rule. GGAS_TEST_ROUNDS: messages of a rank at
// most.
#include "ggas/message_on_stream.cuh"
#include "tests/gpu_api/messages_run.hpp"

#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

// Up to how many bytes a message is one record, and in which ring.
struct record_shape {
  unsigned short_bytes, lines_log2;
};

// All memory is zero at first; outcomes and counts have their places, then come rings and state, and at the end the
// scratch of ranks, which grows with the number of GPUs.
class messages_rig : public rig {
 public:
  using rig::nodes;
  uint64_t timeout_ns() const { return 20 * second; }
  uint64_t brief_ns() const { return 1'000'000; }
  uint64_t outcomes() const { return at.outcomes; }
  uint64_t message_counts() const { return at.base; }
  uint64_t message_scratch() const { return at.copy + (32 << 20); }
  void write(int node, uint64_t offset, const std::vector<uint8_t>& v) { rig::write(node, offset, v); }
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) { return rig::read<uint8_t>(node, offset, n); }
  void run_messages(const ggas_messages& w, void (*kernel)(calls::message_args), const calls::message_args& a) {
    for (int n = 0; n < nodes(); ++n) ok(launch_grid(machine(), n, w.blocks.blocks, w.threads, kernel, a), "launch");
    run("messages");
  }
  ggas_messages world(ggas_rank_kind kind, unsigned blocks, unsigned threads) const {
    ggas_messages m{{{0, 1, nodes(), 0}, blocks, 0, at.copy, 16, 1}, kind, threads, 0, 6, 64, 64, 8, 256};
    m.place = at.copy + (detail::layout_of(m.blocks).bytes() + 63) / 64 * 64;
    return m;
  }
  void random(ggas_rank_kind kind, unsigned blocks, unsigned threads, unsigned count, uint64_t seed,
              const record_shape& records = {64, 6}) {
    SetUp();
    ggas_messages m = world(kind, blocks, threads);
    m.short_bytes = records.short_bytes;
    m.lines_log2 = records.lines_log2;
    constexpr uint64_t most = 600;  // bytes of a message
    const uint64_t scratch = static_cast<uint64_t>(detail::ranks_of_node(m)) *
                             calls::scratch_for(most, static_cast<uint64_t>(detail::rank_count(m)));
    ASSERT_LE(m.place + detail::bytes_of(m), message_scratch());
    ASSERT_LE(message_scratch() + scratch, segment_bytes);
    calls::run_messages_random(*this, m, rounds_of(count), most, seed);
  }
};

constexpr auto of_threads = ggas_rank_is_thread, of_warps = ggas_rank_is_warp, of_blocks = ggas_rank_is_block;

TEST_F(messages_rig, keep_each_rule_threads) { calls::run_messages_by_rule(*this, world(of_threads, 2, 64)); }
TEST_F(messages_rig, keep_each_rule_warps) { calls::run_messages_by_rule(*this, world(of_warps, 2, 128)); }
TEST_F(messages_rig, keep_each_rule_blocks) { calls::run_messages_by_rule(*this, world(of_blocks, 8, 128)); }
TEST_F(messages_rig, a_launch_begins_clean_threads) {
  calls::run_messages_after_others(*this, world(of_threads, 2, 64), 10, rounds_of(50));
}
TEST_F(messages_rig, a_launch_begins_clean_warps) {
  calls::run_messages_after_others(*this, world(of_warps, 4, 128), 10, rounds_of(50));
}
TEST_F(messages_rig, a_launch_begins_clean_blocks) {
  calls::run_messages_after_others(*this, world(of_blocks, 32, 64), 10, rounds_of(50));
}
TEST_F(messages_rig, random_ones_of_64_threads) { random(of_threads, 1, 64, 20000, 1); }
TEST_F(messages_rig, random_ones_of_512_threads) { random(of_threads, 8, 64, 8000, 2); }
TEST_F(messages_rig, random_ones_of_1024_threads) { random(of_threads, 16, 64, 2000, 7); }
TEST_F(messages_rig, random_ones_of_warps) { random(of_warps, 16, 128, 20000, 3); }
TEST_F(messages_rig, random_ones_of_blocks) { random(of_blocks, 64, 64, 20000, 4); }

// All threads of a block move the longer ones.
TEST_F(messages_rig, random_ones_of_blocks_as_records) { random(of_blocks, 64, 64, 20000, 5, {640, 9}); }
TEST_F(messages_rig, random_ones_of_warps_as_records) { random(of_warps, 16, 128, 20000, 6, {640, 9}); }

// Streams pass a number on to the next node, by a graph that is launched again and again.
TEST_F(messages_rig, on_a_stream_also_in_a_graph) {
  const ggas_messages w = world(of_blocks, 2, 128);
  const auto word = [&](int node, uint64_t offset) {
    return reinterpret_cast<uint64_t*>(segment(node) + at.data + offset);
  };
  const auto report = [&](int node) { return stream_report{timeout_ns(), word(node, 0)}; };
  std::vector<cudaGraphExec_t> graphs(static_cast<size_t>(nodes()));
  for (int n = 0; n < nodes(); ++n) ok(begin_messages_on_stream(machine(), n, w, report(n)), "begin");
  run("begin");
  for (int n = 0; n < nodes(); ++n) {
    cudaGraph_t graph{};
    cudaStream_t const stream = machine().cuda_stream(n);
    ok(cudaSetDevice(machine().device(n)), "device");
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    ok(send_on_stream(machine(), n, w, 2 * n + 1, word(n, 64), 1, (n + 1) % nodes() * 2 + 1, 3, report(n)), "send");
    ok(recv_on_stream(machine(), n, w, 2 * n + 1, word(n, 64), 1, ggas_any_source, 3, nullptr, report(n)), "recv");
    ok(cudaStreamEndCapture(stream, &graph), "capture");
    ok(cudaGraphInstantiate(&graphs[static_cast<size_t>(n)], graph, 0), "graph");
    ok(cudaGraphDestroy(graph), "graph");
    write(n, at.data + 64, calls::raw_of(std::vector<uint64_t>{100 + static_cast<uint64_t>(n)}));
  }
  constexpr int rounds = 5;
  for (int i = 0; i < rounds; ++i)
    for (int n = 0; n < nodes(); ++n)
      ok(cudaGraphLaunch(graphs[static_cast<size_t>(n)], machine().cuda_stream(n)), "launch");
  run("graphs");
  for (int n = 0; n < nodes(); ++n) {
    const auto from = static_cast<uint64_t>((n + rounds * (nodes() - 1)) % nodes());
    EXPECT_EQ(read(n, at.data, 8), calls::raw_of(std::vector<uint64_t>{ggas_ok})) << n;
    EXPECT_EQ(read(n, at.data + 64, 8), calls::raw_of(std::vector<uint64_t>{100 + from})) << n;
    ok(cudaGraphExecDestroy(graphs[static_cast<size_t>(n)]), "graph");
  }
}

}  // namespace
}  // namespace ggas::gpu_test
