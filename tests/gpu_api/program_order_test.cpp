// SPDX-License-Identifier: Apache-2.0
// Plain accesses mixed with ggas_ accesses to the own memory on the host engine and in the simulator; on GPUs:
// cuda/program_order.cu.
#include "tests/gpu_api/machine.hpp"
#include "tests/gpu_api/mixes_run.hpp"
#include "tests/gpu_api/program_order_run.hpp"

namespace ggas::test {
namespace {

class ProgramOrder : public machine_test {};
INSTANTIATE_TEST_SUITE_P(Provider, ProgramOrder, testing::ValuesIn(both_nic_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(ProgramOrder, PlainAccessesAreInIt) {
  program_order::run_all(*this, simulated() ? 3 : GetParam().threads ? 5 : 20);
}

class Mixes : public machine_test {};
INSTANTIATE_TEST_SUITE_P(Provider, Mixes,
                         testing::ValuesIn(std::vector<target>{
                             {.nodes = 1},
#ifdef GGAS_TEST_SIM
                             {.provider = "sim", .nodes = 1},
                             {.provider = "sim", .nodes = 1, .label = "model", .nic = "model"}
#endif
                         }),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Mixes, OfOneBlockAreThoseOfASequentialModel) { mixes::run_mixes(*this, 30'000); }

}  // namespace
}  // namespace ggas::test
