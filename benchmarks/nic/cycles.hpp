// SPDX-License-Identifier: Apache-2.0
// The NIC alone: two of them at their pins, a wire between, hosts that answer at once. Figures in core clock cycles.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace ggas::bench {

struct nic_cycle_record {
  std::string name;  // one word: store_to_flit, flit_to_tlp, store_one_way, load_round_trip, ...
  std::string text;  // for people
  unsigned data_w = 64;
  double value = 0;
  double bound = 0;         // the promise or the physical bound; 0: none
  bool at_most = true;      // value <= bound is good; else value >= bound
  std::string unit;         // cycles, 1 (a ratio), 1/s
  uint64_t cycles = 0;      // simulated, both NICs
  bool wall_clock = false;  // depends on the machine that runs it
};

// Cycles of PHYs and cable assumed in every figure that goes over the link.
inline constexpr unsigned nic_cycles_wire = 20;

// Data widths of the NICs that the benchmark measures.
std::vector<unsigned> nic_cycles_widths(bool quick);

// `cancelled`, if any, is looked at all the time; once it is true the figures mean nothing.
void run_rma_cycles(unsigned width, uint64_t seed, const std::function<bool()>& cancelled,
                    std::vector<nic_cycle_record>& out);
std::expected<std::vector<nic_cycle_record>, std::string> run_nic_cycles(uint64_t seed, unsigned width,
                                                                         const std::function<bool()>& cancelled);

}  // namespace ggas::bench
