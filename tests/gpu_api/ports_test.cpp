// SPDX-License-Identifier: Apache-2.0
// Kernels with the patterns of other libraries on the host engine and in the simulator: the same results everywhere. On
// GPUs: cuda/ports.cu.
#include "tests/gpu_api/machine.hpp"
#include "tests/gpu_api/ports/run.hpp"

namespace ggas::test {
namespace {

class Ports : public machine_test {};
INSTANTIATE_TEST_SUITE_P(Provider, Ports, testing::ValuesIn(both_nic_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Ports, LeaveTheirResult) {
  for (const ports::port& p : ports::all_ports) {
    SCOPED_TRACE(p.name);
    make(GetParam().config());
    ports::run_port(*this, p, 5);
  }
}

}  // namespace
}  // namespace ggas::test
