// SPDX-License-Identifier: Apache-2.0
// RandomAccess by buckets: a warp sorts its numbers by owner in shared memory and sends 32 of them at once, 256
// contiguous bytes, to the warp of the same number at the owner, which applies them. A process in the sense of the
// rules is a warp: one stream of instructions that makes numbers, stores them and applies received ones. Numbers that
// it has made and others have not taken yet are in its rings (at most 63 for a node) or in its mailboxes (`depth`
// buckets at a node): together at most `look_ahead`.
//
// A mailbox has no flag. Elements of the stream are all different, so a word that differs from the last one taken from
// its place is new; nothing is cleared. No fence is needed either: a bucket is overwritten only after its words have
// been read, because the credit depends on the read words and the next bucket on the credit.
//
// A warp never waits without taking: in each iteration it makes numbers if its rings have room, sends buckets that have
// credit, and takes arrived ones. So every bucket is taken even if its owner waits, its credit returns, and warps never
// wait for each other in a cycle. All warps must be resident.
//
// With puts the warp stores its bucket in its own memory, and the NIC reads it there. The credit permits the next one
// in that place.
#pragma once

#include "benchmarks/kernels/random_access/random_access.cuh"

namespace ggas::bench {

inline constexpr uint32_t bucket_words = 32;       // a word for each lane
inline constexpr uint32_t bucket_ring = 64;        // a bucket, and what a turn adds while it is not full
inline constexpr unsigned bucket_threads = 128;    // of a block
inline constexpr unsigned most_bucket_nodes = 11;  // for more the look-ahead does not hold a bucket for each

struct bucket_args : update_args {
  uint64_t mailboxes;  // offset of buckets[warp][source][depth]
  uint64_t credits;    // offset of counts[warp][owner] of buckets taken, written by the owner
  uint64_t outboxes;   // by puts: offset of buckets[warp][owner][depth]
  uint32_t depth;      // a power of two
  uint32_t ahead;      // turns of making numbers between two looks at what has come
};

// Buckets under way that the look-ahead allows.
GGAS_HOST_DEVICE constexpr uint32_t bucket_depth(uint64_t nodes) {
  const uint64_t words = nodes < 2 ? look_ahead : look_ahead / (nodes - 1);
  uint32_t depth = 1;
  while ((2 * depth + 2) * bucket_words <= words + 1) depth *= 2;
  return depth;
}

template <bool by_put>
class bucket_warp {
 public:
  // `rings` and `seen` are the warp's shared memory.
  GGAS_DEVICE bucket_warp(const bucket_args& a, uint64_t* rings, uint64_t* seen)
      : a_(a),
        rings_(rings),
        seen_(seen),
        lane_(detail::lane_rank()),
        me_(static_cast<uint32_t>(ggas_node())),
        nodes_(static_cast<uint32_t>(a.split.nodes)),
        warp_(global_thread() / 32),
        queue_(ggas_default_queue()),
        part_(own_part(a, global_thread(), global_threads())),
        peer_(lane_ < nodes_ && lane_ != me_),
        receiving_(peer_),
        sending_(peer_) {
    if (peer_)
      for (uint32_t i = 0; i < a.depth * bucket_words; ++i) seen_[peer_slot(lane_) * a.depth * bucket_words + i] = 0;
    __syncwarp();
  }

  GGAS_DEVICE ggas_status run() {
    detail::poll_deadline time(a_.timeout_ns);
    while (any(part_.count != 0 || receiving_ || sending_)) {
      bool moved = false;
      for (uint32_t i = 0, made = 1; i < a_.ahead && made != 0; ++i) {
        made = make() ? 1 : 0;
        moved |= (made != 0) | ship();
      }
      if (status_ != ggas_ok) return status_;
      moved |= take();
      if (moved)
        time = detail::poll_deadline(a_.timeout_ns);
      else if (any(time.over()))
        return ggas_timed_out;
    }
    return by_put ? ggas_quiet_warp(queue_, a_.timeout_ns) : ggas_ok;
  }

