// SPDX-License-Identifier: Apache-2.0
// Software of the RMA on the hosts of a bench: translation tables, and contexts with their rings, as a driver and a
// process would use them. Everything is in host memory at fixed places; the NIC is accessed by TLPs only.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sim/nic/packet.hpp"
#include "sim/nic/rma_format.hpp"
#include "tests/rtl/harness/machine.hpp"

namespace ggas::test {

// Places in the memory of each host.
inline constexpr uint64_t rma_tables = 0x8'0000'0000, rma_rings = 0x9'0000'0000, rma_data = 0xA'0000'0000;

inline constexpr unsigned page_shifts[4] = {12, 16, 21, 30};
// Network logical address: byte `offset` of page `index` of class 0 ... 3.
inline uint64_t nla(unsigned cls, uint64_t index, uint64_t offset = 0) {
  return uint64_t{cls} << 46 | ((index << page_shifts[cls]) + offset);
}

struct rma_rights {
  bool read = true, write = true, valid = true;
};

// Translation tables and RMA registers of all NICs.
class rma_driver {
 public:
  explicit rma_driver(machine& m) : machine_(m), invalidations_(m.nodes()) {}
  // Tables of `entries` pages a class; requester and target on.
  void set_up(unsigned entries = 64, unsigned mtu_code = 2, unsigned retry_ticks = 1, unsigned retry_limit = 0) {
    for (unsigned n = 0; n < machine_.nodes(); ++n) set_up_node(n, entries, mtu_code, retry_ticks, retry_limit);
  }
  void set_up_node(unsigned n, unsigned entries, unsigned mtu_code, unsigned retry_ticks, unsigned retry_limit);
  void map(unsigned side, uint64_t address, uint64_t bus, uint16_t pd, rma_rights rights = {});
  // Drops the translation of a page (or all), and waits for the acknowledgement.
  bool invalidate(unsigned side, std::optional<uint64_t> address);

 private:
  machine& machine_;
  std::vector<uint32_t> invalidations_;
};

struct user_config {
  unsigned side = 0;
  uint8_t vpid = 0;
  uint16_t pd = 1;
  bool queue = false, backpressure = true, ring = true, mailbox = true, status = true;
  unsigned notify_log2 = 6, queue_log2 = 5, mailbox_log2 = 3;
  bool reads_notes = true, reads_mails = true;  // else its rings fill up
  double batch = 0.3;                           // chance per look to inform the NIC how far it has read
  uint64_t rings = rma_rings;                   // where its rings lie: host memory, or a device's
};

struct user_note {
  uint64_t w0;
  nic::note n;
};
struct user_message {
  std::vector<uint8_t> data;
  uint64_t cookie;
  nic::note n;
};

// One context and the process that owns it.
class rma_user {
 public:
  rma_user(machine& m, const user_config& cfg, uint64_t seed);
  void enable();
  void disable();
  bool stopped();  // STATE

  // Queues a descriptor; pump() writes it when slots are free, in pieces of any size.
  void post(const nic::descriptor& d) { post_slots(d.encode()); }
  void post_slots(std::vector<std::array<uint32_t, 8>> slots) {
    for (auto& s : slots) waiting_.push_back(s);
    ++posted_;
  }
  // Call often: writes descriptors, reads rings.
  void pump();

  uint64_t posted() const { return posted_; }
  bool all_written() const { return waiting_.empty(); }
  uint32_t status(unsigned dw) const;  // of the status block
  uint32_t consumed() const { return status(0); }
  uint32_t local() const { return status(1); }
  uint32_t remote() const { return status(2); }
  uint32_t errors() const { return status(3) & 0xffffff; }
  nic::net_status last_error() const { return nic::net_status(status(3) >> 24); }
  bool done() const { return waiting_.empty() && remote() == posted_ && local() == posted_; }

  std::vector<user_note> notes;        // read so far
  std::vector<user_message> messages;  // read so far
  user_config cfg;

  uint64_t notify_ring() const { return base_; }
  uint64_t queue_ring() const { return base_ + 0x10'0000; }
  uint64_t status_block() const { return base_ + 0x40'0000; }
  uint64_t mailbox() const { return base_ + 0x50'0000; }
  uint64_t page() const { return cfg.vpid * nic::rma_context_bytes; }
  void tell_notes();  // doorbell: all read
  void tell_messages();

 private:
  void write_page();
  void write_queue();
  void read_notes();
  void read_messages();

  machine& machine_;
  rng rng_;
  uint64_t base_;
  std::deque<std::array<uint32_t, 8>> waiting_;
  uint64_t posted_ = 0;
  uint32_t slots_written_ = 0;
  uint32_t notes_read_ = 0, notes_reported_ = 0, mails_read_ = 0, mails_reported_ = 0;
};

}  // namespace ggas::test
