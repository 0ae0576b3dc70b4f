// SPDX-License-Identifier: Apache-2.0
// A network of NICs and switches (docs/open-networks.md): who is connected to whom by which cables, and the tables by
// which packets go. Vertices are numbered: NICs first, then switches.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fabric/graph/grid.hpp"

namespace ggas::fabric {

// One direction of a cable. What is not given is that of the platform's [link].
struct cable {
  double bits_per_second = 0;               // 0: the platform's
  std::optional<uint64_t> latency_ps = {};  // one way
  unsigned latency_flits = 0;               // instead, if not 0: in times of a flit on this cable
};

struct switch_settings {
  uint64_t forward_ps = 100'000;  // through a switch: see cut_through
  unsigned buffer_packets = 8;    // of the largest size, for each port and channel
  bool cut_through = true;        // forward_ps counts from the first flit in, else from the last one
};

enum class routing : uint8_t { automatic, shortest, up_down };

class graph {
 public:
  static constexpr unsigned most_vertices = 65'536, most_ports = 1'024, most_links_of_nic = 6, lanes = 2;

  graph(unsigned nics, unsigned switches);

  unsigned nics() const { return nics_; }
  unsigned switches() const { return vertices() - nics_; }
  unsigned vertices() const { return unsigned(ports_.size()); }
  bool is_nic(unsigned vertex) const { return vertex < nics_; }
  unsigned ports(unsigned vertex) const { return unsigned(ports_[vertex].size()); }
  unsigned ports_of_nics() const;  // of the NIC with the most
  end_of_link across(unsigned vertex, unsigned port) const { return ports_[vertex][port].far; }
  const cable& out(unsigned vertex, unsigned port) const { return ports_[vertex][port].out; }
  // As in the description, else "NIC 3" or "switch 2".
  std::string name(unsigned vertex) const;
  void name(unsigned vertex, std::string text) { names_[vertex] = std::move(text); }

  // Each gets another port, its next one. `there`: from a to b.
  void connect(unsigned a, unsigned b, const cable& there = {}, const cable& back = {});
  // All cables without a rate or a latency of their own get these.
  void set_cables(const cable& usual);
  // What no routing can repair: a NIC without a cable or with too many, between two NICs, parts that are not connected.
  std::expected<void, std::string> check() const;

  // Fills the tables if they are empty and checks that channels have no cycle. The error names a cycle.
  std::expected<void, std::string> find_routes(routing how);
  // Towards a NIC, at a switch or another NIC.
  route_step next(unsigned vertex, unsigned nic) const;
  void set_next(unsigned vertex, unsigned nic, route_step s);
  // Among equally short steps at that switch step number `nic / by` is taken, so that neighbours spread.
  void spread(unsigned vertex, unsigned by) { spread_[vertex] = by; }
  unsigned hops(unsigned from, unsigned to) const;  // cables between two NICs
  // "shortest, 1 lane", "shortest, 2 lanes", "up*/down*" or that of the generator.
  const std::string& routes() const { return routes_; }
  void routes(std::string text) { routes_ = std::move(text); }

  switch_settings settings;

 private:
  friend class router;
  struct port {
    end_of_link far;
    cable out;
  };
  uint16_t& entry(unsigned vertex, unsigned nic) { return table_[size_t{vertex} * nics_ + nic]; }

  unsigned nics_;
  std::vector<std::vector<port>> ports_;
  std::vector<std::string> names_;
  std::vector<unsigned> spread_;  // by vertex; 0: by load
  std::vector<uint16_t> table_;   // by vertex and NIC: 2 * port + lane
  std::string routes_;
};

}  // namespace ggas::fabric
