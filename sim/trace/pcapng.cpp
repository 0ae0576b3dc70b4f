// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/pcapng.hpp"

namespace ggas::trace {

namespace {

using bytes = std::vector<uint8_t>;

template <class T>
void put(bytes& b, T v) {
  for (size_t i = 0; i < sizeof v; ++i) b.push_back(uint8_t(uint64_t(v) >> 8 * i));
}

void pad(bytes& b) {
  while (b.size() % 4) b.push_back(0);
}

void option(bytes& b, uint16_t code, std::span<const uint8_t> value) {
  put(b, code);
  put(b, uint16_t(value.size()));
  b.insert(b.end(), value.begin(), value.end());
  pad(b);
}

std::string_view text(const bytes& b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

bytes make_block(uint32_t type, std::span<const uint8_t> body) {
  bytes b;
  const auto total = uint32_t(body.size() + 12);
  put(b, type);
  put(b, total);
  b.insert(b.end(), body.begin(), body.end());
  put(b, total);
  return b;
}

}  // namespace

std::expected<std::unique_ptr<pcapng_writer>, std::string> pcapng_writer::open(const std::filesystem::path& file) {
  bytes b;
  put(b, uint32_t(0x1a2b3c4d));  // byte order
  put(b, uint16_t(1));           // version 1.0
  put(b, uint16_t(0));
  put(b, ~uint64_t(0));  // section length unknown
  auto f = whole_file::open(file, text(make_block(0x0a0d0d0a, b)));
  if (!f) return std::unexpected(f.error());
  return std::unique_ptr<pcapng_writer>(new pcapng_writer(std::move(*f)));
}

void pcapng_writer::block(uint32_t type, std::span<const uint8_t> body) { file_->add(text(make_block(type, body))); }

unsigned pcapng_writer::add_interface(const std::string& name, link_type type) {
  bytes b;
  put(b, uint16_t(type));
  put(b, uint16_t(0));
  put(b, uint32_t(0));                                                                  // no snap length
  option(b, 2, std::span(reinterpret_cast<const uint8_t*>(name.data()), name.size()));  // if_name
  const uint8_t nanoseconds = 9;
  option(b, 9, std::span(&nanoseconds, 1));  // if_tsresol
  put(b, uint32_t(0));                       // end of options
  block(1, b);
  return interfaces_++;
}

void pcapng_writer::write(unsigned interface, uint64_t time_ps, std::span<const uint8_t> data) {
  bytes b;
  const uint64_t ns = time_ps / 1000;
  put(b, uint32_t(interface));
  put(b, uint32_t(ns >> 32));
  put(b, uint32_t(ns));
  put(b, uint32_t(data.size()));
  put(b, uint32_t(data.size()));
  b.insert(b.end(), data.begin(), data.end());
  pad(b);
  block(6, b);
  ++packets_;
}

std::vector<uint8_t> tlp_bytes(const pcie::tlp& t) {
  using pcie::tlp_kind;
  bytes b;
  const auto dw = [&b](uint32_t v) {
    for (int s = 24; s >= 0; s -= 8) b.push_back(uint8_t(v >> s));
  };
  const bool wide = !t.completion() && t.addr >> 32 != 0;
  uint32_t type = 0;
  switch (t.kind) {
    case tlp_kind::mrd:
    case tlp_kind::mwr:
      type = 0x00;
      break;
    case tlp_kind::cpl:
    case tlp_kind::cpld:
      type = 0x0a;
      break;
    case tlp_kind::other_p:
      type = 0x10;
      break;  // message
    case tlp_kind::other_np:
      type = 0x02;
      break;  // I/O request
  }
  const uint32_t format = (t.has_data() ? 2u : 0u) | (wide ? 1u : 0u);
  dw(format << 29 | type << 24 | uint32_t(t.attr >> 2 & 1) << 18 | uint32_t(t.poisoned) << 14 |
     uint32_t(t.attr & 1) << 12 | uint32_t(t.attr >> 1 & 1) << 13 | (t.len_dw & 0x3ffu));
  if (t.completion()) {
    dw(uint32_t(t.completer) << 16 | uint32_t(t.status) << 13 | (t.byte_count & 0xfffu));
    dw(uint32_t(t.requester) << 16 | uint32_t(t.tag & 0xff) << 8 | (t.lower_addr & 0x7fu));
  } else {
    dw(uint32_t(t.requester) << 16 | uint32_t(t.tag & 0xff) << 8 | uint32_t(t.last_be) << 4 | t.first_be);
    if (wide) dw(uint32_t(t.addr >> 32));
    dw(uint32_t(t.addr));
  }
  if (t.tag >> 8) {  // bits 8 and 9 of a 10-bit tag
    b[1] |= uint8_t((t.tag >> 8 & 1) << 3 | (t.tag >> 9 & 1) << 7);
  }
  for (const uint32_t v : t.data)
    for (int s = 0; s < 32; s += 8) b.push_back(uint8_t(v >> s));
  return b;
}

}  // namespace ggas::trace
