// SPDX-License-Identifier: Apache-2.0
// A transaction-layer packet as the simulator passes it around: the C++ image of ggas_pkg::tlp_hdr_t
// (rtl/ggas_pkg.sv, docs/tlp-boundary.md) with its payload.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>

namespace ggas::pcie {

enum class tlp_kind : uint8_t { mrd = 0, mwr = 1, cpl = 2, cpld = 3, other_p = 4, other_np = 5 };
enum class cpl_status : uint8_t { sc = 0, ur = 1, ca = 4 };

inline constexpr uint8_t bar_none = 7;

struct tlp {
  tlp_kind kind = tlp_kind::mrd;
  uint8_t bar = bar_none;  // inbound at an endpoint: BAR hit
  uint64_t addr = 0;       // bus address in the fabric; BAR offset once an endpoint has decoded it; DW aligned
  uint16_t len_dw = 1;     // 1 ... 1024; 0 for cpl
  uint8_t first_be = 0xf;
  uint8_t last_be = 0;     // 0 when len_dw == 1
  uint16_t tag = 0;        // 10 bit
  uint16_t requester = 0;  // bus/device/function
  uint16_t completer = 0;
  cpl_status status = cpl_status::sc;
  uint16_t byte_count = 0;  // completions: bytes left, this one included
  uint8_t lower_addr = 0;   // completions: low 7 bits of the first enabled byte's address
  uint8_t attr = 0;
  bool poisoned = false;
  boost::container::small_vector<uint32_t, 32> data = {};  // payload DWs; DW 0 first

  bool has_data() const { return kind == tlp_kind::mwr || kind == tlp_kind::cpld || kind == tlp_kind::other_p; }
  bool posted() const { return kind == tlp_kind::mwr || kind == tlp_kind::other_p; }
  bool non_posted() const { return kind == tlp_kind::mrd || kind == tlp_kind::other_np; }
  bool completion() const { return kind == tlp_kind::cpl || kind == tlp_kind::cpld; }
};

}  // namespace ggas::pcie
