// SPDX-License-Identifier: Apache-2.0
// The NIC at transaction level: the golden model of the RTL tests. It has the same inputs and outputs as nic_core, in
// TLPs and packets instead of beats and flits, and no time: every input is processed at once. So outputs of one class
// (requests, completions, packets of one VC) come in the order that the RTL must keep, and the order between classes is
// free where PCIe leaves it free. The user reports behaviour that depends on time to the model (time-outs, link death,
// a slow host). Only the RMA (reference_rma.hpp) measures time, if it is informed of it: it retries a full target, and
// gives up operations that are never answered.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/packet.hpp"
#include "sim/nic/reference/reference_coll.hpp"
#include "sim/nic/reference/reference_rma.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

// ggas_pkg::event_t, and the interval that it concerns.
struct event {
  static constexpr uint8_t no_interval = 64;
  uint8_t code = 0;
  uint16_t node = 0;
  uint64_t info = 0;
  uint8_t interval = no_interval;
  bool operator==(const event& e) const { return code == e.code && node == e.node && info == e.info; }
};

// An armed context has a record (docs/interrupts.md).
struct fired {
  uint8_t vpid = 0, vector = 0;
  bool list = false;  // into the ring of fired contexts
};

// What surrounds a model that is used as NIC. An empty function: the model does as the RTL with one link, at once.
struct nic_surroundings {
  // The way to a node, instead of LINK_PEER and link_up(); ok for the own one.
  std::function<net_status(uint16_t node)> route;
  // ROUTE.set and LINK_CTRL.retrain were written.
  std::function<void(uint64_t line)> set_route;
  std::function<void()> retrain;
  // Registers that depend on time.
  std::function<uint64_t(uint16_t offset)> live_register;
  // Packets of puts and gets may be made; else they wait for room().
  std::function<bool(vc channel)> takes_packets;
  // Packets whose payload is read ahead: of a context's puts, of all gets that are served.
  unsigned fetches = 1, get_fetches = 1;
  // Reads of work queues under way; atomics at their owner.
  unsigned queue_reads = 16, atomics = 1;
  hand_on_times hand_on = {};
  // The host takes writes; else status blocks wait for advance(), and changes meanwhile share a write.
  std::function<bool()> takes_status;
  // Nodes that this NIC knows (BUILD.nodes).
  unsigned nodes = max_nodes;
  // It has the unit for collectives (BUILD.coll).
  bool collectives = false;
  // Groups for stores (BUILD.groups), and what MULTICAST puts into their table.
  unsigned groups = 0;
  std::function<void(uint64_t line)> group_line;
};

// A request to the local host, and the node on whose behalf it is made.
struct target_request {
  pcie::tlp tlp;
  uint16_t source = 0;
  bool flush = false;  // the empty read of a quiet
};

class reference_model : private rma_services {
 public:
  reference_model(unsigned data_width, const host_config& cfg, nic_surroundings around = {});

  // ---- inputs
  void from_host(const pcie::tlp& t);  // a request on a BAR, or a completion of one of our reads
  void from_link(const packet& p);     // an intact packet, in order within its VC
  void link_up(bool up);               // false: waiting loads and quiets end with ST_LINK_DOWN
  void way_lost();                     // to all other nodes: the same, and what was stored is not confirmed
  void way_found();                    // collectives go on
  void network_event(uint8_t code, uint16_t node, uint64_t info) { raise(code, node, info); }
  void load_timeout(uint16_t tag);    // no response to the packet with that tag
  void target_timeout(uint16_t tag);  // no completion of the read with that tag
  void advance(uint64_t cycle);       // core time is now that
  void room();                        // takes_packets() may be true again

  // ---- outputs
  std::optional<target_request> pop_request();
  std::optional<pcie::tlp> pop_completion();
  std::optional<packet> pop_packet();  // towards the peer; never one to the own node
  std::optional<event> pop_event();
  std::optional<fired> pop_fired();

