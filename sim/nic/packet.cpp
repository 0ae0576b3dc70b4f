// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/packet.hpp"

#include <algorithm>
#include <cstdio>

namespace ggas::nic {

namespace {

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xEDB88320u : 0);
    t[i] = c;
  }
  return t;
}
constexpr auto crc_table = make_crc_table();

uint32_t crc_step(uint32_t crc, uint32_t bytes) {
  for (unsigned i = 0; i < 4; ++i) crc = (crc >> 8) ^ crc_table[(crc ^ bytes >> 8 * i) & 0xff];
  return crc;
}

constexpr uint64_t field(uint64_t word, unsigned low, unsigned width) {
  return word >> low & ((uint64_t{1} << width) - 1);
}

}  // namespace

uint32_t crc32(std::span<const uint32_t> words) {
  uint32_t crc = ~0u;
  for (uint32_t w : words) crc = crc_step(crc, w);
  return ~crc;
}

uint32_t crc32(uint32_t word) { return ~crc_step(~0u, word); }

packet_header packet::header() const {
  const uint64_t w0 = uint64_t{dst} << 48 | uint64_t{op} << 40 | uint64_t(len_dw & 0x7ff) << 29 |
                      uint64_t(version & 7) << 26 | uint64_t(reserved & 7) << 23 | uint64_t(vc & 7) << 20 |
                      uint64_t{hops} << 12 | uint64_t{seq} << 4 | (session & session_tag_mask);
  const uint64_t low =
      one_sided() ? uint64_t{vpid} << 12 | (detail & 0xfff) : uint64_t(req_dw & 0x7ff) << 9 | (detail & 0x1ff);
  const uint64_t w1 = uint64_t{src} << 48 | uint64_t(status & 15) << 44 | uint64_t(first_be & 15) << 40 |
                      uint64_t(last_be & 15) << 36 | uint64_t{tag} << 20 | low;
  const uint32_t w3 = uint32_t(reserved >> 3 & 0xff) << 24 | uint32_t{export_no} << 16 | domain;
  return {uint32_t(w0), uint32_t(w0 >> 32), uint32_t(w1), uint32_t(w1 >> 32), uint32_t(addr), uint32_t(addr >> 32), w3};
}

void packet::set_header(const packet_header& h) {
  const uint64_t w0 = h[0] | uint64_t{h[1]} << 32, w1 = h[2] | uint64_t{h[3]} << 32;
  dst = uint16_t(field(w0, 48, 16));
  op = uint8_t(field(w0, 40, 8));
  len_dw = uint16_t(field(w0, 29, 11));
  version = uint8_t(field(w0, 26, 3));
  vc = uint8_t(field(w0, 20, 3));
  hops = uint8_t(field(w0, 12, 8));
  seq = uint8_t(field(w0, 4, 8));
  session = uint8_t(field(w0, 0, 4));
  src = uint16_t(field(w1, 48, 16));
  status = uint8_t(field(w1, 44, 4));
  first_be = uint8_t(field(w1, 40, 4));
  last_be = uint8_t(field(w1, 36, 4));
  tag = uint16_t(field(w1, 20, 16));
  vpid = one_sided() ? uint8_t(field(w1, 12, 8)) : 0;
  req_dw = one_sided() ? 0 : uint16_t(field(w1, 9, 11));
  detail = uint16_t(field(w1, 0, one_sided() ? 12 : 9));
  addr = h[4] | uint64_t{h[5]} << 32;
  domain = uint16_t(h[6]);
  export_no = uint8_t(h[6] >> 16);
  reserved = uint16_t(field(w0, 23, 3) | h[6] >> 24 << 3);
}