 private:
  static constexpr unsigned all = 0xffffffffu;
  GGAS_DEVICE static bool any(bool v) { return __any_sync(all, v); }
  // Lane n keeps the counts of node n. Its peers are numbered without itself.
  GGAS_DEVICE uint32_t peer_slot(uint32_t node) const { return node < me_ ? node : node - 1; }
  GGAS_DEVICE uint32_t waiting() const { return filled_ - shipped_ * bucket_words; }
  GGAS_DEVICE bool full() const { return waiting() >= bucket_words; }

  GGAS_DEVICE uint64_t bucket(uint64_t first, uint64_t node, uint32_t count) const {
    const uint64_t number = (warp_ * nodes_ + node) * a_.depth + (count & (a_.depth - 1));
    return first + number * bucket_words * sizeof(uint64_t);
  }
  GGAS_DEVICE uint64_t mailbox(uint64_t source, uint32_t count) const { return bucket(a_.mailboxes, source, count); }
  GGAS_DEVICE uint64_t credit(uint64_t owner) const { return a_.credits + (warp_ * nodes_ + owner) * sizeof(uint64_t); }

  // Makes a number a lane and files it. False if there is none left to make or a ring is full.
  GGAS_DEVICE bool make() {
    if (any(full()) || !any(part_.count != 0)) return false;
    const bool active = part_.count != 0;
    const uint64_t number = active ? part_.take() : 0;
    const uint32_t owner = active ? static_cast<uint32_t>(a_.split.owner_of(number)) : nodes_;
    if (owner == me_) apply_update(a_, number);
    unsigned mine = 0, added = 0;
    for (uint32_t n = 0; n < nodes_; ++n) {
      const unsigned members = __ballot_sync(all, owner == n);
      if (owner == n) mine = members;
      if (lane_ == n) added = members;
    }
    const uint32_t before = __shfl_sync(all, filled_, static_cast<int>(owner % 32));
    if (owner != me_ && active) {
      const uint32_t place = before + static_cast<uint32_t>(__popc(mine & ((1u << lane_) - 1)));
      rings_[peer_slot(owner) * bucket_ring + place % bucket_ring] = number;
    }
    if (peer_) filled_ += static_cast<uint32_t>(__popc(added));
    __syncwarp();
    return true;
  }

  // Ships full buckets, at the end of the stream the rest, after which words that their owner cannot own end it.
  GGAS_DEVICE bool ship() {
    const bool last = !any(part_.count != 0);
    bool moved = false;
    for (;;) {
      const bool ready = sending_ && shipped_ - granted_ < a_.depth && (last || full());
      const unsigned nodes = __ballot_sync(all, ready);
      if (nodes == 0) break;
      const uint32_t node = static_cast<uint32_t>(__ffs(nodes)) - 1;
      const uint32_t count = __shfl_sync(all, shipped_, static_cast<int>(node));
      const uint32_t words = __shfl_sync(all, waiting(), static_cast<int>(node));
      uint64_t word = a_.split.foreign(node);
      if (lane_ < words) word = rings_[peer_slot(node) * bucket_ring + (count * bucket_words + lane_) % bucket_ring];
      send(node, count, word);
      if (lane_ == node) {
        sending_ = words >= bucket_words;
        ++shipped_;
      }
      moved = true;
    }
    if (moved) __syncwarp();
    return moved;
  }

  GGAS_DEVICE void send(uint32_t node, uint32_t count, uint64_t word) {
    uint64_t* const to = ggas_pointer_of_node<uint64_t>(static_cast<int>(node), mailbox(me_, count));
    if constexpr (by_put) {
      uint64_t* const from = own<uint64_t>(bucket(a_.outboxes, node, count));
      ggas_store(from + lane_, word);
      __syncwarp();
      const ggas_status s = ggas_put_nbi_warp(to, from, bucket_words, a_.timeout_ns, queue_);
      if (status_ == ggas_ok) status_ = s;
    } else {
      ggas_store(to + lane_, word);
    }
  }

