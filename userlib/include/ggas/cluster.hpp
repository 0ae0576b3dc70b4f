// SPDX-License-Identifier: Apache-2.0
// A cluster of GPUs with one global address space, seen from the host: the interface every provider implements.
// Benchmarks and tests are written against it; which provider runs them is a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggas/detail/platform/context.hpp"  // gpu_api: what a kernel knows of its node
#include "ggas/host.hpp"
#include "ggas/report.hpp"
#include "gpu_api/simt/engine.hpp"

namespace ggas {

// Errors are values: a code to branch on, a text that names the input and the rule it broke.
enum class errc {
  bad_argument,
  bad_platform,
  no_file,
  no_space,  // a file does not fit on the disk
  timed_out,
  cancelled,
  out_of_memory,
  device_fault,
  unsupported
};
struct error {
  errc code;
  std::string text;
};
template <class T = void>
using result = std::expected<T, error>;

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
  int host_count =
      2;  // for host programs: cluster::host_queues, VPID 128 and up, all rings in host memory; at most 128
  bool host_work_queue = false;  // those have a work queue
};

struct cluster_config {
  std::string provider = "sim";           // sim | shm
  std::string platform = "galibier-k20";  // sim: name in sim/platforms or path of a .toml
  std::string nic = "rtl";                // sim: rtl (64 nodes at most), or model (docs/nic-model.md)
  std::string topology = "auto";          // sim: who is joined to whom (docs/network.md)
  int nodes = 2;
  size_t segment_bytes = 64u << 20;  // per node, a multiple of 4 KB
  queue_config queues;
  size_t host_bytes = 16u << 20;  // pinned host memory per node for the user, a multiple of 4 KB
  uint64_t seed = 1;
  // sim: observation, off when empty
  std::filesystem::path waves, trace, pcap;
  double waves_from_us = 0, waves_to_us = 0;  // time window of the waves; to = 0: no end
  std::filesystem::path faults;               // sim: fault script
  std::vector<std::string> fault_lines;       // sim: more lines of it
  std::vector<std::string> overrides;         // sim: "table.key=value" over the platform file
  // Called some times a second of real time while run() works, with now_ns(): for progress bars. May be empty.
  std::function<void(uint64_t now_ns)> on_progress;
  // Looked at while run() works; true ends the run with errc::cancelled. sim: at least once in a microsecond of
  // simulated time with activity; shm: some times a second. Called often, so it is quick. May be empty.
  std::function<bool()> cancelled;
};

// How a node's host learns that its kernels have ended. Provider sim charges for each what the platform says
// (gpu.sync_..._ns); providers on real memory have one way.
enum class host_sync {
  stream,          // polls for the end of the stream
  device,          // of everything on the GPU
  event,           // polls for an event behind the last kernel
  event_blocking,  // sleeps until an interrupt tells it of that event
};

struct run_stats {
  uint64_t sim_ns = 0;      // simulated (sim) or elapsed (shm) time of this run
  uint64_t nic_cycles = 0;  // active core cycles, all NICs
  double wall_s = 0;
};

class cluster {
 public:
  static result<std::unique_ptr<cluster>> create(const cluster_config& cfg);
  virtual ~cluster() = default;

  virtual const cluster_config& config() const = 0;
  // Host view of a node's segment, for set-up and verification: costs no time. Kernels on that node see it at the same
  // address.
  virtual std::byte* segment(int node) = 0;
  virtual const context& device_context(int node) const = 0;
  // Pinned memory of a node's host, registered for put and get like the segment. Looking at it directly costs no time.
  virtual host_region host_memory(int node) = 0;
  // Contexts of the NIC for host programs of a node; empty without a NIC.
  virtual std::span<const rma_queue> host_queues(int node) const = 0;

  // Queues a kernel on the node's GPU; kernels of one node run in order, those of different nodes side by side.
  // `name` stands in messages. Bad shapes (no threads, more than 1024 in a block) are refused here.
  virtual result<> launch(int node, simt::dim3 grid, simt::dim3 block, std::function<void()> kernel,
                          std::string name = "kernel") = 0;
  // Queues a program of the node's processor. All programs of a run begin with it, side by side with each other and the
  // kernels. An exception that leaves one is a device_fault.
  virtual result<> launch_host(int node, std::function<void(host&)> program, std::string name = "program") = 0;
  // Runs until every queued kernel and program ended, or returns timed_out after that much simulated (sim) or real
  // (shm) time, or cancelled when cluster_config::cancelled says so. After an error the kernels that had not ended are
  // gone; memory keeps what they wrote. With kernels it is a step of a host: provider sim charges each launching call,
  // and at the end what the hosts need to learn of it. It tells nothing of stores and puts that a kernel has not
  // completed: they may still be on their way.
  virtual result<run_stats> run(uint64_t timeout_ns, host_sync how = host_sync::stream) = 0;

  // Ends the waits of all kernels on all nodes, those with GGAS_FOREVER too: with ggas_aborted, some polls later,
  // unless what they wait for has come. So it goes on until reset(). By any thread, also while another one is in run(),
  // and from programs and on_progress.
  void abort();
  // Waits of kernels that ended in vain, until now or the last reset(): by a time-out or abort(). At any time, also while
  // run() is under way.
  hang_report report();
  // After a failure: every barrier and collective works again as in a new cluster, nothing is broken or aborted, and
  // the nodes' memory behind the reserved area is as it was. First runs what is queued and waits until every node's
  // stores have arrived, as run() with that time-out; an error of it is this one's, and nothing has changed. Puts,
  // gets and atomics that were posted to queues of the NIC complete by themselves, also afterwards: ggas_quiet tells.
  // Where there is no NIC rings of notifications are empty afterwards, and counts of failures of the NIC stay.
  result<> reset(uint64_t timeout_ns);

  virtual uint64_t now_ns() const = 0;
  // NIC counters of a node by register name (rtl/regs/ggas.rdl), and the GPU model's own ("gpu.pcie_reads", …). Empty
  // without a NIC.
  virtual std::map<std::string, uint64_t> counters(int node) const = 0;
  virtual std::vector<std::string> events(int node) const = 0;  // NIC events so far, as text

  // Ends waves, trace and capture; nothing is observed any more. The error (no_space) has a line for each file that is
  // not whole. Without this call the destructor does it and tells on standard error.
  virtual result<> end_observation() { return {}; }

 private:
  // Of the NICs' units: as in a new cluster.
  virtual result<> restart_collectives() { return {}; }
};

}  // namespace ggas
