// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/reference_model.hpp"

#include <algorithm>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

constexpr unsigned bar_registers = 0, bar_window = 2, bar_pages = 4;
constexpr unsigned register_bytes = 1 << 16;
constexpr unsigned rcb_bytes = 128;
constexpr unsigned max_nodes = 64;  // dirty bits of the quiet
constexpr uint64_t info_mask = (uint64_t{1} << 40) - 1;

// Writable bits of the plain registers; those not listed are read only.
struct writable {
  uint16_t offset;
  uint64_t mask;
  uint64_t reset;
};
constexpr writable plain_registers[] = {
    {GGAS_REG_NODE, GGAS_NODE_ID_MASK, 0},
    {GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK | GGAS_SMFU_CTRL_MODE_MASK, 0},
    {GGAS_REG_SMFU_MASK, ~0ull, 0},
    {GGAS_REG_SMFU_SHIFT, GGAS_SMFU_SHIFT_SHIFT_MASK | GGAS_SMFU_SHIFT_NODES_MASK, 0},
    {GGAS_REG_SMFU_TBASE, ~0ull, 0},
    {GGAS_REG_SMFU_TSIZE, ~0ull, 0},
    {GGAS_REG_SMFU_TIMEOUT, GGAS_SMFU_TIMEOUT_LOAD_MASK | GGAS_SMFU_TIMEOUT_HOST_MASK, 1000 | 500 << 16},
    {GGAS_REG_LINK_PEER, GGAS_LINK_PEER_NODE_MASK | GGAS_LINK_PEER_VALID_MASK, 0},
    {GGAS_REG_LINK_CTRL, GGAS_LINK_CTRL_REPLAY_LIMIT_MASK | GGAS_LINK_CTRL_REPLAY_TIMEOUT_MASK, 32 << 8 | 2048 << 16},
    {GGAS_REG_EVQ_BASE, ~0ull, 0},
    {GGAS_REG_EVQ_CTRL, GGAS_EVQ_CTRL_ENABLE_MASK | GGAS_EVQ_CTRL_LOG2_SIZE_MASK | GGAS_EVQ_CTRL_VECTOR_MASK, 8 << 8},
    {GGAS_REG_EVQ_TAIL, 0xffffffff, 0},
    {GGAS_REG_MSIX_MODERATION, 0xffffffff, 0},
    {GGAS_REG_RMA_CTRL,
     GGAS_RMA_CTRL_REQUESTER_MASK | GGAS_RMA_CTRL_TARGET_MASK | GGAS_RMA_CTRL_MTU_MASK |
         GGAS_RMA_CTRL_RETRY_TICKS_MASK | GGAS_RMA_CTRL_RETRY_LIMIT_MASK,
     2 << 8 | 1 << 16},
    {GGAS_REG_RMA_TIMEOUT, GGAS_RMA_TIMEOUT_ANSWER_MASK | GGAS_RMA_TIMEOUT_HOST_MASK, 2000 | 500 << 16},
    {GGAS_REG_ATU_INVALIDATE, GGAS_ATU_INVALIDATE_EVERYTHING_MASK | GGAS_ATU_INVALIDATE_PAGE_MASK, 0},
    {GGAS_REG_ATU_BASE0, ~0ull, 0},
    {GGAS_REG_ATU_COUNT0, 0xffffffff, 0},
    {GGAS_REG_ATU_BASE1, ~0ull, 0},
    {GGAS_REG_ATU_COUNT1, 0xffffffff, 0},
    {GGAS_REG_ATU_BASE2, ~0ull, 0},
    {GGAS_REG_ATU_COUNT2, 0xffffffff, 0},
    {GGAS_REG_ATU_BASE3, ~0ull, 0},
    {GGAS_REG_ATU_COUNT3, 0xffffffff, 0},
};
constexpr uint16_t time_dependent[] = {GGAS_REG_TIME, GGAS_REG_LINK_STATUS, GGAS_REG_EVQ_HEAD, GGAS_REG_MSIX_PBA,
                                       GGAS_REG_ATU_STATUS};
