// SPDX-License-Identifier: Apache-2.0
// The reference model at the source: the host's stores and loads of the window, quiets, and what other nodes answer.
#include <algorithm>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_model.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

using pcie::tlp;

// ---------------------------------------------------------------------------------------------- window

std::optional<reference_model::place> reference_model::lookup(uint64_t offset, uint64_t bytes) const {
  const uint64_t ctrl = reg(GGAS_REG_SMFU_CTRL);
  if (!(ctrl & GGAS_SMFU_CTRL_EGRESS_MASK) || stopped()) return std::nullopt;
  if (ctrl & GGAS_SMFU_CTRL_MODE_MASK) {
    const uint64_t mask = reg(GGAS_REG_SMFU_MASK), s = reg(GGAS_REG_SMFU_SHIFT);
    const uint64_t shift = s & GGAS_SMFU_SHIFT_SHIFT_MASK, nodes = s >> GGAS_SMFU_SHIFT_NODES_SHIFT & 0xffff;
    const uint64_t node = (offset & mask) >> shift;
    if (node >= nodes) return std::nullopt;
    for (uint64_t at = offset & ~uint64_t{3}; at < offset + bytes; at += 4)
      if ((at & mask) != (offset & mask)) return std::nullopt;
    return place{uint16_t(node), offset & ~mask, uint8_t(s >> GGAS_SMFU_SHIFT_EXPORT_NO_SHIFT),
                 uint16_t(s >> GGAS_SMFU_SHIFT_DOMAIN_SHIFT)};
  }
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i) {
    const uint64_t target = reg(uint16_t(GGAS_REG_INTERVAL_TARGET(i)));
    const uint64_t start = reg(uint16_t(GGAS_REG_INTERVAL_START(i))), end = reg(uint16_t(GGAS_REG_INTERVAL_END(i)));
    if (target & GGAS_INTERVAL_TARGET_VALID_MASK && offset >= start && offset < end) {
      if (offset + bytes > end) return std::nullopt;
      return place{uint16_t(target),
                   offset - start,
                   uint8_t(target >> GGAS_INTERVAL_TARGET_EXPORT_NO_SHIFT),
                   uint16_t(target >> GGAS_INTERVAL_TARGET_DOMAIN_SHIFT),
                   uint8_t(i),
                   bool(target & GGAS_INTERVAL_TARGET_GROUP_MASK)};
    }
  }
  return std::nullopt;
}

// The interval in which an access begins that has no place.
uint8_t reference_model::interval_of(uint64_t offset) const {
  if (reg(GGAS_REG_SMFU_CTRL) & GGAS_SMFU_CTRL_MODE_MASK) return event::no_interval;
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i)
    if (reg(uint16_t(GGAS_REG_INTERVAL_TARGET(i))) & GGAS_INTERVAL_TARGET_VALID_MASK &&
        offset >= reg(uint16_t(GGAS_REG_INTERVAL_START(i))) && offset < reg(uint16_t(GGAS_REG_INTERVAL_END(i))))
      return uint8_t(i);
  return event::no_interval;
}

// Errors between two answers share an epoch; a page gets the first error of the newest epoch that was not reported to
// it. An error of a domain concerns the pages of its contexts, and those without a context.
void reference_model::fail_store(net_status s, std::optional<uint16_t> domain) {
  const auto keep = [&](quiet_error& e, uint64_t epoch) {
    if (e.open) return false;
    e = {s, epoch, true};
    return true;
  };
  const bool any = keep(any_error_, quiet_epoch_ + 1);
  const bool more = keep(domain ? domain_errors_[*domain % quiet_places] : all_error_, quiet_epoch_ + 1);
  quiet_epoch_ += any || more;
}

net_status reference_model::quiet_answer(uint64_t page) const {
  const auto reported = quiet_reported_of_.find(page);
  const auto news = [&](const quiet_error& e) {
    return reported == quiet_reported_of_.end() ? e.epoch != 0 : e.epoch > reported->second;
  };
  const auto domain = rma_.domain_of(page);
  if (!domain) return news(any_error_) ? any_error_.status : net_status::ok;
  if (news(all_error_)) return all_error_.status;
  const auto own = domain_errors_.find(*domain % quiet_places);
  return own != domain_errors_.end() && news(own->second) ? own->second.status : net_status::ok;
}

