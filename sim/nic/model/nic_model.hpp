// SPDX-License-Identifier: Apache-2.0
// The NIC at transaction level (--nic model): behaviour of the reference model, times of the RTL (model_times.hpp),
// packets through fabric::network. An input is processed at once, in the order in which the RTL would accept it; an
// output leaves when the RTL would have it at its pins. docs/nic-model.md lists the limits.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "sim/fabric/packet_network.hpp"
#include "sim/nic/model/model_interrupts.hpp"
#include "sim/nic/model/model_times.hpp"
#include "sim/nic/nic_device.hpp"
#include "sim/nic/reference/reference_model.hpp"
#include "sim/nic/rtl/nic_clock.hpp"
#include "sim/pcie/timed_queue.hpp"

namespace ggas::nic {

struct model_config {
  bridge_config bridge;
  host_config host;
  unsigned data_width = 64;  // bits
  uint64_t hertz = 0;        // core clock
  unsigned node = 0;         // of the network
};

class nic_model : public sc_core::sc_module, public nic_device, public fabric::packet_sink {
 public:
  nic_model(sc_core::sc_module_name name, const model_config& cfg, fabric::packet_network& net);

  pcie::port& port() override { return port_; }
  pcie::bar_map& bars() override { return bars_; }
  uint64_t active_cycles() const override { return 0; }
  std::map<std::string, uint64_t> counters() const override;

  bool deliver(packet& p) override;
  void left() override;
  void link_changed(unsigned port, bool up) override;
  void lost(const packet& p, bool no_way) override;

 private:
  // One of the NIC's inputs: it takes a beat a cycle.
  struct inlet {
    inlet(const char* name, std::function<void(pcie::tlp&&)> take) : queue(name, std::move(take)) {}
    pcie::timed_queue<pcie::tlp> queue;
    uint64_t free = 0;  // edge at which it takes the next TLP
  };
  bool receive(pcie::tlp& t);
  bool has_room(const pcie::tlp& t) const;
  uint64_t turn_of(cause why) const;
  bool atomics_full() const { return model_.atomics_waiting() >= times_.limits().atomics_held; }
  bool takes_packets(vc channel);
  bool takes_status();
  void enter(inlet& i, uint64_t due_ps, pcie::tlp&& t);
  void hold(pcie::tlp&& t);
  bool finds_place(const pcie::tlp& t);
  void free_place(uint16_t tag);
  bool store_waits(const pcie::tlp& t) const;
  void take_requests();
  void take(const pcie::tlp& t);
  unsigned beats(unsigned dws) const { return (dws + beat_dws_ - 1) / beat_dws_; }
  uint64_t edge() const { return edges_.from(pcie::now_ps()); }
  // What the model has put out, because of that.
  void leave(cause why, bool answer, unsigned beats_in);
  uint64_t after(cause why, bool answer, effect what, unsigned beats_in, unsigned dws_out);
  uint64_t put_out(const pcie::tlp& t, uint64_t at);
  void send_request(pcie::tlp&& t, uint64_t at);
  void interrupt(std::vector<pcie::tlp>&& writes, uint64_t at);
  size_t backlog() const;
  void host_took();
  uint64_t live_register(uint16_t offset) const;
  uint64_t links() const, best_state() const;  // LINKS.states, LINK_STATUS.state
  void lose_store(const packet& p);
  // Where links may be cut.
  net_status way_to(uint16_t node) const;
  void look_at_ways();
  void set_route(uint64_t line);
  void retrain();
  void set_group_line(uint64_t line);
  void advance();
  void wait_for_tick();
  void tick();

  model_config cfg_;
  clock_edges edges_;
  unsigned beat_dws_;
  const model_times& times_;
  fabric::packet_network& net_;
  reference_model model_;
  model_interrupts interrupts_;
  pcie::port port_;
  pcie::bar_map bars_;
  inlet requests_in_, completions_in_;
  struct read_request {
    pcie::tlp request;
    uint64_t behind;  // posted requests that came before it
  };
  std::deque<pcie::tlp> held_posted_;
  std::deque<read_request> held_loads_, held_reads_;  // of the window, and quiets; of registers
  uint64_t posted_held_ = 0, posted_taken_ = 0;       // all there were so far
  std::vector<bool> places_taken_;                    // for loads on their way
  std::unordered_map<uint16_t, size_t> place_of_;     // by tag
  size_t place_ = 0, next_place_ = 0;                 // of the load that was taken last; where the next one looks first
  bool looking_ = false;                              // a load wants a place, from look_from_ on
  uint64_t look_from_ = 0;
  pcie::timer place_event_{[this] { take_requests(); }};
  pcie::timed_queue<pcie::tlp> requests_out_, completions_out_;
  uint64_t out_free_ = 0;                  // edge from which the NIC may put out the next TLP
  double paced_[causes][2][effects] = {};  // and from which the next of its kind
  uint64_t last_write_ps_ = 0;
  std::array<unsigned, pcie::fc_classes> inside_{};  // taken from the port, not yet worked off
  bool refused_host_ = false, refused_network_ = false;
  bool refused_atomic_ = false;              // it waits in its receive buffer
  bool held_ = false, status_held_ = false;  // packets of puts and gets, and status blocks, wait for room
  struct waiting {
    cause why;
    uint64_t tick;  // in which it was sent
  };
  std::unordered_map<uint16_t, waiting> reads_;       // of the host, by tag
  std::unordered_map<uint16_t, uint64_t> responses_;  // of other nodes to the SMFU, by tag: tick of the request
  pcie::timer turn_event_{[this] { net_.resume(cfg_.node); }};
  pcie::timer hand_on_event_{[this] { advance(); }};
  pcie::timer tick_event_{[this] { tick(); }};
  bool ticking_ = false;
  bool had_ways_ = false;  // to other nodes
  uint64_t unmapped_ = 0, packets_in_ = 0, packets_out_ = 0;
};

}  // namespace ggas::nic
