// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/switch_port.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/pcie/port.hpp"

namespace ggas::fabric {

namespace {
constexpr uint16_t session_number = 0x2a5;  // it has one session
constexpr unsigned credit_modulus = 0x2000;
}  // namespace

switch_port::switch_port(const std::string& name, switch_network& net, unsigned nic, unsigned port, unsigned width,
                         unsigned units)
    : net_(net),
      nic_(nic),
      port_(port),
      width_(width),
      largest_(1 + nic::mtu_dw * 32 / width),
      name_(name),
      inbox_(name.c_str(), [this](arrival&& a) { arrived(a); }),
      decoder_(width),
      mine_(uint16_t((session_number + nic * graph::most_links_of_nic + port) & nic::session_mask)) {
  units_.fill(units);
}

void switch_port::connect(flit_source_port& out, uint64_t flit_ps) {
  out_ = &out;
  flit_ps_ = flit_ps;
}

void switch_port::wrong(const char* what) {
  if (fault_.empty()) fault_ = fmt::format("{}: {}", name_, what);
}

// ---------------------------------------------------------------------------------------------- from the NIC

void switch_port::arrived(const arrival& a) {
  if (a.carrier) return change_carrier(*a.carrier);
  if (state_ == state::down) return;
  if (a.flit.kind == nic::flit_kind::ctrl) {
    if (const auto h = nic::parse_hello(a.flit)) return got_hello(*h);
    if (const auto c = nic::parse_control(a.flit)) return got_control(*c);
    return wrong("a control flit with a wrong CRC");
  }
  if (auto p = decoder_.push(a.flit)) return got_packet(std::move(*p));
  if (decoder_.errors() != 0) wrong("flits that make no packet");
}

void switch_port::change_carrier(bool up) {
  if (!up) return wrong("the NIC's signal was lost");
  state_ = state::init;
  say_hello();
}

void switch_port::say_hello() {
  hellos_.push_back(nic::to_flit(nic::hello{.mine = mine_, .yours = yours_, .seen = seen_, .met = met_}));
  send_next();
}

// As link_session.sv. Only a NIC that was reset begins another session.
void switch_port::got_hello(const nic::hello& h) {
  const bool echo = h.seen && h.yours == mine_;
  if (state_ == state::up && (h.dead || !echo || h.mine != yours_)) return wrong("the NIC has begun another session");
  if (h.dead) return;
  const bool answer = state_ == state::init || !h.met;
  seen_ = true;
  met_ = echo;
  yours_ = h.mine;
  if (answer) say_hello();
  if (!echo || state_ == state::up) return;
  state_ = state::up;
  net_.ready(nic_, port_);
}

void switch_port::got_control(const nic::control& c) {
  if (state_ != state::up || c.session != (mine_ & nic::session_tag_mask)) return;
  if (c.nak) return wrong("the NIC misses a packet");
  acknowledged_ = c.ack_seq;
  const unsigned more = (c.credit - freed_there_[c.credit_vc]) & (credit_modulus - 1);
  if (more < credit_modulus / 2) {
    freed_there_[c.credit_vc] = c.credit;
    units_[c.credit_vc] += more;
  }
  if (c.poll) {
    changed_ = uint8_t((1u << channels) - 1);
    send_next();
  }
  net_.ready(nic_, port_);
}

// The fields of the link end here.
void switch_port::got_packet(nic::packet&& p) {
  if (state_ != state::up || p.session != (mine_ & nic::session_tag_mask)) return;
  if (p.seq != expected_) return wrong("a packet out of sequence");
  ++expected_;
  acknowledge_ = true;
  p.seq = p.session = p.version = 0;
  const unsigned channel = p.vc;
  net_.inject(nic_, port_, std::move(p), channel);
  send_next();
}

// ---------------------------------------------------------------------------------------------- to the NIC

bool switch_port::has_room(unsigned channel) const {
  return state_ == state::up && packet_.empty() && units_[channel] >= largest_ &&
         uint8_t(sent_ - acknowledged_) < window;
}

void switch_port::take(nic::packet&& p, unsigned channel) {
  const unsigned dws_of_unit = width_ / 32;
  units_[channel] -= 1 + unsigned(p.data.size() + dws_of_unit - 1) / dws_of_unit;
  p.vc = uint8_t(channel);
  p.version = nic::packet_version;
  p.seq = sent_++;
  p.session = uint8_t(yours_ & nic::session_tag_mask);
  for (const nic::flit& f : nic::to_flits(p, width_)) packet_.push_back(f);
  send_next();
}

void switch_port::freed(unsigned channel, unsigned units) {
  freed_here_[channel] = uint16_t((freed_here_[channel] + units) % credit_modulus);
  changed_ |= uint8_t(1u << channel);
  send_next();
}

// Each has one channel's room, in turns, and what has arrived.
nic::flit switch_port::next_control() {
  do next_ = (next_ + 1) % channels;
  while (changed_ != 0 && !(changed_ >> next_ & 1));
  changed_ &= uint8_t(~(1u << next_));
  acknowledge_ = false;
  return nic::to_flit(nic::control{.ack_seq = expected_,
                                   .session = uint8_t(yours_ & nic::session_tag_mask),
                                   .credit = freed_here_[next_],
                                   .credit_vc = uint8_t(next_)});
}

// A packet is not interrupted; hellos and control go before the next one.
void switch_port::send_next() {
  const uint64_t now = pcie::now_ps();
  if (idle()) return;
  if (free_ps_ > now) return timer_.notify(sc_core::sc_time::from_value(free_ps_ - now));
  free_ps_ = now + flit_ps_;
  std::deque<nic::flit>& queue = packet_.empty() ? hellos_ : packet_;
  if (queue.empty()) {
    out_->send(next_control(), now);
  } else {
    out_->send(queue.front(), now);
    queue.pop_front();
  }
  if (!idle()) return timer_.notify(sc_core::sc_time::from_value(flit_ps_));
  net_.ready(nic_, port_);
}

}  // namespace ggas::fabric