// Writable bits of the words of a context.
constexpr uint64_t context_masks[] = {
    GGAS_CONTEXT_CTRL_ENABLE_MASK | GGAS_CONTEXT_CTRL_QUEUE_MASK | GGAS_CONTEXT_CTRL_BACKPRESSURE_MASK |
        GGAS_CONTEXT_CTRL_IRQ_MASK | GGAS_CONTEXT_CTRL_VECTOR_MASK | GGAS_CONTEXT_CTRL_NOTIFY_LOG2_MASK |
        GGAS_CONTEXT_CTRL_QUEUE_LOG2_MASK | GGAS_CONTEXT_CTRL_MAILBOX_LOG2_MASK | GGAS_CONTEXT_CTRL_PD_MASK,
    ~0ull, ~0ull, ~0ull, ~0ull};
constexpr unsigned context_bytes = 0x40, context_state = 5;

bool in_range(uint16_t offset, unsigned base, unsigned bytes) { return offset >= base && offset < base + bytes; }
bool is_counter(uint16_t offset) {
  return in_range(offset, GGAS_REG_SMFU_STORES_IN, GGAS_REG_VELO_FULL + 8 - GGAS_REG_SMFU_STORES_IN) ||
         in_range(offset, GGAS_REG_EVENT_COUNT(0), 8 * GGAS_EVENT_COUNT_NUM);
}
bool is_interval(uint16_t offset) {
  return in_range(offset, GGAS_REG_INTERVAL_START(0), 32 * GGAS_INTERVAL_NUM) && (offset & 0x18) != 0x18;
}
bool is_context(uint16_t offset) {
  return in_range(offset, GGAS_REG_CONTEXT_CTRL(0), context_bytes * GGAS_CONTEXT_NUM) &&
         offset % context_bytes / 8 <= context_state;
}
unsigned context_of(uint16_t offset) { return (offset - GGAS_REG_CONTEXT_CTRL(0)) / context_bytes; }
bool is_msix(uint16_t offset) { return in_range(offset, GGAS_REG_MSIX_ADDR(0), 16 * GGAS_MSIX_NUM); }

}  // namespace

reference_model::reference_model(unsigned data_width, const host_config& cfg)
    : data_width_(data_width), cfg_(cfg), rma_(*this, cfg) {
  regs_.resize(register_bytes / 8);
  for (const auto& r : plain_registers) regs_[r.offset / 8] = r.reset;
  for (unsigned i = 0; i < GGAS_MSIX_NUM; ++i) regs_[GGAS_REG_MSIX_CTRL(i) / 8] = GGAS_MSIX_CTRL_MASK_MASK;
}

uint16_t reference_model::own() const { return uint16_t(reg(GGAS_REG_NODE)); }

