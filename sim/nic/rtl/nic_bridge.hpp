// SPDX-License-Identifier: Apache-2.0
// Puts a nic_core into the platform: PCIe endpoint on one side, link port on the other, clocked only while it has work
// (docs/tlp-boundary.md, "Clock, time and idling").
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <vector>

#include "sim/fabric/wire.hpp"
#include "sim/nic/nic_core.hpp"
#include "sim/nic/nic_device.hpp"
#include "sim/nic/rtl/nic_clock.hpp"
#include "sim/pcie/timed_queue.hpp"

namespace ggas::nic {

struct bridge_stats {
  uint64_t unmapped = 0;               // requests that hit no BAR
  uint64_t link_in = 0, link_out = 0;  // flits
};

class nic_bridge : public sc_core::sc_module, public nic_device, public clocked {
 public:
  // `links` of the core's links can be connected.
  nic_bridge(sc_core::sc_module_name name, std::unique_ptr<nic_core> core, nic_clock& clock, const bridge_config& cfg,
             unsigned links = 1);

  pcie::port& port() override { return port_; }
  pcie::bar_map& bars() override { return bars_; }
  nic_core& core() { return *core_; }
  // What configuration space says to the core (nic_core), which may be idle.
  void reset_function();
  void bus_master(bool on);
  // Observation: what crosses the core's pins, with the number of the clock edge.
  std::function<void(const pcie::tlp&, bool to_nic, uint64_t edge)> on_tlp;
  std::function<void(const flit&, bool to_nic, uint64_t edge)> on_flit;
  // Where flits of a link come in, and where they go; without the latter the link stays down.
  fabric::flit_sink& link(unsigned number) { return links_[number]; }
  void connect(unsigned link, fabric::flit_source_port& out) { links_[link].out = &out; }

  uint64_t active_cycles() const override { return core_->steps(); }
  std::map<std::string, uint64_t> counters() const override {
    return {{"nic.active_cycles", active_cycles()},
            {"nic.unmapped", stats_.unmapped},
            {"nic.flits_in", stats_.link_in},
            {"nic.flits_out", stats_.link_out}};
  }

  uint64_t edge(uint64_t n, uint64_t now_ps) override;

 private:
  // The end of a link: what is in flight to the core.
  struct link_end final : fabric::flit_sink {
    nic_bridge* owner = nullptr;
    fabric::flit_source_port* out = nullptr;
    std::deque<std::pair<uint64_t, flit>> flits;
    std::multimap<uint64_t, bool> carriers;

    void deliver(const flit& f, uint64_t at_ps) override;
    void carrier(bool up, uint64_t at_ps) override;
  };
  struct arrival {
    uint64_t at;
    pcie::tlp packet;
  };
  bool receive(pcie::tlp& t);
  void enter(uint64_t due, pcie::tlp&& t);
  bool has_room(const pcie::tlp& t) const;
  void feed(uint64_t n, uint64_t now_ps);
  void drain(uint64_t n, uint64_t now_ps);
  uint64_t next_edge(uint64_t n) const;

  std::unique_ptr<nic_core> core_;
  nic_clock& clock_;
  unsigned clock_id_;
  bridge_config cfg_;
  pcie::port port_;
  pcie::bar_map bars_;
  pcie::timed_queue<pcie::tlp> outbound_;
  std::deque<arrival> inbound_;  // by time
  uint64_t requests_due_ = 0;    // of the last one
  std::array<unsigned, pcie::fc_classes> inbound_count_{};
  bool refused_ = false;
  std::vector<link_end> links_;
  bridge_stats stats_;
};

}  // namespace ggas::nic
