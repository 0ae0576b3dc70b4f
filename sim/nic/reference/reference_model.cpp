// SPDX-License-Identifier: Apache-2.0
// The reference model: where requests and packets go, completions to the host, outputs.
#include "sim/nic/reference/reference_model.hpp"

#include <algorithm>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

constexpr unsigned rcb_bytes = 128;
constexpr uint64_t info_mask = (uint64_t{1} << 40) - 1;

}  // namespace

reference_model::reference_model(unsigned data_width, const host_config& cfg, nic_surroundings around)
    : data_width_(data_width),
      cfg_(cfg),
      around_(std::move(around)),
      rma_(*this, cfg,
           {.fetches = around_.fetches,
            .get_fetches = around_.get_fetches,
            .queue_reads = around_.queue_reads,
            .atomics = around_.atomics,
            .hand_on = around_.hand_on}),
      coll_({.reg = [this](uint16_t offset) { return reg(offset); },
             .event = [this](uint8_t code, uint16_t node, uint64_t info) { raise(code, node, info); },
             .send = [this](packet&& p) { send(std::move(p)); },
             .write =
                 [this](tlp&& t) {
                   requests_.push_back({std::move(t), own(), false});
                 },
             .stopped = [this] { return stopped(); },
             .fence =
                 [this](unsigned page, std::function<void(net_status)> reported) {
                   ask_quiet({{.addr = page * rma_context_bytes}, {}, std::move(reported)});
                 },
             .has_route = [this] { return has_route(); }},
            cfg.mps) {
  reset_registers();
}

uint16_t reference_model::own() const { return uint16_t(reg(GGAS_REG_NODE)); }

void reference_model::raise(uint8_t code, uint16_t node, uint64_t info, uint8_t interval) {
  count_event(code);
  events_.push_back({code, node, info & info_mask, interval});
}

// ---------------------------------------------------------------------------------------------- host requests

void reference_model::from_host(const tlp& t) {
  if (t.completion()) {
    if (!rma_.host_completion(t)) host_completion(t);
  } else {
    count(GGAS_REG_HOST_RX_REQS);
    host_request(t);
  }
  rma_.run();
}

void reference_model::advance(uint64_t cycle) {
  rma_.advance(cycle);
  rma_.run();
}

void reference_model::room() {
  rma_.room();
  rma_.run();
}

void reference_model::host_request(const tlp& t) {
  const bool memory = t.kind == tlp_kind::mrd || t.kind == tlp_kind::mwr;
  const bool in_pages = t.bar == bar_pages && t.addr < rma_contexts * rma_context_bytes;
  const bool page = in_pages && t.kind == tlp_kind::mwr && rma_model::takes(t);
  const bool served = memory && (t.bar == bar_registers || t.bar == bar_window || t.bar == bar_pages);
  const bool too_long = t.kind == tlp_kind::mwr && 4u * t.len_dw > cfg_.mps;
  if (memory && (too_long || broken_rule(t))) return refuse(t, GGAS_EV_MALFORMED_TLP);
  if (!served) return refuse(t, GGAS_EV_UNSUPPORTED_TLP);
  if (t.bar == bar_registers) return register_access(t);
  if (t.bar == bar_window) return t.posted() ? window_store(t) : window_load(t);
  if (page) return rma_.page_write(t);
  if (in_pages && around_.collectives && t.posted() && coll_model::takes(t)) return coll_.page_write(t);
  if (t.posted()) return raise(GGAS_EV_PAGE_ACCESS, 0, t.addr);
  if (!in_pages || !asks_quiet(t)) return refuse_read(t, GGAS_EV_PAGE_ACCESS, 0);
  ask_quiet({t, {}});
}

// ---------------------------------------------------------------------------------------------- network

bool reference_model::reachable(uint16_t node, net_status& why) const {
  if (around_.route) {
    why = around_.route(node);
    return why == net_status::ok;
  }
  const uint64_t peer = reg(GGAS_REG_LINK_PEER);
  why = net_status::unreachable;
  if (node >= around_.nodes) return false;
  if (node == own()) return true;
  if (!(peer & GGAS_LINK_PEER_VALID_MASK) || (peer & GGAS_LINK_PEER_NODE_MASK) != node) return false;
  why = net_status::link_down;
  return link_up_;
}

// To other nodes at all.
bool reference_model::has_route() const {
  if (around_.route) return around_.route(own() == 0) == net_status::ok;
  return reg(GGAS_REG_LINK_PEER) & GGAS_LINK_PEER_VALID_MASK && link_up_;
}

net_status reference_model::rma_route(uint16_t node) const {
  net_status why{};
  return reachable(node, why) ? net_status::ok : why;
}

void reference_model::send(packet&& p) {
  p.src = own();
  p.hops = hop_limit;
  if (p.dst == own() && !(p.op & op_multicast)) return accept(p);
  count(GGAS_REG_LINK_TX_PACKETS);
  packets_.push_back(std::move(p));
}

