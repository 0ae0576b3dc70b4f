// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/packet.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ggas::pcie {

namespace {

// Address, length and byte enables of `bytes` from `addr`.
void shape(tlp& t, uint64_t addr, uint32_t bytes) {
  t.addr = addr & ~3ull;
  const unsigned lead = addr & 3;
  const unsigned dws = std::max<unsigned>(1, (lead + bytes + 3) / 4);
  const unsigned tail = (lead + bytes) & 3;  // bytes used of the last DW; 0: all
  const unsigned tail_be = tail ? (1u << tail) - 1 : 0xf;
  t.len_dw = uint16_t(dws);
  t.first_be = uint8_t(0xf << lead & 0xf);
  t.last_be = dws > 1 ? uint8_t(tail_be) : 0;
  if (dws == 1) t.first_be &= uint8_t(bytes ? tail_be : 0);
}

unsigned leading_holes(const tlp& t) { return t.first_be ? unsigned(std::countr_zero(unsigned(t.first_be))) : 0; }

}  // namespace

tlp memory_write(uint64_t addr, std::span<const std::byte> bytes, uint16_t requester) {
  tlp t;
  t.kind = tlp_kind::mwr;
  t.requester = requester;
  shape(t, addr, uint32_t(bytes.size()));
  t.data.assign(t.len_dw, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t at = (addr & 3) + i;
    t.data[at / 4] |= uint32_t(bytes[i]) << 8 * (at % 4);
  }
  return t;
}

tlp memory_read(uint64_t addr, uint32_t bytes, uint16_t requester, uint16_t tag) {
  tlp t;
  t.kind = tlp_kind::mrd;
  t.requester = requester;
  t.tag = tag;
  shape(t, addr, bytes);
  return t;
}

uint32_t enabled_bytes(const tlp& r) {
  if (r.len_dw == 1) {
    if (r.first_be == 0) return 1;
    return unsigned(std::bit_width(unsigned(r.first_be))) - leading_holes(r);
  }
  return 4u * r.len_dw - leading_holes(r) - (4 - unsigned(std::bit_width(unsigned(r.last_be))));
}

uint64_t first_byte_address(const tlp& r) { return r.addr + leading_holes(r); }

std::vector<tlp> read_completions(const tlp& request, std::span<const uint32_t> dws, unsigned mps, unsigned rcb,
                                  uint16_t completer) {
  std::vector<tlp> out;
  uint32_t left = enabled_bytes(request);
  uint64_t first = first_byte_address(request);
  for (unsigned at = 0; at < request.len_dw;) {
    const uint64_t addr = request.addr + 4ull * at;
    const unsigned rest = 4u * (request.len_dw - at);
    // As much as a packet holds, ending on a boundary unless it reaches the end of the request.
    unsigned bytes = std::min(rest, mps);
    if (bytes < rest) {
      const uint64_t end = (addr + bytes) & ~uint64_t(rcb - 1);
      bytes = end > addr ? unsigned(end - addr) : unsigned(rcb - addr % rcb);
    }
    tlp c;
    c.kind = tlp_kind::cpld;
    c.requester = request.requester;
    c.completer = completer;
    c.tag = request.tag;
    c.attr = request.attr;
    c.len_dw = uint16_t(bytes / 4);
    c.byte_count = uint16_t(left);
    c.lower_addr = uint8_t(first & 0x7f);
    c.data.assign(dws.begin() + at, dws.begin() + at + bytes / 4);
    out.push_back(std::move(c));
    at += bytes / 4;
    const uint64_t next = request.addr + 4ull * at;
    left -= uint32_t(std::min<uint64_t>(left, next - first));
    first = next;
  }
  return out;
}

tlp error_completion(const tlp& request, cpl_status status, uint16_t completer) {
  tlp c;
  c.kind = tlp_kind::cpl;
  c.requester = request.requester;
  c.completer = completer;
  c.tag = request.tag;
  c.attr = request.attr;
  c.status = status;
  c.len_dw = 0;
  c.byte_count = uint16_t(request.kind == tlp_kind::mrd ? enabled_bytes(request) : 4);
  c.lower_addr = uint8_t(first_byte_address(request) & 0x7f);
  return c;
}

