// SPDX-License-Identifier: Apache-2.0
// Two NICs at their pins with a wire between, and hosts that answer at once: the ground of nic_cycles.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/nic/coll_format.hpp"
#include "sim/nic/nic_core.hpp"
#include "sim/nic/rma_format.hpp"

namespace ggas::bench {

// Flits of a packet with that payload.
double packet_flits(unsigned width, unsigned payload);

class nic_rig {
 public:
  static constexpr uint64_t segment_bytes = 1 << 20;
  static constexpr unsigned contexts = 32;
  static constexpr unsigned mtu_bytes = 256;  // largest payload of a packet

  // `cancelled`, if any, is polled from time to time; once it is true the rig stops. NICs with several links have
  // collectives, too; the first link of each is used.
  nic_rig(unsigned width, uint64_t seed, std::function<bool()> cancelled = {}, unsigned links = 1);
  // Why nothing can be measured; empty: the NICs are there and their link is up.
  const std::string& wrong() const { return wrong_; }
  uint64_t now() const { return now_; }
  uint64_t cycles() const { return nics_[0] ? nics_[0]->steps() + nics_[1]->steps() : 0; }

  std::function<void(unsigned, const pcie::tlp&)> on_tlp;         // has left NIC n
  std::function<void(unsigned, const nic::flit&)> on_flit;        // leaves NIC n
  std::function<void(unsigned, const pcie::tlp&)> on_request;     // pushed into NIC n, first beat in the next cycle
  std::function<void(unsigned, const pcie::tlp&)> on_completion;  // pushed into NIC n, first beat in the next cycle

  // ---- requests of host n. The queue is kept short inside the NIC.
  void queue(unsigned n, pcie::tlp t) { queue_[n].push_back(std::move(t)); }
  // Stores to the segment of the other node, or of the own one.
  void store(unsigned n, uint64_t offset, unsigned dws, bool own = false);
  void load(unsigned n, uint64_t offset, unsigned dws, bool own = false);
  void quiet(unsigned n);
  void read_register(unsigned n, unsigned offset);
  void write_register(unsigned n, unsigned offset, uint64_t value);
  size_t queued() const { return queue_[0].size() + queue_[1].size(); }
  // Posted ones that NIC n has not taken yet.
  size_t posted_queued(unsigned n) const { return queue_[n].size() + nics_[n]->posted_pending(); }

  // ---- what may stand still: host n answers no reads, until it is asked to; the wire takes no more flits of NIC n.
  void silence(unsigned n, bool silent = true) { silent_[n] = silent; }
  void answer(unsigned n, const pcie::tlp& read);
  void stop_wire(unsigned n) { nics_[n]->link_ready(0, false); }

  // What has been pushed into each NIC to set it up, in order.
  const std::vector<std::pair<unsigned, pcie::tlp>>& set_up() const { return set_up_; }

  // ---- one-sided communication. Every context may access the segment of either node at NLA `segment_nla`. It has a
  // ring of notifications and a mailbox, which are never read. In addition there is the same number of contexts with
  // work queues, which repeat `queued_slots`.
  static constexpr uint64_t segment_nla = 2ull << 46;                                // pages of 2 MB
  void post(unsigned n, unsigned vpid, const nic::descriptor& d, unsigned dws = 8);  // in writes of so many DWs
  unsigned free_slots(unsigned n, unsigned vpid) const;
  static constexpr unsigned first_queue = contexts, end_of_queues = 2 * contexts;
  std::array<uint32_t, 16> queued_slots{};
  // A member of the group asks for an operation; its words are anything.
  void collective(unsigned n, const nic::coll::ask& a);
  // Its place in the tree of the group, as new; without a parent it is the root.
  struct place {
    std::optional<unsigned> parent = {}, child = {};
  };
  void place_in_group(unsigned n, const place& p);
  void ring_queue(unsigned n, unsigned vpid, unsigned slots);  // so many more
  // An idle context as new; its ring of notifications may hold up what comes when it is full. So many were read.
  static constexpr unsigned notify_log2 = 16;
  void restart(unsigned n, unsigned vpid, unsigned log2, bool backpressure = false);
  void ring_notes(unsigned n, unsigned vpid, unsigned read);

  void step();
  void run(uint64_t cycles);
  bool until(const std::function<bool()>& done);
  unsigned waiting(unsigned n) const { return waiting_[n]; }
  void drain();

 private:
  void feed(unsigned n);
  void leave(unsigned n);
  uint32_t memory(uint64_t addr) const;
  void note_status(unsigned n, const pcie::tlp& t);
  void set_up_window(unsigned n);
  void set_up_group(unsigned n);
  void set_up_contexts(unsigned n);
  bool bring_up();
  bool ended();

  std::array<std::unique_ptr<nic::nic_core>, 2> nics_;
  std::array<std::deque<pcie::tlp>, 2> queue_;
  std::array<std::deque<std::pair<uint64_t, nic::flit>>, 2> wire_;
  std::array<unsigned, 2> waiting_{};
  std::array<bool, 2> silent_{};
  std::array<uint16_t, 2> next_tag_{};
  std::array<std::array<uint32_t, end_of_queues>, 2> produced_{}, consumed_{};  // descriptor slots
  std::vector<std::pair<unsigned, pcie::tlp>> set_up_;
  uint32_t fill_, last_value_ = 0;
  uint64_t now_ = 0;
  std::function<bool()> cancelled_;
  bool ended_ = false;
  std::string wrong_;
};

}  // namespace ggas::bench
