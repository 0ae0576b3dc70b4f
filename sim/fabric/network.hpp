// SPDX-License-Identifier: Apache-2.0
// A network of NICs, packet by packet: the effect of the RTL's links, receive buffers, credits and hops on times and
// order, without flits (docs/nic-model.md). Each direction of a link carries one packet at a time. Each channel
// (virtual channel and lane) has a receive buffer at its end, whose units the sender accounts for. A hop stores a
// packet and sends it on.
//
// Packets of one channel keep their order. An NP packet never passes an earlier P packet on the same link. Where NICs
// have several links, packets go through queues in front of them (sim/fabric/network_queues.cpp); a packet that may
// pass others uses the first link of its route that has room. With one link channels are served in turn. Links may be
// cut, and routes written (sim/fabric/network_faults.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "sim/fabric/arrivals.hpp"
#include "sim/fabric/monotone_queue.hpp"
#include "sim/fabric/packet_network.hpp"
#include "sim/fabric/routes.hpp"
#include "sim/fabric/shares.hpp"
#include "sim/fabric/topology.hpp"
#include "sim/nic/packet.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::fabric {

struct network_config {
  uint64_t latency_ps = 0;  // of a link, one way
  uint64_t flit_ps = 0;     // a flit on a link
  unsigned flit_bits = 64;
  unsigned flits_ahead = 0;  // of a packet, that leave before its first beat is taken from the queue of its link
  uint64_t hop_ps = 0;       // in a hop: last flit in to first flit out, the beat below included
  uint64_t beat_ps = 0;      // a beat from an input to the queue of a link, from which its packet may begin then
  unsigned units = 256;      // of a receive buffer: one a packet, one for each of its beats of payload
  // Acknowledgements and credits leave in separate flits while the link is idle; under load there are at least this
  // many flits of packets between two of them. 0: they take no time.
  unsigned control_gap = 0;
};

struct network_stats {
  uint64_t packets = 0, flits = 0, hops = 0;  // hops: through nodes between source and destination
  uint64_t second = 0;                        // packets that left a node by their second choice
};

class network : public sc_core::sc_module, public packet_network {
 public:
  network(sc_core::sc_module_name name, topology shape, const network_config& cfg);

  void attach(unsigned node, packet_sink& sink) override { sinks_[node] = &sink; }
  const topology& shape() const override { return shape_; }
  void send(unsigned node, nic::packet&& p, uint64_t at_ps) override;
  size_t waiting(unsigned node, nic::vc channel) const override;
  void resume(unsigned node) override;
  void set_group_line(unsigned group, const group_line& line, bool valid) override;
  uint64_t flits(unsigned node) const override { return flits_of_[node]; }

  const network_stats& stats() const { return stats_; }

  // ---- links that are cut: in one direction, before simulation starts
  struct cut {
    unsigned node, port;  // that it leaves by
    uint64_t from_ps, to_ps;
  };
  void cut_links(const std::vector<cut>& cuts);
  bool may_break() const override { return broken_ != nullptr; }
  link_state state(unsigned node, unsigned port) const override;
  void set_route(unsigned node, unsigned to, const std::optional<routes::line>& line) override;
  void retrain(unsigned node) override;