void reference_model::raise(uint8_t code, uint16_t node, uint64_t info) {
  count(uint16_t(GGAS_REG_EVENT_COUNT(code)));
  events_.push_back({code, node, info & info_mask});
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

net_status reference_model::rma_route(uint16_t node) const {
  net_status why{};
  return reachable(node, why) ? net_status::ok : why;
}

void reference_model::host_request(const tlp& t) {
  const bool memory = t.kind == tlp_kind::mrd || t.kind == tlp_kind::mwr;
  const bool in_pages = t.bar == bar_pages && t.addr < rma_contexts * page_bytes;
  const bool quiet_page = in_pages && t.kind == tlp_kind::mrd && t.addr % page_bytes == 0 && t.len_dw <= 2;
  const bool page = in_pages && t.kind == tlp_kind::mwr && rma_model::takes(t);
  const bool served = memory && (t.bar == bar_registers || t.bar == bar_window || quiet_page || page);
  const bool too_long = t.kind == tlp_kind::mwr && 4u * t.len_dw > cfg_.mps;
  if (memory && (too_long || broken_rule(t))) {
    raise(GGAS_EV_MALFORMED_TLP, 0, t.addr);
    if (t.non_posted()) complete_error(t, cpl_status::ur, 0);
    return;
  }
  if (!served) {
    raise(GGAS_EV_UNSUPPORTED_TLP, 0, t.addr);
    if (t.non_posted()) complete_error(t, cpl_status::ur, 0);
    return;
  }
  if (t.bar == bar_registers) return register_access(t);
  if (t.bar == bar_window) return t.posted() ? window_store(t) : window_load(t);
  if (page) return rma_.page_write(t);
  quiets_.push_back({t, {}});
  if (quiets_.size() == 1) start_quiet();
}

void reference_model::register_access(const tlp& t) {
  const bool word = t.len_dw == 1 && t.first_be == 0xf;
  const bool both = t.len_dw == 2 && t.first_be == 0xf && t.last_be == 0xf && t.addr % 8 == 0;
  const uint16_t offset = uint16_t(t.addr & 0xfff8);
  const bool known = std::ranges::find(plain_registers, offset, &writable::offset) != std::end(plain_registers) ||
                     is_counter(offset) || is_interval(offset) || is_msix(offset) || is_context(offset) ||
                     offset == GGAS_REG_ID || offset == GGAS_REG_CAPS ||
                     std::ranges::find(time_dependent, offset) != std::end(time_dependent);
  if (!(word || both) || t.addr > 0xffff || !known) {
    raise(GGAS_EV_UNSUPPORTED_TLP, 0, t.addr);
    if (t.non_posted()) complete_error(t, cpl_status::ur, 0);
    return;
  }
  const unsigned shift = t.addr & 4 ? 32 : 0;
  if (t.posted()) {
    const uint64_t value = uint64_t{t.data[0]} << shift | (both ? uint64_t{t.data[1]} << 32 : 0);
    write_register(offset, value, both ? ~0ull : 0xffffffffull << shift);
    return;
  }
  uint64_t value = read_register(offset).value_or(0);
  if (offset == GGAS_REG_ATU_STATUS) value = rma_.atu_status();
  if (is_context(offset) && offset % context_bytes / 8 == context_state) value = rma_.context_busy(context_of(offset));
  std::vector<uint32_t> dws{uint32_t(value >> shift)};
  if (both) dws.push_back(uint32_t(value >> 32));
  complete_data(t, std::move(dws), 0);
}

void reference_model::write_register(uint16_t offset, uint64_t value, uint64_t mask) {
  const auto merge = [&](uint64_t bits) {
    uint64_t& r = regs_[offset / 8];
    r = (r & ~(mask & bits)) | (value & mask & bits);
  };
  for (const auto& r : plain_registers)
    if (r.offset == offset) merge(r.mask);
  if (is_msix(offset)) merge(offset & 8 ? GGAS_MSIX_CTRL_DATA_MASK | GGAS_MSIX_CTRL_MASK_MASK : ~0ull);
  if (offset == GGAS_REG_ATU_INVALIDATE) rma_.invalidate((value & mask) | (reg(offset) & ~mask));
  if (is_context(offset)) {
    const unsigned word = offset % context_bytes / 8;
    if (word == context_state) return;
    merge(context_masks[word]);
    rma_.write_context(context_of(offset), word, reg(offset));
  }
  if (!is_interval(offset)) return;
  const bool target = (offset & 0x18) == 0x10;
  merge(target ? GGAS_INTERVAL_TARGET_NODE_MASK | GGAS_INTERVAL_TARGET_VALID_MASK : ~0ull);
  if (!target) regs_[(offset & ~0x1fu) / 8 + 2] &= ~GGAS_INTERVAL_TARGET_VALID_MASK;
  if (!target || !(reg(offset) & GGAS_INTERVAL_TARGET_VALID_MASK)) return;
  const uint64_t start = reg(uint16_t(offset - 16)), end = reg(uint16_t(offset - 8));
  if (start < end && start % page_bytes == 0 && end % page_bytes == 0) return;
  regs_[offset / 8] &= ~GGAS_INTERVAL_TARGET_VALID_MASK;
  raise(GGAS_EV_BAD_INTERVAL, 0, (offset - GGAS_REG_INTERVAL_START(0)) / 32u);
}

std::optional<uint64_t> reference_model::read_register(uint16_t offset) const {
  if (std::ranges::find(time_dependent, offset) != std::end(time_dependent)) return std::nullopt;
  if (is_context(offset) && offset % context_bytes / 8 == context_state) return std::nullopt;
  if (offset == GGAS_REG_ID) return 0x53414747ull | 1ull << 32;
  if (offset == GGAS_REG_CAPS)
    return data_width_ | uint64_t{mtu_bytes} << 16 | 64ull << 32 | uint64_t{GGAS_INTERVAL_NUM} << 40 |
           uint64_t{GGAS_MSIX_NUM} << 48;
  return reg(offset);
}

std::optional<reference_model::place> reference_model::lookup(uint64_t offset, uint64_t bytes) const {
  const uint64_t ctrl = reg(GGAS_REG_SMFU_CTRL);
  if (!(ctrl & GGAS_SMFU_CTRL_EGRESS_MASK)) return std::nullopt;
  if (ctrl & GGAS_SMFU_CTRL_MODE_MASK) {
    const uint64_t mask = reg(GGAS_REG_SMFU_MASK), s = reg(GGAS_REG_SMFU_SHIFT);
    const uint64_t shift = s & GGAS_SMFU_SHIFT_SHIFT_MASK, nodes = s >> GGAS_SMFU_SHIFT_NODES_SHIFT & 0xffff;
    const uint64_t node = (offset & mask) >> shift;
    if (node >= nodes || ((offset + bytes - 1) & mask) != (offset & mask)) return std::nullopt;
    return place{uint16_t(node), offset & ~mask};
  }
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i) {
    const uint64_t target = reg(uint16_t(GGAS_REG_INTERVAL_TARGET(i)));
    const uint64_t start = reg(uint16_t(GGAS_REG_INTERVAL_START(i))), end = reg(uint16_t(GGAS_REG_INTERVAL_END(i)));
    if (target & GGAS_INTERVAL_TARGET_VALID_MASK && offset >= start && offset < end) {
      if (offset + bytes > end) return std::nullopt;
      return place{uint16_t(target & GGAS_INTERVAL_TARGET_NODE_MASK), offset - start};
    }
  }
  return std::nullopt;
}

