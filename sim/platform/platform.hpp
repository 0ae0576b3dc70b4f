// SPDX-License-Identifier: Apache-2.0
// A platform file: the nodes, their buses and their links. Files: sim/platforms/*.toml; every key is required and every
// number there has its source. Times are nanoseconds in the file and picoseconds here.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "sim/pcie/link.hpp"
#include "sim/pcie/port.hpp"
#include "sim/pcie/router.hpp"
#include "sim/power/power.hpp"

namespace ggas::sim {

// A slot of the root complex and the device in it.
struct slot_config {
  pcie::link_config link;
  unsigned mps = 256, mrrs = 512;  // bytes the device can do
  pcie::port_config device;        // receive buffers of the device
  pcie::port_config root;          // receive buffers of the root port
};

// Between the root complex and the GPUs of a node that has several (sim/pcie/switch.hpp).
struct switch_slot {
  pcie::link_config link;      // to the root complex; those to the GPUs are pcie.gpu
  uint64_t forward_ps = 0;     // from a port to another one
  unsigned queue_packets = 8;  // for each output and class
  pcie::port_config ports;     // receive buffers of its ports
};

struct platform {
  std::string name, file;

  struct {
    unsigned data_width = 64;    // bits
    uint64_t hertz = 0;          // core clock
    uint64_t rx_latency_ps = 0;  // PCIe core of the NIC, wire to TLP boundary
    uint64_t tx_latency_ps = 0;  // and back
    uint64_t descriptor_ps = 0;  // a descriptor later than other writes: [original] of the file
    uint16_t load_timeout_ticks = 0, host_timeout_ticks = 0;
    unsigned replay_timeout_cycles = 0, replay_limit = 0;
  } nic;

  struct {
    double bits_per_second = 0;  // at the core clock of this platform
    uint64_t latency_ps = 0;
  } link;

  // One-sided communication (docs/rma.md).
  struct {
    unsigned mtu_bytes = 256;
    uint16_t answer_timeout_ticks = 0, host_timeout_ticks = 0;
    uint16_t retry_ticks = 0, retry_limit = 0;
  } rma;

  struct {
    slot_config nic, gpu;
    std::optional<switch_slot> switches;  // none: a node of this platform has one GPU
  } pcie;

  struct {
    unsigned mps = 256, mrrs = 512, rcb = 64;  // bytes
    uint64_t latency_ps = 0;                   // between the processor and a device
    pcie::path_rule gpu_to_nic, nic_to_gpu;    // peer to peer
  } root_complex;

  struct {
    uint64_t memory_bytes = 0, memory_latency_ps = 0;
    double memory_bytes_per_second = 0;
  } host;

  struct {
    uint64_t store_ps = 0, load_ps = 0, timeout_ps = 0;  // devices
    uint64_t poll_ps = 0, miss_ps = 0, timer_slack_ps = 0, call_ps = 0,
             sleep_ps = 0;  // host programs: cpu::core_config
    unsigned combine_bytes = 8;
    pcie::link_config link;  // between the cores and the root complex
  } cpu;

  toml::table gpu;  // read by the GPU model
  power::coefficients power;

  // As negotiated: the smallest of all.
  unsigned mps() const;
  unsigned mrrs() const;
};

// `name` is a platform of sim/platforms or a path to a .toml file; overrides are "table.key=value" (TOML values).
std::expected<platform, std::string> load_platform(std::string_view name, std::span<const std::string> overrides = {});
std::expected<platform, std::string> parse_platform(std::string_view text, std::string_view file,
                                                    std::span<const std::string> overrides = {});
// Folder of the platform files: $GGAS_PLATFORMS, or that of the source tree.
std::filesystem::path platform_folder();
std::vector<std::string> platform_names();

}  // namespace ggas::sim
