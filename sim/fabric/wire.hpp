// SPDX-License-Identifier: Apache-2.0
// The wire between two link ports: latency, line rate, and faults. A direction accepts flits at clock edges of its
// sender and passes each to a sink with its arrival time; it uses no simulator events, so a flit costs a queue entry. A
// crossbar or switch can be inserted, because it is a sink, too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/fabric/faults.hpp"
#include "sim/nic/nic_core.hpp"

namespace ggas::fabric {

// Whatever takes flits: a link port, a crossbar input.
class flit_sink {
 public:
  virtual ~flit_sink() = default;
  // Arrival times of one sender never decrease.
  virtual void deliver(const nic::flit& f, uint64_t at_ps) = 0;
  // The signal was lost or came back.
  virtual void carrier(bool up, uint64_t at_ps) = 0;
};

// Whatever a link port sends into.
class flit_source_port {
 public:
  virtual ~flit_source_port() = default;
  // Whether a flit may be sent at the clock edge at `now_ps`.
  virtual bool ready(uint64_t now_ps) const = 0;
  virtual void send(const nic::flit& f, uint64_t now_ps) = 0;
};

struct wire_config {
  uint64_t latency_ps = 0;     // SerDes, PHY and cable, one way
  double bits_per_second = 0;  // line rate for flit data
  unsigned flit_bits = 64;
};

struct wire_stats {
  uint64_t flits = 0, dropped = 0, corrupted = 0, duplicated = 0;
};

// One direction.
class wire : public flit_source_port {
 public:
  wire(std::string name, const wire_config& cfg, flit_sink& to);

  // Cuts are reported to the sink at once, with their times. Before simulation starts.
  void faults(std::unique_ptr<fault_injector> f);
  bool ready(uint64_t now_ps) const override { return free_ps_ <= now_ps; }
  void send(const nic::flit& f, uint64_t now_ps) override;
  // The cable is pulled out or plugged in: without it flits are lost, and the sink has no signal.
  void plug(bool in, uint64_t now_ps);
  // Observation: each flit as the receiver gets it, with the times it began and ended on the wire.
  std::function<void(const nic::flit&, uint64_t start_ps, uint64_t end_ps)> on_flit;

  const wire_stats& stats() const { return stats_; }
  const wire_config& config() const { return cfg_; }
  const std::string& name() const { return name_; }
  uint64_t flit_ps() const { return flit_ps_; }

 private:
  std::string name_;
  wire_config cfg_;
  flit_sink& to_;
  uint64_t flit_ps_;
  uint64_t free_ps_ = 0;  // the transmitter's flit register is free again
  uint64_t line_ps_ = 0;  // the line is free again
  uint64_t index_ = 0;
  bool plugged_ = true;
  std::unique_ptr<fault_injector> faults_;
  wire_stats stats_;
};

}  // namespace ggas::fabric
