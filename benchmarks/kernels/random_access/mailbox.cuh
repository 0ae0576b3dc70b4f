// SPDX-License-Identifier: Apache-2.0
// RandomAccess by mailboxes: each GPU writes the random number into a mailbox of the word's owner, who applies it. A
// process in the sense of the rules is a GPU: one block sends, and one block for each other node receives. Every lane
// of the sending block has a small ring at every other node; the owner's lane clears a slot, applies the number and
// returns credits in batches. At most lanes * depth * (nodes - 1) numbers are in flight, the look-ahead.
#pragma once

#include "benchmarks/kernels/random_access/random_access.cuh"

namespace ggas::bench {

inline constexpr unsigned mailbox_threads = 128;
inline constexpr unsigned most_mailbox_nodes = look_ahead / mailbox_threads + 1;

struct mailbox_args : update_args {
  uint64_t mailboxes;  // offset of slots[source][depth][lane], zero at first
  uint64_t credits;    // offset of counts[owner][lane], written by the owner, zero at first
  uint64_t depth;      // slots of a lane at an owner
};

GGAS_DEVICE uint64_t slot_offset(const mailbox_args& a, uint64_t source, uint64_t place) {
  const uint64_t lanes = detail::thread_count();
  return a.mailboxes + ((source * a.depth + place % a.depth) * lanes + detail::thread_rank()) * sizeof(uint64_t);
}
GGAS_DEVICE uint64_t credit_offset(const mailbox_args& a, uint64_t owner) {
  return a.credits + (owner * detail::thread_count() + detail::thread_rank()) * sizeof(uint64_t);
}

// What a lane of the sending block has made, and where it goes. A lane never waits for its ring alone: lanes of a warp
// may run in step, and the one that waits would hold up another one for which its receiver waits.
class mailbox_sender {
 public:
  GGAS_DEVICE explicit mailbox_sender(const mailbox_args& a)
      : a_(a),
        me_(static_cast<uint64_t>(ggas_node())),
        part_(own_part(a, detail::thread_rank(), detail::thread_count())) {}

  // Applies own numbers, or puts one into the ring at its owner if there is room. False: nothing was done.
  GGAS_DEVICE bool step() {
    if (!holds_ && !take()) return false;
    if (owner_ == me_) {
      apply_update(a_, number_);
    } else if (sent_[owner_] >= a_.depth &&
               detail::load_spin(own<uint64_t>(credit_offset(a_, owner_))) + a_.depth <= sent_[owner_]) {
      return false;
    } else {
      const uint64_t slot = slot_offset(a_, me_, sent_[owner_]++);
      ggas_store(ggas_pointer_of_node<uint64_t>(static_cast<int>(owner_), slot), number_);
    }
    holds_ = false;
    return true;
  }
  GGAS_DEVICE bool ended() const { return !holds_ && part_.count == 0 && closed_ == a_.split.nodes; }

 private:
  // The next number; at last, for each other node one that it cannot own, which ends the lane's stream.
  GGAS_DEVICE bool take() {
    if (part_.count != 0) {
      number_ = part_.take();
      owner_ = a_.split.owner_of(number_);
    } else {
      closed_ += closed_ == me_ ? 1 : 0;
      if (closed_ >= a_.split.nodes) return false;
      owner_ = closed_++;
      number_ = a_.split.foreign(owner_);
    }
    return holds_ = true;
  }

  const mailbox_args& a_;
  const uint64_t me_;
  stream_part part_;
  uint64_t sent_[most_mailbox_nodes] = {}, number_ = 0, owner_ = 0, closed_ = 0;
  bool holds_ = false;
};

// A lane of a receiving block: takes what the same lane of a node has sent.
class mailbox_receiver {
 public:
  GGAS_DEVICE mailbox_receiver(const mailbox_args& a, uint64_t source)
      : a_(a),
        me_(static_cast<uint64_t>(ggas_node())),
        source_(source),
        batch_(a.depth > 1 ? a.depth / 2 : 1),
        credit_(ggas_pointer_of_node<uint64_t>(static_cast<int>(source), credit_offset(a, me_))) {}

  GGAS_DEVICE bool step() {
    if (ended_) return false;
    uint64_t* const slot = own<uint64_t>(slot_offset(a_, source_, taken_));
    const uint64_t number = detail::load_spin(slot);
    if (number == 0) return false;
    ended_ = a_.split.owner_of(number) != me_;
    if (ended_) return true;
    ggas_store<uint64_t>(slot, 0);
    apply_update(a_, number);
    if (++taken_ % batch_ == 0) {
      ggas_fence();  // the slots are clear before the sender learns of it
      ggas_store(credit_, taken_);
    }
    return true;
  }
  GGAS_DEVICE bool ended() const { return ended_; }

 private:
  const mailbox_args& a_;
  const uint64_t me_, source_, batch_;
  uint64_t* const credit_;
  uint64_t taken_ = 0;
  bool ended_ = false;
};

// The lanes of a warp turn by turn, until all have ended.
template <class Lane>
GGAS_DEVICE ggas_status in_turns(Lane lane, uint64_t timeout_ns) {
  constexpr unsigned all = 0xffffffffu;
  detail::poll_deadline time(timeout_ns);
  while (__any_sync(all, !lane.ended())) {
    if (__any_sync(all, lane.step()))
      time = detail::poll_deadline(timeout_ns);
    else if (__any_sync(all, time.over()))
      return ggas_timed_out;
  }
  return ggas_ok;
}

// One block of mailbox_threads threads sends (its number is that of the own node); each other block receives from one
// node. All blocks must be resident.
__global__ void mailbox_updates(mailbox_args a) {
  const uint64_t source = detail::block_rank();
  outcome out{time_ns(), 0, 0, ggas_ok};
  out.status = source == static_cast<uint64_t>(ggas_node()) ? in_turns(mailbox_sender(a), a.timeout_ns)
                                                            : in_turns(mailbox_receiver(a, source), a.timeout_ns);
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
