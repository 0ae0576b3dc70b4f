// SPDX-License-Identifier: Apache-2.0
// What a packet with data must become at the host: writes cut every MPS bytes from its first DW.
#pragma once

#include "tests/rtl/rma/unit/streams.hpp"

namespace ggas::test::rma {

inline std::vector<tlp> writes_of(const packet& p, uint64_t bus, unsigned mps) {
  std::vector<tlp> out;
  const unsigned most = std::min(mps, 256u) / 4;
  for (unsigned at = 0; at < p.len_dw; at += most) {
    const unsigned n = std::min<unsigned>(most, p.len_dw - at);
    const bool final_piece = at + n == p.len_dw;
    tlp t;
    t.kind = tlp_kind::mwr;
    t.addr = (bus & ~uint64_t{3}) + 4 * at;
    t.len_dw = uint16_t(n);
    t.first_be = uint8_t(at == 0 ? p.first_be : n == 1 ? p.last_be : 0xf);
    t.last_be = uint8_t(n == 1 ? 0 : final_piece ? p.last_be : 0xf);
    t.data.assign(p.data.begin() + at, p.data.begin() + at + n);
    out.push_back(t);
  }
  return out;
}

// Length and byte enables of a packet with data, as a node that behaves makes them.
inline bool payload_sane(const packet& p) {
  if (p.len_dw == 0 || p.len_dw > 64 || p.addr % 4096 / 4 + p.len_dw > 1024) return false;
  if (p.len_dw == 1) return p.last_be == 0;
  if (p.len_dw == 2 && !(p.addr & 4)) return p.first_be && p.last_be;
  const auto in = [](unsigned be, std::initializer_list<unsigned> set) {
    return std::ranges::find(set, be) != set.end();
  };
  return in(p.first_be, {8, 12, 14, 15}) && in(p.last_be, {1, 3, 7, 15});
}

inline void expect_same(const tlp& got, const tlp& want) {
  EXPECT_EQ(got.addr, want.addr);
  EXPECT_EQ(got.len_dw, want.len_dw);
  EXPECT_EQ(got.first_be, want.first_be);
  EXPECT_EQ(got.last_be, want.last_be);
  EXPECT_EQ(got.data, want.data);
}

// `bytes` random bytes for the address, cut off at the end of its page.
inline void fill(dice& d, packet& p, unsigned bytes) {
  bytes = std::min<unsigned>(bytes, std::min<unsigned>(256 - p.addr % 4, unsigned(4096 - p.addr % 4096)));
  std::vector<uint8_t> data(bytes);
  for (uint8_t& x : data) x = uint8_t(d.bits());
  put_payload(p, data);
}

}  // namespace ggas::test::rma
