// SPDX-License-Identifier: Apache-2.0
// A network as models of NICs see it: they send whole packets and get whole packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/fabric/routes.hpp"
#include "sim/fabric/topology.hpp"
#include "sim/nic/packet.hpp"

namespace ggas::fabric {

// The NIC of a node, as the network sees it.
class packet_sink {
 public:
  virtual ~packet_sink() = default;
  // A packet has arrived whole; it may be moved from. false: not now, it stays as it is until resume().
  virtual bool deliver(nic::packet& p) = 0;
  // A packet of this node has left for its first link: there is room again.
  virtual void left() = 0;
  // Where links may be cut: one of this node's came up or died.
  virtual void link_changed(unsigned /*port*/, bool /*up*/) {}
  // A packet was discarded here: it, or a copy of it for a group, had no route, or its link died while it was on it.
  virtual void lost(const nic::packet& /*p*/, bool /*no_way*/) {}
};

enum class link_state : uint8_t { down = 0, up = 2, dead = 3 };  // as LINK_STATUS.state

class packet_network {
 public:
  virtual ~packet_network() = default;
  virtual void attach(unsigned node, packet_sink& sink) = 0;
  virtual const topology& shape() const = 0;

  // Sends a packet from `node`, whose NIC has the first flit ready at `at_ps`. It does not leave before an earlier
  // packet of the same channel, and an NP packet does not leave before an earlier P packet.
  virtual void send(unsigned node, nic::packet&& p, uint64_t at_ps) = 0;
  // Packets of `node` in that virtual channel that have not left for their first link.
  virtual size_t waiting(unsigned node, nic::vc channel) const = 0;
  // The sink of `node` takes packets again.
  virtual void resume(unsigned node) = 0;
  virtual uint64_t flits(unsigned node) const = 0;  // that left it

  // ---- where NICs are connected to each other
  // A line of the table of groups of `line.node`.
  virtual void set_group_line(unsigned /*group*/, const group_line& /*line*/, bool /*valid*/) {}
  // Links may be cut. Requests of a NIC's registers then: a line of its table, and a restart of its dead links.
  virtual bool may_break() const { return false; }
  virtual link_state state(unsigned /*node*/, unsigned /*port*/) const { return link_state::up; }
  virtual void set_route(unsigned /*node*/, unsigned /*to*/, const std::optional<routes::line>& /*line*/) {}
  virtual void retrain(unsigned /*node*/) {}
};

}  // namespace ggas::fabric
