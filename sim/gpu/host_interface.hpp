// SPDX-License-Identifier: Apache-2.0
// The GPU's PCIe side. Out: stores and reads of the SMs in one ordered path to the port, a bounded store queue with
// back-pressure from PCIe credits, a bounded number of reads on the bus. In: the BAR1 aperture onto GPU memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <systemc>
#include <vector>

#include "sim/gpu/config.hpp"
#include "sim/gpu/device.hpp"
#include "sim/gpu/l2_bandwidth.hpp"
#include "sim/pcie/packet.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::gpu {

// Reported that one of its stores has been handed to the port: nothing of this GPU passes it any more.
class store_owner {
 public:
  virtual void store_handed() = 0;

 protected:
  ~store_owner() = default;
};

struct host_interface_stats {
  uint64_t stores = 0, reads = 0;            // TLPs handed to the port
  uint64_t host_stores = 0, host_reads = 0;  // of them, to host memory
  uint64_t flushes = 0;                      // reads made for system fences
  uint64_t bar_writes = 0, bar_reads = 0;
  uint64_t unmapped = 0;    // requests outside the aperture
  uint64_t poisoned = 0;    // writes with poisoned data, dropped
  unsigned most_reads = 0;  // outstanding at one time
};

class host_interface : public sc_core::sc_module {
 public:
  host_interface(sc_core::sc_module_name name, const gpu_config& cfg, uint16_t bus_id, const pcie::port_config& port);

  pcie::port link;
  l2_bandwidth l2;  // that the aperture takes, and the multiprocessors

  // Requests to [bus, bus + memory.size()) reach this memory, too.
  void export_memory(uint64_t bus, std::span<std::byte> memory) { exports_.push_back({bus, memory}); }
  // Bus addresses below are host memory: accesses are counted apart.
  void host_memory_end(uint64_t bus) { host_end_ = bus; }
  // Bus address of host memory that fences read after their stores.
  void flush_address(uint64_t bus) { flush_bus_ = bus; }

  // A place in the store queue is free.
  bool room() const { return stores_inside_ < cfg_.store_queue; }
  // Called when a place became free.
  std::function<void()> on_room;
  // Leaves the SM now. `owner` may be null.
  void store(uint64_t bus, std::span<const std::byte> bytes, store_owner* owner);
  void read(uint64_t bus, uint32_t bytes, pcie::requester::done done);
  // Calls `done` after every store so far has reached host memory or a device: a read after the stores ensures this.
  // Flushes requested while one is in flight share the next one.
  void flush(std::function<void(bool ok)> done);
  // No one waits for anything any more; what is in flight still goes out.
  void forget();

  // What the SMs see of writes to the aperture. Writes that are visible by `ps` are in memory at once.
  void bring_in(uint64_t ps);
  // For a read of the memory `there`. The read took effect at `ps`, found `data`, and is answered now. Adds to `data`
  // the writes that came to the port since then and are already visible. There are such writes only if the aperture is
  // faster than L2 (bar_ns < l2_latency_ns).
  bool has_late_writes() const { return !late_writes_.empty(); }
  void add_writes_since(uint64_t ps, std::span<const std::byte> there, std::span<std::byte> data) const;

  const host_interface_stats& stats() const { return stats_; }
  unsigned outstanding_reads() const { return requester_.outstanding(); }
  uint64_t read_timeouts() const { return requester_.timeouts(); }

 private:
  struct outbound {
    uint64_t at;
    pcie::tlp packet;
    store_owner* owner;
    pcie::requester::done done;
  };
  struct inbound {
    uint64_t at;
    pcie::tlp packet;
  };
  bool receive(pcie::tlp& t);
  bool receive_request(pcie::tlp& t);
  void enter(outbound&& o);
  void pump_out();
  void start_flush();
  void pump_writes();
  void pump_reads();
  std::byte* exported(const pcie::tlp& request) const;
  void apply(const pcie::tlp& write);
  void answer(const pcie::tlp& read);
  uint64_t read_time(const pcie::tlp& t);
  uint64_t write_time(const pcie::tlp& t);

  gpu_config cfg_;
  uint16_t id_;
  pcie::requester requester_;
  struct exported_memory {
    uint64_t bus;
    std::span<std::byte> bytes;
  };
  std::vector<exported_memory> exports_;
  uint64_t flush_bus_ = 0, host_end_ = 0;
  std::deque<outbound> out_;
  std::deque<inbound> writes_, reads_;
  std::deque<inbound> late_writes_;  // in memory, and a load that took effect before may have to see them
  unsigned stores_inside_ = 0;
  bool pumping_ = false;
  std::vector<std::function<void(bool)>> flushing_, flush_next_;
  uint64_t epoch_ = 0;
  uint64_t bar_path_free_ps_ = 0;
  pcie::timer out_event_{[this] { pump_out(); }}, write_event_{[this] { pump_writes(); }};
  pcie::timer read_event_{[this] { pump_reads(); }};
  host_interface_stats stats_;
};

// The interface of a GPU in its node.
void attach(host_interface& host, const surroundings& s);

}  // namespace ggas::gpu
