// SPDX-License-Identifier: Apache-2.0
// The port of a model switch at a NIC of RTL: it speaks the link's protocol flit by flit (docs/link.md), and hands
// whole packets to the network of switches. Its wires lose nothing, so it repeats nothing: a lost flit is a fault.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/fabric/switch_network.hpp"
#include "sim/fabric/wire.hpp"
#include "sim/pcie/timed_queue.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::fabric {

class switch_port : public flit_sink, public switch_network::edge {
 public:
  // At that port of the NIC, on a link of `width` bits; the NIC has room for `units` in each channel.
  switch_port(const std::string& name, switch_network& net, unsigned nic, unsigned port, unsigned width,
              unsigned units);

  // The wire to the NIC, which takes a flit in so many picoseconds.
  void connect(flit_source_port& out, uint64_t flit_ps);
  void deliver(const nic::flit& f, uint64_t at_ps) override { inbox_.push_at(at_ps, {.flit = f}); }
  void carrier(bool up, uint64_t at_ps) override { inbox_.push_at(at_ps, {.carrier = up}); }

  bool has_room(unsigned channel) const override;
  void take(nic::packet&& p, unsigned channel) override;
  void freed(unsigned channel, unsigned units) override;
  // What the NIC has sent against the protocol, the first time; empty: nothing.
  const std::string& fault() const { return fault_; }

 private:
  static constexpr unsigned channels = 4 * graph::lanes, window = 127;
  struct arrival {
    std::optional<bool> carrier = {};
    nic::flit flit = {};
  };
  enum class state : uint8_t { down, init, up };

  void arrived(const arrival& a);
  void change_carrier(bool up);
  void got_hello(const nic::hello& h);
  void got_control(const nic::control& c);
  void got_packet(nic::packet&& p);
  void say_hello();
  nic::flit next_control();
  void send_next();
  bool idle() const { return packet_.empty() && hellos_.empty() && !acknowledge_ && changed_ == 0; }
  void wrong(const char* what);

  switch_network& net_;
  unsigned nic_, port_, width_, largest_;
  std::string name_, fault_;
  flit_source_port* out_ = nullptr;
  uint64_t flit_ps_ = 0, free_ps_ = 0;
  pcie::timed_queue<arrival> inbox_;
  nic::flit_decoder decoder_;
  state state_ = state::down;
  uint16_t mine_, yours_ = 0;  // numbers of the session
  bool seen_ = false, met_ = false;
  uint8_t expected_ = 0, sent_ = 0, acknowledged_ = 0;  // sequence numbers
  std::array<uint32_t, channels> units_;                // free at the NIC
  std::array<uint16_t, channels> freed_here_{}, freed_there_{};
  uint8_t changed_ = 0;  // bits: channels whose room here has grown
  bool acknowledge_ = false;
  unsigned next_ = 0;  // channel of the next report
  std::deque<nic::flit> packet_, hellos_;
  pcie::timer timer_{[this] { send_next(); }};
};

}  // namespace ggas::fabric
