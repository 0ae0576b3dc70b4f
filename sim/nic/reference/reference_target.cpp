// SPDX-License-Identifier: Apache-2.0
// The reference model at the target: packets of other nodes against the exports and the local host.
#include <algorithm>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_model.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

namespace {
// What the event of a refused packet says.
uint64_t refused_info(const packet& p) { return uint64_t{p.export_no} << 32 | uint32_t(p.addr); }
}  // namespace

bool reference_model::ingress() const { return reg(GGAS_REG_SMFU_CTRL) & GGAS_SMFU_CTRL_INGRESS_MASK && !stopped(); }

std::optional<reference_model::exported> reference_model::export_of(unsigned number) const {
  if (number >= GGAS_EXPORT_NUM) return std::nullopt;
  const uint64_t access = reg(uint16_t(GGAS_REG_EXPORT_ACCESS(number)));
  if (!(access & GGAS_EXPORT_ACCESS_VALID_MASK)) return std::nullopt;
  return exported{.base = reg(uint16_t(GGAS_REG_EXPORT_BASE(number))),
                  .size = reg(uint16_t(GGAS_REG_EXPORT_SIZE(number))),
                  .domain = uint16_t(access),
                  .read = bool(access & GGAS_EXPORT_ACCESS_READ_MASK),
                  .write = bool(access & GGAS_EXPORT_ACCESS_WRITE_MASK)};
}

// Neither a store nor a load crosses a page, and sizes are whole pages.
std::optional<reference_model::exported> reference_model::allowed(const packet& p, bool write) const {
  const auto e = export_of(p.export_no);
  const bool may = e && (write ? e->write : e->read) && p.domain == e->domain && p.addr < e->size;
  return may && ingress() ? e : std::nullopt;
}

void reference_model::target_store(const packet& p) {
  const bool sane = p.len_dw >= 1 && p.len_dw <= mtu_dw && p.addr % 4 == 0 &&
                    p.addr % page_bytes + 4u * p.len_dw <= page_bytes &&
                    enables_allowed(p.len_dw, p.addr, p.first_be, p.last_be);
  if (!sane) return raise(GGAS_EV_BAD_PACKET, p.src, p.op);
  const auto e = allowed(p, true);
  if (!e) {
    refused_stores& lost = lost_for_[p.src];
    lost = {true, lost.any && (lost.several || lost.domain != p.domain), p.domain};
    return raise(GGAS_EV_TARGET_RANGE, p.src, refused_info(p));
  }
  written_.insert(p.export_no);
  rma_.data_written();
  const unsigned mps_dw = cfg_.mps / 4u;
  for (unsigned dw = 0; dw < p.len_dw;) {
    const uint64_t addr = e->base + p.addr + 4 * dw;
    const unsigned n = unsigned(std::min<uint64_t>({mps_dw, p.len_dw - dw, (page_bytes - addr % page_bytes) / 4}));
    tlp w{.kind = tlp_kind::mwr, .addr = addr, .len_dw = uint16_t(n), .requester = cfg_.bus_id};
    const auto be = [&](unsigned i) { return i == 0 ? p.first_be : i + 1u == p.len_dw ? p.last_be : uint8_t(0xf); };
    w.first_be = be(dw);
    w.last_be = n > 1 ? be(dw + n - 1) : 0;
    w.data.assign(p.data.begin() + dw, p.data.begin() + dw + n);
    requests_.push_back({std::move(w), p.src, false});
    dw += n;
  }
  count(GGAS_REG_SMFU_TARGET_STORES);
}

void reference_model::target_load(const packet& p) {
  const bool sane = p.len_dw == 0 && p.req_dw >= 1 && p.req_dw <= mtu_dw && p.addr % 4 == 0 &&
                    p.addr % mtu_bytes + 4u * p.req_dw <= mtu_bytes &&
                    enables_allowed(p.req_dw, p.addr, p.first_be, p.last_be);
  packet rsp{.dst = p.src, .vc = uint8_t(vc::rsp), .op = uint8_t(op::load_rsp), .tag = p.tag};
  rsp.addr = p.piece();
  rsp.set_whole(p.whole());
  const auto e = allowed(p, false);
  if (!sane || !e) {
    if (sane)
      raise(GGAS_EV_TARGET_RANGE, p.src, refused_info(p));
    else
      raise(GGAS_EV_BAD_PACKET, p.src, p.op);
    rsp.status = uint8_t(net_status::range);
    return send(std::move(rsp));
  }
  const uint64_t key = next_key_++;
  const unsigned mrrs_dw = cfg_.mrrs / 4u;
  read& r = reads_[key];
  r.request = p;
  r.dw = p.req_dw;
  r.data.resize(p.req_dw);
  for (unsigned dw = 0; dw < p.req_dw; ++r.pieces) {
    const unsigned n = std::min<unsigned>(mrrs_dw, p.req_dw - dw);
    const auto be = [&](unsigned i) { return i == 0 ? p.first_be : i + 1u == p.req_dw ? p.last_be : uint8_t(0xf); };
    tlp m{.kind = tlp_kind::mrd, .addr = e->base + p.addr + 4 * dw, .len_dw = uint16_t(n), .requester = cfg_.bus_id};
    m.first_be = be(dw);
    m.last_be = n > 1 ? be(dw + n - 1) : 0;
    m.tag = new_host_tag();
    host_tags_[m.tag] = {key, dw, n};
    requests_.push_back({std::move(m), p.src, false});
    dw += n;
  }
}

