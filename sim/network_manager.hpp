// SPDX-License-Identifier: Apache-2.0
// Software that routes packets around dead links and nodes (docs/network.md, "Around what is dead"). It gets reports of
// links from the drivers of all nodes, over a management Ethernet, and has the drivers stop their NICs, wait until the
// network is empty, write new tables and continue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/fabric/routes.hpp"
#include "sim/pcie/timed_queue.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::sim {

// What is written to ROUTE for a line; without one packets to that node are discarded.
uint64_t route_register(unsigned to, const std::optional<fabric::routes::line>& line);
// What is written to MULTICAST for a line of a group; not valid: packets that need it are discarded.
uint64_t group_register(unsigned group, const fabric::group_line& line, bool valid);

class network_manager {
 public:
  // How a node's driver reaches the registers of its NIC; nothing answers on a node that is dead.
  struct drivers {
    std::function<bool(unsigned node)> alive;
    std::function<void(unsigned node, uint16_t offset, uint64_t value)> write;
    std::function<void(unsigned node, uint16_t offset, std::function<void(std::optional<uint64_t>)> done)> read;
    // `on`: the group that the node sends to accepts stores. Its tree is computed for the whole network.
    std::function<void(unsigned node, bool on)> set_group;
  };
  // `link_ctrl`: what LINK_CTRL holds on every node.
  network_manager(const fabric::topology& shape, uint64_t link_ctrl, drivers all);

  // A driver found LINK_UP or LINK_DEAD in its event ring. A record may stand for several links: it reads LINKS.
  void heard(unsigned node, bool up);
  // What a driver found at set-up, when no one sends yet. All links are taken for up.
  void found_dead(unsigned node, unsigned port);
  // Nothing is being changed.
  bool idle() const { return !busy_; }
  // Nothing is dead, and groups take stores.
  bool whole() const { return idle() && !written_.any(); }
  uint64_t changes() const { return changes_; }  // of tables, that have ended

 private:
  using values = std::vector<uint64_t>;
  void send(std::function<void()> message);
  void news(unsigned node, uint8_t dead);
  void settle();
  fabric::damage now() const;
  // All drivers that still answer do this, then read those registers and report.
  void ask_all(const std::function<void(unsigned node)>& act, const values& registers, std::function<void()> then);
  void read(unsigned node, const values& registers, values so_far, uint64_t round);
  void answered(unsigned node, values&& reported, uint64_t round);
  void give_up_silent();
  void end_round();
  void stop();
  void drain();
  void look_at_counters();
  void write_tables();
  void go();
  void end();
  void write_lines(unsigned node, const fabric::routes& before, const fabric::routes& after);

  const fabric::topology& shape_;
  uint64_t link_ctrl_;
  drivers all_;
  std::vector<uint8_t> reported_,
      ends_;                  // by node: bits of ports whose link is dead; as drivers reported, as it is known here
  std::vector<bool> silent_;  // nodes that did not answer
  fabric::damage written_;    // what the tables of the NICs are for
  std::optional<fabric::damage> next_;  // what is being written
  bool busy_ = false;
  uint64_t changes_ = 0, round_ = 0;
  unsigned left_ = 0, drains_ = 0;
  std::vector<std::optional<values>> answers_, before_;  // of the round, by node; of the one before
  std::function<void()> then_;
  pcie::timed_queue<std::function<void()>> ethernet_;
  pcie::timer settle_{[this] { stop(); }}, timeout_{[this] { give_up_silent(); }};
};

}  // namespace ggas::sim
