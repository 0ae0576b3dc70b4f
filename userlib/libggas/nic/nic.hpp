// SPDX-License-Identifier: Apache-2.0
// The transport by a NIC (docs/rma.md): transfers are descriptors; notifications and the exchange of states between
// ranks are short puts into their memory. The same for simulated and real NICs: access.hpp.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/gpu/gpus.hpp"
#include "userlib/libggas/nic/control.hpp"
#include "userlib/libggas/nic/turns.hpp"

namespace ggas::library::nic {

class nic_transport;

// Segments on the GPU of the rank's node: its NIC reaches their memory, and the GPU copies between it and the host.
class nic_gpus final : public gpus, public gpu::own_gpu {
 public:
  explicit nic_gpus(nic_transport& t) : t_(t) {}
  ggas_rc open(const job& j, const char* module, int number, uint64_t bytes, uint64_t kept) override;
  gpu::own_gpu* device() override { return memory_.window ? this : nullptr; }
  uint64_t bytes() const override { return bytes_; }
  uint64_t kept() const override { return kept_; }
  ggas_rc segment_open(unsigned segment, uint64_t bytes, void* bound) override;
  ggas_rc segment_place(unsigned segment, unsigned rank, uint64_t& offset) override;
  ggas_rc segment_slots(unsigned segment, unsigned rank, uint32_t*& slots) override;
  ggas_rc write_staged(const place& to, const void* from, uint64_t bytes, unsigned queue, uint64_t chunk,
                       limit until) override;
  bool holds(const void* at) const override;

  int number() const override { return memory_.number; }
  std::byte* window() const override { return memory_.window; }
  uint64_t stride() const override { return memory_.stride; }
  text copy(void* to, const void* from, uint64_t bytes) override;

  // Where memory lies in that of the own GPU, of which it is a part.
  uint64_t offset_of(uint64_t nla) const { return nla - memory_.nla; }
  // In a turn of the caller's. What the NIC has written to the GPU before is there.
  ggas_rc land();
  // In a turn of the caller's. Moves bytes of which any may be a GPU's, others the NIC need not reach.
  ggas_rc move(void* to, const void* from, uint64_t bytes);

 private:
  ggas_rc one_copy(void* to, const void* from, uint64_t bytes);
  ggas_rc stages(std::byte*& first, uint64_t each);

  nic_transport& t_;
  access::gpu_memory memory_;
  uint64_t bytes_ = 0, kept_ = 0;
  memory stages_;  // two in turn
};

class nic_transport final : public transport {
 public:
  explicit nic_transport(std::unique_ptr<access> to) : to_(std::move(to)) {}
  ~nic_transport() override;
  ggas_rc start();

  unsigned rank() const override { return to_->rank(); }
  unsigned size() const override { return to_->size(); }
  uint64_t time_ns() override;
  ggas_state state(unsigned rank) override;
  ggas_rc kill(unsigned rank) override;

  ggas_rc segment_open(unsigned segment, uint64_t bytes, void* bound) override;
  ggas_rc segment_open(unsigned segment, const buffer& b) override;
  ggas_rc segment_close(unsigned segment) override;
  ggas_rc segment_permit(unsigned segment, unsigned rank) override;
  ggas_rc segment_here(unsigned segment, uint64_t offset, uint64_t bytes, std::byte*& start) override;
  ggas_rc segment_bytes(unsigned segment, unsigned rank, uint64_t& bytes) override;

  ggas_rc write(const place& to, const void* from, uint64_t bytes, unsigned queue, limit until) override;
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
  std::unique_ptr<exchange> group(const std::vector<unsigned>& members) override;
  gpus* of_gpus() override { return &gpus_; }
  nic_gpus& own_gpus() { return gpus_; }

  // ---- for the exchanges of groups: in a turn of the caller's
  turns& threads() { return turns_; }
  access& device() { return *to_; }
  const control_layout& where() const { return where_; }
  uint64_t control_of(unsigned rank) const { return controls_[rank]; }  // network logical address
  template <class T>
  const volatile T* control(uint64_t offset) const {
    return reinterpret_cast<const volatile T*>(control_.start + offset);
  }
  // Up to 64 bytes to another rank, taken at once; at a multiple of 64 they arrive in one piece.
  void tell(unsigned rank, uint64_t nla, const void* data, uint32_t bytes);
  void post(unsigned context, const ggas_rma_desc& d);
  // Until everything posted to a context is done, not one of queues.
  ggas_rc settle(unsigned context);
  // Until all that was informed has arrived; what ranks were informed that have ended does not matter.
  ggas_rc settle_reported();
  // Until everything before is done, then a get of bytes from another rank.
  ggas_rc fetch(unsigned rank, uint64_t from, uint64_t to, uint64_t bytes);
  // What the NIC has written before to memory of other devices, GPUs among them, is there.
  ggas_rc land();
  bool healthy(unsigned rank);
  // GGAS_ERR_PEER, with a text, for a rank that has ended.
  ggas_rc expect(unsigned rank);
  // Until done() holds. check() says whether waiting still makes sense: GGAS_OK, or an error to return.
  template <class Done, class Check>
  ggas_rc wait(turn& mine, std::span<const watched> at, limit until, Done&& done, Check&& check) {
    if (done()) return GGAS_OK;
    const pausing this_wait(*to_);
    const uint64_t slice_ns = to_->longest_pause_ns();  // then other threads of this rank have their turns
    for (unsigned round = 0;; ++round) {
      if (round && done()) return GGAS_OK;
      if (const ggas_rc sense = check(); sense != GGAS_OK) return sense;
      const uint64_t left = until.left();
      to_->pause(at, left < slice_ns ? left : slice_ns, round);
      if (done()) return GGAS_OK;
      if (left == 0) return GGAS_TIMEOUT;
      mine.pass();
    }
  }

