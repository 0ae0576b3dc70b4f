// SPDX-License-Identifier: Apache-2.0
// A network of switches between NICs, packet by packet (docs/open-networks.md). A switch has a buffer for each port and
// channel (virtual channel and lane), whose room the other end of the cable accounts for. Each port takes one packet at
// a time from its buffers, at the rate of its cable, and sends one at a time; inputs of an output take turns. The first
// packet of each buffer waits for its output and for room after it.
//
// Packets of one channel keep their order. An NP packet never passes an earlier P packet of the same input.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <tuple>
#include <vector>

#include "sim/fabric/arrivals.hpp"
#include "sim/fabric/monotone_queue.hpp"
#include "sim/fabric/packet_network.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::fabric {

struct switch_network_config {
  double bits_per_second = 0;  // of cables without a rate of their own
  uint64_t latency_ps = 0;     // and without a latency
  uint64_t nic_flit_ps = 0;    // a NIC sends no flit in less time
  unsigned flit_bits = 64;
  unsigned nic_units = 256;  // receive buffer of a NIC: one a packet, one for each of its beats of payload
};

struct switch_network_stats {
  uint64_t packets = 0, forwarded = 0;  // sent by NICs; sent by switches
};

class switch_network : public sc_core::sc_module, public packet_network {
 public:
  // `shape` has switches.
  switch_network(sc_core::sc_module_name name, topology shape, const switch_network_config& cfg);

  void attach(unsigned node, packet_sink& sink) override { sinks_[node] = &sink; }
  const topology& shape() const override { return shape_; }
  void send(unsigned node, nic::packet&& p, uint64_t at_ps) override;
  size_t waiting(unsigned node, nic::vc channel) const override { return at_home_[node][unsigned(channel)]; }
  void resume(unsigned node) override { pump(node, graph_.ports(node)); }
  uint64_t flits(unsigned node) const override { return flits_of_[node]; }

  // ---- NICs that are elsewhere, flit by flit: what is at the switch's end of their cables takes the place of the NIC
  class edge {
   public:
    virtual ~edge() = default;
    virtual bool has_room(unsigned channel) const = 0;  // for any packet
    virtual void take(nic::packet&& p, unsigned channel) = 0;
    // A packet that came from it has left the switch's buffer.
    virtual void freed(unsigned channel, unsigned units) = 0;
  };
  void attach(unsigned node, unsigned port, edge& e);
  // A packet has come whole by that cable of a NIC, in that channel.
  void inject(unsigned node, unsigned port, nic::packet&& p, unsigned channel);
  // The edge there has room again.
  void ready(unsigned node, unsigned port);

  const switch_network_stats& stats() const { return stats_; }
  // Picoseconds of a flit on a cable.
  uint64_t flit_ps(unsigned vertex, unsigned port) const { return out(vertex, port).flit_ps; }
  uint64_t latency_ps(unsigned vertex, unsigned port) const { return out(vertex, port).latency_ps; }

 private:
  static constexpr unsigned vcs = arrivals::vcs, channels = arrivals::channels;
  static_assert(channels == vcs * graph::lanes);
  static constexpr uint32_t none = arrivals::none;
  struct flight {
    uint64_t arrived = 0;  // in which order at this vertex
    uint32_t next = none;  // after it in its channel
    uint16_t units = 0, flits = 0;
    uint16_t to = 0;
  };
  // What came by one cable, or from the own NIC.
  struct input : arrivals {
    uint8_t offered = 0;   // bits: the first of that channel waits for its output
    uint64_t free_ps = 0;  // the last packet has been taken from it
  };
  // The first of an input's channel, as it waits for an output, and the channel by which it will leave.
  struct waiter {
    uint16_t port;
    uint8_t channel, leaves_by;
    unsigned place() const { return port * channels + channel; }
  };
  // Towards one cable, or to the own NIC.
  struct output {
    uint64_t flit_ps = 0, latency_ps = 0;
    uint64_t free_ps = 0;
    std::array<uint32_t, channels> units{};  // free at the other end
    std::vector<waiter> waiting;
    unsigned last = 0;  // place served last
    bool woken = false;
    edge* there = nullptr;  // instead of a NIC
  };
  enum class what : uint8_t { arrival, wake, credit, taken, ready };
  struct event {
    what kind;
    uint8_t channel;
    uint16_t port;
    uint32_t vertex, value;  // arrival: flight; credit: units
    auto place() const { return std::tuple(vertex, port, channel, kind); }
  };

  // Port ports(vertex) is the own NIC.
  bool is_own(unsigned vertex, unsigned port) const { return port == graph_.ports(vertex); }
  input& in(unsigned vertex, unsigned port) { return inputs_[first_[vertex] + port]; }
  output& out(unsigned vertex, unsigned port) { return outputs_[first_[vertex] + port]; }
  const output& out(unsigned vertex, unsigned port) const { return outputs_[first_[vertex] + port]; }
  void set_up_output(unsigned vertex, unsigned port, const switch_network_config& cfg);
  uint32_t new_flight(nic::packet&& p);
  void schedule(uint64_t at_ps, const event& e);
  void drain();
  void handle(const event& e);
  void arrive(const event& e);
  void offer(unsigned vertex, unsigned port, unsigned channel);
  void pump(unsigned vertex, unsigned port);
  void hand_over(unsigned node);
  bool can_leave(const output& o, const input& i, const waiter& w) const;
  void give_back(unsigned vertex, unsigned port, unsigned channel, unsigned units, uint64_t at_ps);
  bool send_one(unsigned vertex, unsigned port);
  void transmit(unsigned vertex, unsigned port, const waiter& w, uint32_t f);
  void taken(unsigned vertex, unsigned port);
  unsigned port_to(unsigned vertex, const flight& f) const;
  uint64_t ready_ps(unsigned vertex, const flight& f, uint64_t head_ps, uint64_t tail_ps) const;
  void leave(unsigned vertex, const waiter& w, uint64_t gone_ps);

  topology shape_;
  const graph& graph_;
  unsigned flit_bits_;
  std::vector<packet_sink*> sinks_;
  std::vector<size_t> first_;  // by vertex, of inputs and outputs
  std::vector<input> inputs_;
  std::vector<output> outputs_;
  std::vector<std::array<uint64_t, vcs>> injected_ps_;  // time of the last packet of each source
  std::vector<std::array<uint32_t, vcs>> at_home_;      // packets that have not left for their first cable
  std::vector<flight> flights_;
  std::deque<nic::packet> packets_;  // of the flights; places stay where they are
  std::vector<uint32_t> unused_;
  monotone_queue<event> events_;
  std::vector<event> now_;  // events of an instant
  uint64_t arrivals_ = 0;
  uint64_t notified_ps_ = ~uint64_t{0};
  bool draining_ = false;
  // Last of an instant, when all its events are known.
  pcie::timer wake_{[this] { drain(); }, pcie::timer::turn::last};
  switch_network_stats stats_;
  std::vector<uint64_t> flits_of_;
};

}  // namespace ggas::fabric
