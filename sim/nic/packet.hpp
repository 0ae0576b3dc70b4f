// SPDX-License-Identifier: Apache-2.0
// A network packet (docs/packet-format.md) as C++ sees it, and the way from packets to flits and back.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/nic/nic_core.hpp"

namespace ggas::nic {

enum class vc : uint8_t { p = 0, np = 1, rsp = 2, rma = 3 };
enum class op : uint8_t {
  store = 0x00,
  load = 0x01,
  load_rsp = 0x02,
  quiet = 0x03,
  quiet_rsp = 0x04,
  rma_put = 0x10,
  rma_get = 0x11,
  rma_notify = 0x12,
  rma_atomic = 0x13,
  rma_ack = 0x18,
  rma_get_data = 0x19,
  rma_get_done = 0x1a,
  rma_atomic_rsp = 0x1b,
  velo_msg = 0x20,
  coll_up = 0x30,
  coll_down = 0x31,
};
inline constexpr uint8_t op_multicast = 0x80;  // to all nodes of a group; stores alone have it
// Packet status, also what a quiet returns and what notifications and status blocks carry (ggas_pkg::ST_*).
enum class net_status : uint8_t {
  ok = 0,
  range = 1,
  host_error = 2,
  timeout = 3,
  link_down = 4,
  unreachable = 5,
  protection = 6,
  full = 7,
  lost = 8,
  disabled = 9,
  bad = 10,
};
// Bits of the flags of an RMA packet (ggas_pkg::RMA_*).
enum rma_flag : uint16_t {
  rma_last = 1,
  rma_wants_ack = 2,
  rma_strong = 4,
  rma_result = 8,
  rma_responder = 16,
  rma_first = 32,
};

inline constexpr unsigned mtu_bytes = 256, mtu_dw = mtu_bytes / 4;
inline constexpr unsigned max_nodes = 64;  // that a NIC can reach, as the reference model knows it

inline constexpr unsigned packet_version = 2;
inline constexpr uint8_t hop_limit = 255;
inline constexpr unsigned header_dws = 7;
using packet_header = std::array<uint32_t, header_dws>;  // w0, w1, w2 (low half first), w3

// Image of ggas_pkg::net_hdr_t with the payload. Plain integers, because a packet from the network may contain
// anything. RMA packets use the same bits as ggas_pkg::rma_hdr_t; the functions below give that view. version, seq and
// session belong to the link: 0 in a packet between units and link.
struct packet {
  uint16_t dst = 0, src = 0;
  uint16_t len_dw = 0;                   // as the header says; data.size() is what is there
  uint8_t vc = 0, seq = 0, session = 0;  // vc: with the lane in bit 2
  uint8_t op = 0, status = 0, first_be = 0, last_be = 0;
  uint16_t tag = 0;
  uint8_t vpid = 0;     // RMA, VELO: context at the target
  uint16_t req_dw = 0;  // SMFU
  uint64_t addr = 0;
  uint16_t domain = 0;
  uint8_t export_no = 0, hops = 0, version = 0;
  uint16_t detail = 0;    // the low bits of w1: 12 of RMA and VELO, 9 of the SMFU
  uint16_t reserved = 0;  // unordered | rsvd0 << 1 | vtime << 3
  boost::container::small_vector<uint32_t, 64> data = {};

  bool is(enum op o) const { return op == uint8_t(o); }
  // It may pass others of its source, destination and channel: hops may choose its way (docs/network.md).
  bool unordered() const { return reserved & 1; }
  void set_unordered(bool on) { reserved = uint16_t((reserved & ~1u) | unsigned{on}); }
  // Loads and their answers: the load is this packet alone.
  bool whole() const { return detail >> 8 & 1; }
  void set_whole(bool on) { detail = uint16_t((detail & ~0x100u) | unsigned{on} << 8); }
  // Loads: the part of the address that distinguishes the packets of one load, echoed in their answers.
  uint64_t piece() const { return addr & 0xf80; }
  // As ggas_pkg::is_unordered: with several links net marks these packets.
  bool may_pass() const { return is(op::quiet_rsp) || (is(op::load_rsp) && whole()); }
  packet_header header() const;
  void set_header(const packet_header& h);

  // ---- the view of RMA and VELO packets
  bool one_sided() const { return op >= uint8_t(op::rma_put) && op < uint8_t(op::coll_up); }
  uint8_t svpid() const { return uint8_t(tag >> 8); }  // context of the initiator
  uint8_t epoch() const { return uint8_t(tag); }
  uint8_t dvpid() const { return vpid; }
  uint16_t pd() const { return domain; }
  uint16_t flags() const { return uint16_t(detail >> 6 & 0x3f); }
  uint8_t place() const { return uint8_t(detail >> 2 & 15); }  // of a get at its target
  void set_initiator(uint8_t svpid, uint8_t epoch) { tag = uint16_t(svpid << 8 | epoch); }
  void set_pd(uint16_t pd) { domain = pd; }
  void set_flags(unsigned f) { detail = uint16_t((detail & 0x3f) | (f & 0x3f) << 6); }
  void set_place(unsigned place) { detail = uint16_t((detail & 0xfc3) | (place & 15u) << 2); }
};

// Payload and byte enables of a PUT or GET_DATA whose address is set: DW 0 holds the bytes at addr & ~3.
void put_payload(packet& p, std::span<const uint8_t> bytes);

const char* to_text(op o);  // "put", "get data", ...; "?" for an unknown one
const char* to_text(net_status s);
// One line for people: operation, nodes, contexts, address, length, flags.
std::string to_text(const packet& p);

// CRC-32 of the link: reflected 0xEDB88320, initial value and final xor all ones.
uint32_t crc32(std::span<const uint32_t> words);
uint32_t crc32(uint32_t word);

// Flits of a packet with so much payload on a link of `width` bits, and whether this one is the last of its packet.
unsigned flit_count(unsigned len_dw, unsigned width);
bool ends_packet(const flit& f, unsigned width);
// Flits of one packet, CRC included, on a link of `width` bits.
std::vector<flit> to_flits(const packet& p, unsigned width);
// The packet in these DWs of flits, as far as they go; the CRC is not looked at. nullopt: not even a header.
std::optional<packet> from_flits(std::span<const uint32_t> dws, unsigned width);

// Content of a CTRL flit within a session, and of one that begins or ends it (link_pkg::link_ctrl_t, link_hello_t).
struct control {
  uint8_t ack_seq = 0;
  uint8_t session = 0;  // tag of the receiver's number
  uint16_t credit = 0;
  uint8_t credit_vc = 0;
  bool nak = false;
  bool poll = false;  // report me your credits
};
struct hello {
  uint16_t mine = 0, yours = 0;
  bool seen = false, met = false, dead = false;
};
inline constexpr unsigned session_mask = 0x3fff, session_tag_mask = 15;
flit to_flit(const control& c);
flit to_flit(const hello& h);
// nullopt: bad CRC, not a CTRL flit, or one of the other kind
std::optional<control> parse_control(const flit& f);
std::optional<hello> parse_hello(const flit& f);

// Flits in, intact packets out. Anything against the framing or with a bad CRC is dropped and counted.
class flit_decoder {
 public:
  explicit flit_decoder(unsigned width) : dws_(width / 32) {}
  std::optional<packet> push(const flit& f);
  uint64_t errors() const { return errors_; }

 private:
  unsigned dws_;
  bool open_ = false;
  std::vector<uint32_t> buffer_;
  uint64_t errors_ = 0;
};

}  // namespace ggas::nic
