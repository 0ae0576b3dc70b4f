// SPDX-License-Identifier: Apache-2.0
// Descriptors, notification records and context pages as software and the network see them (docs/rma.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ggas::nic {

inline constexpr unsigned rma_contexts = 256, rma_slots = 16, rma_slot_bytes = 32;

// BAR4: each context has a page of doorbells, followed by one of descriptor slots; for the NIC's parameter PAGE_LOG2 =
// 12.
inline constexpr uint64_t rma_page_distance = 4096, rma_context_bytes = 2 * rma_page_distance;
inline constexpr unsigned rma_slots_offset = rma_page_distance, rma_doorbell_queue = 0x10, rma_doorbell_notes = 0x18,
                          rma_doorbell_messages = 0x20, rma_arm_notes = 0x28, rma_arm_messages = 0x30,
                          rma_doorbells_end = 0x40;
inline constexpr uint32_t rma_max_bytes = 1u << 23;
inline constexpr unsigned message_bytes = 64, mailbox_entry_bytes = 128;

enum class desc_op : uint8_t {
  nop = 0,
  put = 1,
  imm = 2,
  inline_put = 3,
  get = 4,
  notify = 5,
  atomic = 6,
  send = 7,
};
enum class amo : uint8_t { add = 0, swap = 1, cas = 2, and_ = 3, or_ = 4, xor_ = 5, min = 6, max = 7 };
enum class note_kind : uint8_t { requester = 0, completer = 1, responder = 2, error = 3, lost = 4 };

inline constexpr uint64_t amo_signed = 16;  // bit of w6

// A whole descriptor: its words and the bytes of the slots after it.
struct descriptor {
  desc_op op = desc_op::nop;
  bool notify_requester = false, notify_completer = false, notify_responder = false, ack = false, strong = false;
  uint8_t reserved = 0;
  uint8_t dvpid = 0;
  uint16_t node = 0;
  uint32_t size = 0;
  uint64_t w1 = 0, w2 = 0, cookie = 0;
  std::array<uint64_t, 4> second = {};  // w4 ... w7 of ATOMIC
  std::vector<uint8_t> data = {};       // INLINE, SEND: `size` bytes

  uint64_t w0() const;
  void set_w0(uint64_t w);
  bool puts() const { return op == desc_op::put || op == desc_op::imm || op == desc_op::inline_put; }
  bool always_answered() const { return op == desc_op::get || op >= desc_op::notify; }
  bool notifies_arrival() const { return notify_completer && (puts() || op == desc_op::get || op == desc_op::notify); }
  bool holds() const {  // its context, until it is finished
    return notify_requester || notify_responder || notifies_arrival() || op == desc_op::send;
  }
  unsigned slots() const;  // 1 if op or size is bad
  bool good() const;

  // Slots as they stand in the page or the queue, and back.
  std::vector<std::array<uint32_t, 8>> encode() const;
  static descriptor decode(std::span<const std::array<uint32_t, 8>> slots);
};

// Word 1 of a notification record.
struct note {
  note_kind kind = note_kind::requester;
  uint8_t status = 0, op = 0, vpid = 0;
  uint16_t node = 0;
  uint32_t size = 0;
  bool phase = false;
  bool operator==(const note&) const = default;

  uint64_t word() const;
  static note of(uint64_t word);
};

// The result of an atomic on `old`; `bytes` is 4 or 8.
uint64_t amo_result(uint64_t w6, unsigned bytes, uint64_t old, uint64_t operand, uint64_t compare);

}  // namespace ggas::nic
