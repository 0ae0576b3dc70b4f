// SPDX-License-Identifier: Apache-2.0
// RandomAccess by buckets for more nodes than bucket.cuh supports within the look-ahead. A process is a
// warp, too. Numbers that it has made and others have not taken yet are one waiting number for each lane, a bucket for
// each other node, and one mailbox there: 32 + (nodes - 1) * 2 * `words`, at most `look_ahead`. So more nodes mean
// smaller buckets, down to one word.
//
// As there, mailboxes have no flag, and no warp waits without taking: docs/benchmarks.md.
#pragma once

#include "benchmarks/kernels/random_access/random_access.cuh"

namespace ggas::bench {

inline constexpr unsigned many_threads = 32;                   // of a block: what its warp keeps fills shared memory
inline constexpr uint64_t many_words = (look_ahead - 32) / 2;  // in all buckets of a warp
inline constexpr uint64_t most_many_nodes = many_words + 1;

struct many_args : update_args {
  uint64_t mailboxes;  // offset of buckets[warp][source]
  uint64_t credits;    // offset of counts[warp][owner] of buckets taken, written by the owner
  uint32_t words;      // of a bucket, a power of two
};

// What the look-ahead allows for 2 ... most_many_nodes nodes.
GGAS_HOST_DEVICE constexpr uint32_t words_of_bucket(uint64_t nodes) {
  uint32_t words = 32;
  while (words > 1 && (nodes - 1) * words > many_words) words /= 2;
  return words;
}

// What a warp knows of another node: numbers in its bucket, buckets shipped to it, buckets taken from it.
struct many_peer {
  uint32_t filled, shipped, taken;
  bool sending, receiving;
};

class many_warp {
 public:
  // The warp's shared memory: `many_words` twice, and a peer for each other node.
  GGAS_DEVICE many_warp(const many_args& a, uint64_t* memory, many_peer* peers)
      : a_(a),
        peers_(peers),
        lane_(detail::lane_rank()),
        me_(static_cast<uint32_t>(ggas_node())),
        others_(static_cast<uint32_t>(a.split.nodes) - 1),
        buckets_(memory),
        seen_(memory + others_ * a.words),
        warp_(global_thread() / 32),
        part_(own_part(a, global_thread(), global_threads())),
        open_(2 * others_) {
    for (uint32_t p = lane_; p < others_; p += 32) peers_[p] = {0, 0, 0, true, true};
    for (uint32_t i = lane_; i < others_ * a.words; i += 32) seen_[i] = 0;
    __syncwarp();
  }

  GGAS_DEVICE ggas_status run() {
    detail::poll_deadline time(a_.timeout_ns);
    while (open_ != 0 || any(part_.count != 0 || holds_)) {
      bool moved = make();
      moved |= ship();
      moved |= take();
      if (moved)
        time = detail::poll_deadline(a_.timeout_ns);
      else if (any(time.over()))
        return ggas_timed_out;
    }
    return ggas_ok;
  }

 private:
  static constexpr unsigned all = 0xffffffffu;
  GGAS_DEVICE static bool any(bool v) { return __any_sync(all, v); }
  GGAS_DEVICE uint32_t node_of(uint32_t peer) const { return peer < me_ ? peer : peer + 1; }
  GGAS_DEVICE uint32_t peer_of(uint32_t node) const { return node < me_ ? node : node - 1; }
  GGAS_DEVICE uint64_t mailbox(uint64_t source) const {
    return a_.mailboxes + (warp_ * a_.split.nodes + source) * a_.words * sizeof(uint64_t);
  }
  GGAS_DEVICE uint64_t credit(uint64_t owner) const {
    return a_.credits + (warp_ * a_.split.nodes + owner) * sizeof(uint64_t);
  }

  // A number for each lane that has none; all go into buckets, as far as there is room.
  GGAS_DEVICE bool make() {
    bool moved = any(!holds_ && part_.count != 0);
    if (!holds_ && part_.count != 0) {
      number_ = part_.take();
      owner_ = static_cast<uint32_t>(a_.split.owner_of(number_));
      holds_ = owner_ != me_;
      if (!holds_) apply_update(a_, number_);
    }
    for (unsigned waiting = __ballot_sync(all, holds_); waiting != 0;) {
      const uint32_t node = __shfl_sync(all, owner_, __ffs(waiting) - 1);
      const unsigned members = __ballot_sync(all, holds_ && owner_ == node);
      waiting &= ~members;
      moved |= file(peer_of(node), members);
    }
    return moved;
  }

