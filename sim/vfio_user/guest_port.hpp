// SPDX-License-Identifier: Apache-2.0
// The guest port replaces the root complex at the NIC's PCIe link: accesses of a guest to BARs become TLPs, and reads
// and writes of the NIC are served from the guest's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "sim/pcie/packet.hpp"
#include "sim/pcie/port.hpp"
#include "sim/pcie/timed_queue.hpp"

namespace ggas::device {

// The guest's memory and interrupts, as the NIC reaches them.
class guest {
 public:
  virtual ~guest() = default;
  // The NIC may make requests (Bus Master Enable).
  virtual bool may_access() const = 0;
  // False: no live mapping allows it.
  virtual bool write(uint64_t address, std::span<const std::byte> bytes) = 0;
  // `done` with the bytes, now or later; nullopt: no live mapping allows it.
  using read_done = std::function<void(std::optional<std::vector<std::byte>>)>;
  virtual void read(uint64_t address, uint32_t bytes, read_done done) = 0;
  virtual void interrupt(unsigned vector) = 0;
};

// Where BARs lie on the link between guest port and NIC. Addresses of the guest never appear there.
inline constexpr uint64_t bar_address(unsigned bar) { return uint64_t(bar + 1) << 48; }
// Messages of MSI-X: the guest port programs the NIC's table with this address and the vector as data.
inline constexpr uint64_t interrupt_address = 0xfee00000;

struct guest_port_config {
  uint16_t id = 0, nic_id = 0;  // requester ids
  unsigned mps = 256, rcb = 64;
  uint64_t memory_latency_ps = 0;  // from a read's arrival to its completion on the link
  pcie::port_config port;
  uint64_t read_timeout_ps = 50'000'000'000;  // completion time-out of guest accesses, simulated
};

struct guest_port_stats {
  uint64_t strays = 0;      // accesses of the NIC outside live mappings
  uint64_t refused = 0;     // requests while bus mastering was off
  uint64_t interrupts = 0;  // messages
};

class guest_port : public sc_core::sc_module {
 public:
  guest_port(sc_core::sc_module_name name, const guest_port_config& cfg, guest& owner);

  pcie::port& port() { return port_; }
  const guest_port_stats& stats() const { return stats_; }

  // Posted; split as PCIe asks.
  void write(unsigned bar, uint64_t offset, std::span<const std::byte> bytes);
  // `done` with the bytes: all ones where the NIC answered with an error or not in time.
  void read(unsigned bar, uint64_t offset, uint32_t bytes, std::function<void(std::vector<std::byte>)> done);
  // Posted requests that the NIC has not taken: who writes may want to wait.
  size_t backlog() const { return port_.tx_pending(pcie::fc::p); }

 private:
  bool receive(pcie::tlp& t);
  void from_nic(const pcie::tlp& t);
  void memory_write(const pcie::tlp& t);
  void memory_read(const pcie::tlp& t);
  void complete(const pcie::tlp& request, std::optional<std::vector<std::byte>> bytes);

  guest_port_config cfg_;
  guest& owner_;
  pcie::port port_;
  pcie::requester requester_;
  pcie::timed_queue<pcie::tlp> answers_;
  guest_port_stats stats_;
};

}  // namespace ggas::device