void put_payload(packet& p, std::span<const uint8_t> bytes) {
  const auto skip = unsigned(p.addr % 4), end = skip + unsigned(bytes.size()), dws = (end + 3) / 4;
  p.data.assign(dws, 0);
  for (size_t i = 0; i < bytes.size(); ++i) p.data[(skip + i) / 4] |= uint32_t{bytes[i]} << 8 * ((skip + i) % 4);
  p.len_dw = uint16_t(dws);
  const unsigned first = 15u << skip & 15, last = end % 4 ? (1u << end % 4) - 1 : 15;
  p.first_be = uint8_t(dws == 1 ? first & last : first);
  p.last_be = uint8_t(dws == 1 ? 0 : last);
}

const char* to_text(op o) {
  switch (o) {
    case op::store:
      return "store";
    case op::load:
      return "load";
    case op::load_rsp:
      return "load rsp";
    case op::quiet:
      return "quiet";
    case op::quiet_rsp:
      return "quiet rsp";
    case op::rma_put:
      return "put";
    case op::rma_get:
      return "get";
    case op::rma_notify:
      return "notify";
    case op::rma_atomic:
      return "atomic";
    case op::rma_ack:
      return "ack";
    case op::rma_get_data:
      return "get data";
    case op::rma_get_done:
      return "get done";
    case op::rma_atomic_rsp:
      return "atomic rsp";
    case op::velo_msg:
      return "message";
    case op::coll_up:
      return "coll up";
    case op::coll_down:
      return "coll down";
  }
  return "?";
}

const char* to_text(net_status s) {
  static constexpr const char* names[] = {"ok",         "range", "host error", "timeout",  "link down", "unreachable",
                                          "protection", "full",  "lost",       "disabled", "bad"};
  return size_t(s) < std::size(names) ? names[size_t(s)] : "?";
}

std::string to_text(const packet& p) {
  char line[200];
  int n = std::snprintf(line, sizeof line, "%s %u->%s%u addr %#llx %u DW", to_text(op(p.op & ~op_multicast)), p.src,
                        p.op & op_multicast ? "group " : "", p.dst, (unsigned long long)p.addr, p.len_dw);
  const auto rest = [&] { return sizeof line - size_t(n); };
  if (p.one_sided())
    n += std::snprintf(line + n, rest(), " context %u epoch %u to %u domain %u%s%s%s%s%s%s", p.svpid(), p.epoch(),
                       p.dvpid(), p.pd(), p.flags() & rma_first ? " first" : "", p.flags() & rma_last ? " last" : "",
                       p.flags() & rma_wants_ack ? " ack" : "", p.flags() & rma_strong ? " strong" : "",
                       p.flags() & rma_result ? " result" : "", p.flags() & rma_responder ? " responder" : "");
  else
    n += std::snprintf(line + n, rest(), " tag %u", p.tag);
  if (p.status) std::snprintf(line + n, rest(), " status %s", to_text(net_status(p.status)));
  return line;
}

unsigned flit_count(unsigned len_dw, unsigned width) {
  return width == 64 ? 3 + (len_dw + 1) / 2 + 1 : (header_dws + len_dw + 1 + width / 32 - 1) / (width / 32);
}

bool ends_packet(const flit& f, unsigned width) {
  if (f.kind != flit_kind::sop || width == 64) return f.kind == flit_kind::eop;
  return flit_count(unsigned(field(f.data[0], 29, 11)), width) == 1;
}

// A narrow link sends w3 after the payload, with the CRC.
std::vector<flit> to_flits(const packet& p, unsigned width) {
  const packet_header h = p.header();
  std::vector<uint32_t> stream(h.begin(), width == 64 ? h.end() - 1 : h.end());
  stream.insert(stream.end(), p.data.begin(), p.data.end());
  stream.resize(flit_count(unsigned(p.data.size()), width) * (width / 32));
  if (width == 64) stream.end()[-2] = h.back();
  stream.back() = crc32(std::span(stream).first(stream.size() - 1));
  std::vector<flit> out(stream.size() / (width / 32), flit{.kind = flit_kind::data});
  for (size_t i = 0; i < stream.size(); ++i)
    out[i / (width / 32)].data[i % (width / 32) / 2] |= uint64_t{stream[i]} << 32 * (i & 1);
  out.back().kind = flit_kind::eop;
  out.front().kind = flit_kind::sop;
  return out;
}

