// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/rma_format.hpp"

#include <algorithm>
#include <cstring>

namespace ggas::nic {

uint64_t descriptor::w0() const {
  return uint64_t(op) | uint64_t{notify_requester} << 4 | uint64_t{notify_completer} << 5 |
         uint64_t{notify_responder} << 6 | uint64_t{ack} << 7 | uint64_t{strong} << 8 | uint64_t(reserved & 0x7f) << 9 |
         uint64_t{dvpid} << 16 | uint64_t{node} << 24 | uint64_t{size} << 40;
}

void descriptor::set_w0(uint64_t w) {
  op = desc_op(w & 15);
  notify_requester = w >> 4 & 1;
  notify_completer = w >> 5 & 1;
  notify_responder = w >> 6 & 1;
  ack = w >> 7 & 1;
  strong = w >> 8 & 1;
  reserved = uint8_t(w >> 9 & 0x7f);
  dvpid = uint8_t(w >> 16);
  node = uint16_t(w >> 24);
  size = uint32_t(w >> 40);
}

unsigned descriptor::slots() const {
  if (op == desc_op::atomic && (size == 4 || size == 8)) return 2;
  const bool data_behind = op == desc_op::send || (op == desc_op::inline_put && size > 0);
  if (data_behind && size <= message_bytes) return 1 + (size + rma_slot_bytes - 1) / rma_slot_bytes;
  return 1;
}

bool descriptor::good() const {
  if (reserved || (strong && !notify_completer) || (notify_responder && op != desc_op::get)) return false;
  switch (op) {
    case desc_op::nop:
      return true;
    case desc_op::put:
    case desc_op::get:
      return size >= 1 && size <= rma_max_bytes;
    case desc_op::imm:
      return size >= 1 && size <= 8;
    case desc_op::inline_put:
      return size >= 1 && size <= message_bytes;
    case desc_op::notify:
      return size == 0 && notify_completer;
    case desc_op::atomic:
      return (size == 4 || size == 8) && w2 % size == 0 && second[1] % 16 == 0 && !(second[2] & ~0x1full) &&
             (second[2] & 15) <= uint64_t(amo::max) && second[3] == 0;
    case desc_op::send:
      return size <= message_bytes;
  }
  return false;
}

std::vector<std::array<uint32_t, 8>> descriptor::encode() const {
  std::vector<std::array<uint32_t, 8>> out(slots());
  const uint64_t first[4] = {w0(), w1, w2, cookie};
  std::memcpy(out[0].data(), first, sizeof first);
  if (op == desc_op::atomic && out.size() == 2) std::memcpy(out[1].data(), second.data(), rma_slot_bytes);
  for (size_t i = 0; i < data.size() && i / rma_slot_bytes + 1 < out.size(); ++i)
    out[1 + i / rma_slot_bytes][i % rma_slot_bytes / 4] |= uint32_t{data[i]} << 8 * (i % 4);
  return out;
}

descriptor descriptor::decode(std::span<const std::array<uint32_t, 8>> slots) {
  descriptor d;
  uint64_t first[4];
  std::memcpy(first, slots[0].data(), sizeof first);
  d.set_w0(first[0]);
  d.w1 = first[1];
  d.w2 = first[2];
  d.cookie = first[3];
  if (slots.size() < d.slots()) return d;
  if (d.op == desc_op::atomic && d.slots() == 2) std::memcpy(d.second.data(), slots[1].data(), rma_slot_bytes);
  if ((d.op == desc_op::send || d.op == desc_op::inline_put) && d.slots() > 1) {
    d.data.resize(d.size);
    for (size_t i = 0; i < d.size; ++i)
      d.data[i] = uint8_t(slots[1 + i / rma_slot_bytes][i % rma_slot_bytes / 4] >> 8 * (i % 4));
  }
  if (d.op == desc_op::imm)
    for (size_t i = 0; i < std::min<size_t>(d.size, 8); ++i) d.data.push_back(uint8_t(d.w1 >> 8 * i));
  return d;
}

uint64_t note::word() const {
  return uint64_t{phase} << 63 | uint64_t(uint8_t(kind) & 7) << 60 | uint64_t(status & 15) << 56 | uint64_t{op} << 48 |
         uint64_t{node} << 32 | uint64_t{vpid} << 24 | (size & 0xffffff);
}

note note::of(uint64_t w) {
  return {.kind = note_kind(w >> 60 & 7),
          .status = uint8_t(w >> 56 & 15),
          .op = uint8_t(w >> 48),
          .vpid = uint8_t(w >> 24),
          .node = uint16_t(w >> 32),
          .size = uint32_t(w & 0xffffff),
          .phase = bool(w >> 63)};
}

uint64_t amo_result(uint64_t w6, unsigned bytes, uint64_t old, uint64_t operand, uint64_t compare) {
  const uint64_t mask = bytes == 4 ? 0xffffffffull : ~0ull;
  const uint64_t sign = bytes == 4 ? 1ull << 31 : 1ull << 63;
  const auto a = old & mask, b = operand & mask, c = compare & mask;
  const uint64_t flip = w6 & amo_signed ? sign : 0;
  const bool less = (a ^ flip) < (b ^ flip);
  switch (amo(w6 & 15)) {
    case amo::add:
      return (a + b) & mask;
    case amo::swap:
      return b;
    case amo::cas:
      return a == c ? b : a;
    case amo::and_:
      return a & b;
    case amo::or_:
      return a | b;
    case amo::xor_:
      return a ^ b;
    case amo::min:
      return less ? a : b;
    case amo::max:
      return less ? b : a;
  }
  return a;
}

}  // namespace ggas::nic
