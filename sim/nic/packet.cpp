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

uint32_t crc_step(uint32_t crc, uint64_t bytes, unsigned n) {
  for (unsigned i = 0; i < n; ++i) crc = (crc >> 8) ^ crc_table[(crc ^ bytes >> 8 * i) & 0xff];
  return crc;
}

constexpr uint64_t field(uint64_t word, unsigned low, unsigned width) {
  return word >> low & ((uint64_t{1} << width) - 1);
}

constexpr unsigned header_words_count = 3;
constexpr unsigned max_payload_dw = 2047;  // what len_dw can say

}  // namespace

uint32_t crc32(std::span<const uint64_t> words) {
  uint32_t crc = ~0u;
  for (uint64_t w : words) crc = crc_step(crc, w, 8);
  return ~crc;
}

uint32_t crc32(uint32_t word) { return ~crc_step(~0u, word, 4); }

std::array<uint64_t, 3> packet::header_words() const {
  const uint64_t w0 = uint64_t{dst} << 48 | uint64_t{src} << 32 | uint64_t(len_dw & 0x7ff) << 21 |
                      uint64_t(vc & 7) << 18 | uint64_t{seq} << 10 | uint64_t(session & session_tag_mask) << 6 |
                      (reserved & 0x3f);
  const uint64_t w1 = uint64_t{op} << 56 | uint64_t(status & 15) << 52 | uint64_t(first_be & 15) << 48 |
                      uint64_t(last_be & 15) << 44 | uint64_t{tag} << 28 | uint64_t{vpid} << 20 |
                      uint64_t(req_dw & 0x7ff) << 9 | (reserved >> 6 & 0x1ff);
  return {w0, w1, addr};
}

void packet::set_header_words(const std::array<uint64_t, 3>& w) {
  dst = uint16_t(field(w[0], 48, 16));
  src = uint16_t(field(w[0], 32, 16));
  len_dw = uint16_t(field(w[0], 21, 11));
  vc = uint8_t(field(w[0], 18, 3));
  seq = uint8_t(field(w[0], 10, 8));
  session = uint8_t(field(w[0], 6, 4));
  op = uint8_t(field(w[1], 56, 8));
  status = uint8_t(field(w[1], 52, 4));
  first_be = uint8_t(field(w[1], 48, 4));
  last_be = uint8_t(field(w[1], 44, 4));
  tag = uint16_t(field(w[1], 28, 16));
  vpid = uint8_t(field(w[1], 20, 8));
  req_dw = uint16_t(field(w[1], 9, 11));
  reserved = uint32_t(field(w[0], 0, 6) | field(w[1], 0, 9) << 6);
  addr = w[2];
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
  int n = std::snprintf(line, sizeof line, "%s %u->%u addr %#llx %u DW", to_text(op(p.op)), p.src, p.dst,
                        (unsigned long long)p.addr, p.len_dw);
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

std::vector<flit> to_flits(const packet& p, unsigned width) {
  const unsigned words = width / 64;
  std::vector<uint64_t> stream;
  for (uint64_t w : p.header_words()) stream.push_back(w);
  if (words > 1) stream.resize(std::max(words, header_words_count));
  for (size_t i = 0; i < p.data.size(); i += 2)
    stream.push_back(p.data[i] | (i + 1 < p.data.size() ? uint64_t{p.data[i + 1]} << 32 : 0));
  stream.resize((stream.size() + words - 1) / words * words);
  std::vector<flit> out;
  for (size_t i = 0; i < stream.size(); i += words) {
    flit f{.kind = i == 0 ? flit_kind::sop : flit_kind::data};
    std::copy_n(stream.begin() + long(i), words, f.data.begin());
    out.push_back(f);
  }
  out.push_back({.kind = flit_kind::eop, .data = {crc32(stream)}});
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
  switch (f.kind) {
    case flit_kind::ctrl:
      return std::nullopt;
    case flit_kind::sop:
      if (open_) ++errors_;
      open_ = true;
      buffer_.assign(f.data.begin(), f.data.begin() + words_);
      return std::nullopt;
    case flit_kind::data:
      if (!open_)
        ++errors_;
      else
        buffer_.insert(buffer_.end(), f.data.begin(), f.data.begin() + words_);
      return std::nullopt;
    case flit_kind::eop:
      break;
  }
  if (!open_) {
    ++errors_;
    return std::nullopt;
  }
  open_ = false;
  return finish(f);
}

std::optional<packet> flit_decoder::finish(const flit& trailer) {
  const size_t header = std::max(words_, header_words_count);
  if (trailer.data[0] != crc32(buffer_) || buffer_.size() < header) {
    ++errors_;
    return std::nullopt;
  }
  packet p;
  p.set_header_words({buffer_[0], buffer_[1], buffer_[2]});
  const size_t payload_words = (p.len_dw + 1u) / 2;
  const size_t expected = header + (payload_words + words_ - 1) / words_ * words_;
  if (buffer_.size() != expected || p.len_dw > max_payload_dw) {
    ++errors_;
    return std::nullopt;
  }
  for (unsigned i = 0; i < p.len_dw; ++i) p.data.push_back(uint32_t(buffer_[header + i / 2] >> 32 * (i & 1)));
  return p;
}

}  // namespace ggas::nic
