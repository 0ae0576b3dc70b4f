// SPDX-License-Identifier: Apache-2.0
// Random descriptors of several contexts on both sides, and their expected results: the contents of every memory, the
// sequence of notifications and messages that each context reads, its counts. The operations of a context are drawn
// beforehand, so they do not depend on timing: two runs, one on the RTL and one on the reference model, can be compared
// packet by packet (rma_trace).
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/rtl/harness/rig.hpp"
#include "tests/rtl/harness/rma_user.hpp"

namespace ggas::test {

struct rma_mix {
  unsigned put = 30, imm = 10, inline_put = 10, get = 15, notify = 5, atomic = 12, shared_add = 6, send = 8, nop = 2,
           bad = 2;
  unsigned max_bytes = 1200;
  double notes = 0.3;  // chance of each kind of notification
  double ack = 0.4, strong = 0.3, own_node = 0.25;
};

class rma_traffic {
 public:
  // Maps the areas of `users` on both sides; they must be enabled. Contexts of one protection domain notify each other.
  rma_traffic(rig& r, rma_driver& driver, std::vector<rma_user*> users, const rma_mix& mix, uint64_t seed);

  void make(unsigned descriptors);  // for each user
  bool done() const;
  void check();  // memories, notifications, messages, counts

  // Table entries a class that its areas need.
  static constexpr unsigned table_entries = 512;

 private:
  enum area : unsigned { source, puts, gets_own, gets_other, words, shared, results_own, results_other };
  struct expected_note {
    uint64_t w0;
    uint32_t size;
    uint8_t status;
    bool operator==(const expected_note&) const = default;
    auto operator<=>(const expected_note&) const = default;
  };
  // Receiver, kind, whether of a get, and the initiator of what came from another context.
  using note_key = std::tuple<unsigned, nic::note_kind, bool, uint16_t, uint8_t>;

  uint64_t address(unsigned user, area a, unsigned cls, uint64_t offset) const;
  uint64_t bus(uint64_t address) const;
  uint64_t place(unsigned user, area a, unsigned bytes);
  nic::descriptor draw(unsigned user);
  void draw_put(unsigned user, nic::descriptor& d, unsigned target);
  void draw_get(unsigned user, nic::descriptor& d, unsigned target);
  void draw_atomic(unsigned user, nic::descriptor& d, unsigned target, bool add);
  void draw_flags(unsigned user, nic::descriptor& d, unsigned target);
  void spoil(unsigned user, nic::descriptor& d);
  void expect_notes(unsigned user, const nic::descriptor& d, unsigned target, uint64_t old);
  unsigned peer(unsigned user, unsigned target);
  void check_memory();
  void check_notes(unsigned user);
  void check_messages(unsigned user);

  rig& rig_;
  std::vector<rma_user*> users_;
  rma_mix mix_;
  std::vector<rng> rng_;  // of each user
  std::array<memory, 2> shadow_;
  std::map<note_key, std::vector<expected_note>> notes_;
  std::map<unsigned, std::vector<expected_note>> errors_;
  std::map<std::tuple<unsigned, uint16_t, uint8_t>, std::vector<user_message>> messages_;  // receiver, initiator
  std::vector<unsigned> made_, results_made_;
  uint64_t old_ = 0;  // of the atomic drawn last
};

// Every one-sided packet on the link, in the sequences whose order is promised.
class rma_trace {
 public:
  explicit rma_trace(rig& r);
  // The first difference in words, or "".
  static std::string compare(const rma_trace& a, const rma_trace& b);
  uint64_t packets() const;

 private:
  enum : unsigned { requests, acks, gets, atomics };
  using key = std::tuple<unsigned, unsigned, unsigned>;  // from, context, sequence
  struct entry {
    std::string text;
    uint64_t data;
    auto operator<=>(const entry&) const = default;
  };
  void see(unsigned from, const nic::packet& p);
  std::map<key, std::vector<entry>> seen_;
};

}  // namespace ggas::test