 private:
  static constexpr unsigned vcs = arrivals::vcs, channels = arrivals::channels;
  static constexpr uint32_t none = arrivals::none;
  // The data of a packet that hops need. Inputs and outputs are small, because many nodes have many of them, and
  // allocate no memory.
  struct flight {
    uint64_t arrived = 0;  // in which order at this node
    uint32_t next = none;  // after it in its channel
    uint16_t units = 0, flits = 0;
    uint16_t to = 0;
    bool chooses = false;   // it may leave by its second choice
    bool grouped = false;   // it is for a group:
    uint16_t left = 0;      // branches that it has not gone to yet, as group_line has them; own_branch
    uint8_t channel = 0;    // that it leaves by, in the queue of a link
    uint8_t vtime = 0;      // virtual time of the link that it came by
    uint64_t ready_ps = 0;  // in the queue of a link: its first beat is there
  };
  static constexpr unsigned own_branch = 12;
  // Packets that came over one link, or from the own NIC.
  struct input : arrivals {
    std::array<uint8_t, channels> second{};  // code() of the front's second choice; 0: it waits for none
    std::array<uint8_t, channels> first{};   // and of its first one
    uint8_t offered = 0;                     // bits: the front of that channel has asked for its output
    uint64_t free_ps = 0;                    // the last packet has moved into its queue
    uint8_t last = 0;                        // its channel
    bool woken = false;
  };
  // Front of an input's channel, as it waits for an output.
  struct waiter {
    uint8_t input, channel;
    bool operator==(const waiter&) const = default;
  };
  // At most one of each input and lane.
  class waiters {
   public:
    bool empty() const { return count_ == 0; }
    waiter front() const { return (*this)[0]; }
    unsigned size() const { return count_; }
    waiter operator[](unsigned n) const { return {uint8_t(at_[n] / channels), uint8_t(at_[n] % channels)}; }
    void push(waiter w) { at_[count_++] = uint8_t(w.input * channels + w.channel); }
    void remove(waiter w);

   private:
    uint8_t count_ = 0;
    std::array<uint8_t, 2 * (max_ports + 1)> at_;
  };
  // Towards one link, or to the own NIC.
  struct output {
    uint64_t free_ps = 0;
    uint64_t last_ps = 0, grouped_ps = 0;    // when the last packet arrives, and the last one for a group
    std::array<uint16_t, channels> units{};  // free at the other end
    uint64_t control_ps = 0;                 // begin of the last flit of control, planned if later than now
    uint16_t gap = 0;                        // flits of packets after it
    bool owes = false;                       // one of control, as soon as that is possible
    uint8_t last = 0;                        // channel served last; with queues the place() let in last
    uint8_t asked = 0;                       // bits: channels for which a sender waits
    bool woken = false;
    std::array<waiters, channels> waiting;  // by the channel on that link
    // With several links: what each input has here, a flight that has not begun; and whose turn it is.
    std::array<uint32_t, max_ports + 1> queue{none, none, none, none, none, none, none};
    uint8_t begun = 0;  // bits: a packet has begun, and no beat of it was taken yet
    shares turns;
  };
  static uint8_t code(const topology::step& s) { return uint8_t(1 + 2 * s.port + s.lane); }
  enum class what : uint8_t { arrival, wake, credit, again, move, taken, freed, gone };
  struct event {
    what kind;
    uint8_t port, channel;
    uint32_t node, value;  // arrival: flight; credit: units
  };

  unsigned own_port() const { return shape_.ports(); }  // input and output of the own NIC
  input& in(unsigned node, unsigned port) { return inputs_[node * (own_port() + 1) + port]; }
  const input& in(unsigned node, unsigned port) const { return inputs_[node * (own_port() + 1) + port]; }
  static unsigned on_link(waiter w, uint8_t way) { return w.channel % vcs + vcs * ((way - 1u) % 2); }  // its channel
  output& out(unsigned node, unsigned port) { return outputs_[node * (own_port() + 1) + port]; }
  const output& out(unsigned node, unsigned port) const { return outputs_[node * (own_port() + 1) + port]; }
  uint32_t new_flight(nic::packet&& p);
  void schedule(uint64_t at_ps, what kind, unsigned node, unsigned port, unsigned channel, uint32_t value);
  void drain();
  void arrive(unsigned node, unsigned port, unsigned channel, uint32_t f);
  void offer(unsigned node, unsigned port, unsigned channel);
  void wait(unsigned node, uint8_t way, waiter w);
  void stop_waiting(unsigned node, uint8_t way, waiter w);
  topology::end across(unsigned node, unsigned port) const { return across_[node * own_port() + port]; }
  void pump(unsigned node, unsigned port);
  bool go(unsigned node, unsigned port, unsigned channel);
  void wake(unsigned node, unsigned port, uint64_t at_ps);
  void taken(unsigned node, waiter w, uint8_t way, uint64_t gone_ps);
  void transmit(unsigned node, unsigned port, unsigned channel, uint32_t f);
  void owe_control(unsigned node, unsigned port);
  void send_control(output& o, uint64_t now) const;
  void leave(unsigned node, waiter w);
  void ask(unsigned node, waiter w, const topology::step& way, const std::optional<topology::step>& also);
  void give_back(unsigned node, waiter w, unsigned units, uint64_t at_ps);

