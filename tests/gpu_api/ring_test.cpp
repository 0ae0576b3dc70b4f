// SPDX-License-Identifier: Apache-2.0
// Rings of records between nodes; on GPUs: cuda/ring.cu. GGAS_TEST_RECORDS: the least number of records that random
// tests send, of all writers of all nodes.
#include "tests/gpu_api/ring.cuh"

#include <algorithm>
#include <cstdlib>

#include "tests/gpu_api/machine.hpp"

namespace ggas::test {
namespace {

class Ring : public machine_test {
 protected:
  // Records of each writer.
  uint64_t each() const {
    const char* const all = std::getenv("GGAS_TEST_RECORDS");
    if (!all) return simulated() ? 3 : 60;
    return std::strtoull(all, nullptr, 10) / (static_cast<uint64_t>(nodes()) * calls::writers) + 1;
  }
  // In kernels that end within the time-out of a run.
  void random(uint32_t lines_log2, unsigned readers) {
    constexpr uint64_t most = 500;  // on a machine with much else to do, too
    uint64_t seed = 1;
    for (uint64_t left = each(); left != 0 && !HasFailure(); left -= std::min(left, most))
      calls::run_ring_random(*this, lines_log2, readers, std::min(left, most), seed++);
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, Ring, testing::ValuesIn(both_nic_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Ring, RecordsOfManyWritersComeOnce) { random(8, 1); }
TEST_P(Ring, ManyReadersTakeEachOnce) { random(6, 3); }
TEST_P(Ring, ASmallRingGoesRoundOften) { random(2, 2); }
TEST_P(Ring, GoesOnBehind32Bits) { calls::run_ring_behind_32_bits(*this, simulated() ? 3 : 20); }
TEST_P(Ring, AllSizes) { calls::run_ring_sizes(*this, simulated() ? 5 : 8, simulated() ? 13 : 7); }
TEST_P(Ring, AFullRingTimesOut) { calls::run_ring_full(*this); }
TEST_P(Ring, ALaunchBeginsClean) { calls::run_ring_launches(*this); }

}  // namespace
}  // namespace ggas::test
