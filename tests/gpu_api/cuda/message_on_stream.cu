// SPDX-License-Identifier: Apache-2.0
// Messages on streams on real GPUs, whose data a cluster of blocks moves: of every size, as one record and from memory
// to memory, in graphs that run 100 times. All GPUs send and receive at once; a single one sends to itself.
#include "tests/gpu_api/message_on_stream_run.hpp"

#include "tests/gpu_api/cuda/rig.hpp"

namespace ggas::gpu_test {
namespace {

class stream_messages : public rig {
 public:
  using rig::nodes;
  using rig::run;
  cluster& on() { return machine(); }
  uint64_t timeout_ns() const { return 20 * second; }
  uint64_t brief_ns() const { return 1'000'000; }
  void write(int node, uint64_t offset, const std::vector<uint8_t>& v) { rig::write(node, offset, v); }
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) { return rig::read<uint8_t>(node, offset, n); }
  // Uploaded: the first launch of a graph could wait for the end of another one, which waits for it.
  graph make_graph(const stream& s, const std::function<result<>()>& queue) {
    const auto g = machine().make_graph(s, queue);
    EXPECT_TRUE(g) << g.error().text;
    ok(cudaSetDevice(machine().device(s.node)), "device");
    ok(cudaGraphUpload(reinterpret_cast<cudaGraphExec_t>(g->id), machine().cuda_stream(s)), "upload");
    return *g;
  }

 protected:
  using streams = calls::messages_of_streams<stream_messages>;
  streams records_of(unsigned short_bytes, unsigned lines_log2) {
    static const std::vector<stream> receivers = [] {
      std::vector<stream> all;
      for (int n = 0; n < nodes(); ++n) all.push_back(*machine().make_stream(n));
      return all;
    }();
    ggas_messages m{
        {{0, 1, nodes(), 0}, 2, 0, at.copy, 16, 1}, ggas_rank_is_block, 128, 0, lines_log2, short_bytes, 4, 8, 64};
    m.place = at.copy + (detail::layout_of(m.blocks).bytes() + 63) / 64 * 64;
    EXPECT_LE(m.place + detail::bytes_of(m), segment_bytes);
    return {*this, m, at.data, receivers};
  }
  streams memory_to_memory() { return records_of(64, 6); }
  streams records() { return records_of(1 << 18, 18); }
  static void every_size(streams s) {
    unsigned number = 0;
    for (const uint64_t bytes : calls::stream_sizes) {
      s.exchange(bytes, 0, number % 2 == 0, rounds_of(100));
      s.exchange(bytes, 1 + number % 3, number % 2 == 1, rounds_of(100));
      ++number;
    }
  }
  static void too_long(streams s) {
    for (const uint64_t bytes : {64u, 2049u, 10000u, 1u << 18}) s.too_long(bytes, rounds_of(20));
  }
  static void without_partner(streams s) {
    for (const uint64_t bytes : {0u, 2048u, 10000u, 1u << 18}) s.without_partner(bytes);
  }
};

TEST_F(stream_messages, of_every_size_as_records) { every_size(records()); }
TEST_F(stream_messages, of_every_size_from_memory_to_memory) { every_size(memory_to_memory()); }
TEST_F(stream_messages, too_long_records_are_lost) { too_long(records()); }
TEST_F(stream_messages, too_long_ones_in_memory_are_lost) { too_long(memory_to_memory()); }
TEST_F(stream_messages, records_without_partner_end_in_time) { without_partner(records()); }
TEST_F(stream_messages, ones_in_memory_without_partner_end_in_time) { without_partner(memory_to_memory()); }

}  // namespace
}  // namespace ggas::gpu_test
