// SPDX-License-Identifier: Apache-2.0
// The reference model: registers, BAR0 as the host reads and writes it.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_model.hpp"
#include "sim/nic/tlp_rules.hpp"

namespace ggas::nic {

using pcie::tlp;

namespace {

constexpr unsigned register_bytes = 1 << 16;

// Writable bits of the plain registers; those not listed are read only.
struct writable {
  uint16_t offset;
  uint64_t mask;
  uint64_t reset;
};
constexpr writable plain_registers[] = {
    {GGAS_REG_NODE, GGAS_NODE_ID_MASK, 0},
    {GGAS_REG_STOP, GGAS_STOP_NIC_MASK, 0},
    {GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK | GGAS_SMFU_CTRL_INGRESS_MASK | GGAS_SMFU_CTRL_MODE_MASK, 0},
    {GGAS_REG_SMFU_MASK, ~0ull, 0},
    {GGAS_REG_SMFU_SHIFT,
     GGAS_SMFU_SHIFT_SHIFT_MASK | GGAS_SMFU_SHIFT_NODES_MASK | GGAS_SMFU_SHIFT_EXPORT_NO_MASK |
         GGAS_SMFU_SHIFT_DOMAIN_MASK,
     0},
    {GGAS_REG_SMFU_TIMEOUT, GGAS_SMFU_TIMEOUT_LOAD_MASK | GGAS_SMFU_TIMEOUT_HOST_MASK, 1000 | 500 << 16},
    {GGAS_REG_LINK_PEER, GGAS_LINK_PEER_NODE_MASK | GGAS_LINK_PEER_VALID_MASK, 0},
    {GGAS_REG_LINK_CTRL, GGAS_LINK_CTRL_REPLAY_LIMIT_MASK | GGAS_LINK_CTRL_REPLAY_TIMEOUT_MASK, 32 << 8 | 2048 << 16},
    {GGAS_REG_ROUTE,
     GGAS_ROUTE_NODE_MASK | GGAS_ROUTE_LINK_MASK | GGAS_ROUTE_LANE_MASK | GGAS_ROUTE_VALID_MASK |
         GGAS_ROUTE_SECOND_LINK_MASK | GGAS_ROUTE_SECOND_LANE_MASK | GGAS_ROUTE_SECOND_MASK,
     0},
    {GGAS_REG_MULTICAST,
     GGAS_MULTICAST_GROUP_MASK | GGAS_MULTICAST_LANE_MASK | GGAS_MULTICAST_LINK_MASK | GGAS_MULTICAST_MEMBER_MASK |
         GGAS_MULTICAST_VALID_MASK | GGAS_MULTICAST_BRANCHES_MASK,
     0},
    {GGAS_REG_EVQ_BASE, ~0ull, 0},
    {GGAS_REG_EVQ_CTRL, GGAS_EVQ_CTRL_ENABLE_MASK | GGAS_EVQ_CTRL_LOG2_SIZE_MASK | GGAS_EVQ_CTRL_VECTOR_MASK, 8 << 8},
    {GGAS_REG_EVQ_TAIL, 0xffffffff, 0},
    {GGAS_REG_FIRED_BASE, ~0ull, 0},
    {GGAS_REG_FIRED_CTRL, GGAS_FIRED_CTRL_ENABLE_MASK, 0},
    {GGAS_REG_FIRED_TAIL, 0xffffffff, 0},
    {GGAS_REG_EVQ_MASK, GGAS_EVQ_MASK_CODES_MASK, 0},
    {GGAS_REG_EVQ_LIMIT, GGAS_EVQ_LIMIT_COUNT_MASK | GGAS_EVQ_LIMIT_LOG2_TICKS_MASK, 0},
    {GGAS_REG_RMA_CTRL,
     GGAS_RMA_CTRL_REQUESTER_MASK | GGAS_RMA_CTRL_TARGET_MASK | GGAS_RMA_CTRL_MTU_MASK |
         GGAS_RMA_CTRL_RETRY_TICKS_MASK | GGAS_RMA_CTRL_RETRY_LIMIT_MASK,
     2 << 8 | 1 << 16},
    {GGAS_REG_RMA_TIMEOUT, GGAS_RMA_TIMEOUT_ANSWER_MASK | GGAS_RMA_TIMEOUT_HOST_MASK, 2000 | 500 << 16},
    {GGAS_REG_ATU_INVALIDATE,
     GGAS_ATU_INVALIDATE_EVERYTHING_MASK | GGAS_ATU_INVALIDATE_RANGE_MASK | GGAS_ATU_INVALIDATE_PAGE_MASK, 0},
    {GGAS_REG_ATU_LAST, GGAS_ATU_LAST_PAGE_MASK, 0},
    {GGAS_REG_ATU_ACK, ~0ull, 0},
    {GGAS_REG_ATU_TABLE0, GGAS_ATU_TABLE0_ENTRIES_MASK | GGAS_ATU_TABLE0_FIRST_MASK, 0},
    {GGAS_REG_ATU_TABLE1, GGAS_ATU_TABLE1_ENTRIES_MASK | GGAS_ATU_TABLE1_FIRST_MASK, 0},
    {GGAS_REG_ATU_TABLE2, GGAS_ATU_TABLE2_ENTRIES_MASK | GGAS_ATU_TABLE2_FIRST_MASK, 0},
    {GGAS_REG_ATU_TABLE3, GGAS_ATU_TABLE3_ENTRIES_MASK | GGAS_ATU_TABLE3_FIRST_MASK, 0},
};
constexpr uint16_t time_dependent[] = {GGAS_REG_TIME,     GGAS_REG_STOPPED,  GGAS_REG_LINK_STATUS, GGAS_REG_LINKS,
                                       GGAS_REG_EVQ_HEAD, GGAS_REG_MSIX_PBA, GGAS_REG_ATU_STATUS,  GGAS_REG_FIRED_HEAD};
// Writable bits of the words of a context.
constexpr uint64_t context_masks[] = {GGAS_CONTEXT_CTRL_ENABLE_MASK | GGAS_CONTEXT_CTRL_QUEUE_MASK |
                                          GGAS_CONTEXT_CTRL_BACKPRESSURE_MASK | GGAS_CONTEXT_CTRL_IRQ_MASK |
                                          GGAS_CONTEXT_CTRL_VECTOR_MASK | GGAS_CONTEXT_CTRL_NOTIFY_LOG2_MASK |
                                          GGAS_CONTEXT_CTRL_LIST_MASK | GGAS_CONTEXT_CTRL_QUEUE_LOG2_MASK |
                                          GGAS_CONTEXT_CTRL_MAILBOX_LOG2_MASK | GGAS_CONTEXT_CTRL_PD_MASK,
                                      ~0ull, ~0ull, ~0ull, ~0ull};
constexpr unsigned context_bytes = 0x40, context_state = 5;
constexpr uint64_t interval_target_mask = GGAS_INTERVAL_TARGET_NODE_MASK | GGAS_INTERVAL_TARGET_VALID_MASK |
                                          GGAS_INTERVAL_TARGET_GROUP_MASK | GGAS_INTERVAL_TARGET_EXPORT_NO_MASK |
                                          GGAS_INTERVAL_TARGET_DOMAIN_MASK;
// Writable bits of the words of an export.
constexpr uint64_t export_masks[] = {~uint64_t{0xfff}, ~uint64_t{0xfff},
                                     GGAS_EXPORT_ACCESS_DOMAIN_MASK | GGAS_EXPORT_ACCESS_VALID_MASK |
                                         GGAS_EXPORT_ACCESS_READ_MASK | GGAS_EXPORT_ACCESS_WRITE_MASK,
                                     0};
constexpr unsigned export_bytes = 0x20, export_access = 2, export_state = 3;

// Writable bits of the words of a group.
constexpr uint64_t coll_masks[] = {
    GGAS_COLL_CTRL_ENABLE_MASK | GGAS_COLL_CTRL_ROOT_MASK | GGAS_COLL_CTRL_CHILDREN_MASK | GGAS_COLL_CTRL_BLOCK_MASK |
        GGAS_COLL_CTRL_OWNER_MASK | GGAS_COLL_CTRL_EPOCH_MASK | GGAS_COLL_CTRL_DOMAIN_MASK,
    GGAS_COLL_PARENT_NODE_MASK, ~0ull, ~uint64_t{0x3ff}, 0};
constexpr unsigned coll_bytes = 0x40, coll_state = 4;

bool in_range(uint16_t offset, unsigned base, unsigned bytes) { return offset >= base && offset < base + bytes; }
bool is_counter(uint16_t offset) {
  return in_range(offset, GGAS_REG_SMFU_STORES_IN, GGAS_REG_VELO_FULL + 8 - GGAS_REG_SMFU_STORES_IN) ||
         in_range(offset, GGAS_REG_EVENT_COUNT(0), 8 * GGAS_EVENT_COUNT_NUM);
}
bool is_interval(uint16_t offset) {
  return in_range(offset, GGAS_REG_INTERVAL_START(0), 32 * GGAS_INTERVAL_NUM) && (offset & 0x18) != 0x18;
}
bool is_interval_target(uint16_t offset) { return is_interval(offset) && (offset & 0x18) == 0x10; }
bool is_context(uint16_t offset) {
  return in_range(offset, GGAS_REG_CONTEXT_CTRL(0), context_bytes * GGAS_CONTEXT_NUM) &&
         offset % context_bytes / 8 <= context_state;
}
unsigned context_of(uint16_t offset) { return (offset - GGAS_REG_CONTEXT_CTRL(0)) / context_bytes; }
bool is_state(uint16_t offset) { return is_context(offset) && offset % context_bytes / 8 == context_state; }
bool is_export(uint16_t offset) { return in_range(offset, GGAS_REG_EXPORT_BASE(0), export_bytes * GGAS_EXPORT_NUM); }
bool is_coll(uint16_t offset) {
  return in_range(offset, GGAS_REG_COLL_CTRL(0), coll_bytes * GGAS_COLL_NUM) && offset % coll_bytes / 8 <= coll_state;
}
unsigned group_of(uint16_t offset) { return (offset - GGAS_REG_COLL_CTRL(0)) / coll_bytes; }
unsigned export_word(uint16_t offset) { return offset % export_bytes / 8; }
bool is_export_state(uint16_t offset) { return is_export(offset) && export_word(offset) == export_state; }
bool is_piece(uint16_t offset) { return in_range(offset, GGAS_REG_ATU_PIECE(0), 8 * GGAS_ATU_PIECE_NUM); }
bool is_msix(uint16_t offset) { return in_range(offset, GGAS_REG_MSIX_ADDR(0), 16 * GGAS_MSIX_NUM); }
bool is_moderation(uint16_t offset) { return in_range(offset, GGAS_REG_MODERATION(0), 8 * GGAS_MODERATION_NUM); }
bool is_time_dependent(uint16_t offset) {
  return std::ranges::find(time_dependent, offset) != std::end(time_dependent);
}
bool is_known(uint16_t offset) {
  return std::ranges::find(plain_registers, offset, &writable::offset) != std::end(plain_registers) ||
         is_counter(offset) || is_interval(offset) || is_export(offset) || is_coll(offset) || is_piece(offset) ||
         is_msix(offset) || is_moderation(offset) || is_context(offset) || offset == GGAS_REG_ID ||
         offset == GGAS_REG_CAPS || offset == GGAS_REG_BUILD || offset == GGAS_REG_CLOCK || offset == GGAS_REG_SERIAL ||
         is_time_dependent(offset);
}

}  // namespace

void reference_model::reset_registers() {
  regs_.resize(register_bytes / 8);
  for (const auto& r : plain_registers) regs_[r.offset / 8] = r.reset;
  for (unsigned i = 0; i < GGAS_MSIX_NUM; ++i) regs_[GGAS_REG_MSIX_CTRL(i) / 8] = GGAS_MSIX_CTRL_MASK_MASK;
}

void reference_model::register_access(const tlp& t) {
  const bool word = t.len_dw == 1 && t.first_be == 0xf;
  const bool both = t.len_dw == 2 && t.first_be == 0xf && t.last_be == 0xf && t.addr % 8 == 0;
  const uint16_t offset = uint16_t(t.addr & 0xfff8);
  if (!(word || both) || t.addr >= register_bytes || !is_known(offset)) return refuse(t, GGAS_EV_UNSUPPORTED_TLP);
  const unsigned shift = t.addr & 4 ? 32 : 0;
  if (t.posted()) {
    const uint64_t value = uint64_t{t.data[0]} << shift | (both ? uint64_t{t.data[1]} << 32 : 0);
    write_register(offset, value, both ? ~0ull : 0xffffffffull << shift);
    return;
  }
  uint64_t value = read_register(offset).value_or(0);
  if (is_time_dependent(offset) && around_.live_register) value = around_.live_register(offset);
  if (offset == GGAS_REG_ATU_STATUS) value = rma_.atu_status();
  if (offset == GGAS_REG_STOPPED) value = stops();
  if (is_state(offset)) value = rma_.context_stopped(context_of(offset));
  if (is_export_state(offset)) value = export_stopped((offset - GGAS_REG_EXPORT_BASE(0)) / export_bytes);
  std::vector<uint32_t> dws{uint32_t(value >> shift)};
  if (both) dws.push_back(uint32_t(value >> 32));
  complete_data(t, std::move(dws), 0);
}

bool reference_model::stopped() const { return reg(GGAS_REG_STOP) & GGAS_STOP_NIC_MASK; }

uint64_t reference_model::stops() const {
  const bool ingress = !(reg(GGAS_REG_SMFU_CTRL) & GGAS_SMFU_CTRL_INGRESS_MASK) || stopped();
  const bool events = !(reg(GGAS_REG_EVQ_CTRL) & GGAS_EVQ_CTRL_ENABLE_MASK) || stopped();
  const bool fired = !(reg(GGAS_REG_FIRED_CTRL) & GGAS_FIRED_CTRL_ENABLE_MASK) || stopped();
  const bool idle = reads_.empty() && !rma_.reads_host();
  return (stopped() && idle ? GGAS_STOPPED_NIC_MASK : 0) | (events ? GGAS_STOPPED_EVENTS_MASK : 0) |
         (fired ? GGAS_STOPPED_FIRED_MASK : 0) | (ingress && reads_.empty() ? GGAS_STOPPED_INGRESS_MASK : 0);
}

void reference_model::write_register(uint16_t offset, uint64_t value, uint64_t mask) {
  const auto merge = [&](uint64_t bits) {
    uint64_t& r = regs_[offset / 8];
    r = (r & ~(mask & bits)) | (value & mask & bits);
  };
  for (const auto& r : plain_registers)
    if (r.offset == offset) merge(r.mask);
  if (offset == GGAS_REG_ROUTE && value & mask & GGAS_ROUTE_SET_MASK && around_.set_route)
    around_.set_route(reg(offset));
  if (offset == GGAS_REG_LINK_CTRL && value & mask & GGAS_LINK_CTRL_RETRAIN_MASK && around_.retrain) around_.retrain();
  if (offset == GGAS_REG_MULTICAST && value & mask & GGAS_MULTICAST_SET_MASK && around_.group_line)
    around_.group_line(reg(offset));
  if (is_piece(offset)) merge(~0ull);
  if (is_msix(offset)) merge(offset & 8 ? GGAS_MSIX_CTRL_DATA_MASK | GGAS_MSIX_CTRL_MASK_MASK : ~0ull);
  if (is_moderation(offset)) merge(0xff'ffffffff);
  if (offset == GGAS_REG_ATU_INVALIDATE) rma_.invalidate((value & mask) | (reg(offset) & ~mask));
  if (is_context(offset)) {
    const unsigned word = offset % context_bytes / 8;
    if (word == context_state) return;
    merge(context_masks[word]);
    rma_.write_context(context_of(offset), word, reg(offset));
  }
  if (is_coll(offset) && around_.collectives) {
    // A group in use may be switched off; the rest waits until then.
    const unsigned word = offset % coll_bytes / 8;
    const bool in_use = coll_.enabled(group_of(offset));
    const bool stops = in_use && word == 0 && !(value & GGAS_COLL_CTRL_ENABLE_MASK);
    if (!in_use || stops) merge(in_use ? GGAS_COLL_CTRL_ENABLE_MASK : coll_masks[word]);
    if (word == 0 && mask & GGAS_COLL_CTRL_ENABLE_MASK) coll_.written(group_of(offset));
  }
  // A new border takes its export back.
  if (is_export(offset)) {
    merge(export_masks[export_word(offset)]);
    if (export_word(offset) < export_access)
      regs_[offset / export_bytes * (export_bytes / 8) + export_access] &= ~GGAS_EXPORT_ACCESS_VALID_MASK;
  }
  if (!is_interval(offset)) return;
  merge(is_interval_target(offset) ? interval_target_mask : ~0ull);
  interval_written(offset, mask);
}

bool reference_model::export_stopped(unsigned number) const {
  const auto through = [&](const auto& r) {
    return r.second.request.is(op::load) && r.second.request.export_no == number;
  };
  return !export_of(number) && std::ranges::none_of(reads_, through);
}

// A new border or domain switches its interval off; a target switches on what has whole pages.
void reference_model::interval_written(uint16_t offset, uint64_t mask) {
  const bool target = is_interval_target(offset) && mask & GGAS_INTERVAL_TARGET_VALID_MASK;
  const bool no_group = target && reg(offset) & GGAS_INTERVAL_TARGET_GROUP_MASK && !around_.groups;
  if (no_group) regs_[offset / 8] &= ~GGAS_INTERVAL_TARGET_GROUP_MASK;
  if (!target) regs_[(offset & ~0x1fu) / 8 + 2] &= ~GGAS_INTERVAL_TARGET_VALID_MASK;
  if (!target || !(reg(offset) & GGAS_INTERVAL_TARGET_VALID_MASK)) return;
  const uint64_t start = reg(uint16_t(offset - 16)), end = reg(uint16_t(offset - 8));
  if (start < end && start % page_bytes == 0 && end % page_bytes == 0 && !no_group) return;
  regs_[offset / 8] &= ~GGAS_INTERVAL_TARGET_VALID_MASK;
  raise(GGAS_EV_BAD_INTERVAL, 0, (offset - GGAS_REG_INTERVAL_START(0)) / 32u);
}

std::optional<uint64_t> reference_model::read_register(uint16_t offset) const {
  if (is_time_dependent(offset) || is_state(offset) || is_export_state(offset)) return std::nullopt;
  if (offset == GGAS_REG_ID) return 0x53414747ull | 1ull << 32;
  if (offset == GGAS_REG_CAPS)
    return data_width_ | uint64_t{mtu_bytes} << 16 | 64ull << 32 | uint64_t{GGAS_INTERVAL_NUM} << 40 |
           uint64_t{GGAS_MSIX_NUM} << 48 | uint64_t{GGAS_EXPORT_NUM} << 56;
  if (offset == GGAS_REG_BUILD)
    return rma_contexts | uint64_t{std::countr_zero(rma_page_distance)} << GGAS_BUILD_PAGE_LOG2_SHIFT |
           GGAS_BUILD_RMA_MASK | GGAS_BUILD_VELO_MASK | uint64_t{around_.collectives} << GGAS_BUILD_COLL_SHIFT |
           uint64_t{around_.nodes} << GGAS_BUILD_NODES_SHIFT | uint64_t{around_.groups} << GGAS_BUILD_GROUPS_SHIFT;
  if (offset == GGAS_REG_CLOCK) return cfg_.clock_khz;
  if (offset == GGAS_REG_SERIAL) return cfg_.serial;
  if (is_coll(offset) && offset % coll_bytes / 8 == coll_state)
    return around_.collectives ? coll_.state(group_of(offset)) : 0;
  return reg(offset);
}

}  // namespace ggas::nic