void reference_model::quiet_reported(uint64_t page) {
  quiet_reported_of_[page] = quiet_epoch_;
  const auto domain = rma_.domain_of(page);
  (domain ? all_error_ : any_error_).open = false;
  if (domain) domain_errors_[*domain % quiet_places].open = false;
}

// After a store to a group a quiet asks all nodes.
void reference_model::mark_dirty(const place& where) {
  if (!where.group) {
    dirty_[where.node] = true;
    return;
  }
  const uint64_t last = reg(GGAS_REG_LINK_PEER) & GGAS_LINK_PEER_NODE_MASK;
  for (uint64_t n = 0; n <= last; ++n) dirty_[uint16_t(n)] = true;
}

void reference_model::window_store(const tlp& t) {
  count(GGAS_REG_SMFU_STORES_IN);
  const auto where = lookup(t.addr, 4u * t.len_dw);
  if (!where) return raise(GGAS_EV_STORE_UNMAPPED, 0, t.addr, interval_of(t.addr));
  net_status why{};
  if (!where->group && !reachable(where->node, why)) {
    fail_store(why, where->domain);
    return raise(GGAS_EV_STORE_UNREACHABLE, where->node, t.addr, where->interval);
  }
  mark_dirty(*where);
  for (unsigned dw = 0; dw < t.len_dw; dw += mtu_dw) {
    const unsigned n = std::min<unsigned>(mtu_dw, t.len_dw - dw);
    packet p{.dst = where->node, .len_dw = uint16_t(n), .vc = uint8_t(vc::p), .op = uint8_t(op::store)};
    if (where->group) p.op |= op_multicast;
    p.addr = where->addr + 4 * dw;
    p.export_no = where->export_no;
    p.domain = where->domain;
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
  if (!where) return refuse_read(t, GGAS_EV_LOAD_UNMAPPED, 0, interval_of(t.addr));
  if (where->group) return refuse_read(t, GGAS_EV_LOAD_UNMAPPED, 0, where->interval);
  if (!reachable(where->node, why)) return refuse_read(t, GGAS_EV_LOAD_UNREACHABLE, where->node, where->interval);
  const uint16_t tag = new_net_tag();
  const unsigned unit = std::min<unsigned>(mtu_bytes, cfg_.mps);
  waiting& w = waiting_[tag];
  w.request = t;
  w.node = where->node;
  w.interval = where->interval;
  std::vector<packet> out;
  for (unsigned dw = 0; dw < t.len_dw;) {
    const uint64_t addr = where->addr + 4 * dw;
    const unsigned n = std::min<unsigned>(unsigned(unit - addr % unit) / 4, t.len_dw - dw);
    packet p{.dst = where->node, .vc = uint8_t(vc::np), .op = uint8_t(op::load), .tag = tag};
    p.req_dw = uint16_t(n);
    p.set_whole(n == t.len_dw);
    p.addr = addr;
    p.export_no = where->export_no;
    p.domain = where->domain;
    p.first_be = uint8_t(byte_enables(t, dw));
    p.last_be = n > 1 ? uint8_t(byte_enables(t, dw + n - 1)) : 0;
    w.pieces.push_back({p.piece(), n});
    out.push_back(std::move(p));
    dw += n;
  }
  for (auto& p : out) {
    count(GGAS_REG_SMFU_LOAD_PACKETS);
    send(std::move(p));
  }
}

uint16_t reference_model::new_net_tag() {
  while (waiting_.contains(next_net_tag_)) ++next_net_tag_;
  return next_net_tag_++;
}

// ---------------------------------------------------------------------------------------------- quiet

void reference_model::ask_quiet(quiet&& q) {
  quiets_.push_back(std::move(q));
  if (quiets_.size() == 1) start_quiet();
}

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
    waiting_[p.tag] = {.request = q.request, .quiet = true, .node = node, .pieces = {}};
    q.nodes.push_back(node);
    out.push_back(std::move(p));
  }
  if (q.nodes.empty()) return finish_quiet();
  for (auto& p : out) send(std::move(p));
}

