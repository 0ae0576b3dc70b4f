// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/harness/rma_user.hpp"

namespace ggas::test {

namespace {
constexpr uint64_t table_bytes = 0x100'0000, ring_bytes = 0x100'0000;
constexpr uint64_t ack_address = rma_tables + 4 * table_bytes;
constexpr unsigned unread_slack = 2;
}  // namespace

// ---------------------------------------------------------------------------------------------- driver

void rma_driver::set_up_node(unsigned n, unsigned entries, unsigned mtu_code, unsigned retry_ticks,
                             unsigned retry_limit) {
  for (unsigned cls = 0; cls < 4; ++cls) {
    for (unsigned i = 0; i < 4 * entries; ++i)
      machine_.host(n).mem.store32(rma_tables + cls * table_bytes + 4 * i, 0, 15);
    machine_.write_register(n, uint16_t(GGAS_REG_ATU_PIECE(10 * cls)), rma_tables + cls * table_bytes);
    machine_.write_register(n, uint16_t(GGAS_REG_ATU_TABLE0 + 8 * cls), entries | uint64_t{10 * cls} << 32);
  }
  machine_.write_register(n, GGAS_REG_ATU_ACK, ack_address);
  machine_.host(n).mem.store32(ack_address, invalidations_[n], 15);
  machine_.write_register(n, GGAS_REG_RMA_CTRL,
                          3 | mtu_code << GGAS_RMA_CTRL_MTU_SHIFT | retry_ticks << GGAS_RMA_CTRL_RETRY_TICKS_SHIFT |
                              uint64_t{retry_limit} << GGAS_RMA_CTRL_RETRY_LIMIT_SHIFT);
}

void rma_driver::map(unsigned side, uint64_t address, uint64_t bus, uint16_t pd, rma_rights rights) {
  const unsigned cls = address >> 46 & 3;
  const uint64_t index = (address & ((uint64_t{1} << 46) - 1)) >> page_shifts[cls];
  const uint64_t at = rma_tables + cls * table_bytes + 16 * index;
  const uint64_t w0 = bus | uint64_t{rights.valid} | uint64_t{rights.read} << 1 | uint64_t{rights.write} << 2;
  memory& m = machine_.host(side).mem;
  m.store32(at, uint32_t(w0), 15);
  m.store32(at + 4, uint32_t(w0 >> 32), 15);
  m.store32(at + 8, pd, 15);
  m.store32(at + 12, 0, 15);
}

bool rma_driver::invalidate(unsigned side, std::optional<uint64_t> address) {
  uint64_t request = GGAS_ATU_INVALIDATE_START_MASK;
  request |= address ? *address & GGAS_ATU_INVALIDATE_PAGE_MASK : GGAS_ATU_INVALIDATE_EVERYTHING_MASK;
  const uint32_t count = ++invalidations_[side];
  if (address && count % 2) {  // as a range that ends there
    const uint64_t cls = *address >> 46, page = uint64_t{1} << page_shifts[cls];
    const uint64_t first = std::max(cls << 46, *address - std::min(*address, 3 * page));
    machine_.write_register(side, GGAS_REG_ATU_LAST, *address & GGAS_ATU_LAST_PAGE_MASK);
    request = GGAS_ATU_INVALIDATE_START_MASK | GGAS_ATU_INVALIDATE_RANGE_MASK | (first & GGAS_ATU_INVALIDATE_PAGE_MASK);
  }
  machine_.write_register(side, GGAS_REG_ATU_INVALIDATE, request);
  const auto& mem = machine_.host(side).mem;
  if (!machine_.run_until([&] { return mem.load32(ack_address) == count; }, 100'000, "an acknowledgement in memory"))
    return false;
  if (uint32_t(machine_.read_register(side, GGAS_REG_ATU_STATUS)) == count) return true;
  machine_.fail.add("side {}: an invalidation is acknowledged in memory alone", side);
  return false;
}

// ---------------------------------------------------------------------------------------------- user

rma_user::rma_user(machine& m, const user_config& c, uint64_t seed)
    : cfg(c), machine_(m), rng_(seed + c.vpid * 2 + c.side), base_(c.rings + c.vpid * ring_bytes) {}

void rma_user::enable() {
  memory& m = machine_.host(cfg.side).mem;
  for (uint64_t i = 0; i < (4u << cfg.notify_log2); ++i) m.store32(notify_ring() + 4 * i, 0, 15);
  for (uint64_t i = 0; i < (32u << cfg.mailbox_log2); ++i) m.store32(mailbox() + 4 * i, 0, 15);
  for (unsigned i = 0; i < 4; ++i) m.store32(status_block() + 4 * i, 0, 15);
  waiting_.clear();
  posted_ = slots_written_ = notes_read_ = notes_reported_ = mails_read_ = mails_reported_ = 0;
  notes.clear();
  messages.clear();
  driver::set_context(machine_.registers_of(cfg.side), cfg.vpid,
                      {.notifications = cfg.ring ? notify_ring() : 0,
                       .status = cfg.status ? status_block() : 0,
                       .mailbox = cfg.mailbox ? mailbox() : 0,
                       .queue = queue_ring(),
                       .notify_log2 = cfg.notify_log2,
                       .mailbox_log2 = cfg.mailbox_log2,
                       .queue_log2 = cfg.queue_log2,
                       .domain = cfg.pd,
                       .queued = cfg.queue,
                       .backpressure = cfg.backpressure});
}

void rma_user::disable() { machine_.write_register(cfg.side, uint16_t(GGAS_REG_CONTEXT_CTRL(cfg.vpid)), 0); }
bool rma_user::stopped() { return machine_.read_register(cfg.side, uint16_t(GGAS_REG_CONTEXT_STATE(cfg.vpid))) & 1; }

uint32_t rma_user::status(unsigned dw) const { return machine_.host(cfg.side).mem.load32(status_block() + 4 * dw); }

void rma_user::pump() {
  if (!waiting_.empty()) cfg.queue ? write_queue() : write_page();
  if (cfg.ring && cfg.reads_notes) read_notes();
  if (cfg.mailbox && cfg.reads_mails) read_messages();
}

// A slot with one write or several, whatever way it is cut.
void rma_user::write_page() {
  while (!waiting_.empty() && slots_written_ - consumed() < nic::rma_slots && machine_.host(cfg.side).queued() < 8) {
    const auto s = waiting_.front();
    waiting_.pop_front();
    const uint64_t at = page() + nic::rma_slots_offset + slots_written_++ % nic::rma_slots * nic::rma_slot_bytes;
    for (unsigned dw = 0; dw < 8;) {
      const unsigned n = rng_.chance(0.6) ? 8 - dw : unsigned(rng_.range(1, 8 - dw));
      machine_.write(cfg.side, make_write(bar_pages, at + 4 * dw, {s.begin() + dw, s.begin() + dw + n}));
      dw += n;
    }
  }
}

void rma_user::write_queue() {
  const uint32_t ring = 1u << cfg.queue_log2, before = slots_written_;
  memory& m = machine_.host(cfg.side).mem;
  while (!waiting_.empty() && slots_written_ - consumed() < ring) {
    for (unsigned dw = 0; dw < 8; ++dw)
      m.store32(queue_ring() + slots_written_ % ring * nic::rma_slot_bytes + 4 * dw, waiting_.front()[dw], 15);
    waiting_.pop_front();
    ++slots_written_;
  }
  if (slots_written_ != before)
    machine_.write(cfg.side, make_write(bar_pages, page() + nic::rma_doorbell_queue, {slots_written_}));
}

void rma_user::read_notes() {
  const memory& m = machine_.host(cfg.side).mem;
  for (;;) {
    const uint64_t at = notify_ring() + notes_read_ % (1u << cfg.notify_log2) * 16;
    const bool phase = !(notes_read_ >> cfg.notify_log2 & 1);
    if ((m.load32(at + 12) >> 31) != phase) break;
    notes.push_back({m.load64(at), nic::note::of(m.load64(at + 8))});
    ++notes_read_;
  }
  const bool must = notes_read_ - notes_reported_ + unread_slack >= 1u << cfg.notify_log2;
  if (notes_reported_ != notes_read_ && (must || rng_.chance(cfg.batch))) tell_notes();
}

void rma_user::tell_notes() {
  notes_reported_ = notes_read_;
  machine_.write(cfg.side, make_write(bar_pages, page() + nic::rma_doorbell_notes, {notes_read_}));
}

void rma_user::read_messages() {
  const memory& m = machine_.host(cfg.side).mem;
  for (;;) {
    const uint64_t at = mailbox() + mails_read_ % (1u << cfg.mailbox_log2) * nic::mailbox_entry_bytes;
    const bool phase = !(mails_read_ >> cfg.mailbox_log2 & 1);
    if ((m.load32(at + 76) >> 31) != phase) break;
    user_message x{.data = {}, .cookie = m.load64(at + 64), .n = nic::note::of(m.load64(at + 72))};
    for (unsigned i = 0; i < nic::message_bytes; ++i) x.data.push_back(m.load8(at + i));
    messages.push_back(std::move(x));
    ++mails_read_;
  }
  if (mails_reported_ != mails_read_ && rng_.chance(cfg.batch)) tell_messages();
}

void rma_user::tell_messages() {
  mails_reported_ = mails_read_;
  machine_.write(cfg.side, make_write(bar_pages, page() + nic::rma_doorbell_messages, {mails_read_}));
}

}  // namespace ggas::test