  // ---- for segments of GPUs, called in a turn as well
  // A segment of a rank as this one may access it.
  struct view {
    uint64_t nla, bytes, slots;
    std::optional<uint64_t> on_gpu;  // where in its owner's memory of the GPU
  };
  ggas_rc look(unsigned rank, unsigned segment, view& v);
  ggas_rc look(const place& p, uint64_t bytes, view& v);
  ggas_rc enter(unsigned segment, const memory& data, bool of_other);
  std::byte* slots_of(unsigned segment) const { return own_[segment].slots.start; }
  ggas_rc begin_write(unsigned queue, unsigned rank);
  void post_puts(unsigned rank, uint64_t nla, uint64_t source, uint64_t bytes, unsigned queue);
  ggas_rc settle_queue(unsigned queue);

  // A group's place in this rank's table.
  struct group_place {
    bool used = false;
    std::vector<unsigned> members;  // of the group that had it last
    uint64_t key = 0, id = 0;
    memory board;
  };
  group_place& place_at(unsigned i) { return places_[i]; }
  uint64_t next_group_id() { return ++group_ids_; }
  std::map<uint64_t, uint64_t>& joined() { return joined_; }

 private:
  struct own_segment {
    memory data, slots;  // data.start: null: it is not there
    std::vector<bool> permitted;
    bool of_other = false;   // its memory was not taken for it
    bool elsewhere = false;  // in memory of another device
  };
  struct queue_state {
    std::vector<bool> targets;  // ranks it has had something for since the last flush that was well
    unsigned failures = 0;      // of descriptors, until it is forgotten
    uint8_t last_status = 0;    // of the last of them
    bool reads = false;         // some may be under way
    bool lands = false;         // of those since the last flush some go to memory of another device
  };
  struct message {
    unsigned rank;
    uint32_t bytes;
    uint64_t data[8];  // more than 64 bytes: the first word says where they are
  };

  ggas_rc own(unsigned segment, own_segment*& s);
  bool lies_elsewhere(const own_segment& s) const { return s.elsewhere || gpus_.holds(s.data.start); }
  bool lies_elsewhere(const void* at) const;
  void publish(unsigned segment, unsigned rank, bool there);
  std::optional<uint64_t> place_on_gpu(const own_segment& s) const;
  ggas_rc before_writes(unsigned queue);
  void aim(unsigned queue, unsigned rank);
  ggas_rma_peer peer(unsigned rank) const { return to_->peer(rank); }
  ggas_rc atomic(const place& at, unsigned what, uint64_t operand, uint64_t compare, uint64_t& old);
  ggas_rc errors_of(unsigned context);
  ggas_rc drain(unsigned context);
  ggas_rc failures_of(unsigned queue) const;
  void record_failure(unsigned context, int node, uint8_t status);
  void take_failures(unsigned context);
  bool take_messages();
  bool vacant(const group_place& p);
  void look_out();
  bool any_ended() const;

  struct pausing {
    access& of;
    explicit pausing(access& a) : of(a) {}
    pausing(const pausing&) = delete;
    ~pausing() { of.awake(); }
  };

  std::unique_ptr<access> to_;
  turns turns_{[this] { to_->disturb(); }};
  nic_gpus gpus_{*this};
  control_layout where_{0};
  memory control_;
  std::vector<uint64_t> controls_;
  std::array<uint32_t, contexts> errors_seen_{};
  std::array<own_segment, GGAS_SEGMENTS> own_;
  std::array<queue_state, GGAS_QUEUES> queues_;
  uint64_t cookies_ = 0;

  unsigned ended_seen_ = 0;
  std::vector<ggas_state> known_;

  std::vector<uint64_t> sent_, took_;  // messages to and of each rank
  std::vector<memory> bounce_;         // of messages that the receiver gets
  std::deque<message> arrived_;

  std::array<group_place, GGAS_GROUPS> places_;
  uint64_t group_ids_ = 0;
  std::map<uint64_t, uint64_t> joined_;  // the last group of a set of members, by its key, that this rank is in
};

}  // namespace ggas::library::nic
