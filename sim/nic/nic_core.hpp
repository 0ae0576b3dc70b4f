// SPDX-License-Identifier: Apache-2.0
// One NIC at its pins, without any simulator around it: whole TLPs on the host side, flits on the link side, stepped
// one core clock cycle at a time. The RTL tests, the nic_cycles benchmark and the SystemC bridge all drive the NIC
// through this interface, so they see the same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

// Flit kinds, as ggas_pkg::FLIT_*.
enum class flit_kind : uint8_t { data = 0, sop = 1, eop = 2, ctrl = 3 };

struct flit {
  flit_kind kind = flit_kind::data;
  std::array<uint64_t, 8> data{};  // DATA_W / 64 words used
  bool operator==(const flit&) const = default;
};

// What software finds in configuration space, and what the board says of itself.
struct host_config {
  uint16_t mps = 256;   // bytes
  uint16_t mrrs = 512;  // bytes
  uint16_t bus_id = 0;
  uint32_t clock_khz = 125'000;
  uint64_t serial = 0;
  unsigned links = 1;  // of the NIC at least; the Verilated one has 1 or 6
};

class nic_core {
 public:
  virtual ~nic_core() = default;

  virtual unsigned data_width() const = 0;  // bits
  virtual unsigned np_credits() const = 0;  // non-posted requests the host side may have inside the NIC

  // ---- host to NIC. Queued here without limit and fed beat by beat from the next step on, completions in parallel
  // with requests. The caller implements PCIe flow control by checking the depth.
  virtual void push(const pcie::tlp& t) = 0;
  virtual unsigned posted_pending() const = 0;      // posted requests not yet wholly taken by the NIC
  virtual unsigned non_posted_pending() const = 0;  // non-posted requests waiting for, or holding, an NP credit
  virtual unsigned completions_pending() const = 0;

  // ---- NIC to host, requests and completions in PCIe order. `gate`: the kinds that the host accepts in the next
  // step. A TLP that has begun is accepted whole. If non_posted is false, posted requests pass the waiting reads; up to
  // four reads already in flight still come.
  virtual std::optional<pcie::tlp> pop() = 0;
  virtual void gate(bool posted, bool non_posted, bool completions) = 0;

  // ---- links, by number. `link_in` is seen in the next step; `link_out` is the flit that the NIC sent in the last
  // step (only while `link_ready`).
  virtual void link_in(unsigned link, const flit& f) = 0;
  virtual std::optional<flit> link_out(unsigned link) = 0;
  virtual void link_ready(unsigned link, bool ready) = 0;
  virtual void link_up(unsigned link, bool up) = 0;

  // ---- settings of configuration space that software changes, effective from the next step on. Initially messages are
  // allowed, bus master is on, and MPS and MRRS are those of host_config.
  virtual void msix(bool enable, bool mask) = 0;  // MSI-X Enable, Function Mask
  virtual void bus_master(bool on) = 0;
  virtual void sizes(uint16_t mps, uint16_t mrrs) = 0;  // bytes
  // Function-level reset, until in_reset() is false: TLPs pushed meanwhile are lost, NP credits count again after it.
  virtual void reset_function() = 0;
  virtual bool in_reset() const = 0;

  // One rising clock edge; `time` is the cycle number seen on time_i.
  virtual void step(uint64_t time) = 0;
  // After a step: must be stepped in the next cycle (own work, or queued TLPs or flits).
  virtual bool busy() const = 0;
  // Must be stepped again from the next multiple of tick_cycles on.
  virtual bool timer() const = 0;
  static constexpr uint64_t tick_cycles = 1024;

  virtual uint64_t steps() const = 0;  // clock edges so far

  // ---- waves: an FST file with all signals, with changes between waves(true) and waves(false). close_waves() ends it;
  // the error names what is missing.
  virtual void open_waves(const std::string& path) {}
  virtual void waves(bool on) {}
  virtual std::expected<void, std::string> close_waves() { return {}; }

  // ---- Numbers of changed bits of the NIC's signals since count_toggles(), by unit. Not together with waves. The
  // error says what is missing.
  virtual std::expected<void, std::string> count_toggles() { return {}; }
  virtual std::map<std::string, uint64_t> toggles() const { return {}; }
};

using made_nic = std::expected<std::unique_ptr<nic_core>, std::string>;  // the error names input, rule and remedy

}  // namespace ggas::nic
