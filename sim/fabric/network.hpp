// SPDX-License-Identifier: Apache-2.0
// A network of NICs, packet by packet: what links, receive buffers, credits and hops of the RTL do to times and order,
// without flits (docs/nic-model.md). Each direction of a link carries one packet at a time. Each channel (virtual
// channel and lane) has a receive buffer at its end, whose units the sender accounts for. A hop stores a packet and
// sends it on.
// Channels are served in turn, packets of one channel in their order. An NP packet never passes a P packet that came in
// front of it over the same link. A packet that may pass others waits for both links of its route, and leaves by the
// one that is free first.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <systemc>
#include <vector>

#include "sim/fabric/topology.hpp"
#include "sim/nic/packet.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::fabric {

// The NIC of a node, as the network sees it.
class packet_sink {
 public:
  virtual ~packet_sink() = default;
  // A packet has arrived whole; it may be moved from. false: not now, it stays as it is until resume().
  virtual bool deliver(nic::packet& p) = 0;
  // A packet of this node has left for its first link: there is room again.
  virtual void left() = 0;
};

struct network_config {
  uint64_t latency_ps = 0;  // of a link, one way
  uint64_t flit_ps = 0;     // a flit on a link
  unsigned flit_bits = 64;
  uint64_t hop_ps = 0;       // in a hop: last flit in to first flit out
  unsigned units = 256;      // of a receive buffer: one a packet, one for each of its beats of payload
  double control_flits = 0;  // of acknowledgement and credit a packet takes from the way back, while that is busy
};

struct network_stats {
  uint64_t packets = 0, flits = 0, hops = 0;  // hops: through nodes between source and destination
  uint64_t second = 0;                        // packets that left a node by their second choice
};

class network : public sc_core::sc_module {
 public:
  network(sc_core::sc_module_name name, topology shape, const network_config& cfg);

  void attach(unsigned node, packet_sink& sink) { sinks_[node] = &sink; }
  const topology& shape() const { return shape_; }

  // From `node`, whose NIC has its first flit ready at that time; not before an earlier packet of the same channel.
  void send(unsigned node, nic::packet&& p, uint64_t at_ps);
  // Packets of `node` in that virtual channel that have not left for their first link.
  size_t waiting(unsigned node, nic::vc channel) const;
  // The sink of `node` takes packets again.
  void resume(unsigned node);

  const network_stats& stats() const { return stats_; }

 private:
  static constexpr unsigned vcs = 4, channels = 2 * vcs;
  static constexpr uint32_t none = ~uint32_t{0};
  struct flight {
    nic::packet packet;
    unsigned units = 0, flits = 0;
    uint64_t arrived = 0;  // in which order at this node
  };
  // Packets that came over one link, or from the own NIC.
  struct input {
    std::array<std::deque<uint32_t>, channels> fifo;  // flights
    std::array<bool, channels> offered{};             // the front waits for its output
  };
  struct waiter {
    unsigned input, channel;
    std::optional<topology::step> other = {};  // where it waits as well
    bool second = false;                       // here it waits for its second choice
    bool is(const waiter& w) const { return input == w.input && channel == w.channel; }
  };
  // Towards one link, or to the own NIC.
  struct output {
    std::array<std::deque<waiter>, channels> waiting;  // by the channel on that link
    std::array<unsigned, channels> units{};            // free at the other end
    uint64_t free_ps = 0;
    unsigned last = 0;  // channel served last
    bool woken = false;
  };
  enum class what : uint8_t { arrival, wake, credit };
  struct event {
    uint64_t at_ps, seq;
    what kind;
    uint8_t port, channel;
    uint32_t node, value;  // arrival: flight; credit: units
    bool operator>(const event& o) const { return at_ps != o.at_ps ? at_ps > o.at_ps : seq > o.seq; }
  };

  unsigned own_port() const { return shape_.ports(); }  // input and output of the own NIC
  input& in(unsigned node, unsigned port) { return inputs_[node * (own_port() + 1) + port]; }
  const input& in(unsigned node, unsigned port) const { return inputs_[node * (own_port() + 1) + port]; }
  output& out(unsigned node, unsigned port) { return outputs_[node * (own_port() + 1) + port]; }
  uint32_t new_flight(nic::packet&& p);
  void schedule(uint64_t at_ps, what kind, unsigned node, unsigned port, unsigned channel, uint32_t value);
  void drain();
  void arrive(unsigned node, unsigned port, unsigned channel, uint32_t f);
  void offer(unsigned node, unsigned port, unsigned channel);
  bool behind_posted(const input& i, unsigned channel) const;
  void wait(unsigned node, const topology::step& way, const waiter& w);
  void pump(unsigned node, unsigned port);
  bool go(unsigned node, unsigned port, unsigned channel);
  void transmit(unsigned node, unsigned port, unsigned channel, uint32_t f);
  void leave(unsigned node, const waiter& w);

  topology shape_;
  network_config cfg_;
  std::vector<packet_sink*> sinks_;
  std::vector<input> inputs_;
  std::vector<output> outputs_;
  std::vector<std::array<uint64_t, vcs>> injected_ps_;  // time of the last packet of each source
  std::deque<flight> flights_;                          // places stay where they are
  std::vector<uint32_t> unused_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  uint64_t seq_ = 0, arrivals_ = 0;
  uint64_t notified_ps_ = ~uint64_t{0};
  bool draining_ = false;
  pcie::timer wake_{[this] { drain(); }};
  network_stats stats_;
};

}  // namespace ggas::fabric
