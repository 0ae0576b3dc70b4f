// SPDX-License-Identifier: Apache-2.0
// The parts of a GPU and the cost of its paths: the [gpu] table of a platform file. docs/gpu-model.md describes the use
// of each number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace ggas::gpu {

struct gpu_config {
  std::string name;
  std::string model = "simt";  // who simulates it (sim/gpu/device.hpp)

  // Multiprocessors and their occupancy limits.
  unsigned sms = 1;
  unsigned schedulers = 4;  // per SM; a warp belongs to one of them
  unsigned threads_per_block = 1024;
  unsigned threads_per_sm = 2048;
  unsigned warps_per_sm = 64;
  unsigned blocks_per_sm = 16;
  unsigned registers_per_sm = 65536;
  unsigned registers_per_thread = 32;  // of every kernel
  double clock_mhz = 1000;
  unsigned op_cycles = 40;    // from the result of a memory operation to the warp's next one
  unsigned issue_cycles = 4;  // a scheduler's time per memory operation; one more for every further transaction
  unsigned lockstep_ns = 0;   // lanes that left a polling loop wait for their warp's others that long; 0: for ever

  // Roofline of declared work: fused multiply-adds count two.
  double flops_per_cycle_sm = 64;
  double flops_per_cycle_warp = 64;
  uint64_t memory_bytes = 1ull << 30;
  double memory_bytes_per_second = 100e9;

  // Point of coherence.
  unsigned l2_latency_ns = 300;      // load: SM to L2 and back
  unsigned atomic_latency_ns = 300;  // atomic with result: the same
  unsigned system_fence_ns = 0;  // what a system fence costs after a gpu one; 0: a read of host memory after the stores
  double l2_bytes_per_second = 200e9;
  unsigned sector_bytes = 32;  // an L2 transaction moves whole sectors

  // Towards PCIe.
  unsigned coalesce_bytes = 64;      // largest transaction made of one warp's accesses
  unsigned outstanding_reads = 25;   // read requests on PCIe; further ones wait in the host interface
  unsigned store_queue = 256;        // store TLPs between SMs and PCIe; when full, warps wait
  unsigned egress_ns = 500;          // SM to PCIe port
  unsigned ingress_ns = 300;         // completion at the PCIe port to SM
  unsigned read_timeout_us = 20000;  // completion time-out

  // BAR1 aperture, from outside.
  unsigned bar_ns = 200;  // port to L2: a write is visible then, a read's data is at the port after twice that
  double bar_read_bytes_per_second = 0;  // rate of the aperture's read path; 0: no limit
  unsigned bar_completion_bytes = 128;   // completions are cut at multiples of it
  unsigned bar_reads = 32;               // reads inside the aperture; further ones wait outside

  // Host and GPU.
  unsigned launch_ns = 5000;      // host launches on an idle stream: first block starts
  unsigned launch_call_ns = 0;    // of that, the host's time in the launching call: the next kernel's call comes after
  unsigned kernel_gap_ns = 1500;  // a queued kernel after its predecessor's end
  unsigned launch_skew_ns = 0;    // nodes start at random within that time of each other
  unsigned sync_stream_ns = 0, sync_device_ns = 0, sync_event_ns = 0,
           sync_event_blocking_ns = 0;  // empty launch until the host knows

  // Warps of a multiprocessor, by its own limit and by registers, which warps get in pieces.
  unsigned resident_warps() const {
    constexpr unsigned lanes = 32, piece = 256;
    const unsigned registers = (lanes * registers_per_thread + piece - 1) / piece * piece;
    return std::min(warps_per_sm, registers_per_sm / registers);
  }

  double cycle_ps() const { return 1e6 / clock_mhz; }
  uint64_t cycles(double n) const { return uint64_t(n * cycle_ps() + 0.5); }
};

// Reads a [gpu] table. Every key must be there, known and in range; the error names file, key and rule.
std::expected<gpu_config, std::string> parse_gpu(const toml::table& gpu, std::string_view file);

}  // namespace ggas::gpu