// A read of no bytes from each export that was written: its completion pushes every write before it into memory.
void reference_model::target_quiet(const packet& p) {
  const uint64_t key = next_key_++;
  read& r = reads_[key];
  r.request = p;
  r.dw = 1;
  r.data.resize(1);
  if (!ingress()) {
    if (!lost_for_[p.src].any) raise(GGAS_EV_TARGET_RANGE, p.src, refused_info(p));
    return end_read(key, net_status::range);
  }
  for (const uint8_t number : std::exchange(written_, {})) {
    const auto e = export_of(number);
    if (!e) continue;  // taken back
    tlp m{.kind = tlp_kind::mrd, .addr = e->base, .first_be = 0, .requester = cfg_.bus_id};
    m.tag = new_host_tag();
    host_tags_[m.tag] = {key, 0, 1};
    r.flushed.push_back(number);
    ++r.pieces;
    requests_.push_back({std::move(m), p.src, true});
  }
  if (r.pieces == 0) end_read(key, net_status::ok);
}

void reference_model::host_completion(const tlp& t) {
  const auto it = host_tags_.find(t.tag);
  if (it == host_tags_.end() || t.len_dw > it->second.dw_left) return raise(GGAS_EV_UNEXPECTED_CPL, 0, t.tag);
  piece_of_read& piece = it->second;
  read& r = reads_[piece.read];
  const uint64_t key = piece.read;
  const bool flush = r.request.is(op::quiet);
  if (t.status != cpl_status::sc || t.poisoned) {
    if (!flush || t.status == cpl_status::ca) {
      raise(GGAS_EV_TARGET_HOST_ERROR, r.request.src, uint64_t(t.status));
      return end_read(key, net_status::host_error);
    }
  }
  for (unsigned i = 0; i < t.len_dw && i < t.data.size(); ++i) r.data[piece.dw_first + i] = t.data[i];
  piece.dw_first += t.len_dw;
  piece.dw_left -= t.len_dw;
  if (piece.dw_left && !flush) return;
  host_tags_.erase(it);
  if (--r.pieces == 0) end_read(key, net_status::ok);
}

void reference_model::target_timeout(uint16_t tag) {
  if (tag >= rma_model::first_tag && tag <= rma_model::last_tag) {
    rma_.host_timeout(tag);
    return rma_.run();
  }
  const auto it = host_tags_.find(tag);
  if (it == host_tags_.end()) return;
  const uint64_t key = it->second.read;
  raise(GGAS_EV_TARGET_TIMEOUT, reads_[key].request.src, reads_[key].request.tag);
  end_read(key, net_status::timeout);
}

// Loads of one source are answered in order: the packets of a long load share a tag.
void reference_model::end_read(uint64_t key, net_status s) {
  std::erase_if(host_tags_, [&](const auto& e) { return e.second.read == key; });
  const uint16_t source = reads_[key].request.src;
  reads_[key].done = true;
  reads_[key].status = s;
  if (s != net_status::ok) written_.insert(reads_[key].flushed.begin(), reads_[key].flushed.end());
  for (auto it = reads_.begin(); it != reads_.end();) {
    const read& r = it->second;
    const bool flush = r.request.is(op::quiet);
    if (r.request.src != source || (flush && !r.done)) {
      ++it;
      continue;
    }
    if (!r.done) return;
    const read finished = std::move(it->second);
    it = reads_.erase(it);
    answer(finished);
  }
}

void reference_model::answer(const read& r) {
  const net_status s = r.status;
  packet rsp{.dst = r.request.src, .vc = uint8_t(vc::rsp), .status = uint8_t(s), .tag = r.request.tag};
  rsp.op = uint8_t(r.request.is(op::quiet) ? op::quiet_rsp : op::load_rsp);
  if (r.request.is(op::load)) {
    rsp.addr = r.request.piece();
    rsp.set_whole(r.request.whole());
  } else {
    const refused_stores lost = std::exchange(lost_for_[r.request.src], {});
    if (lost.any && s == net_status::ok) {
      rsp.status = uint8_t(net_status::range);
      if (!lost.several) rsp.domain = lost.domain, rsp.addr = 1;
    }
  }
  if (r.request.is(op::load) && s == net_status::ok) {
    rsp.len_dw = uint16_t(r.dw);
    rsp.data.assign(r.data.begin(), r.data.end());
    count(GGAS_REG_SMFU_TARGET_LOADS);
  }
  send(std::move(rsp));
}

uint16_t reference_model::new_host_tag() {
  constexpr uint16_t tags = 1024;
  const auto taken = [&](uint16_t tag) {
    return host_tags_.contains(tag) || (tag >= rma_model::first_tag && tag <= rma_model::last_tag);
  };
  while (taken(next_host_tag_)) next_host_tag_ = uint16_t((next_host_tag_ + 1) % tags);
  return std::exchange(next_host_tag_, uint16_t((next_host_tag_ + 1) % tags));
}

}  // namespace ggas::nic