  // ---- state
  uint64_t counter(uint16_t offset) const {
    return reg(offset);
  }  // SMFU_*, LINK_TX/RX_PACKETS, HOST_RX_REQS, EVENT_COUNT
  std::optional<uint64_t> read_register(uint16_t offset) const;  // nullopt: depends on time
  unsigned responses_waiting() const { return unsigned(waiting_.size()); }
  unsigned target_reads_waiting() const { return unsigned(reads_.size()); }
  bool reads_queue(uint16_t tag) const { return rma_.reads_queue(tag); }
  bool rma_waits() const { return rma_.waits(); }
  std::optional<uint64_t> wakes_at() const { return rma_.wakes_at(); }             // advance() is to come then
  size_t atomics_waiting() const { return rma_.atomics_waiting(); }                // for an entry of their unit
  size_t requests_left() const { return requests_.size(); }                        // for pop_request()
  void count_event(uint8_t code) { count(uint16_t(GGAS_REG_EVENT_COUNT(code))); }  // that no unit raised

  // Where a window access of `bytes` lands, and on whose behalf; nullopt: unmapped.
  struct place {
    uint16_t node;
    uint64_t addr;
    uint8_t export_no;
    uint16_t domain;
    uint8_t interval = event::no_interval;
    bool group = false;  // `node` is one
  };
  std::optional<place> lookup(uint64_t offset, uint64_t bytes) const;
  // An export in use; nullopt: it is not, or there is no such number.
  struct exported {
    uint64_t base, size;
    uint16_t domain;
    bool read, write;
  };
  std::optional<exported> export_of(unsigned number) const;

 private:
  uint64_t rma_register(uint16_t offset) const override { return reg(offset); }
  void rma_event(uint8_t code, uint16_t node, uint64_t info) override { raise(code, node, info); }
  void rma_count(uint16_t counter) override { count(counter); }
  void rma_fire(uint8_t vpid, uint8_t vector, bool list) override { fired_.push_back({vpid, vector, list}); }
  void rma_send(packet&& p) override { send(std::move(p)); }
  void rma_request(pcie::tlp&& t) override { requests_.push_back({std::move(t), own(), false}); }
  net_status rma_route(uint16_t node) const override;
  unsigned rma_nodes() const override { return around_.nodes; }
  bool rma_takes_status() const override { return !around_.takes_status || around_.takes_status(); }
  bool rma_takes_packets(vc channel) const override { return !around_.takes_packets || around_.takes_packets(channel); }

  // A host read of the window (request.kind mrd on the window), or one node of a quiet. A read leaves in packets that
  // all carry its tag and are answered in order.
  struct piece_of_load {
    uint64_t at;  // packet::piece()
    unsigned dw;
  };
  struct waiting {
    pcie::tlp request;
    bool quiet = false;
    uint16_t node = 0;
    std::deque<piece_of_load> pieces;  // packets not yet answered
    unsigned dw_sent = 0;
    uint8_t interval = event::no_interval;
  };
  // A packet from the network that waits for the local host.
  struct read {
    packet request;
    unsigned dw = 0;
    std::vector<uint32_t> data;
    unsigned pieces = 0;
    std::vector<uint8_t> flushed;  // a quiet: exports that it reads from
    bool done = false;
    net_status status = net_status::ok;
  };
  struct piece_of_read {
    uint64_t read;
    unsigned dw_first, dw_left;
  };
  struct quiet {
    pcie::tlp request;
    std::vector<uint16_t> nodes;
    std::function<void(net_status)> reported = {};  // a fence of the collectives, not a read of the host
  };

  // ---- reference_registers.cpp: BAR0
  void reset_registers();
  void register_access(const pcie::tlp& t);
  void write_register(uint16_t offset, uint64_t value, uint64_t mask);
  void interval_written(uint16_t offset, uint64_t mask);
  bool export_stopped(unsigned number) const;