bool reference_model::reachable(uint16_t node, net_status& why) const {
  const uint64_t peer = reg(GGAS_REG_LINK_PEER);
  why = net_status::unreachable;
  if (node >= max_nodes) return false;
  if (node == own()) return true;
  if (!(peer & GGAS_LINK_PEER_VALID_MASK) || (peer & GGAS_LINK_PEER_NODE_MASK) != node) return false;
  why = net_status::link_down;
  return link_up_;
}

void reference_model::fail_store(net_status s) {
  if (sticky_ == net_status::ok) sticky_ = s;
}

void reference_model::window_store(const tlp& t) {
  count(GGAS_REG_SMFU_STORES_IN);
  const auto where = lookup(t.addr, 4u * t.len_dw);
  if (!where) return raise(GGAS_EV_STORE_UNMAPPED, 0, t.addr);
  net_status why{};
  if (!reachable(where->node, why)) {
    fail_store(why);
    return raise(GGAS_EV_STORE_UNREACHABLE, where->node, t.addr);
  }
  dirty_[where->node] = true;
  for (unsigned dw = 0; dw < t.len_dw; dw += mtu_dw) {
    const unsigned n = std::min<unsigned>(mtu_dw, t.len_dw - dw);
    packet p{.dst = where->node, .len_dw = uint16_t(n), .vc = uint8_t(vc::p), .op = uint8_t(op::store)};
    p.addr = where->addr + 4 * dw;
    p.first_be = uint8_t(byte_enables(t, dw));
    p.last_be = n > 1 ? uint8_t(byte_enables(t, dw + n - 1)) : 0;
    p.data.assign(t.data.begin() + dw, t.data.begin() + dw + n);
    count(GGAS_REG_SMFU_STORE_PACKETS);
    send(std::move(p));
  }
}

