// SPDX-License-Identifier: Apache-2.0
// Device API: tables of random calls compared with a reference, waits and notifications in every form; on GPUs:
// cuda/calls_*.cu.
#include "tests/gpu_api/calls_atomics.cuh"
#include "tests/gpu_api/calls_elements.cuh"
#include "tests/gpu_api/calls_grid.cuh"
#include "tests/gpu_api/calls_notify.cuh"
#include "tests/gpu_api/calls_queries.cuh"
#include "tests/gpu_api/calls_run.hpp"
#include "tests/gpu_api/calls_shapes.cuh"
#include "tests/gpu_api/calls_transfers.cuh"
#include "tests/gpu_api/calls_waits.cuh"
#include "tests/gpu_api/machine.hpp"

namespace ggas::test {
namespace {

class Calls : public machine_test {
 public:
  template <size_t N>
  void check(const calls::description (&all)[N], void (*kernel)(calls::args)) {
    calls::run_tables(*this, all, kernel, simulated() ? 2 : 4, simulated() ? 4 * N : 100);
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, Calls, testing::ValuesIn(rma_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Calls, OfElements) { check(calls::element_calls, calls::elements); }
TEST_P(Calls, OfTransfers) { check(calls::transfer_calls, calls::transfers); }
TEST_P(Calls, OfAtomics) { check(calls::atomic_calls, calls::atomics); }
TEST_P(Calls, OfWaits) { calls::run_waits(*this, simulated() ? 12 : 60); }
TEST_P(Calls, OfNotifications) { calls::run_notifications(*this, simulated() ? 100 : 150); }
TEST_P(Calls, OfGrids) {
  for (const unsigned blocks : {1u, 3u}) calls::run_grids(*this, blocks, 64, 2000, simulated() ? 6 : 40);
}
TEST_P(Calls, OfShapes) { calls::run_shapes(*this); }
TEST_P(Calls, OfQueries) { calls::run_queries(*this); }
TEST_P(Calls, BehindEachOther) { calls::run_chain(*this, 3, 40, 11); }

}  // namespace
}  // namespace ggas::test
