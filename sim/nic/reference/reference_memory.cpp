// SPDX-License-Identifier: Apache-2.0
// The RMA of the reference model towards memory: reads and writes of the local host, translations.
#include <algorithm>
#include <array>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_rma.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

using pcie::cpl_status;
using pcie::tlp;
using pcie::tlp_kind;

namespace {

constexpr unsigned entry_bytes = 16, piece_entries = 65536;

uint64_t page_address(uint64_t base) { return base & ~(page_bytes - 1); }

// Offset in its class and size of the page of an address.
constexpr unsigned page_shifts[4] = {12, 16, 21, 30};
unsigned class_of(uint64_t nla) { return unsigned(nla >> 46 & 3); }
uint64_t offset_of(uint64_t nla) { return nla & ((uint64_t{1} << 46) - 1); }
uint64_t page_of(uint64_t nla) { return nla >> page_shifts[class_of(nla)] << page_shifts[class_of(nla)]; }

}  // namespace

// ---------------------------------------------------------------------------------------------- the local host

void rma_model::host_write(uint64_t addr, std::span<const uint32_t> dws, unsigned first_be, unsigned last_be) {
  for (size_t i = 0; i < dws.size();) {
    const uint64_t at = addr + 4 * i;
    const auto n = size_t(std::min<uint64_t>({cfg_.mps / 4u, dws.size() - i, (page_bytes - at % page_bytes) / 4}));
    const auto be = [&](size_t k) { return k == 0 ? first_be : k + 1 == dws.size() ? last_be : 15u; };
    tlp w{.kind = tlp_kind::mwr, .addr = at, .len_dw = uint16_t(n), .requester = cfg_.bus_id};
    w.first_be = uint8_t(be(i));
    w.last_be = n > 1 ? uint8_t(be(i + n - 1)) : 0;
    w.data.assign(dws.begin() + long(i), dws.begin() + long(i + n));
    nic_.rma_request(std::move(w));
    i += n;
  }
}

// One read TLP; its tag is free again when it has ended.
task<std::shared_ptr<rma_model::host_read>> rma_model::begin_read(uint64_t addr, unsigned dws, unsigned first_be,
                                                                  unsigned last_be) {
  constexpr unsigned tags = last_tag - first_tag + 1;
  while (reads_.size() >= tags) co_await tag_free_;
  while (reads_.contains(next_tag_)) next_tag_ = next_tag_ == last_tag ? first_tag : next_tag_ + 1;
  const uint16_t tag = next_tag_;
  next_tag_ = next_tag_ == last_tag ? first_tag : next_tag_ + 1;
  tlp m{.kind = tlp_kind::mrd, .addr = addr, .len_dw = uint16_t(dws), .requester = cfg_.bus_id};
  m.first_be = uint8_t(first_be);
  m.last_be = dws > 1 ? uint8_t(last_be) : 0;
  m.tag = tag;
  auto r = std::make_shared<host_read>(tag, std::vector<uint32_t>(dws), 0, false, net_status::ok, signal(scheduler_));
  reads_[tag] = r;
  nic_.rma_request(std::move(m));
  co_return r;
}

// Cut at 4 KB and at multiples of MRRS; none waits for the one before it.
task<> rma_model::begin_reads(host_reads& all, uint64_t addr, unsigned dws, unsigned first_be, unsigned last_be) {
  const unsigned unit = std::min<unsigned>(cfg_.mrrs, page_bytes);
  for (unsigned i = 0; i < dws;) {
    const uint64_t at = addr + 4 * i;
    const unsigned n = std::min(unsigned(unit - at % unit) / 4, dws - i);
    const unsigned first = byte_enables(dws, first_be, last_be, i);
    const unsigned last = byte_enables(dws, first_be, last_be, i + n - 1);
    auto r = co_await begin_read(at, n, first, last);
    all.push_back(std::move(r));
    i += n;
  }
}

// What they brought, in order; the status of the first that failed, which has the event.
task<rma_model::read_result> rma_model::end_reads(host_reads& all) {
  read_result result;
  for (const auto& one : all) {
    host_read& r = *one;
    while (!r.done) co_await r.finished;
    result.dws.insert(result.dws.end(), r.dws.begin(), r.dws.end());
    if (r.status == net_status::ok || result.status != net_status::ok) continue;
    result.status = r.status;
    nic_.rma_event(GGAS_EV_RMA_HOST_ERROR, 0, r.tag);
  }
  co_return result;
}

task<rma_model::read_result> rma_model::host_read_dws(uint64_t addr, unsigned dws, unsigned first_be,
                                                      unsigned last_be) {
  host_reads all;
  co_await begin_reads(all, addr, dws, first_be, last_be);
  co_return co_await end_reads(all);
}

bool rma_model::reads_queue(uint16_t tag) const {
  const auto it = reads_.find(tag);
  return it != reads_.end() && it->second->of_queue;
}

void rma_model::end_read(uint16_t tag) {
  const auto r = std::move(reads_[tag]);
  reads_.erase(tag);
  r->done = true;
  r->finished.notify();
  tag_free_.notify();
}

bool rma_model::host_completion(const tlp& t) {
  const auto it = reads_.find(t.tag);
  if (it == reads_.end()) return false;
  host_read& r = *it->second;
  if (t.status != cpl_status::sc || t.poisoned) r.status = net_status::host_error;
  for (unsigned i = 0; i < t.len_dw && i < t.data.size() && r.received < r.dws.size(); ++i)
    r.dws[r.received++] = t.data[i];
  if (r.status != net_status::ok || r.received == r.dws.size() || t.kind == tlp_kind::cpl) end_read(t.tag);
  return true;
}