  // ---- reference_source.cpp: the window, quiets, and their answers
  uint8_t interval_of(uint64_t offset) const;
  void window_store(const pcie::tlp& t);
  void window_load(const pcie::tlp& t);
  void start_quiet();
  void finish_quiet();
  void ask_quiet(quiet&& q);
  void fail_store(net_status s, std::optional<uint16_t> domain = {});
  net_status quiet_answer(uint64_t page) const;
  void quiet_reported(uint64_t page);
  void mark_dirty(const place& where);
  void response(const packet& p);
  void load_data(uint16_t tag, const packet& rsp);
  void end_waiting(uint16_t tag, net_status s, const event& e, std::optional<uint16_t> domain = {});
  void lose_responses();
  uint16_t new_net_tag();

  // ---- reference_target.cpp: what other nodes want, and the local host's completions
  void target_store(const packet& p);
  void target_load(const packet& p);
  void target_quiet(const packet& p);
  void host_completion(const pcie::tlp& t);
  void end_read(uint64_t key, net_status s);
  void answer(const read& r);
  // The export that the packet names, if it lets the packet in.
  std::optional<exported> allowed(const packet& p, bool write) const;
  bool ingress() const;
  uint16_t new_host_tag();

  // ---- reference_model.cpp: where requests and packets go, completions
  void host_request(const pcie::tlp& t);
  bool reachable(uint16_t node, net_status& why) const;
  bool has_route() const;
  void send(packet&& p);
  void accept(const packet& p);
  void refuse(const pcie::tlp& request, uint8_t code);  // with the event `code`; UR where it is answered
  void refuse_read(const pcie::tlp& t, uint8_t code, uint16_t node, uint8_t interval = event::no_interval);
  void complete_ones(const pcie::tlp& request, unsigned dw);
  void complete_data(const pcie::tlp& request, std::vector<uint32_t> dws, unsigned first_dw);
  void raise(uint8_t code, uint16_t node, uint64_t info, uint8_t interval = event::no_interval);
  void count(uint16_t offset) { ++regs_[offset / 8]; }
  uint64_t reg(uint16_t offset) const { return regs_[offset / 8]; }
  uint16_t own() const;
  bool stopped() const;    // STOP.nic
  uint64_t stops() const;  // STOPPED, as far as the model writes at all

  unsigned data_width_;
  host_config cfg_;
  nic_surroundings around_;
  std::vector<uint64_t> regs_;  // BAR0 in 64-bit words, counters included
  bool link_up_ = false;
  std::deque<target_request> requests_;
  std::deque<pcie::tlp> completions_;
  std::deque<packet> packets_;
  std::deque<event> events_;
  std::deque<fired> fired_;
  uint64_t next_key_ = 1;
  std::map<uint16_t, waiting> waiting_;  // by network tag
  std::map<uint64_t, read> reads_;
  std::map<uint16_t, piece_of_read> host_tags_;
  uint16_t next_net_tag_ = 0, next_host_tag_ = 0;
  std::map<uint16_t, bool> dirty_;
  static constexpr unsigned quiet_places = 64;  // domains that agree in their low bits share one
  struct refused_stores {
    bool any = false, several = false;  // domains
    uint16_t domain = 0;
  };
  std::map<uint16_t, refused_stores> lost_for_;  // by source, since its last quiet
  std::set<uint8_t> written_;                    // exports with stores that no quiet has flushed
  uint64_t quiet_epoch_ = 0;
  // The first of the errors since someone was informed: of any, of those that concern all, of those of a domain.
  struct quiet_error {
    net_status status = net_status::ok;
    uint64_t epoch = 0;
    bool open = false;  // no one was informed
  };
  quiet_error any_error_, all_error_;
  std::map<unsigned, quiet_error> domain_errors_;   // by the low bits of the domain
  std::map<uint64_t, uint64_t> quiet_reported_of_;  // the epoch each page was informed last
  std::deque<quiet> quiets_;                        // one at a time: the front is under way
  rma_model rma_;
  coll_model coll_;
};

}  // namespace ggas::nic
