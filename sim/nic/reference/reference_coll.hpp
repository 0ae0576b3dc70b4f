// SPDX-License-Identifier: Apache-2.0
// The reference model of the collective unit (docs/coll.md): what rtl/coll does, without its time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/nic/coll_format.hpp"
#include "sim/nic/packet.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

// What the unit needs of the NIC around it.
struct coll_services {
  std::function<uint64_t(uint16_t offset)> reg;
  std::function<void(uint8_t code, uint16_t node, uint64_t info)> event;
  std::function<void(packet&&)> send;
  std::function<void(pcie::tlp&&)> write;
  std::function<bool()> stopped;  // nothing is written to the host
  // Reports what a quiet of that page finds, when the stores before it are visible.
  std::function<void(unsigned page, std::function<void(net_status)> reported)> fence;
  std::function<bool()> has_route;  // packets leave; else they are dropped
};

class coll_model {
 public:
  coll_model(coll_services s, unsigned mps) : nic_(std::move(s)), mps_(mps) {}

  static bool takes(const pcie::tlp& t);  // a write of whole DWs to a block of a page
  static bool takes(const packet& p) { return p.is(op::coll_up) || p.is(op::coll_down); }
  void page_write(const pcie::tlp& t);
  void packet_in(const packet& p);
  bool enabled(unsigned group) const { return groups_[group].enabled; }
  void written(unsigned group);  // COLL[group].CTRL
  uint64_t state(unsigned group) const;
  void way_lost();  // there is no route any more, or again one
  void way_found();

 private:
  struct contribution {
    bool here = false;
    coll::ask ask = {};
    std::array<uint64_t, coll::most_words> words = {};
  };
  struct group_state {
    bool enabled = false, asked = false, waits = false, any = false, wants = false;
    bool broken = false, tell = false;  // a packet may be lost; and neighbours in the tree have to be informed
    coll::ask own = {}, total_ask = {};
    net_status found = net_status::ok;  // by members of the operation under way
    uint64_t fence = 0;                 // that the own contribution waits for
    uint32_t came = 0;                  // words of the own contribution, a bit each
    unsigned next = 0, status = 0;
    uint32_t count = 0;
    std::array<contribution, 1 + coll::most_children> from = {};  // own first; the sum is there, too
  };
  struct wiring {  // COLL registers of a group
    bool root;
    unsigned children, block, owner, epoch, domain;
  };
  wiring of(unsigned group) const;
  uint16_t node_of(unsigned group, unsigned child) const;  // 0: the parent
  bool owner_may_write(unsigned group, const pcie::tlp& t) const;
  bool comes_from(unsigned group, const packet& p, unsigned& from) const;
  void fenced(unsigned group, uint64_t fence, net_status s);
  void arrive(unsigned group, unsigned from, const coll::ask& a);
  void work(unsigned group);
  void look(group_state& g);
  void break_off(unsigned group);
  void fail(unsigned group);
  void send(unsigned group, op what, unsigned child);
  void finish(unsigned group);
  void write_flag(unsigned group);
  void write(uint64_t addr, std::vector<uint32_t> dws);

  coll_services nic_;
  unsigned mps_;
  uint64_t fences_ = 0;  // numbers them
  std::array<group_state, coll::groups> groups_ = {};
};

}  // namespace ggas::nic
