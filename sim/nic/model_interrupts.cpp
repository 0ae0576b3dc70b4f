// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/model_interrupts.hpp"

#include <algorithm>

#include "ggas_regs.h"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

namespace {
constexpr unsigned record_bytes = 16, least_log2 = 4, most_log2 = 16;
}

pcie::tlp model_interrupts::write(uint64_t addr, std::vector<uint32_t> dws) const {
  pcie::tlp t{.kind = pcie::tlp_kind::mwr, .addr = addr, .len_dw = uint16_t(dws.size()), .requester = bus_id_};
  t.last_be = dws.size() > 1 ? 0xf : 0;
  t.data.assign(dws.begin(), dws.end());
  return t;
}

bool model_interrupts::enabled() const {
  return read_(GGAS_REG_EVQ_CTRL) & GGAS_EVQ_CTRL_ENABLE_MASK && !(read_(GGAS_REG_STOP) & GGAS_STOP_NIC_MASK);
}

void model_interrupts::record(const event& e, std::vector<pcie::tlp>& out) {
  const uint64_t ctrl = read_(GGAS_REG_EVQ_CTRL);
  const unsigned wanted = ctrl >> GGAS_EVQ_CTRL_LOG2_SIZE_SHIFT & 31, log2 = std::clamp(wanted, least_log2, most_log2);
  const uint64_t word = uint64_t{e.code} << 56 | uint64_t{e.node} << 40 | e.info;
  const uint64_t tail = uint64_t{head_} << 1 | !(head_ >> log2 & 1);
  const uint64_t base = read_(GGAS_REG_EVQ_BASE) & ~(page_bytes - 1);
  out.push_back(write(base + uint64_t{head_ & ((1u << log2) - 1)} * record_bytes,
                      {uint32_t(word), uint32_t(word >> 32), uint32_t(tail), uint32_t(tail >> 32)}));
  ++head_;
  message(unsigned(ctrl >> GGAS_EVQ_CTRL_VECTOR_SHIFT & 0xff), out);
}

std::vector<pcie::tlp> model_interrupts::raise(const event& e) {
  std::vector<pcie::tlp> out;
  if (!enabled() || read_(GGAS_REG_EVQ_MASK) >> e.code & 1) return out;
  const unsigned log2 = unsigned(read_(GGAS_REG_EVQ_CTRL) >> GGAS_EVQ_CTRL_LOG2_SIZE_SHIFT & 31);
  const uint32_t size = 1u << std::clamp(log2, least_log2, most_log2);
  const auto room = [&] { return head_ - uint32_t(read_(GGAS_REG_EVQ_TAIL)) < size; };
  if (dropped_ && room()) record({.code = GGAS_EV_EVENT_OVERFLOW, .info = std::exchange(dropped_, 0)}, out);
  if (room())
    record(e, out);
  else
    ++dropped_;
  return out;
}

// Each vector waits while it is masked; several raises become one.
void model_interrupts::message(unsigned vector, std::vector<pcie::tlp>& out) {
  if (vector >= GGAS_MSIX_NUM) return;
  const uint64_t ctrl = read_(uint16_t(GGAS_REG_MSIX_CTRL(vector)));
  const auto bit = uint16_t(1u << vector);
  pending_ |= bit;
  if (ctrl & GGAS_MSIX_CTRL_MASK_MASK || read_(GGAS_REG_STOP) & GGAS_STOP_NIC_MASK) return;
  pending_ &= uint16_t(~bit);
  out.push_back(write(read_(uint16_t(GGAS_REG_MSIX_ADDR(vector))), {uint32_t(ctrl)}));
}

std::vector<pcie::tlp> model_interrupts::registers_written() {
  std::vector<pcie::tlp> out;
  if (enabled() && !was_enabled_) head_ = 0, dropped_ = 0;
  was_enabled_ = enabled();
  for (unsigned v = 0; v < GGAS_MSIX_NUM; ++v)
    if (pending_ >> v & 1) message(v, out);
  return out;
}

}  // namespace ggas::nic
