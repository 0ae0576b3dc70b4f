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

// Puts a number into the own ring at a node once there is room.
GGAS_DEVICE ggas_status post(const mailbox_args& a, uint64_t node, uint64_t& sent, uint64_t number) {
  if (sent >= a.depth) {
    const uint64_t* const credit = own<uint64_t>(credit_offset(a, node));
    const ggas_status s = ggas_wait_until(credit, ggas_ge, sent + 1 - a.depth, a.timeout_ns);
    if (s != ggas_ok) return s;
  }
  ggas_store(
      ggas_pointer_of_node<uint64_t>(static_cast<int>(node), slot_offset(a, static_cast<uint64_t>(ggas_node()), sent)),
      number);
  ++sent;
  return ggas_ok;
}

GGAS_DEVICE ggas_status send_updates(const mailbox_args& a) {
  const uint64_t me = static_cast<uint64_t>(ggas_node());
  uint64_t sent[most_mailbox_nodes] = {};
  ggas_status s = ggas_ok;
  for (stream_part part = own_part(a, detail::thread_rank(), detail::thread_count());
       part.count != 0 && s == ggas_ok;) {
    const uint64_t number = part.take(), owner = a.split.owner_of(number);
    if (owner == me) {
      apply_update(a, number);
    } else {
      s = post(a, owner, sent[owner], number);
    }
  }
  // A number that the owner cannot own ends a lane's stream.
  for (uint64_t node = 0; node < a.split.nodes && s == ggas_ok; ++node) {
    if (node != me) s = post(a, node, sent[node], a.split.foreign(node));
  }
  return s;
}

GGAS_DEVICE ggas_status take_updates(const mailbox_args& a, uint64_t source) {
  const uint64_t me = static_cast<uint64_t>(ggas_node());
  const uint64_t batch = a.depth > 1 ? a.depth / 2 : 1;
  uint64_t* const credit = ggas_pointer_of_node<uint64_t>(static_cast<int>(source), credit_offset(a, me));
  for (uint64_t taken = 0;;) {
    uint64_t* const slot = own<uint64_t>(slot_offset(a, source, taken));
    const ggas_status s = ggas_wait_until(slot, ggas_ne, 0, a.timeout_ns);
    if (s != ggas_ok) return s;
    const uint64_t number = ggas_load(slot);
    if (a.split.owner_of(number) != me) return ggas_ok;
    ggas_store<uint64_t>(slot, 0);
    apply_update(a, number);
    if (++taken % batch == 0) {
      ggas_fence();  // the slots are clear before the sender learns of it
      ggas_store(credit, taken);
    }
  }
}

// One block of mailbox_threads threads sends (its number is that of the own node); each other block receives from one
// node. All blocks must be resident.
__global__ void mailbox_updates(mailbox_args a) {
  const uint64_t source = detail::block_rank();
  outcome out{time_ns(), 0, 0, ggas_ok};
  out.status = source == static_cast<uint64_t>(ggas_node()) ? send_updates(a) : take_updates(a, source);
  out.end_ns = time_ns();
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