namespace {

constexpr uint32_t is_hello = 1u << 31;

flit control_flit(uint32_t content) {
  return {.kind = flit_kind::ctrl, .data = {content | uint64_t{crc32(content)} << 32}};
}
std::optional<uint32_t> control_content(const flit& f) {
  const uint32_t w = uint32_t(f.data[0]);
  if (f.kind != flit_kind::ctrl || crc32(w) != f.data[0] >> 32) return std::nullopt;
  return w;
}

}  // namespace

flit to_flit(const control& c) {
  return control_flit(c.ack_seq | uint32_t(c.session & session_tag_mask) << 8 | uint32_t(c.credit & 0x1fff) << 12 |
                      uint32_t(c.credit_vc & 7) << 25 | uint32_t{c.nak} << 28 | uint32_t{c.poll} << 29);
}

flit to_flit(const hello& h) {
  return control_flit((h.mine & session_mask) | uint32_t(h.yours & session_mask) << 14 | uint32_t{h.seen} << 28 |
                      uint32_t{h.met} << 29 | uint32_t{h.dead} << 30 | is_hello);
}

std::optional<control> parse_control(const flit& f) {
  const auto w = control_content(f);
  if (!w || *w & is_hello) return std::nullopt;
  return control{.ack_seq = uint8_t(*w),
                 .session = uint8_t(*w >> 8 & session_tag_mask),
                 .credit = uint16_t(*w >> 12 & 0x1fff),
                 .credit_vc = uint8_t(*w >> 25 & 7),
                 .nak = bool(*w >> 28 & 1),
                 .poll = bool(*w >> 29 & 1)};
}

std::optional<hello> parse_hello(const flit& f) {
  const auto w = control_content(f);
  if (!w || !(*w & is_hello)) return std::nullopt;
  return hello{.mine = uint16_t(*w & session_mask),
               .yours = uint16_t(*w >> 14 & session_mask),
               .seen = bool(*w >> 28 & 1),
               .met = bool(*w >> 29 & 1),
               .dead = bool(*w >> 30 & 1)};
}

std::optional<packet> flit_decoder::push(const flit& f) {
  if (f.kind == flit_kind::ctrl) return std::nullopt;
  if (f.kind == flit_kind::sop) {
    if (open_) ++errors_;
    open_ = true;
    buffer_.clear();
  } else if (!open_) {
    ++errors_;
    return std::nullopt;
  }
  for (unsigned i = 0; i < dws_; ++i) buffer_.push_back(uint32_t(f.data[i / 2] >> 32 * (i & 1)));
  if (!ends_packet(f, 32 * dws_)) return std::nullopt;
  open_ = false;
  auto p = from_flits(buffer_, 32 * dws_);
  const bool good = p && p->data.size() == p->len_dw && buffer_.size() == dws_ * flit_count(p->len_dw, 32 * dws_) &&
                    buffer_.back() == crc32(std::span(buffer_).first(buffer_.size() - 1));
  if (good) return p;
  ++errors_;
  return std::nullopt;
}

std::optional<packet> from_flits(std::span<const uint32_t> dws, unsigned width) {
  const unsigned payload_at = width == 64 ? header_dws - 1 : header_dws, behind = width == 64 ? 2 : 1;
  if (dws.size() < payload_at + behind) return std::nullopt;
  packet_header h;
  std::copy_n(dws.begin(), header_dws, h.begin());
  if (width == 64) h.back() = dws[dws.size() - 2];
  packet p;
  p.set_header(h);
  const size_t there = dws.size() - payload_at - behind;
  const auto first = dws.begin() + payload_at;
  p.data.assign(first, first + long(std::min<size_t>(there, p.len_dw)));
  return p;
}

}  // namespace ggas::nic
