// SPDX-License-Identifier: Apache-2.0
// Configuration of a cluster: the provider by name, and settings. Settings of other providers are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ggas/job.hpp"

namespace ggas {

// Contexts of the NIC (docs/rma.md) on every node; providers without a NIC have none.
struct queue_config {
  enum class place { none, gpu, host };
  int count = 4;                     // for kernels: context::queues, VPID 0 and up; at most 128
  place notifications = place::gpu;  // where the rings of the kernels' contexts lie
  place status = place::gpu;         // and their status blocks
  place work_queue = place::none;    // descriptors come from a ring there; none: they are written to the page
  place mailbox = place::none;       // messages
  bool backpressure = true;          // a full notification ring holds senders back; else notifications are lost
  unsigned notify_log2 = 8;          // records, 4 ... 16
  unsigned slots_log2 = 6;           // slots of a work queue, 4 ... 16
  unsigned mailbox_log2 = 6;         // messages, 2 ... 12
  // For host programs: cluster::host_queues, VPID 128 and up, all rings in host memory; at most 128.
  int host_count = 2;
  bool host_work_queue = false;  // those have a work queue
};

// sim: a computer with one NIC. Its GPUs are nodes of the cluster; several are below a PCIe switch.
struct host_config {
  std::string platform = {};                // as cluster_config::platform, less NIC and links; empty: that one
  int gpus = 1;                             // at most 16
  std::vector<std::string> overrides = {};  // after those of the cluster
};

struct cluster_config {
  std::string provider = "sim";  // shm | sim | cuda
  // cuda: GPUs of this process, the first ones of CUDA's order; 0: all. In a job: 0, or the number of its processes.
  int nodes = 2;
  size_t segment_bytes = 64u << 20;  // per node, a multiple of 4 KB; the same in all processes
  size_t most_segment_bytes = 0;     // cuda: that grow() may reach; addresses are kept free for it; 0: never
  size_t host_bytes = 16u << 20;     // pinned host memory per node for the user, a multiple of 4 KB
  job processes = {};                // cuda: node = rank; alone: this process runs all nodes. See job::from_environment
  uint64_t seed = 1;
  queue_config queues = {};
  std::string platform = "galibier-k20";  // sim: name in sim/platforms or path of a .toml
  std::string nic = "rtl";                // sim: rtl (64 nodes at most), or model (docs/nic-model.md)
  std::string topology = "auto";          // sim: who is joined to whom (docs/network.md)
  // sim: the computers; empty: each node is one. Their GPUs are numbered through, and `nodes` is how many there are.
  std::vector<host_config> hosts = {};
  // sim: observation, off when empty
  std::filesystem::path waves = {}, trace = {}, pcap = {};
  double waves_from_us = 0, waves_to_us = 0;  // time window of the waves; to = 0: no end
  bool nic_toggles = false;                   // counts changed bits of the NICs' signals, instead of waves (RTL)
  std::filesystem::path faults = {};          // sim: fault script
  std::vector<std::string> fault_lines = {};  // sim: more lines of it
  std::vector<std::string> overrides = {};    // sim: "table.key=value" over the platform file; shm: shm.threads=0|1
                                              // (a host thread for each stream), shm.resident_blocks=N
  // Called some times a second of real time while run() works, with now_ns(): for progress bars. May be empty.
  std::function<void(uint64_t now_ns)> on_progress = {};
  // Polled while run() works; if it returns true, the run ends with errc::cancelled. sim: at least once in a
  // microsecond of simulated time with activity; shm, cuda: some times a second. Called often, so it is quick. May be
  // empty.
  std::function<bool()> cancelled = {};
};

}  // namespace ggas
