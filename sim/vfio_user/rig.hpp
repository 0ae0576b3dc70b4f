// SPDX-License-Identifier: Apache-2.0
// NICs of one simulated network, each after a guest port instead of a simulated host. One clock for all of them.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/fabric/wire.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/nic/rtl/nic_bridge.hpp"
#include "sim/platform/platform.hpp"
#include "sim/vfio_user/config_space.hpp"
#include "sim/vfio_user/guest_port.hpp"
#include "sim/vfio_user/tlp_log.hpp"

namespace ggas::device {

struct rig_config {
  sim::platform plat;
  unsigned nodes = 2;                // 1 (no link) or 2
  uint64_t window_bytes = 64 << 20;  // BAR2, a power of two, at least 4 KB
  uint64_t seed = 1;                 // of faults
  std::string faults;                // script (sim/fabric/faults.hpp), empty: none
  // Instead of the Verilated NIC: for tests.
  std::function<nic::made_nic(unsigned data_width, const nic::host_config&, const char* name)> make_nic;
};

bar_sizes rig_bars(const rig_config& cfg);

class rig {
 public:
  // `guests`: one for each node, living as long as the rig. The error names the input and the rule it broke.
  static std::expected<std::unique_ptr<rig>, std::string> create(rig_config cfg, const std::vector<guest*>& guests);
  ~rig();

  unsigned nodes() const { return unsigned(nodes_.size()); }
  // Every TLP and flit from now on goes into the log, which lives as long as the rig runs.
  void record(tlp_log& log);
  // Waves from now on: one file for each NIC, <stem>.node<n>.fst. The error: one cannot be written.
  std::expected<void, std::string> waves(const std::filesystem::path& stem);
  // The error has a line for each file that is not whole.
  std::expected<void, std::string> end_waves();
  guest_port& port(unsigned n) { return *nodes_[n]->port; }
  nic::nic_bridge& nic(unsigned n) { return *nodes_[n]->nic; }
  sim::kernel& kernel() { return kernel_; }
  const nic::nic_clock& clock() const { return *clock_; }

  // Function-level reset. After it, all earlier requests of the host have arrived, and no earlier write of the NIC
  // arrives later. Reads of the NIC must be answered in the meantime.
  void reset(unsigned n);
  // Bus Master Enable of a NIC; off at first.
  void bus_master(unsigned n, bool on);
  // The cable between the NICs is plugged in or pulled out.
  void cable(bool in);
  // Clock edges that the NICs really saw, all together.
  uint64_t cycles() const;

 private:
  struct node {
    std::unique_ptr<guest_port> port;
    std::unique_ptr<nic::nic_bridge> nic;
    std::unique_ptr<fabric::wire> out;
  };
  explicit rig(rig_config cfg) : cfg_(std::move(cfg)) {}
  std::expected<void, std::string> build(const std::vector<guest*>& guests);
  std::expected<void, std::string> wire_links();
  nic::made_nic make_core(unsigned n) const;

  rig_config cfg_;
  sim::kernel kernel_;  // before everything SystemC
  std::unique_ptr<nic::nic_clock> clock_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::vector<trace::one_writer> wave_files_;  // the NICs' models write them
};

}  // namespace ggas::device
