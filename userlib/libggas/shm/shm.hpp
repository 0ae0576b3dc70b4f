// SPDX-License-Identifier: Apache-2.0
// The transport of processes of one computer: every rank's memory is mapped by all, a transfer is a copy by the caller,
// done when the call returns. User memory is accessed by system calls, or by a helper thread of its owner.
#pragma once

#include <thread>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/shm/arena.hpp"
#include "userlib/libggas/shm/gpus.hpp"

namespace ggas::library::shm {

struct peer {
  arena memory;
  userlib::file process;  // readable when the process has ended
  int pid = 0;            // 0: this process has no number for it
  std::atomic<ggas_state> known{GGAS_STATE_HEALTHY};
  std::atomic<bool> needs_helper{false};  // the system forbids to reach its memory
  lock mail, asking;                      // of threads of this process: one message, one request at a time

  control& head() const { return memory.head(); }
};

class shm_transport final : public transport {
 public:
  explicit shm_transport(const job& j) : rank_(unsigned(j.rank)), size_(unsigned(j.size)), peers_(size_) {
    for (queue_notes& q : queues_) q.last = std::vector<std::atomic<uint64_t>>(size_);
  }
  ~shm_transport() override;
  ggas_rc start(const job& j);

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  uint64_t time_ns() override { return now_ns() - program_began_ns; }
  ggas_state state(unsigned rank) override;
  ggas_rc kill(unsigned rank) override;

  ggas_rc segment_open(unsigned segment, uint64_t bytes, void* bound) override;
  ggas_rc segment_open(unsigned segment, const buffer& b) override;
  ggas_rc segment_close(unsigned segment) override;
  ggas_rc segment_permit(unsigned segment, unsigned rank) override;
  ggas_rc segment_here(unsigned segment, uint64_t offset, uint64_t bytes, std::byte*& start) override;
  ggas_rc segment_bytes(unsigned segment, unsigned rank, uint64_t& bytes) override;

  ggas_rc write(const place& to, const void* from, uint64_t bytes, unsigned queue, limit until) override;
  bool write_at_once(const ggas_part& part, unsigned rank, unsigned queue) override;
  ggas_rc read(const place& from, void* to, uint64_t bytes, unsigned queue, limit until) override;
  ggas_rc notify(const place& slot, uint32_t value, unsigned queue, limit until) override;
  ggas_rc flush(unsigned queue, limit until) override;
  void forget(unsigned queue) override;
  ggas_rc fetch_add(const place& at, uint64_t add, uint64_t& old, limit until) override;
  ggas_rc compare_swap(const place& at, uint64_t expected, uint64_t desired, uint64_t& old, limit until) override;

  ggas_rc waitsome(unsigned segment, unsigned first, unsigned count, unsigned& found, limit until) override;
  ggas_rc reset(unsigned segment, unsigned slot, uint32_t& old) override;
  ggas_rc send(unsigned rank, const void* from, uint64_t bytes, limit until) override;
  ggas_rc receive(void* to, uint64_t room, unsigned& rank, limit until) override;
  gpus* of_gpus() override { return &gpus_; }
  std::unique_ptr<exchange> group(const std::vector<unsigned>& members) override;

  // For segments of GPUs.
  struct view {  // a segment of a rank as it is now
    memory made_of;
    std::byte* start;  // null: memory of another rank's user
    uint64_t offset, address, bytes, slots, generation;
  };
  ggas_rc look(unsigned rank, unsigned segment, view& v);
  ggas_rc look(const place& p, uint64_t bytes, view& v);
  // The outcome of a transfer, which is noted.
  ggas_rc posted(unsigned queue, unsigned rank, ggas_rc outcome);
  struct source {  // memory of a new segment
    memory made_of;
    uint64_t offset;
    void* address;
    uint64_t bytes;
  };
  ggas_rc enter(unsigned segment, const source& from);

  // For the exchanges of groups.
  peer& of(unsigned rank) { return peers_[rank]; }
  const layout& where() const { return where_; }
  void give_back(unsigned place, std::vector<unsigned> members, uint64_t id);
  uint64_t next_group_id() { return ++group_ids_; }
  // The last group of these members that this rank has joined, by the leader's id; false: that one, or a later one, has
  // ended.
  uint64_t last_joined(const std::vector<unsigned>& members);
  bool join(const std::vector<unsigned>& members, uint64_t id);
  // Looks after all ranks, at most every 10 ms.
  void look_out();
  bool healthy(unsigned rank) const { return peers_[rank].known.load(std::memory_order_relaxed) == GGAS_STATE_HEALTHY; }
  // GGAS_ERR_PEER, with a text, for a rank that has ended.
  ggas_rc expect(unsigned rank);

 private:
  // A group's place in this rank's table.
  struct group_place {
    bool used = false;
    std::vector<unsigned> members;  // of the group that had it last
    uint64_t id = 0;
  };

  ggas_rc exchange_arenas(const job& j, uint64_t own_bytes);
  std::byte* in_arena(unsigned rank, unsigned segment, uint64_t offset, uint64_t bytes) const;
  bool vacant(const group_place& p);

  // bound.cpp
  ggas_rc copy(const place& p, const view& v, void* here, uint64_t bytes, request::kind what, limit until);
  ggas_rc ask(const place& p, request::kind what, void* data, uint64_t bytes, uint64_t& one, uint64_t two, limit until);
  ggas_rc ask_until_free(request& r, unsigned rank, limit until);
  void help();
  bool serve_all();
  void serve(request& r);

  unsigned rank_, size_;
  layout where_{size_};
  const uint64_t room_begins_ = where_.segments();  // in each arena: tables and groups lie before it
  std::vector<peer> peers_;
  arena_file own_;
  std::atomic<uint64_t> next_look_{0};
  // Flushes of a queue are numbered. What was posted to a rank since the flush `well` is not known to be well.
  struct alignas(64) queue_notes {
    std::atomic<uint64_t> flushes{1}, well{0};
    std::vector<std::atomic<uint64_t>> last;  // of each rank: flushes when something was posted to it
  };
  std::array<queue_notes, GGAS_QUEUES> queues_;
  std::atomic<unsigned> next_sender_{0};
  shm_gpus gpus_{*this};
  std::mutex segments_;  // opening, closing; the helper works under it
  std::mutex groups_;
  std::array<group_place, GGAS_GROUPS> places_{};
  std::atomic<uint64_t> group_ids_{0};
  std::map<std::vector<unsigned>, uint64_t> joined_;
  std::thread helper_;
  std::atomic<bool> stopping_{false};
};

// The place of a group in a rank's table, by its members and id; -1: it is not there.
int place_of(const control& c, const std::vector<unsigned>& members, uint64_t id);

}  // namespace ggas::library::shm
