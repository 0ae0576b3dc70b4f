// SPDX-License-Identifier: Apache-2.0
// ncclSend and ncclRecv between GPUs 0 and 1 as nodes of graphs; other GPUs take no part.
#include <vector>

#include "benchmarks/compare/nccl.cuh"

namespace ggas::compare {

namespace {

struct messages {
  bool ping_pong;
  size_t bytes;
  const char* method() const { return ping_pong ? "ping_pong" : "one_way"; }
  size_t words() const { return bytes / sizeof(uint64_t); }
};

// Message `i` one way, or there and back; before() goes before what is sent, after() after what is received.
template <class Before, class After>
void queue(const member& m, const messages& w, const buffers& b, Before before, After after) {
  const int me = m.all.rank(), peer = 1 - me;
  for (int turn = 0; turn < (w.ping_pong ? 2 : 1); ++turn) {
    if (turn == me) {
      before();
      COMPARE_NCCL(ncclSend(b.in, w.bytes, ncclChar, peer, m.comm, m.stream));
    } else if (me < 2) {
      COMPARE_NCCL(ncclRecv(b.out, w.bytes, ncclChar, peer, m.comm, m.stream));
      after();
    }
  }
}
void give(const member& m, const messages& w, float* words, uint64_t key) {
  give_words<<<check_blocks, check_threads, 0, m.stream>>>(key, reinterpret_cast<uint64_t*>(words), w.words());
}
void check(const member& m, const messages& w, const buffers& b, uint64_t run) {
  check_words<<<check_blocks, check_threads, 0, m.stream>>>(
      key_of(run, 1 - m.all.rank()), reinterpret_cast<const uint64_t*>(b.out), w.words(), m.found);
}

// Each message with its own data into words that were overwritten, all of which are looked at.
void check_graph(member& m, const messages& w, const buffers& b, int length) {
  m.all.meet();
  cudaGraphExec_t graph = capture(m, length, [&](uint64_t i) {
    queue(
        m, w, b, [&] { give(m, w, b.in, key_of(1000 + i, m.all.rank())); },
        [&] {
          check(m, w, b, 1000 + i);
          give(m, w, b.out, 0);
        });
  });
  COMPARE_CUDA(cudaGraphLaunch(graph, m.stream));
  require_right(m, w.method());
  COMPARE_CUDA(cudaGraphExecDestroy(graph));
}

void measure(member& m, const char* variant, const messages& w, const buffers& b) {
  const int length = w.bytes >= (4u << 20) ? 8 : 50;
  check_graph(m, w, b, length);
  cudaGraphExec_t graph = capture(m, length, [&](uint64_t) {
    queue(
        m, w, b, [] {}, [] {});
  });
  figure f{"message_on_stream",
           variant,
           w.ping_pong ? "half_round_trip" : "time",
           "ns",
           {{"bytes", static_cast<int64_t>(w.bytes)}, {"method", 0, w.method()}},
           {}};
  for (uint64_t run = 0; run <= repetitions; ++run) {
    give(m, w, b.in, key_of(run, m.all.rank()));
    give(m, w, b.out, 0);
    const double ns = launch(m, graph) / (w.ping_pong ? 2 * length : length);
    if (m.all.rank() == 1 || (w.ping_pong && m.all.rank() == 0)) check(m, w, b, run);
    require_right(m, w.method());
    if (run > 0) f.samples.push_back(ns);
  }
  COMPARE_CUDA(cudaGraphExecDestroy(graph));
  if (m.all.rank() == 0) print(m.from, f);
}

}  // namespace

void measure_messages(member& m, const char* variant, const buffers& b) {
  if (m.all.size() < 2) return;
  for (const size_t bytes :
       {size_t{8}, size_t{64}, size_t{1} << 10, size_t{4} << 10, size_t{16} << 10, size_t{64} << 10, size_t{256} << 10,
        size_t{1} << 20, size_t{4} << 20, size_t{16} << 20, size_t{64} << 20})
    for (const bool ping_pong : {false, true}) measure(m, variant, {ping_pong, bytes}, b);
}

}  // namespace ggas::compare
