// SPDX-License-Identifier: Apache-2.0
// Runs the ports on a machine (machine.hpp, cuda/calls.hpp) and compares what they leave with their references.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "tests/gpu_api/ports/breadth_first.cuh"
#include "tests/gpu_api/ports/experts.cuh"
#include "tests/gpu_api/ports/halo.cuh"
#include "tests/gpu_api/ports/packets.cuh"
#include "tests/gpu_api/ports/peer_allreduce.cuh"
#include "tests/gpu_api/ports/pipeline.cuh"
#include "tests/gpu_api/ports/ring_allreduce.cuh"
#include "tests/gpu_api/ports/shared_work.cuh"
#include "tests/gpu_api/ports/transpose.cuh"

namespace ggas::ports {

constexpr unsigned threads = 64;
static_assert(threads == packet_threads && threads == line_threads);

struct port {
  const char* name;
  void (*kernel)(args);
  std::vector<uint32_t> (*want)(int nodes, int node, uint64_t rounds);
  unsigned blocks = 1;
  bool with_atomics = false;  // on other nodes' memory
};
inline constexpr port all_ports[] = {
    {"ring_allreduce", ring_allreduce, want_ring_allreduce},
    {"halo_exchange", halo_exchange, want_halo},
    {"packet_allreduce", packet_allreduce, want_packet_allreduce},
    {"line_allgather", line_allgather, want_line_allgather},
    {"expert_dispatch", expert_dispatch, want_experts},
    {"one_shot_allreduce", one_shot_allreduce, want_peer_allreduce, peer_blocks},
    {"two_shot_allreduce", two_shot_allreduce, want_peer_allreduce, peer_blocks},
    {"pipeline", pipeline, want_pipeline},
    {"ticket_queue", ticket_queue, want_tickets, 1, true},
    {"hash_table", hash_table, want_table, 1, true},
    {"transpose", transpose, want_transpose},
    {"breadth_first_search", breadth_first_search, want_distances},
};
inline void PrintTo(const port& p, std::ostream* os) { *os << p.name; }

template <class Machine>
void run_port(Machine& m, const port& p, uint64_t rounds) {
  if (p.with_atomics && !m.target().lacks_atomics().empty()) GTEST_SKIP() << m.target().lacks_atomics();
  const uint64_t result = m.data(), memory = result + result_words * sizeof(uint32_t);
  for (int n = 0; n < m.nodes(); ++n) m.write(n, result, std::vector<uint8_t>(memory - result + memory_bytes));
  m.run(p.blocks, threads, p.kernel, args{result, memory, m.outcomes(), rounds, m.timeout_ns()});
  for (int n = 0; n < m.nodes() && !testing::Test::HasFatalFailure(); ++n) {
    std::vector<bench::outcome> outcomes(p.blocks * threads);
    const auto raw = m.read(n, m.outcomes(), outcomes.size() * sizeof(bench::outcome));
    std::memcpy(outcomes.data(), raw.data(), raw.size());
    for (const bench::outcome& o : outcomes)
      ASSERT_EQ(o.status, uint64_t{ggas_ok}) << p.name << ", node " << n << " of " << m.nodes();
    const auto want = p.want(m.nodes(), n, rounds);
    ASSERT_LE(want.size(), result_words);
    std::vector<uint32_t> got(want.size());
    const auto words = m.read(n, result, got.size() * sizeof(uint32_t));
    std::memcpy(got.data(), words.data(), words.size());
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(got[i], want[i]) << p.name << ", node " << n << " of " << m.nodes() << ", word " << i;
  }
}

}  // namespace ggas::ports