void reference_model::finish_quiet() {
  const quiet q = std::move(quiets_.front());
  quiets_.pop_front();
  const uint64_t page = q.request.addr / rma_context_bytes;
  const net_status found = quiet_answer(page);
  if (q.reported) {
    q.reported(found);  // the next read of the page receives it, too
  } else {
    quiet_reported(page);
    std::vector<uint32_t> dws(q.request.len_dw, 0);
    dws[0] = uint32_t(found);
    count(GGAS_REG_SMFU_QUIETS);
    complete_data(q.request, std::move(dws), 0);
  }
  if (!quiets_.empty()) start_quiet();
}

// ---------------------------------------------------------------------------------------------- responses

void reference_model::response(const packet& p) {
  const auto it = waiting_.find(p.tag);
  const bool match = it != waiting_.end() && it->second.node == p.src && it->second.quiet == p.is(op::quiet_rsp);
  if (!match) return raise(GGAS_EV_UNEXPECTED_RSP, p.src, p.tag);
  const bool quiet = it->second.quiet;
  if (p.status != uint8_t(net_status::ok)) {
    const uint8_t code = quiet ? GGAS_EV_QUIET_FAILED : GGAS_EV_LOAD_REMOTE_ERROR;
    const bool one = quiet && p.addr & 1;  // of that domain alone
    return end_waiting(p.tag, net_status(p.status), {code, p.src, p.status},
                       one ? std::optional(p.domain) : std::nullopt);
  }
  if (quiet) return end_waiting(p.tag, net_status::ok, {});
  load_data(p.tag, p);
}

void reference_model::load_data(uint16_t tag, const packet& rsp) {
  waiting& w = waiting_[tag];
  if (rsp.piece() != w.pieces.front().at)  // the one before it was lost
    return end_waiting(tag, net_status::timeout, {GGAS_EV_LOAD_TIMEOUT, rsp.src, tag});
  if (rsp.len_dw != w.pieces.front().dw)
    return end_waiting(tag, net_status::host_error, {GGAS_EV_BAD_PACKET, rsp.src, rsp.op});
  complete_data(w.request, {rsp.data.begin(), rsp.data.end()}, w.dw_sent);
  w.dw_sent += rsp.len_dw;
  w.pieces.pop_front();
  count(GGAS_REG_SMFU_LOAD_CPLS);  // one completion an answer
  if (w.pieces.empty()) waiting_.erase(tag);
}

// Ends what waits for `tag`: a load, or one node of the quiet.
void reference_model::end_waiting(uint16_t tag, net_status s, const event& e, std::optional<uint16_t> domain) {
  const auto it = waiting_.find(tag);
  if (it == waiting_.end()) return;
  const waiting w = std::move(it->second);
  waiting_.erase(it);
  if (e.code) raise(e.code, e.node, e.info, w.interval);
  if (w.quiet) {
    if (s != net_status::ok) fail_store(s, domain);
    std::erase(quiets_.front().nodes, w.node);
    if (quiets_.front().nodes.empty()) finish_quiet();
    return;
  }
  complete_ones(w.request, w.dw_sent);
}

void reference_model::load_timeout(uint16_t tag) {
  const auto it = waiting_.find(tag);
  if (it == waiting_.end()) return;
  const bool quiet = it->second.quiet;
  const uint64_t info = quiet ? uint64_t(net_status::timeout) : tag;
  const uint8_t code = quiet ? GGAS_EV_QUIET_FAILED : GGAS_EV_LOAD_TIMEOUT;
  end_waiting(tag, net_status::timeout, {code, it->second.node, info});
}

// The link died: neither loads and quiets nor stores under way are answered.
void reference_model::lose_responses() {
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
}

}  // namespace ggas::nic
