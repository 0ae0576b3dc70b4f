// SPDX-License-Identifier: Apache-2.0
// Kernels after the patterns of other libraries on real GPUs: the results of the host engine and the simulator.
#include "tests/gpu_api/ports/run.hpp"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

class ports_rig : public calls_rig, public testing::WithParamInterface<ports::port> {};
INSTANTIATE_TEST_SUITE_P(of, ports_rig, testing::ValuesIn(ports::all_ports),
                         [](const auto& i) { return std::string(i.param.name); });

TEST_P(ports_rig, leaves_its_result) { ports::run_port(*this, GetParam(), rounds_of(200)); }

}  // namespace
}  // namespace ggas::gpu_test