  // One load a lane: has node n sent another bucket, has it taken one of ours? Takes what has come.
  GGAS_DEVICE bool take() {
    const uint32_t node = lane_ % 16;
    const bool asks = lane_ / 16 == 0 ? receiving_ : node < nodes_ && node != me_;
    const uint32_t next = taken_;
    uint64_t v = 0;
    if (asks)
      v = detail::load_spin(lane_ == node ? own<uint64_t>(mailbox(node, next)) + bucket_words - 1
                                          : own<uint64_t>(credit(node)));
    const uint64_t credits = __shfl_sync(all, v, static_cast<int>(16 + node));
    if (peer_) granted_ = static_cast<uint32_t>(credits);
    bool moved = false;
    unsigned come = __ballot_sync(all, receiving_ && v != seen(node, next)[bucket_words - 1]);
    for (; come != 0; come &= come - 1) moved |= take_from(static_cast<uint32_t>(__ffs(come)) - 1);
    return moved;
  }

  GGAS_DEVICE uint64_t* seen(uint32_t node, uint32_t count) const {
    return seen_ + (peer_slot(node) * a_.depth + (count & (a_.depth - 1))) * bucket_words;
  }

  GGAS_DEVICE bool take_from(uint32_t node) {
    const uint32_t count = __shfl_sync(all, taken_, static_cast<int>(node));
    const uint64_t word = detail::load_spin(own<uint64_t>(mailbox(node, count)) + lane_);
    uint64_t* const before = seen(node, count) + lane_;
    if (any(word == *before)) return false;
    *before = word;
    const bool ours = a_.split.owner_of(word) == me_;
    const bool ended = any(!ours);
    if (lane_ == node) {
      ++taken_;
      receiving_ = !ended;
      if (taken_ % (a_.depth > 2 ? a_.depth / 2 : 1) == 0)
        ggas_store<uint64_t>(ggas_pointer_of_node<uint64_t>(static_cast<int>(node), credit(me_)), taken_);
    }
    if (ours) apply_update(a_, word);
    __syncwarp();
    return true;
  }

  const bucket_args& a_;
  uint64_t* const rings_;
  uint64_t* const seen_;
  const uint32_t lane_, me_, nodes_;
  const uint64_t warp_;
  const ggas_queue queue_;
  stream_part part_;
  ggas_status status_ = ggas_ok;
  const bool peer_;
  // For the lane's node: the numbers filed for it, the buckets sent to it, our buckets that it has taken, and the
  // buckets taken from it. Then whether it still sends, and whether we still send.
  uint32_t filled_ = 0, shipped_ = 0, granted_ = 0, taken_ = 0;
  bool receiving_, sending_;
};

template <bool by_put>
GGAS_DEVICE void update_by_buckets(const bucket_args& a) {
  constexpr unsigned warps = bucket_threads / 32;
  // Rings and what was seen in the mailboxes together are about as large as the look-ahead.
  constexpr unsigned words = look_ahead + most_bucket_nodes;
  GGAS_SHARED_ARRAY(uint64_t, memory, warps * words);
  outcome out{time_ns(), 0, 0, ggas_ok};
  uint64_t* const rings = memory + detail::thread_rank() / 32 * words;
  bucket_warp<by_put> warp(a, rings, rings + (a.split.nodes - 1) * bucket_ring);
  out.status = warp.run();
  ggas_fence();  // what was applied is in the table
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// As many blocks of bucket_threads on every node. Mailboxes and credits are zero at first.
__global__ void GGAS_LAUNCH_BOUNDS(bucket_threads) bucket_updates(bucket_args a) { update_by_buckets<false>(a); }
__global__ void GGAS_LAUNCH_BOUNDS(bucket_threads) put_bucket_updates(bucket_args a) { update_by_buckets<true>(a); }

}  // namespace ggas::bench