void rma_model::host_timeout(uint16_t tag) {
  const auto it = reads_.find(tag);
  if (it == reads_.end()) return;
  it->second->status = net_status::timeout;
  end_read(tag);
}

// ---------------------------------------------------------------------------------------------- translation

void rma_model::invalidate(uint64_t request) {
  if (!(request & GGAS_ATU_INVALIDATE_START_MASK)) return;
  const uint64_t first = request & GGAS_ATU_INVALIDATE_PAGE_MASK;
  const uint64_t last = request & GGAS_ATU_INVALIDATE_RANGE_MASK ? reg(GGAS_REG_ATU_LAST) : first;
  if (request & GGAS_ATU_INVALIDATE_EVERYTHING_MASK || class_of(first) != class_of(last))
    tlb_.clear();
  else
    std::erase_if(tlb_, [&](const auto& e) { return e.first >= page_of(first) && e.first <= page_of(last); });
  ++invalidation_round_;
  ++invalidations_;
  const uint64_t ack = reg(GGAS_REG_ATU_ACK) & ~uint64_t{7};
  if (ack) host_write(ack, std::array<uint32_t, 2>{invalidations_, 0});
}

task<rma_model::translation> rma_model::translate(uint64_t nla, uint16_t pd, bool read, bool write) {
  const unsigned cls = class_of(nla), shift = page_shifts[cls];
  const uint64_t page = page_of(nla);
  if (nla >> 48) co_return translation{net_status::protection, 0, shift};
  const auto it = tlb_.find(page);
  tlb_entry e{};
  if (it != tlb_.end()) {
    nic_.rma_count(GGAS_REG_ATU_HITS);
    e = it->second;
  } else {
    nic_.rma_count(GGAS_REG_ATU_MISSES);
    const uint64_t index = offset_of(nla) >> shift;
    const uint64_t table = reg(uint16_t(GGAS_REG_ATU_TABLE0 + 8 * cls));
    const uint64_t piece = (table >> GGAS_ATU_TABLE0_FIRST_SHIFT & 0xff) + index / piece_entries;
    const bool inside = index < (table & GGAS_ATU_TABLE0_ENTRIES_MASK) && piece < GGAS_ATU_PIECE_NUM;
    const uint64_t base = inside ? page_address(reg(uint16_t(GGAS_REG_ATU_PIECE(piece)))) : 0;
    if (!base) {
      nic_.rma_event(GGAS_EV_ATU_WALK, 0, nla);
      co_return translation{net_status::protection, 0, shift};
    }
    const uint64_t round = invalidation_round_;
    const read_result r = co_await host_read_dws(base + index % piece_entries * entry_bytes, entry_bytes / 4);
    if (r.status != net_status::ok) {
      nic_.rma_event(GGAS_EV_ATU_WALK, 0, nla);
      co_return translation{net_status::protection, 0, shift};
    }
    e = {r.dws[0] | uint64_t{r.dws[1]} << 32, r.dws[2] | uint64_t{r.dws[3]} << 32};
    if (e.word0 & 1 && round == invalidation_round_) tlb_[page] = e;
  }
  const bool good = e.word0 & 1 && (!read || e.word0 & 2) && (!write || e.word0 & 4) && uint16_t(e.word1) == pd;
  if (!good) co_return translation{net_status::protection, 0, shift};
  const uint64_t mask = (uint64_t{1} << shift) - 1;
  co_return translation{net_status::ok, (e.word0 & ~mask) | (nla & mask), shift};
}

// A model that reads ahead asks for one translation after the other, so that those after a walk find what it brought.
task<rma_model::translation> rma_model::translate_in_turn(client& by, uint64_t nla, uint16_t pd) {
  while (limits_.fetches > 1 && by.busy) co_await by.free;
  by.busy = true;
  const translation t = co_await translate(nla, pd, true, false);
  by.busy = false;
  by.free.notify();
  co_return t;
}

// `bytes` bytes from `nla` on, which may lie in two pages.
task<rma_model::fetched> rma_model::fetch(client& by, uint64_t nla, uint16_t pd, unsigned bytes) {
  fetched out;
  host_reads all;
  for (unsigned done = 0; done < bytes;) {
    const translation t = co_await translate_in_turn(by, nla + done, pd);
    out.status = t.status;
    if (t.status != net_status::ok) break;
    const uint64_t page = uint64_t{1} << t.shift;
    const auto n = unsigned(std::min<uint64_t>(bytes - done, page - (nla + done) % page));
    const unsigned skip = t.addr % 4, dws = (skip + n + 3) / 4, tail = (skip + n) % 4;
    const unsigned first = 15u << skip & 15, last = tail ? (1u << tail) - 1 : 15;
    const unsigned only = first & last, first_be = dws == 1 ? only : first;
    co_await begin_reads(all, t.addr & ~uint64_t{3}, dws, first_be, last);
    done += n;
  }
  const read_result r = co_await end_reads(all);
  if (r.status != net_status::ok) out.status = r.status;
  if (out.status != net_status::ok) co_return out;
  for (unsigned i = nla % 4; i < nla % 4 + bytes; ++i) out.bytes.push_back(uint8_t(r.dws[i / 4] >> 8 * (i % 4)));
  co_return out;
}

// The payload of a PUT or GET_DATA packet to its place.
task<net_status> rma_model::store(uint64_t nla, uint16_t pd, const packet& p) {
  const std::vector<uint32_t> dws(p.data.begin(), p.data.end());
  const unsigned first = p.first_be, last = p.last_be;
  const translation t = co_await translate(nla, pd, false, true);
  if (t.status == net_status::ok) {
    data_written();
    host_write(t.addr & ~uint64_t{3}, dws, first, last);
  }
  co_return t.status;
}

}  // namespace ggas::nic
