// SPDX-License-Identifier: Apache-2.0
// Routes TLPs between ports: requests by address, completions by requester id. A PCIe switch is a router with an
// upstream port; a root complex (root_complex.hpp) is a router with memory after it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "sim/pcie/packet.hpp"
#include "sim/pcie/port.hpp"
#include "sim/pcie/timed_queue.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::pcie {

// What a router does with requests from one port to another. Completions follow their request's path and latency.
struct path_rule {
  bool posted = true;                       // forwarded; else dropped and counted
  bool non_posted = true;                   // forwarded; else answered UR
  uint64_t latency_ps = 0;                  // of a request or completion through the router
  unsigned np_outstanding = 0;              // reads of this path under way in the router; 0: no limit
  double np_bytes_per_second = 0;           // rate at which reads of this path are let through; 0: no limit
  uint64_t np_timeout_ps = 50'000'000'000;  // a read without answer gives its place back
};

// Which of the inputs that wait for an output goes first when it has room again.
enum class arbitration {
  by_port,  // the port that was added first
  in_turn,  // the one after the input that went last: no one waits for ever
};

struct router_config {
  uint16_t id = 0;
  path_rule rule;          // between any two ports without a rule of their own
  size_t queue_limit = 8;  // per output and class; beyond, inputs wait
  arbitration order = arbitration::by_port;
};

struct router_stats {
  uint64_t unmapped = 0;   // requests no one answers to
  uint64_t forbidden = 0;  // requests a rule forbids
  uint64_t lost_cpl = 0;   // completions to no one
};

class router : public sc_core::sc_module {
 public:
  router(sc_core::sc_module_name name, const router_config& cfg);

  // A new port; `tx` and `rx` seen from the router.
  unsigned add_port(const std::string& name, const port_config& cfg = {});
  port& at(unsigned i) { return *lanes_[i]->link; }
  // Requests to these addresses and completions to this requester leave through the port.
  void map(unsigned port, uint64_t base, uint64_t size);
  void attach(unsigned port, uint16_t id) { ids_[id] = port; }
  // Where requests to unknown addresses and completions to unknown requesters go: the upstream port of a switch.
  void upstream(unsigned port) { upstream_ = port; }
  void rule(unsigned from, unsigned to, const path_rule& r) { rules_[{from, to}] = r; }

  const router_stats& stats() const { return stats_; }

 protected:
  // A request none of the ports answers to. True: taken.
  virtual bool local_request(unsigned from, tlp& t);
  // Sends through port `to` after that time; what comes from one port keeps its order.
  void emit(unsigned from, unsigned to, uint64_t latency_ps, tlp&& t);
  // Sends through port `to` now.
  void answer(unsigned to, tlp&& t);
  void reject(unsigned from, const tlp& t);
  const router_config& config() const { return cfg_; }

 private:
  struct routed {
    unsigned to;
    tlp packet;
  };
  struct lane {
    std::unique_ptr<port> link;
    std::unique_ptr<timed_queue<routed>> pipe;  // what came in here, on its way through
    std::array<size_t, fc_classes> inside{};    // packets for this port, in any pipe or its transmit queue
    bool waiting = false;                       // refused something
    unsigned turn = 0;                          // of the inputs for this port: who goes first
  };
  struct path_state {
    uint64_t next_read_ps = 0;
    std::map<uint32_t, uint64_t> reads;  // requester and tag → time it is given up
  };

  bool receive(unsigned from, tlp& t);
  bool forward(unsigned from, unsigned to, tlp& t);
  bool admit_read(unsigned from, unsigned to, const path_rule& r, const tlp& t);
  void release_read(const tlp& completion, unsigned from, unsigned to);
  bool room(unsigned to, fc c) const;
  void wake(unsigned first);
  void wake_at(uint64_t at_ps);
  const path_rule& rule_of(unsigned from, unsigned to) const;

  router_config cfg_;
  std::vector<std::unique_ptr<lane>> lanes_;
  std::vector<bar_map::range> ranges_;  // bar: index of the port
  std::map<uint16_t, unsigned> ids_;
  std::map<std::pair<unsigned, unsigned>, path_rule> rules_;
  std::map<std::pair<unsigned, unsigned>, path_state> paths_;
  std::optional<unsigned> upstream_;
  router_stats stats_;
  timer wake_event_{[this] { wake(0); }};
};

}  // namespace ggas::pcie
