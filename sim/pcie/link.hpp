// SPDX-License-Identifier: Apache-2.0
// Cost of a PCIe link: rate from generation and lanes, bytes from the packet, and the flow-control classes of its
// receivers.
#pragma once

#include <array>
#include <cstdint>

#include "sim/pcie/tlp.hpp"

namespace ggas::pcie {

// Flow-control classes: posted, non-posted, completion.
enum class fc : uint8_t { p = 0, np = 1, cpl = 2 };
inline constexpr unsigned fc_classes = 3;

inline fc fc_of(const tlp& t) { return t.posted() ? fc::p : t.non_posted() ? fc::np : fc::cpl; }

// Credits of one class. A data credit is 16 bytes. header = 0: unlimited, header and data (as endpoints and root ports
// advertise for completions, because a requester reserves room before its request).
struct credits {
  uint32_t header = 0;
  uint32_t data = 0;
};

// Data credits a packet takes.
inline uint32_t data_credits(const tlp& t) { return t.has_data() ? (t.len_dw + 3u) / 4u : 0; }

// Receive buffers of a port, by class.
using rx_credits = std::array<credits, fc_classes>;

struct link_config {
  unsigned generation = 2;    // 1 ... 5
  unsigned lanes = 8;         // 1, 2, 4, 8, 16
  uint64_t latency_ps = 0;    // one way: PHY and data link layer of both ends, and the wire
  unsigned tlps_per_ack = 1;  // a receiver acknowledges that many packets with one DLLP

  // 8b/10b up to generation 2, 128b/130b above.
  double bytes_per_second() const;
  // Time the wire is taken by so many bytes.
  uint64_t wire_ps(unsigned bytes) const;
  // On the wire: framing and sequence number, header of 3 or 4 DW, payload, LCRC.
  static unsigned wire_bytes(const tlp& t);
  // Payload bandwidth of back-to-back packets of one kind, acknowledgements not counted.
  double efficiency(unsigned payload_bytes, bool wide_address) const;

  static constexpr unsigned framing_bytes = 8;  // STP, sequence number, LCRC, END; or STP token and LCRC
  static constexpr unsigned dllp_bytes = 8;     // acknowledgement or UpdateFC with framing
};

}  // namespace ggas::pcie