// ------------------------------------------------------------------------------------------------ bar_map

std::optional<bar_map::hit> bar_map::decode(uint64_t addr) const {
  for (const range& r : ranges_)
    if (addr - r.base < r.size) return hit{r.bar, addr - r.base};
  return std::nullopt;
}

bool bar_map::decode(tlp& request) const {
  const auto h = decode(request.addr);
  request.bar = h ? h->bar : bar_none;
  if (h) request.addr = h->offset;
  return h.has_value();
}

// ------------------------------------------------------------------------------------------------ requester

requester::requester(sc_core::sc_module_name name, port& p, const requester_config& cfg)
    : sc_module(name), port_(p), cfg_(cfg), slots_(cfg.tags) {
  for (unsigned i = 0; i < cfg.tags; ++i) free_.push_back(uint16_t(cfg.tags - 1 - i));
}

void requester::read(tlp request, done d) {
  if (free_.empty())
    queue_.emplace_back(std::move(request), std::move(d));
  else
    issue(std::move(request), std::move(d));
}

void requester::issue(tlp&& request, done&& d) {
  const uint16_t tag = free_.back();
  free_.pop_back();
  slot& s = slots_[tag];
  request.requester = cfg_.id;
  request.tag = tag;
  s.busy = true;
  s.deadline_ps = now_ps() + cfg_.timeout_ps;
  s.received = 0;
  s.result = {};
  s.request = request;
  s.d = std::move(d);
  ++outstanding_;
  deadlines_.emplace_back(s.deadline_ps, tag);
  if (deadlines_.size() == 1) deadline_event_.notify(sc_core::sc_time::from_value(cfg_.timeout_ps));
  port_.send(std::move(request));
}

bool requester::complete(tlp& c) {
  if (c.tag >= slots_.size() || !slots_[c.tag].busy) {
    ++unexpected_;
    return false;
  }
  slot& s = slots_[c.tag];
  const bool data = c.kind == tlp_kind::cpld;
  if (data && s.received + c.len_dw > s.request.len_dw) {
    ++unexpected_;
    return false;
  }
  if (c.status != cpl_status::sc) s.result.status = c.status;
  s.result.poisoned |= c.poisoned;
  if (data) {
    s.result.dws.insert(s.result.dws.end(), c.data.begin(), c.data.end());
    s.received += c.len_dw;
  }
  if (!data || s.received == s.request.len_dw) finish(c.tag);
  return true;
}

void requester::finish(unsigned tag) {
  slot& s = slots_[tag];
  s.busy = false;
  // Answered reads leave the list of deadlines as soon as nothing older waits.
  while (deadlines_.size() > 1 && !waits(deadlines_.front())) deadlines_.pop_front();
  done d = std::move(s.d);
  read_result r = std::move(s.result);
  --outstanding_;
  // A tag that timed out may still get its answer: it rests at the far end of the free list.
  if (r.timed_out)
    free_.insert(free_.begin(), uint16_t(tag));
  else
    free_.push_back(uint16_t(tag));
  if (!queue_.empty()) {
    auto [request, next] = std::move(queue_.front());
    queue_.pop_front();
    issue(std::move(request), std::move(next));
  }
  if (d) d(std::move(r));
}

bool requester::waits(const deadline& d) const {
  return slots_[d.second].busy && slots_[d.second].deadline_ps == d.first;
}

void requester::on_deadline() {
  while (!deadlines_.empty()) {
    const auto entry = deadlines_.front();
    const auto [at, tag] = entry;
    const bool expired = waits(entry);
    if (expired && at > now_ps()) break;
    deadlines_.pop_front();
    if (!expired) continue;
    ++timeouts_;
    slots_[tag].result.timed_out = true;
    finish(tag);
  }
  if (!deadlines_.empty()) deadline_event_.notify(sc_core::sc_time::from_value(deadlines_.front().first - now_ps()));
}

}  // namespace ggas::pcie