void reference_model::from_link(const packet& p) {
  count(GGAS_REG_LINK_RX_PACKETS);
  if (around_.groups && p.op == (uint8_t(op::store) | op_multicast)) {
    packet plain = p;
    plain.op = uint8_t(op::store);
    accept(plain);
  } else {
    accept(p);
  }
  rma_.run();
}

void reference_model::accept(const packet& p) {
  if (p.is(op::store) && p.vc == uint8_t(vc::p)) return target_store(p);
  if (p.is(op::load) && p.vc == uint8_t(vc::np)) return target_load(p);
  if (p.is(op::quiet) && p.vc == uint8_t(vc::np) && p.len_dw == 0) return target_quiet(p);
  if ((p.is(op::load_rsp) || p.is(op::quiet_rsp)) && p.vc == uint8_t(vc::rsp)) return response(p);
  const bool request =
      p.is(op::rma_put) || p.is(op::rma_get) || p.is(op::rma_notify) || p.is(op::rma_atomic) || p.is(op::velo_msg);
  const bool answer = p.is(op::rma_ack) || p.is(op::rma_get_data) || p.is(op::rma_get_done) || p.is(op::rma_atomic_rsp);
  if ((request && p.vc == uint8_t(vc::rma)) || (answer && p.vc == uint8_t(vc::rsp))) return rma_.packet_in(p);
  if (around_.collectives && coll_model::takes(p) && p.vc == uint8_t(vc::rma)) return coll_.packet_in(p);
  raise(GGAS_EV_BAD_PACKET, p.src, p.op);
}

void reference_model::link_up(bool up) {
  const bool died = link_up_ && !up;
  if (up && !link_up_) raise(GGAS_EV_LINK_UP, uint16_t(reg(GGAS_REG_LINK_PEER)), 0);
  link_up_ = up;
  if (died) way_lost();
  if (up) way_found();
}

void reference_model::way_lost() {
  lose_responses();
  coll_.way_lost();
  rma_.link_died();
  rma_.run();
}

void reference_model::way_found() { coll_.way_found(); }

// ---------------------------------------------------------------------------------------------- completions

void reference_model::refuse(const tlp& t, uint8_t code) {
  raise(code, 0, t.addr);
  if (!t.non_posted()) return;
  tlp c{.kind = tlp_kind::cpl, .len_dw = 0, .tag = t.tag, .requester = t.requester};
  c.completer = cfg_.bus_id;
  c.status = cpl_status::ur;
  c.byte_count = uint16_t(bytes_left(t, 0));
  c.lower_addr = lower_address(t, 0);
  completions_.push_back(std::move(c));
}

// A user's read that cannot be served.
void reference_model::refuse_read(const tlp& t, uint8_t code, uint16_t node, uint8_t interval) {
  raise(code, node, t.addr, interval);
  complete_ones(t, 0);
}

// The rest of a read whose first `dw` DWs were answered is all ones.
void reference_model::complete_ones(const tlp& request, unsigned dw) {
  count(GGAS_REG_SMFU_LOAD_ERRORS);
  complete_data(request, std::vector<uint32_t>(request.len_dw - dw, ~0u), dw);
}

// DWs from `first_dw` of the request on, in completions that end on RCB borders and obey MPS.
void reference_model::complete_data(const tlp& request, std::vector<uint32_t> dws, unsigned first_dw) {
  const unsigned max_bytes = std::max<unsigned>(cfg_.mps / rcb_bytes * rcb_bytes, rcb_bytes);
  for (unsigned i = 0; i < dws.size();) {
    const unsigned dw = first_dw + i;
    const uint64_t addr = request.addr + 4 * dw;
    const unsigned room = unsigned(max_bytes - addr % rcb_bytes) / 4;
    const unsigned n = std::min<unsigned>(room, unsigned(dws.size()) - i);
    tlp c{.kind = tlp_kind::cpld, .len_dw = uint16_t(n), .tag = request.tag, .requester = request.requester};
    c.completer = cfg_.bus_id;
    c.byte_count = uint16_t(bytes_left(request, dw));
    c.lower_addr = lower_address(request, dw);
    c.attr = request.attr;
    c.data.assign(dws.begin() + i, dws.begin() + i + n);
    completions_.push_back(std::move(c));
    i += n;
  }
}

// ---------------------------------------------------------------------------------------------- outputs

namespace {
template <class T>
std::optional<T> take(std::deque<T>& q) {
  if (q.empty()) return std::nullopt;
  std::optional<T> v{std::move(q.front())};
  q.pop_front();
  return v;
}
}  // namespace

std::optional<target_request> reference_model::pop_request() { return take(requests_); }
std::optional<tlp> reference_model::pop_completion() { return take(completions_); }
std::optional<packet> reference_model::pop_packet() { return take(packets_); }
std::optional<event> reference_model::pop_event() { return take(events_); }
std::optional<fired> reference_model::pop_fired() { return take(fired_); }

}  // namespace ggas::nic
