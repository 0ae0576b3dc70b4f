// SPDX-License-Identifier: Apache-2.0
// Checks two links that die and start again: the packets that were acknowledged, that arrived, and that may be missing.
// It also acts as software: a dead link is retrained after a while.
#pragma once

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tests/rtl/link/link_pair.hpp"

namespace ggas::test {

template <class Pair>
class restart_board {
 public:
  explicit restart_board(Pair& p) : p_(p) {
    for (unsigned i = 0; i < 2; ++i) p_[i].expect_np_after(nullptr);
  }
  // Cycles that software takes to retrain a dead link.
  uint64_t reaction = 20;
  bool retrains = true;

  // One cycle, or a jump to the next tick if nothing happens before it.
  void step() {
    if (p_[0].waits() && p_[1].waits() && p_.wire(0).empty() && p_.wire(1).empty()) p_.skip_to_tick();
    p_.step();
    for (unsigned i = 0; i < 2; ++i) watch(i);
  }
  bool run(uint64_t limit, const std::function<bool()>& done) {
    for (const uint64_t end = p_.time() + limit; p_.time() < end; step())
      if (done()) return true;
    return done();
  }
  bool drain(uint64_t limit = 400'000) {
    return run(limit, [this] { return p_.drained(); });
  }
  // The unit after node i and its link lose everything.
  void restart(unsigned i) {
    note_acked(i);
    side& sender = s_[1 - i];
    excuse(sender);
    sender.open_excused = p_[1 - i].state() == link_up;
    p_[i].restart();
    close(i);
    s_[i].was_reset = true;
  }

  // Checks that every packet arrived at most once, unchanged, in the order of its channel; that every acknowledged one
  // arrived, unless its receiver was reset meanwhile; and that every missing store was reported.
  void check() {
    for (unsigned i = 0; i < 2; ++i) {
      note_acked(i);
      std::unordered_map<uint64_t, unsigned> got;
      for (unsigned v = 0; v < channels; ++v) check_channel(i, v, got);
      unsigned missing = 0;
      for (const uint64_t id : s_[i].acked) missing += !got.contains(id) && !s_[i].excused.contains(id);
      EXPECT_EQ(missing, 0u) << "acknowledged packets of node " << i << " that never arrived, of "
                             << s_[i].acked.size();
      EXPECT_EQ(p_[i].count().bad, 0u) << "packets that fit nowhere at node " << i;
      if (s_[0].was_reset || s_[1].was_reset) continue;
      const size_t sent = p_[i].sent(0).size(), arrived = p_[1 - i].received(0).size();
      EXPECT_GE(p_[i].count().lost + arrived, sent) << "stores were lost without a word at node " << i;
      EXPECT_LE(p_[i].count().lost, sent);
    }
  }
  size_t acked(unsigned i) {
    note_acked(i);
    return s_[i].acked.size();
  }

 private:
  struct side {
    bool up = false, was_reset = false, open_excused = false;
    uint64_t dead_since = 0;
    size_t base = 0;         // of the session, in begun()
    uint64_t sent_base = 0;  // count().tx_packets at its begin
    size_t noted = 0;        // of its packets, known to be acknowledged
    std::unordered_set<uint64_t> acked, excused;
  };

  void watch(unsigned i) {
    side& s = s_[i];
    const unsigned now = p_[i].state();
    if (now == link_up && !s.up) {
      s.up = true;
      s.base = p_[i].begun().size();
      s.sent_base = p_[i].count().tx_packets;
      s.noted = 0;
    }
    if (now == link_up) note_acked(i);
    if (now != link_up && s.up) close(i);
    if (now != link_dead)
      s.dead_since = 0;
    else if (!s.dead_since)
      s.dead_since = p_.time();
    else if (retrains && p_.time() - s.dead_since >= reaction)
      p_[i].retrain();
  }
  void note_acked(unsigned i) {
    side& s = s_[i];
    if (!s.up || p_[i].state() != link_up) return;
    const uint64_t done = p_[i].count().tx_packets - s.sent_base - p_[i].pins().sts_unacked_o;
    for (; s.noted < done; ++s.noted) {
      const uint64_t id = p_[i].begun()[s.base + s.noted];
      s.acked.insert(id);
      if (s.open_excused) s.excused.insert(id);
    }
  }
  void close(unsigned i) { s_[i].up = s_[i].open_excused = false; }
  void excuse(side& s) { s.excused.insert(s.acked.begin(), s.acked.end()); }

  void check_channel(unsigned i, unsigned v, std::unordered_map<uint64_t, unsigned>& got) {
    std::unordered_map<uint64_t, size_t> place;
    const auto& sent = p_[i].sent(v);
    for (size_t k = 0; k < sent.size(); ++k) place[sent[k].p.addr] = k;
    size_t next = 0, intruders = 0, twice = 0, late = 0, changed = 0;
    for (const packet& p : p_[1 - i].received(v)) {
      const auto at = place.find(p.addr);
      if (at == place.end()) {
        ++intruders;
        continue;
      }
      changed += !p_.same(sent[at->second].p, p);
      twice += ++got[p.addr] > 1;
      late += at->second < next;
      next = at->second + 1;
    }
    EXPECT_EQ(intruders, 0u) << "packets that no node sent, node " << i << " channel " << v;
    EXPECT_EQ(twice, 0u) << "packets delivered twice, node " << i << " channel " << v;
    EXPECT_EQ(late, 0u) << "packets out of order, node " << i << " channel " << v;
    EXPECT_EQ(changed, 0u) << "packets changed, node " << i << " channel " << v;
  }

  Pair& p_;
  std::array<side, 2> s_;
};

}  // namespace ggas::test
