// SPDX-License-Identifier: Apache-2.0
// How modules exchange TLPs. Every device, switch and root complex owns one `port` per link; `port::connect` makes a
// link of two of them. Underneath are TLM-2.0 sockets with the protocol traits `tlp_protocol`: a TLP goes forward with
// nb_transport_fw, phase BEGIN_REQ, annotated with its arrival (last byte, store and forward); freed flow-control
// credits come back with nb_transport_bw, phase END_REQ (only kind and len_dw of the payload count then). A module
// written against the bare sockets interworks with one that uses `port`.
//
//   port dev("dev", {.rx = {...}});
//   dev.on_receive = [&](tlp& t) { ...; return true; };   // false: not now; call dev.resume() when there is room
//   dev.send(std::move(t));                               // queued; goes out when order, credits and wire allow
//
// Order in both queues (sent, and received but refused) is that of PCIe: P passes everything, NP and CPL never pass an
// earlier P (a CPL with relaxed ordering may), CPL and NP pass each other. So a refused NP never blocks P or CPL.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/pcie/link.hpp"
#include "sim/pcie/timer.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::pcie {

struct tlp_protocol {
  using tlm_payload_type = tlp;
  using tlm_phase_type = tlm::tlm_phase;
};

// Simulated time in picoseconds.
inline uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

// Three FIFOs that keep PCIe order among them.
class ordered_queue {
 public:
  void push(tlp&& t);
  // Class whose head may go next: oldest first, skipping those in `blocked`.
  std::optional<fc> next(const std::array<bool, fc_classes>& blocked) const;
  tlp& front(fc c) { return fifo_[unsigned(c)].front().packet; }
  const tlp& front(fc c) const { return fifo_[unsigned(c)].front().packet; }
  tlp pop(fc c);
  size_t size(fc c) const { return fifo_[unsigned(c)].size(); }
  bool empty() const { return fifo_[0].empty() && fifo_[1].empty() && fifo_[2].empty(); }

 private:
  struct entry {
    uint64_t seq;
    tlp packet;
  };
  bool may_go(fc c) const;
  std::array<std::deque<entry>, fc_classes> fifo_;
  uint64_t seq_ = 0;
};

struct port_config {
  // Receive buffers this port advertises: P, NP, CPL.
  rx_credits rx = {credits{64, 1024}, credits{64, 64}, credits{0, 0}};
};

struct port_stats {
  std::array<uint64_t, fc_classes> tx_tlps{}, rx_tlps{}, tx_bytes{}, rx_bytes{};  // bytes: payload only
  uint64_t tx_wire_bytes = 0;                                                     // with overhead, without DLLPs
  uint64_t credit_stalls = 0;  // times the wire was free and nothing sendable had credits
};

class port : public sc_core::sc_module,
             public tlm::tlm_fw_transport_if<tlp_protocol>,
             public tlm::tlm_bw_transport_if<tlp_protocol> {
 public:
  tlm::tlm_initiator_socket<32, tlp_protocol> tx;
  tlm::tlm_target_socket<32, tlp_protocol> rx;

  explicit port(sc_core::sc_module_name name, const port_config& cfg = {});

  // Binds the sockets of both ports, and gives each the other's advertised credits. Before simulation starts.
  static void connect(port& a, port& b, const link_config& link);
  const link_config& link() const { return link_; }
  bool connected() const { return connected_; }

  // Called for each arrived TLP in order. It returns true if it has taken the TLP (it may move from it); then the
  // credits go back to the sender. If it returns false, the TLP stays and must be unchanged, and its class waits until
  // resume(). Must be set before simulation starts.
  std::function<bool(tlp&)> on_receive;
  // A TLP of that class left for the wire: room in the transmit queue.
  std::function<void(fc)> on_sent;
  // Observation: every TLP on the wire, at the sender, with the times of its first and after its last byte.
  std::function<void(const tlp&, uint64_t start_ps, uint64_t end_ps)> on_wire;

  void send(tlp t);
  // Sent but not yet on the wire. Senders that can wait keep this small.
  size_t tx_pending(fc c) const { return tx_queue_.size(c); }
  size_t rx_pending(fc c) const { return rx_queue_.size(c); }
  // Offers refused TLPs again.
  void resume();

  const port_stats& stats() const { return stats_; }
  // Free credits towards the peer; {0xffffffff, 0xffffffff} if endless.
  credits free_credits(fc c) const;

  // ---- TLM-2.0
  tlm::tlm_sync_enum nb_transport_fw(tlp& t, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlp& t, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(tlp& t, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlp&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlp&) override { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

 private:
  struct arrival {
    uint64_t at;
    tlp packet;
  };
  struct refund {
    uint64_t at;
    fc cls;
    uint32_t data;
  };
  void pump_tx();
  void pump_rx();
  void on_rx_event();
  void on_refund_event();
  void transmit(fc c);
  void refund_to_peer(const tlp& t);
  void acknowledge();
  bool has_credits(const tlp& t) const;

  port_config cfg_;
  link_config link_;
  bool connected_ = false;
  rx_credits peer_{};  // what the peer advertised
  rx_credits used_{};  // of that, in use
  ordered_queue tx_queue_, rx_queue_;
  std::deque<arrival> arrivals_;  // on their way; times never decrease
  std::deque<refund> refunds_;
  uint64_t wire_free_ps_ = 0;
  unsigned unacked_ = 0;
  bool pumping_tx_ = false, pumping_rx_ = false, rx_again_ = false;
  std::array<bool, fc_classes> rx_blocked_{};
  timer tx_event_{[this] { pump_tx(); }}, rx_event_{[this] { on_rx_event(); }};
  timer refund_event_{[this] { on_refund_event(); }};
  port_stats stats_;
};

}  // namespace ggas::pcie
