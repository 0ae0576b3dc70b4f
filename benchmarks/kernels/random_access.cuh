// SPDX-License-Identifier: Apache-2.0
// RandomAccess by mailboxes: each GPU writes the random number into a mailbox of the word's owner, who applies it.
// Every lane of the sending block has a small ring at every other node; the owner's lane clears a slot, applies the
// number and returns credits in batches. What is under way never exceeds lanes * depth * (nodes - 1), the look-ahead.
#pragma once

#include "benchmarks/kernels/common.cuh"
#include "benchmarks/kernels/hpcc_stream.cuh"

namespace ggas::bench {

inline constexpr int max_mailbox_nodes = 64;

struct mailbox_args {
  uint64_t table;      // offset of the node's words
  uint64_t log2_size;  // of the whole table
  uint64_t mailboxes;  // offset of slots[source][depth][lane]
  uint64_t credits;    // offset of counts[owner][lane], written by the owner
  uint64_t depth;      // slots of a lane at an owner
  uint64_t origin;     // place in the stream where node 0 begins
  uint64_t outcomes;   // offset of an outcome for each thread
  uint64_t timeout_ns;
};

// Which node holds a word when nodes * k / 2^n words lie before node k.
struct table_split {
  uint64_t size, nodes;
  GGAS_HOST_DEVICE constexpr uint64_t first(uint64_t node) const { return node * size / nodes; }
  GGAS_HOST_DEVICE constexpr uint64_t owner(uint64_t index) const { return ((index + 1) * nodes - 1) / size; }
  GGAS_HOST_DEVICE constexpr uint64_t index(uint64_t number) const { return number & (size - 1); }
};

GGAS_DEVICE uint64_t slot_offset(const mailbox_args& a, uint64_t source, uint64_t place) {
  const uint64_t lanes = detail::thread_count();
  return a.mailboxes + ((source * a.depth + place % a.depth) * lanes + detail::thread_rank()) * sizeof(uint64_t);
}
GGAS_DEVICE uint64_t credit_offset(const mailbox_args& a, uint64_t owner) {
  return a.credits + (owner * detail::thread_count() + detail::thread_rank()) * sizeof(uint64_t);
}

// Atomic on the own GPU: the sending lanes and the receiving ones meet in the table.
GGAS_DEVICE void apply_update(const mailbox_args& a, const table_split& split, uint64_t number) {
  const uint64_t place = split.index(number) - split.first(static_cast<uint64_t>(ggas_node()));
  atomicXor(own<unsigned long long>(a.table) + place, static_cast<unsigned long long>(number));
}

// Puts a number into the own ring at a node once there is room.
GGAS_DEVICE ggas_status post(const mailbox_args& a, uint64_t node, uint64_t& sent, uint64_t number) {
  if (sent >= a.depth) {
    const uint64_t* const credit = own<uint64_t>(credit_offset(a, node));
    const ggas_status s = ggas_wait_until<uint64_t>(credit, ggas_ge, sent + 1 - a.depth, a.timeout_ns);
    if (s != ggas_ok) return s;
  }
  ggas_store(
      ggas_pointer_of_node<uint64_t>(static_cast<int>(node), slot_offset(a, static_cast<uint64_t>(ggas_node()), sent)),
      number);
  ++sent;
  return ggas_ok;
}

// A number that the owner cannot own: it ends a lane's stream.
GGAS_DEVICE uint64_t end_mark(const table_split& split, uint64_t owner) { return owner == 0 ? split.first(1) : 1; }

GGAS_DEVICE ggas_status send_updates(const mailbox_args& a, const table_split& split) {
  const uint64_t me = static_cast<uint64_t>(ggas_node()), nodes = split.nodes;
  const uint64_t updates = 4 * (split.first(me + 1) - split.first(me));
  const uint64_t lane = detail::thread_rank(), lanes = detail::thread_count();
  const uint64_t begin = updates * lane / lanes, end = updates * (lane + 1) / lanes;
  uint64_t sent[max_mailbox_nodes] = {};
  uint64_t number = hpcc_stream::at(a.origin + 4 * split.first(me) + begin);
  ggas_status s = ggas_ok;
  for (uint64_t i = begin; i < end && s == ggas_ok; ++i) {
    number = hpcc_stream::next(number);
    const uint64_t owner = split.owner(split.index(number));
    if (owner == me) {
      apply_update(a, split, number);
    } else {
      s = post(a, owner, sent[owner], number);
    }
  }
  for (uint64_t node = 0; node < nodes && s == ggas_ok; ++node) {
    if (node != me) s = post(a, node, sent[node], end_mark(split, node));
  }
  return s;
}

GGAS_DEVICE ggas_status take_updates(const mailbox_args& a, const table_split& split, uint64_t source) {
  const uint64_t me = static_cast<uint64_t>(ggas_node());
  const uint64_t batch = a.depth > 1 ? a.depth / 2 : 1;
  uint64_t* const credit = ggas_pointer_of_node<uint64_t>(static_cast<int>(source), credit_offset(a, me));
  for (uint64_t taken = 0;;) {
    uint64_t* const slot = own<uint64_t>(slot_offset(a, source, taken));
    const ggas_status s = ggas_wait_until<uint64_t>(slot, ggas_ne, 0, a.timeout_ns);
    if (s != ggas_ok) return s;
    const uint64_t number = ggas_load(slot);
    if (split.owner(split.index(number)) != me) return ggas_ok;
    ggas_store<uint64_t>(slot, 0);
    apply_update(a, split, number);
    if (++taken % batch == 0) {
      ggas_fence();  // the slots are clear before the sender learns of it
      ggas_store(credit, taken);
    }
  }
}

// One block sends (block number = own node), one block receives from each other node. All of them must be resident.
__global__ void mailbox_updates(mailbox_args a) {
  const table_split split{1ull << a.log2_size, static_cast<uint64_t>(ggas_nodes())};
  const uint64_t source = detail::block_rank();
  outcome out{time_ns(), 0, 0, ggas_ok};
  out.status = source == static_cast<uint64_t>(ggas_node()) ? send_updates(a, split) : take_updates(a, split, source);
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