  // The numbers of `members` into the bucket of a peer; what it has no room for stays with its lane.
  GGAS_DEVICE bool file(uint32_t peer, unsigned members) {
    const uint32_t filled = peers_[peer].filled;
    const uint32_t place = filled + static_cast<uint32_t>(__popc(members & ((1u << lane_) - 1)));
    if ((members >> lane_ & 1) != 0 && place < a_.words) {
      buckets_[peer * a_.words + place] = number_;
      holds_ = false;
    }
    __syncwarp();
    const uint32_t more = filled + static_cast<uint32_t>(__popc(members));
    if (lane_ == 0) peers_[peer].filled = more < a_.words ? more : a_.words;
    __syncwarp();
    return filled < a_.words;
  }

  // Sends full buckets whose mailbox is free. At the end of the stream it sends the rest, followed by words that cannot
  // belong to the owner, which mark the end.
  GGAS_DEVICE bool ship() {
    const bool last = !any(part_.count != 0 || holds_);
    bool moved = false;
    for (uint32_t first = 0; first < others_; first += 32) {
      const uint32_t peer = first + lane_;
      const bool due = peer < others_ && peers_[peer].sending && (last || peers_[peer].filled == a_.words);
      const bool free = due && detail::load_spin(own<uint64_t>(credit(node_of(peer)))) == peers_[peer].shipped;
      for (unsigned ready = __ballot_sync(all, free); ready != 0; ready &= ready - 1) {
        ship_to(first + static_cast<uint32_t>(__ffs(ready)) - 1);
        moved = true;
      }
    }
    return moved;
  }

  GGAS_DEVICE void ship_to(uint32_t peer) {
    const uint32_t node = node_of(peer), filled = peers_[peer].filled;
    if (lane_ < a_.words)
      ggas_store(ggas_pointer_of_node<uint64_t>(static_cast<int>(node), mailbox(me_)) + lane_,
                 lane_ < filled ? buckets_[peer * a_.words + lane_] : a_.split.foreign(node));
    open_ -= filled < a_.words ? 1 : 0;
    __syncwarp();
    if (lane_ == 0) {
      peers_[peer].sending = filled == a_.words;
      peers_[peer].filled = 0;
      ++peers_[peer].shipped;
    }
    __syncwarp();
  }

  // One load a lane: has the node sent another bucket? Takes what has come.
  GGAS_DEVICE bool take() {
    bool moved = false;
    for (uint32_t first = 0; first < others_; first += 32) {
      const uint32_t peer = first + lane_, end = a_.words - 1;
      const bool asks = peer < others_ && peers_[peer].receiving;
      const bool here =
          asks && detail::load_spin(own<uint64_t>(mailbox(node_of(peer))) + end) != seen_[peer * a_.words + end];
      for (unsigned come = __ballot_sync(all, here); come != 0; come &= come - 1)
        moved |= take_from(first + static_cast<uint32_t>(__ffs(come)) - 1);
    }
    return moved;
  }

  GGAS_DEVICE bool take_from(uint32_t peer) {
    const uint32_t node = node_of(peer);
    const bool mine = lane_ < a_.words;
    uint64_t* const before = seen_ + peer * a_.words + (mine ? lane_ : 0);
    const uint64_t word = mine ? detail::load_spin(own<uint64_t>(mailbox(node)) + lane_) : 0;
    if (any(mine && word == *before)) return false;
    if (mine) *before = word;
    const bool ours = mine && a_.split.owner_of(word) == me_;
    const bool ended = any(mine && !ours);
    open_ -= ended ? 1 : 0;
    const uint32_t taken = peers_[peer].taken + 1;
    __syncwarp();
    if (lane_ == 0) {
      peers_[peer].taken = taken;
      peers_[peer].receiving = !ended;
      ggas_store<uint64_t>(ggas_pointer_of_node<uint64_t>(static_cast<int>(node), credit(me_)), taken);
    }
    if (ours) apply_update(a_, word);
    __syncwarp();
    return true;
  }

  const many_args& a_;
  many_peer* const peers_;
  const uint32_t lane_, me_, others_;
  uint64_t* const buckets_;
  uint64_t* const seen_;
  const uint64_t warp_;
  stream_part part_;
  uint32_t open_;  // peers that we still send to, and that still send
  uint64_t number_ = 0;
  uint32_t owner_ = 0;
  bool holds_ = false;  // number_ waits for a place
};

// As many blocks of many_threads on every node. Mailboxes and credits are zero at first.
__global__ void GGAS_LAUNCH_BOUNDS(many_threads) many_bucket_updates(many_args a) {
  GGAS_SHARED_ARRAY(uint64_t, memory, 2 * many_words);
  GGAS_SHARED_ARRAY(many_peer, peers, many_words);
  outcome out{time_ns(), 0, 0, ggas_ok};
  many_warp warp(a, memory, peers);
  out.status = warp.run();
  ggas_fence();  // what was applied is in the table
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
