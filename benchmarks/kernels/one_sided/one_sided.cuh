// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels with puts, gets and atomics started by the GPU, in the variants of docs/benchmarks.md. Nodes
// work in pairs.
#pragma once

#include "benchmarks/kernels/common.cuh"
#include "benchmarks/kernels/one_sided/old_way.cuh"

namespace ggas::bench {

// How a kernel learns that something has arrived or may go on.
enum class control : int {
  notify,    // a notification in a ring
  old_way,   // the same as the original system did it: kernels/old_way.cuh
  poll,      // the last word of the data itself
  assisted,  // the processor does it: flags to and from it
};

struct one_sided_args {
  uint64_t source, target;  // offsets of buffers, the same on every node
  uint64_t bytes;           // of a message, a multiple of 8
  uint64_t flag;            // assisted: offset of the word the processor raises here
  uint64_t outcomes;        // offset of an outcome for each block
  uint64_t samples;         // offset of durations in ns, one for each round
  uint64_t rounds;          // measured ones; one more goes before as a warm-up
  uint64_t first;           // number of the first round of this launch: values differ from launch to launch
  uint64_t seed, timeout_ns;
  uint64_t* request;  // assisted: the word in host memory the GPU raises; old way: its read pointer
  control how;
};

GGAS_DEVICE uint64_t* last_word(int node, uint64_t buffer, uint64_t bytes) {
  return ggas_pointer_of_node<uint64_t>(node, buffer + bytes - 8);
}

// One message to the partner, as one thread or warp.
GGAS_DEVICE ggas_status send_message(const one_sided_args& a, const ggas_queue& q, int peer, uint64_t number) {
  auto* const to = ggas_pointer_of_node<uint64_t>(peer, a.target);
  const auto* const from = own<uint64_t>(a.source);
  switch (a.how) {
    case control::notify:
      if (a.bytes == 8)  // in the thread's hand, as small messages are
        return ggas_put_value_notify_warp(to, pattern(a.seed, a.first, 0), number, q.index(), a.timeout_ns, q);
      return ggas_put_notify_warp(to, from, a.bytes / 8, number, q.index(), a.timeout_ns, q);
    case control::poll:
      if (a.bytes == 8) return ggas_put_value_nbi_warp(to, pattern(a.seed, number, 0), a.timeout_ns, q);
      if (detail::lane_rank() == 0) ggas_store(last_word(ggas_node(), a.source, a.bytes), pattern(a.seed, number, 0));
      __syncwarp(detail::lane_mask());
      return ggas_put_nbi_warp(to, from, a.bytes / 8, a.timeout_ns, q);
    case control::old_way:
      old_post(q, detail::desc_put | old_both, peer, a.bytes, detail::local_nla(from), detail::nla(peer, a.target),
               number);
      return old_consume(q, a.request, a.timeout_ns);
    case control::assisted:
      ggas_store(a.request, number);
      return ggas_ok;
  }
  return ggas_bad_argument;
}

GGAS_DEVICE ggas_status await_message(const one_sided_args& a, const ggas_queue& q, uint64_t number) {
  ggas_notification note{};
  switch (a.how) {
    case control::notify: {
      const ggas_status s = ggas_notification_wait_warp(&note, a.timeout_ns, q);
      return s == ggas_ok && note.cookie != number ? ggas_peer_error : s;
    }
    case control::poll:
      return ggas_wait_until_warp(last_word(ggas_node(), a.target, a.bytes), ggas_eq, pattern(a.seed, number, 0),
                                  a.timeout_ns);
    case control::old_way:
      return old_consume(q, a.request, a.timeout_ns);
    case control::assisted:
      return ggas_wait_until(own<uint64_t>(a.flag), ggas_eq, number, a.timeout_ns);
  }
  return ggas_bad_argument;
}

// Gets in sequence, by the first node of each pair: from the partner's `target` into `source` here.
GGAS_DEVICE ggas_status get_once(const one_sided_args& a, const ggas_queue& q, int peer, uint64_t number) {
  auto* const local = own<uint64_t>(a.source);
  const uint64_t here = detail::local_nla(local), there = detail::nla(peer, a.target);
  const uint64_t op = detail::desc_get | detail::notify_completer;
  if (a.how == control::old_way) {
    old_post(q, op, peer, a.bytes, there, here, number);
    return old_consume(q, a.request, a.timeout_ns);
  }
  if (a.how == control::poll) {
    uint64_t* const last = last_word(ggas_node(), a.source, a.bytes);
    if (detail::lane_rank() == 0) ggas_store(last, uint64_t{0});
    ggas_fence_gpu();  // cleared before the data comes
    const auto* const remote = ggas_pointer_of_node<uint64_t>(peer, a.target);
    const ggas_status s = ggas_get_nbi_warp(local, remote, a.bytes / 8, a.timeout_ns, q);
    return s == ggas_ok ? ggas_wait_until_warp(last, ggas_ne, uint64_t{0}, a.timeout_ns) : s;
  }
  const detail::slot d{detail::first_word(op, peer, a.bytes), there, here, number};
  const ggas_status s = detail::post(
      detail::warp_group{}, q, 1, 1, [&](unsigned i) { return d.word(i); }, detail::deadline(a.timeout_ns));
  ggas_notification note{};
  return s == ggas_ok ? ggas_notification_wait_warp(&note, a.timeout_ns, q) : s;
}

}  // namespace ggas::bench
