// SPDX-License-Identifier: Apache-2.0
// The host processor as the PCIe fabric sees it: loads and stores to device memory become TLPs at its port of the root
// complex. Other operations of host programs: core.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <systemc>

#include "sim/cpu/thread_states.hpp"
#include "sim/kernel/agenda.hpp"
#include "sim/pcie/packet.hpp"
#include "sim/pcie/port.hpp"
#include "sim/pcie/timed_queue.hpp"

namespace ggas::cpu {

struct cpu_config {
  uint16_t id = 0;                       // requester id
  uint64_t store_ps = 0;                 // from the instruction to the TLP, uncached store
  uint64_t load_ps = 0;                  // the same for a load, and from the completion to the register
  uint64_t timeout_ps = 50'000'000'000;  // completion time-out
  unsigned combine_bytes = 8;            // write combining: parts of a line leave in pieces of at most so many bytes
};

inline constexpr unsigned line_bytes = 64;  // of caches and write-combining buffers

class processor : public sc_core::sc_module {
 public:
  processor(sc_core::sc_module_name name, const cpu_config& cfg);

  pcie::port& port() { return port_; }
  // Uncached accesses of 1 ... 8 bytes that do not cross 8 bytes; stores stay in order.
  void store(uint64_t addr, uint64_t value, unsigned bytes);
  // Write-combined: whole lines leave as one TLP, parts of a line in pieces; in order with stores.
  void write(uint64_t addr, std::span<const std::byte> bytes);
  // nullopt: error completion or time-out.
  void load(uint64_t addr, unsigned bytes, std::function<void(std::optional<uint64_t>)> done);

  // For threads of this processor.
  sim::agenda& agenda() { return agenda_; }
  thread_states& states() { return states_; }

  uint64_t stores() const { return stores_; }  // TLPs
  uint64_t loads() const { return loads_; }
  uint64_t load_errors() const { return load_errors_; }
  uint64_t unexpected() const { return unexpected_; }

 private:
  struct operation {
    pcie::tlp request;
    std::function<void(std::optional<uint64_t>)> done;  // loads
    unsigned bytes;
  };
  bool receive(pcie::tlp& t);
  void issue(operation&& o);

  cpu_config cfg_;
  pcie::port port_;
  pcie::requester requester_;
  pcie::timed_queue<operation> operations_;
  sim::agenda agenda_;
  thread_states states_;
  uint64_t stores_ = 0, loads_ = 0, load_errors_ = 0, unexpected_ = 0;
};

}  // namespace ggas::cpu