void reference_model::window_load(const tlp& t) {
  count(GGAS_REG_SMFU_LOADS_IN);
  const auto where = lookup(t.addr, 4u * t.len_dw);
  net_status why{};
  if (!where || !reachable(where->node, why)) {
    raise(where ? GGAS_EV_LOAD_UNREACHABLE : GGAS_EV_LOAD_UNMAPPED, where ? where->node : 0, t.addr);
    count(GGAS_REG_SMFU_LOAD_ERRORS);
    return complete_error(t, cpl_status::ur, 0);
  }
  const uint16_t tag = new_net_tag();
  const unsigned unit = std::min<unsigned>(mtu_bytes, cfg_.mps);
  waiting& w = waiting_[tag];
  w.request = t;
  w.node = where->node;
  std::vector<packet> out;
  for (unsigned dw = 0; dw < t.len_dw;) {
    const uint64_t addr = where->addr + 4 * dw;
    const unsigned n = std::min<unsigned>(unsigned(unit - addr % unit) / 4, t.len_dw - dw);
    packet p{.dst = where->node, .vc = uint8_t(vc::np), .op = uint8_t(op::load), .tag = tag};
    p.req_dw = uint16_t(n);
    p.addr = addr;
    p.first_be = uint8_t(byte_enables(t, dw));
    p.last_be = n > 1 ? uint8_t(byte_enables(t, dw + n - 1)) : 0;
    w.pieces.push_back(n);
    out.push_back(std::move(p));
    dw += n;
  }
  for (auto& p : out) {
    count(GGAS_REG_SMFU_LOAD_PACKETS);
    send(std::move(p));
  }
}

// ---------------------------------------------------------------------------------------------- quiet

void reference_model::start_quiet() {
  quiet& q = quiets_.front();
  std::vector<packet> out;
  for (auto& [node, dirty] : dirty_) {
    if (!std::exchange(dirty, false)) continue;
    net_status why{};
    if (!reachable(node, why)) {
      fail_store(why);
      raise(GGAS_EV_QUIET_FAILED, node, uint64_t(why));
      continue;
    }
    packet p{.dst = node, .vc = uint8_t(vc::np), .op = uint8_t(op::quiet), .tag = new_net_tag()};
    waiting_[p.tag] = {q.request, true, node, {}, 0};
    q.nodes.push_back(node);
    out.push_back(std::move(p));
  }
  if (q.nodes.empty()) return finish_quiet();
  for (auto& p : out) send(std::move(p));
}

void reference_model::finish_quiet() {
  const quiet q = std::move(quiets_.front());
  quiets_.pop_front();
  std::vector<uint32_t> dws(q.request.len_dw, 0);
  dws[0] = uint32_t(std::exchange(sticky_, net_status::ok));
  count(GGAS_REG_SMFU_QUIETS);
  complete_data(q.request, std::move(dws), 0);
  if (!quiets_.empty()) start_quiet();
}

// ---------------------------------------------------------------------------------------------- network

void reference_model::send(packet&& p) {
  p.src = own();
  if (p.dst == own()) return accept(p);
  count(GGAS_REG_LINK_TX_PACKETS);
  packets_.push_back(std::move(p));
}

void reference_model::from_link(const packet& p) {
  count(GGAS_REG_LINK_RX_PACKETS);
  accept(p);
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
  raise(GGAS_EV_BAD_PACKET, p.src, p.op);
}

// ---------------------------------------------------------------------------------------------- responses

