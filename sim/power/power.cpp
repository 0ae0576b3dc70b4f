// SPDX-License-Identifier: Apache-2.0
#include "sim/power/power.hpp"

namespace ggas::power {

namespace {

constexpr double ps = 1e-12, pj = 1e-12;

}  // namespace

std::vector<part> energy(const coefficients& c, const activity& a) {
  const auto of = [&](std::string_view name) {
    const auto i = a.find(name);
    return i == a.end() ? 0.0 : double(i->second);
  };
  const double s = of("time_ps") * ps;
  return {
      {"processor", c.processor.idle_w * s,
       (c.processor.working_w * of("cpu.working_ps") + c.processor.polling_w * of("cpu.polling_ps")) * ps},
      {"dram", c.dram.idle_w * s, c.dram.awake_w * of("cpu.awake_ps") * ps + c.dram.byte_pj * of("dram.bytes") * pj},
      {"gpu", c.gpu.idle_w * of("gpus") * s,
       (c.gpu.resident_w * of("gpu.resident_ps") + c.gpu.sm_w * of("gpu.sm_ps") +
        c.gpu.computing_w * of("gpu.computing_ps")) *
               ps +
           (c.gpu.flop_pj * of("gpu.flops") + c.gpu.l2_byte_pj * of("gpu.l2_bytes")) * pj},
      {"gpu_memory", 0, c.gpu_memory.byte_pj * of("gpu.memory_bytes") * pj},
      {"pcie", c.pcie.lane_w * of("pcie.lanes") * s, c.pcie.byte_pj * of("pcie.bytes") * pj},
      {"nic", c.nic.idle_w * s, 0},
      {"link", c.link.port_w * of("link.ports") * s, c.link.flit_pj * of("link.flits") * pj},
  };
}

}  // namespace ggas::power
