// SPDX-License-Identifier: Apache-2.0
// State of the other ranks, for ranks that use drivers. Each rank has a word that identifies it, which the others read
// by their NICs: while they can, it is alive. It also has a word for each other rank, in which that one reports that it
// sleeps, or has left. A separate context does all of it; it also receives the notifications that wake this rank.
#pragma once

#include <array>
#include <vector>

#include "userlib/libggas/hw/card.hpp"
#include "userlib/libggas/hw/device.hpp"

namespace ggas::library::hw {

class rank_states {
 public:
  explicit rank_states(device& d) : device_(d) {}
  ggas_rc open(unsigned rank, unsigned size);
  card own() const;
  void set_cards(std::vector<card> all) { cards_ = std::move(all); }
  const card& of(unsigned rank) const { return cards_[rank]; }
  ggas_context& context() { return *context_; }

  // Looks after the others, now and then; wakes who fell asleep before something arrived. True: this rank was woken.
  bool look();
  // Looked at now.
  ggas_state state(unsigned rank);
  unsigned ended() const { return ended_; }

  // For the next descriptor of a context: with a notification if the rank sleeps.
  nic::aimed aim(unsigned rank, unsigned context, const ggas_rma_context& c);
  using contexts = std::array<ggas_context*, nic::contexts>;
  // Descriptors that were posted without: when they have arrived, and the rank sleeps by now, it is woken.
  void wake_late(const contexts& all);

  bool asleep() const { return asleep_; }
  // Informs the others, who know it when this returns.
  void fall_asleep();
  void awake();
  void leave();

 private:
  enum word : uint64_t { awake_word = 0, asleep_word = 1, left_word = 2 };
  static constexpr uint64_t line = 64;
  static constexpr unsigned at_a_time = 12;  // probes; a page takes 16 descriptors

  struct known {
    ggas_state state = GGAS_STATE_HEALTHY;
    uint64_t failing_since = 0;
  };
  struct unnotified {
    unsigned rank, context;
    uint32_t issued;
  };
  struct failed_probe {
    unsigned node, status;
    uint64_t address;
  };

  volatile uint64_t& at(uint64_t offset) const { return *reinterpret_cast<volatile uint64_t*>(memory_.start + offset); }
  volatile uint64_t& word_of(unsigned rank) const { return at(line + rank * sizeof(uint64_t)); }
  static uint64_t landing(unsigned rank, unsigned size) { return line + (size + rank) * sizeof(uint64_t); }
  bool living(unsigned rank) const { return rank != rank_ && known_[rank].state == GGAS_STATE_HEALTHY; }
  void notify(unsigned rank, word w, bool wakes);
  void post(const ggas_rma_desc& d);
  bool done();
  void settle();
  void receive();
  void probe(unsigned rank);
  void probe_some();
  void check();
  void check(unsigned rank);
  void end(unsigned rank, ggas_state how);
  void see_who_left();

  device& device_;
  ggas_context* context_ = nullptr;
  nic::memory memory_;
  unsigned rank_ = 0, size_ = 1, next_ = 0, ended_ = 0;
  uint64_t ident_ = 0, looked_ns_ = 0;
  bool asleep_ = false, woken_ = false;
  std::vector<card> cards_;
  std::vector<known> known_;
  std::vector<unsigned> probed_;  // under way
  std::vector<failed_probe> failed_probes_;
  std::vector<unnotified> unnotified_;
};

}  // namespace ggas::library::hw