  // ---- network_queues.cpp
  bool queued(unsigned port) const { return own_port() > 1 && port != own_port(); }
  unsigned place(unsigned input) const { return input == own_port() ? shares::own : input; }  // in queue and turns
  void let_in(unsigned node, unsigned port);
  void move(unsigned node, unsigned port);
  bool takes(unsigned node, waiter w, uint8_t way) const;
  void move_to(unsigned node, waiter w, uint8_t way);
  void send_next(unsigned node, unsigned port);
  void count_twice(unsigned node, unsigned port, unsigned channel, uint64_t until_ps);
  uint64_t beats_ps(const flight& f) const { return std::max(f.units - 1u, 1u) * cfg_.beat_ps; }

  // ---- network_faults.cpp
  struct wreck {
    std::vector<link_state> states;                               // by node and port
    std::vector<unsigned> dark;                                   // cuts of what comes in there
    std::vector<std::vector<std::optional<routes::line>>> lines;  // by node, if one was written
    std::multimap<uint64_t, std::function<void()>> agenda;
    std::optional<pcie::timer> timer;
  };
  void when(uint64_t at_ps, std::function<void()> what);
  void signal(unsigned node, unsigned port, bool on);
  void die(unsigned node, unsigned port);
  void try_link(unsigned node, unsigned port);
  bool can_start(unsigned node, unsigned port) const;
  std::optional<routes::line> line(unsigned node, unsigned to) const;
  void ask_what_is_left(unsigned node, waiter w);
  void lose_way(unsigned node, unsigned port, waiter w);
  void discard(unsigned node, waiter w);
  bool lost_on_link(const event& e);
  topology::step next_copy(const flight& f, unsigned channel) const;
  void lose_dead_branches(unsigned node, waiter w);
  void end(unsigned node, waiter w);
  const group_line* line_of(unsigned node, unsigned group, unsigned lane) const;
  bool branch(unsigned node, unsigned port, unsigned channel, uint32_t f);

  topology shape_;
  network_config cfg_;
  unsigned most_units_;  // of a packet
  std::vector<packet_sink*> sinks_;
  std::vector<input> inputs_;
  std::vector<output> outputs_;
  std::vector<topology::end> across_;                   // by node and port; of none if it leads nowhere
  std::vector<std::array<uint64_t, vcs>> injected_ps_;  // time of the last packet of each source
  std::vector<std::array<uint32_t, vcs>> at_home_;      // packets that have not left for their first link
  std::vector<flight> flights_;
  std::deque<nic::packet> packets_;  // of the flights; places stay where they are
  std::vector<uint32_t> unused_;
  std::vector<std::optional<group_line>> lines_;  // by node, group and lane; empty: there are no groups
  monotone_queue<event> events_;
  uint64_t arrivals_ = 0;
  uint64_t notified_ps_ = ~uint64_t{0};
  bool draining_ = false;
  pcie::timer wake_{[this] { drain(); }};
  network_stats stats_;
  std::vector<uint64_t> flits_of_;
  std::unique_ptr<wreck> broken_;  // nullptr: no link is ever cut
};

}  // namespace ggas::fabric
