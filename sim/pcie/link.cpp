// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/link.hpp"

#include <algorithm>
#include <cmath>

namespace ggas::pcie {

double link_config::bytes_per_second() const {
  static constexpr std::array<double, 6> gt = {0, 2.5e9, 5e9, 8e9, 16e9, 32e9};  // transfers per second and lane
  const double coding = generation <= 2 ? 8.0 / 10.0 : 128.0 / 130.0;
  return gt[std::clamp(generation, 1u, 5u)] * coding * lanes / 8.0;
}

uint64_t link_config::wire_ps(unsigned bytes) const {
  return uint64_t(std::llround(bytes * 1e12 / bytes_per_second()));
}

unsigned link_config::wire_bytes(const tlp& t) {
  const bool wide = !t.completion() && t.addr >> 32 != 0;
  return framing_bytes + (wide ? 16 : 12) + (t.has_data() ? 4u * t.len_dw : 0);
}

double link_config::efficiency(unsigned payload_bytes, bool wide_address) const {
  return double(payload_bytes) / (payload_bytes + framing_bytes + (wide_address ? 16 : 12));
}

}  // namespace ggas::pcie
