// SPDX-License-Identifier: Apache-2.0
// Words of descriptors (docs/rma.md), and the places addresses stand for. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/queue_handle.cuh"

namespace ggas::detail {

enum : uint64_t {
  desc_put = 1,
  desc_imm = 2,
  desc_inline = 3,
  desc_get = 4,
  desc_notify = 5,
  desc_atomic = 6,
  desc_send = 7,
  desc_ops = 15,
  notify_completer = 1u << 5,
  want_ack = 1u << 7,
};
constexpr unsigned slot_bytes = 32, slot_words = 4, page_slots = 16, inline_most = 64;
constexpr uint64_t largest_put = 8u << 20;
// Offsets in the page of a context.
constexpr unsigned at_doorbell = 0x010, at_notes_read = 0x018, at_messages_read = 0x020;

// `to_queue_vpid` is the own context of the number that is meant there.
GGAS_DEVICE uint64_t first_word(uint64_t op_and_flags, int node, uint64_t bytes, int to_queue_vpid = 0) {
  if (const nic_place* const all = nic_places()) {
    if ((op_and_flags & notify_completer) || (op_and_flags & desc_ops) == desc_send)
      to_queue_vpid += static_cast<int>(all[node].vpid) - static_cast<int>(all[device_context().node].vpid);
    node = all[node].nic;
  }
  return op_and_flags | static_cast<uint64_t>(to_queue_vpid) << 16 | static_cast<uint64_t>(node) << 24 | bytes << 40;
}

// One slot's worth of words; a word is picked without putting them into memory.
struct slot {
  uint64_t w0, w1, w2, w3;
  GGAS_DEVICE uint64_t word(unsigned i) const { return i < 2 ? (i == 0 ? w0 : w1) : (i == 2 ? w2 : w3); }
};

// Where a global address points.
struct place {
  int node;  // -1: in no segment
  uint64_t offset;
};

// Without branches: calls that check several addresses do it side by side.
GGAS_DEVICE place locate(const void* p, uint64_t bytes) {
  const context& c = device_context();
  const auto a = reinterpret_cast<uintptr_t>(p);
  const uint64_t own = a - reinterpret_cast<uintptr_t>(c.local), from = a - reinterpret_cast<uintptr_t>(c.window);
  const bool here = !own_segment_in_window && own < c.segment_bytes;
  const uint64_t offset = here ? own : offset_in_segment(from);
  const bool inside = (here | (from < window_bytes())) & fits_segment(offset, bytes);
  return {inside ? (here ? c.node : static_cast<int>(segment_at(from))) : -1, offset};
}

GGAS_DEVICE bool is_local(const void* p, uint64_t bytes) {
  const context& c = device_context();
  const uint64_t offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(c.local);
  return offset < c.segment_bytes && bytes <= c.segment_bytes - offset;
}

GGAS_DEVICE uint64_t nla(int node, uint64_t offset) {
  const nic_place* const all = nic_places();
  return (all ? all[node].nla : device_context().segment_nla) + offset;
}
GGAS_DEVICE uint64_t nla(const place& at) { return nla(at.node, at.offset); }
GGAS_DEVICE uint64_t own_nla(uint64_t offset) { return device_context().segment_nla + offset; }
GGAS_DEVICE uint64_t local_nla(const void* p) {
  return own_nla(reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(device_context().local));
}

// `bytes` (1 ... 8) at any address as the low bytes of a word.
GGAS_DEVICE uint64_t load_bytes(const char* p, unsigned bytes) {
  const auto a = reinterpret_cast<uintptr_t>(p);
  if (bytes == 8 && a % 8 == 0) return load_relaxed(reinterpret_cast<const uint64_t*>(p));
  uint64_t v = 0;
  for (unsigned done = 0; done < bytes;) {
    if (bytes - done >= 4 && (a + done) % 4 == 0) {
      v |= static_cast<uint64_t>(load_relaxed(reinterpret_cast<const uint32_t*>(p + done))) << 8 * done;
      done += 4;
    } else {
      v |= static_cast<uint64_t>(load_relaxed(reinterpret_cast<const uint8_t*>(p + done))) << 8 * done;
      done += 1;
    }
  }
  return v;
}

template <class To, class From>
GGAS_DEVICE To as_bits(const From& from) {
  static_assert(sizeof(From) <= sizeof(To));
  To to{};
  memcpy(&to, &from, sizeof(From));
  return to;
}

}  // namespace ggas::detail