void reference_model::response(const packet& p) {
  const auto it = waiting_.find(p.tag);
  const bool match = it != waiting_.end() && it->second.node == p.src && it->second.quiet == p.is(op::quiet_rsp);
  if (!match) return raise(GGAS_EV_UNEXPECTED_RSP, p.src, p.tag);
  const bool quiet = it->second.quiet;
  if (p.status != uint8_t(net_status::ok)) {
    const uint8_t code = quiet ? GGAS_EV_QUIET_FAILED : GGAS_EV_LOAD_REMOTE_ERROR;
    return end_waiting(p.tag, net_status(p.status), {code, p.src, p.status});
  }
  if (quiet) return end_waiting(p.tag, net_status::ok, {});
  load_data(p.tag, p);
}

void reference_model::load_data(uint16_t tag, const packet& rsp) {
  waiting& w = waiting_[tag];
  if (rsp.len_dw != w.pieces.front())
    return end_waiting(tag, net_status::host_error, {GGAS_EV_BAD_PACKET, rsp.src, rsp.op});
  complete_data(w.request, {rsp.data.begin(), rsp.data.end()}, w.dw_sent);
  w.dw_sent += rsp.len_dw;
  w.pieces.pop_front();
  count(GGAS_REG_SMFU_LOAD_CPLS);  // one completion an answer
  if (w.pieces.empty()) waiting_.erase(tag);
}

// Ends what waits for `tag`: a load, or one node of the quiet.
void reference_model::end_waiting(uint16_t tag, net_status s, const event& e) {
  const auto it = waiting_.find(tag);
  if (it == waiting_.end()) return;
  const waiting w = std::move(it->second);
  waiting_.erase(it);
  if (e.code) raise(e.code, e.node, e.info);
  if (w.quiet) {
    if (s != net_status::ok) fail_store(s);
    std::erase(quiets_.front().nodes, w.node);
    if (quiets_.front().nodes.empty()) finish_quiet();
    return;
  }
  count(GGAS_REG_SMFU_LOAD_ERRORS);
  complete_error(w.request, cpl_status::ca, w.dw_sent);
}

void reference_model::load_timeout(uint16_t tag) {
  const auto it = waiting_.find(tag);
  if (it == waiting_.end()) return;
  const bool quiet = it->second.quiet;
  const uint64_t info = quiet ? uint64_t(net_status::timeout) : tag;
  const uint8_t code = quiet ? GGAS_EV_QUIET_FAILED : GGAS_EV_LOAD_TIMEOUT;
  end_waiting(tag, net_status::timeout, {code, it->second.node, info});
}

void reference_model::link_up(bool up) {
  const bool died = link_up_ && !up;
  link_up_ = up;
  if (!died) return;
  for (auto& [node, dirty] : dirty_)
    if (dirty && node != own()) fail_store(net_status::link_down);
  std::vector<uint16_t> tags;
  for (const auto& [tag, w] : waiting_)
    if (w.node != own()) tags.push_back(tag);
  for (uint16_t tag : tags) {
    const auto it = waiting_.find(tag);
    if (it == waiting_.end()) continue;
    const uint8_t code = it->second.quiet ? GGAS_EV_QUIET_FAILED : GGAS_EV_LOAD_REMOTE_ERROR;
    end_waiting(tag, net_status::link_down, {code, it->second.node, uint64_t(net_status::link_down)});
  }
  rma_.link_died();
  rma_.run();
}

uint16_t reference_model::new_net_tag() {
  while (waiting_.contains(next_net_tag_)) ++next_net_tag_;
  return next_net_tag_++;
}

// ---------------------------------------------------------------------------------------------- completions

// Ends a request whose first `dw` DWs were answered.
void reference_model::complete_error(const tlp& request, cpl_status status, unsigned dw) {
  tlp c{.kind = tlp_kind::cpl, .len_dw = 0, .tag = request.tag, .requester = request.requester};
  c.completer = cfg_.bus_id;
  c.status = status;
  c.byte_count = uint16_t(bytes_left(request, dw));
  c.lower_addr = lower_address(request, dw);
  completions_.push_back(std::move(c));
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

}  // namespace ggas::nic
