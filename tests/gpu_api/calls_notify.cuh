// SPDX-License-Identifier: Apache-2.0
// Notifications in every form: each arrives once, in order, with its cookie and after its data. One source for the host
// engine, the simulator and GPUs; for one translation unit.
#pragma once

#include "tests/gpu_api/calls_found_run.hpp"

namespace ggas::calls {

struct notify_args {
  uint64_t source, landing;  // offsets of `slots` slots
  uint64_t marks;            // offset of a word for each notification
  uint64_t outcomes;
  uint64_t count, seed, timeout_ns, brief_ns;
  int to_queue;  // whose ring is used
};
// More slots than a ring without a NIC has records: data is looked at before the next comes to its place.
constexpr uint64_t slots = 128, slot_bytes = 256;

// Notification `number` of a sender.
struct notice {
  uint64_t number, cookie, bytes, value;
  unsigned way, from, to;  // from, to: places in a slot
  GGAS_DEVICE notice(uint64_t seed, int sender, uint64_t i) : number(i) {
    const uint64_t dice = bench::pattern(seed, static_cast<uint64_t>(sender), i);
    cookie = bench::pattern(seed + 1, static_cast<uint64_t>(sender), i);
    value = bench::pattern(seed + 2, static_cast<uint64_t>(sender), i);
    way = static_cast<unsigned>(dice % 6);
    from = static_cast<unsigned>(dice >> 8) % 32;
    to = static_cast<unsigned>(dice >> 16) % 32;
    bytes = (dice >> 24) % 200 >> (dice >> 32) % 8;
    if (way < 2) bytes = 0;
    if (way >= 4) bytes = 8;
    if (way >= 4) to &= ~7u;
  }
  GGAS_DEVICE uint64_t slot() const { return number % slots * slot_bytes; }
  GGAS_DEVICE uint8_t byte(uint64_t i) const {
    if (way >= 4) return static_cast<uint8_t>(value >> 8 * i);
    return static_cast<uint8_t>(bench::pattern(value, 0, i) >> 8);
  }
};

// By a warp.
GGAS_DEVICE ggas_status send(const notify_args& a, const notice& n, const ggas_queue& q) {
  const int right = (ggas_node() + 1) % ggas_nodes();
  auto* const own = bench::own<uint8_t>(a.source + n.slot() + n.from);
  auto* const far = ggas_global_pointer<uint8_t>(right, a.landing + n.slot() + n.to);
  auto* const word = reinterpret_cast<uint64_t*>(far);
  const bool leads = detail::lane_rank() == 0;
  for (uint64_t i = detail::lane_rank(); i < n.bytes; i += 32) ggas_store(own + i, n.byte(i));
  __syncwarp();
  switch (n.way) {
    case 0:
      return leads ? ggas_notify(right, n.cookie, a.to_queue, a.timeout_ns, q) : ggas_ok;
    case 1:
      return ggas_notify_warp(right, n.cookie, a.to_queue, a.timeout_ns, q);
    case 2:
      return leads ? ggas_put_notify(far, own, n.bytes, n.cookie, a.to_queue, a.timeout_ns, q) : ggas_ok;
    case 3:
      return ggas_put_notify_warp(far, own, n.bytes, n.cookie, a.to_queue, a.timeout_ns, q);
    case 4:
      return leads ? ggas_put_value_notify(word, n.value, n.cookie, a.to_queue, a.timeout_ns, q) : ggas_ok;
    default:
      return ggas_put_value_notify_warp(word, n.value, n.cookie, a.to_queue, a.timeout_ns, q);
  }
}

GGAS_DEVICE void send_all(const notify_args& a, found& f) {
  const ggas_queue q = ggas_queue_of(0);
  for (uint64_t i = 0; i < a.count; ++i) {
    const notice n(a.seed, ggas_node(), i);
    const ggas_status s = send(a, n, q);
    f.status(s, ggas_ok, __LINE__);
    if (__any_sync(0xffffffffu, s != ggas_ok)) return;
    // Sources are used again.
    if (i % (slots / 2) == 0) f.status(ggas_quiet_local_warp(q, a.timeout_ns), ggas_ok, __LINE__);
  }
  f.status(ggas_quiet_warp(q, a.timeout_ns), ggas_ok, __LINE__);
}

// By the threads that know of the record: lane `lane` of `lanes`.
GGAS_DEVICE void check_note(const notify_args& a, const ggas_notification& got, uint64_t number, unsigned lane,
                            unsigned lanes, found& f) {
  const int left = (ggas_node() + ggas_nodes() - 1) % ggas_nodes();
  const notice n(a.seed, left, number);
  const ggas_queue theirs = ggas_queue_of(0);
  f.want(got.cookie == n.cookie && got.size == n.bytes, __LINE__);
  f.want(got.node == static_cast<uint32_t>(left), __LINE__);
  f.want(got.queue == (theirs.at.page ? theirs.at.vpid : 0), __LINE__);
  f.want(got.kind == ggas_note_arrived && got.code == 0, __LINE__);
  const auto* const data = bench::own<uint8_t>(a.landing + n.slot() + n.to);
  for (uint64_t i = lane; i < n.bytes; i += lanes) f.want(ggas_load(data + i) == n.byte(i), __LINE__);
}

// By a warp: takes `count` notifications by the four calls in turn.
GGAS_DEVICE void take_all(const notify_args& a, const ggas_queue& q, found& f) {
  const unsigned lane = detail::lane_rank();
  ggas_notification notes[8] = {};
  for (uint64_t done = 0; done < a.count;) {
    const uint64_t dice = bench::pattern(a.seed + 3, static_cast<uint64_t>(ggas_node()), done);
    const uint64_t most = (dice >> 8) % 8 < a.count - done ? 1 + (dice >> 8) % 8 : a.count - done;
    size_t taken = 1;
    ggas_status s = ggas_ok;
    if (dice % 4 == 0) {
      s = ggas_notification_wait_warp(notes, a.timeout_ns, q);
      f.status(s, ggas_ok, __LINE__);
      check_note(a, notes[0], done, lane, 32, f);
    } else if (lane == 0) {
      if (dice % 4 == 1) s = ggas_notification_wait(notes, a.timeout_ns, q);
      if (dice % 4 == 2) s = ggas_notification_wait_some(notes, most, &taken, a.timeout_ns, q);
      if (dice % 4 == 3) s = ggas_notification_wait_all(notes, most, &taken, a.timeout_ns, q);
      f.status(s, ggas_ok, __LINE__);
      f.want(taken >= 1 && taken <= (dice % 4 == 1 ? 1 : most) && (dice % 4 != 3 || taken == most), __LINE__);
      for (uint64_t k = 0; k < taken && k < 8; ++k) check_note(a, notes[k], done + k, 0, 1, f);
    }
    if (__any_sync(0xffffffffu, s != ggas_ok)) return;
    done += __shfl_sync(0xffffffffu, taken, 0);
  }
}

GGAS_DEVICE void find_none(const notify_args& a, const ggas_queue& q, found& f) {
  ggas_notification note{123, 0, 0, 0, 0, 0, 0};
  size_t taken = 9;
  for (const uint64_t brief : {uint64_t{0}, a.brief_ns}) {
    const uint64_t begin = bench::time_ns();
    f.status(ggas_notification_wait(&note, brief, q), ggas_timed_out, __LINE__);
    f.status(ggas_notification_wait_some(&note, 1, &taken, brief, q), ggas_timed_out, __LINE__);
    f.want(taken == 0, __LINE__);
    f.status(ggas_notification_wait_all(&note, 1, &taken, brief, q), ggas_timed_out, __LINE__);
    f.want(bench::time_ns() - begin >= 3 * brief, __LINE__);
  }
  f.want(note.cookie == 123, __LINE__);
}

// A block of two warps: one sends to the right, the other takes what comes from the left.
__global__ void GGAS_LAUNCH_BOUNDS(64) notify_in_a_ring(notify_args a) {
  found f;
  if (detail::thread_rank() < 32) {
    send_all(a, f);
  } else {
    const ggas_queue q = ggas_queue_of(a.to_queue, a.seed % 2 ? ggas_exclusive : ggas_shared);
    take_all(a, q, f);
    if (detail::lane_rank() == 0) find_none(a, q, f);
  }
  f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
  f.write(a.outcomes);
}

// The first block sends to the right, threads of the others take from one ring: every cookie comes to one of them.
__global__ void GGAS_LAUNCH_BOUNDS(64) notify_many_takers(notify_args a) {
  found f;
  const ggas_queue q = ggas_queue_of(a.to_queue);
  const unsigned takers = detail::block_count() - 1;
  if (detail::thread_rank() == 0 && detail::block_rank() == 0) {
    ggas_status s = ggas_ok;
    for (uint64_t i = 0; i < a.count * takers && s == ggas_ok; ++i)
      s = ggas_notify((ggas_node() + 1) % ggas_nodes(), i, a.to_queue, a.timeout_ns, q);
    f.status(s, ggas_ok, __LINE__);
  } else if (detail::thread_rank() == 0) {
    ggas_status s = ggas_ok;
    for (uint64_t i = 0; i < a.count && s == ggas_ok; ++i) {
      ggas_notification note{};
      s = ggas_notification_wait(&note, a.timeout_ns, q);
      f.want(note.cookie < a.count * takers, __LINE__);
      if (s == ggas_ok && note.cookie < a.count * takers) {
        // The block's number where no one has been before.
        auto* const mark = bench::own<uint64_t>(a.marks) + note.cookie;
        f.want(ggas_load(mark) == 0, __LINE__);
        ggas_store(mark, uint64_t{detail::block_rank()});
      }
    }
    f.status(s, ggas_ok, __LINE__);
  }
  f.write(a.outcomes);
}

// One thread: what is refused sends nothing and writes nothing.
__global__ void notify_refused(notify_args a) {
  found f;
  const uint64_t t = a.timeout_ns;
  const int right = (ggas_node() + 1) % ggas_nodes(), to = a.to_queue;
  const ggas_queue q = ggas_queue_of(0), none = ggas_queue_of(-1);
  auto* const far = ggas_global_pointer<uint64_t>(right, a.landing);
  auto* const end = ggas_global_pointer<uint64_t>(right, ggas_segment_bytes() - 8);
  auto* const misaligned = reinterpret_cast<uint64_t*>(ggas_global_pointer<char>(right, a.landing + 4));
  auto* const own = bench::own<uint64_t>(a.source);
  uint64_t* const null = nullptr;
  const auto all = [&](uint64_t* there, const uint64_t* here, size_t n, int node, int queue, const ggas_queue& by,
                       bool puts_only, int line) {
    f.status(ggas_put_notify(there, here, n, 1, queue, t, by), ggas_bad_argument, line);
    f.status(ggas_put_notify_warp(there, here, n, 2, queue, t, by), ggas_bad_argument, line);
    if (!puts_only) {
      f.status(ggas_notify(node, 3, queue, t, by), ggas_bad_argument, line);
      f.status(ggas_notify_warp(node, 4, queue, t, by), ggas_bad_argument, line);
    }
    if (!puts_only || n == 1) {
      f.status(ggas_put_value_notify(there, uint64_t{7}, 5, queue, t, by), ggas_bad_argument, line);
      f.status(ggas_put_value_notify_warp(there, uint64_t{7}, 6, queue, t, by), ggas_bad_argument, line);
    }
  };
  all(far, own, 1, right, -1, q, false, __LINE__);
  all(far, own, 1, right, ggas_queues(), q, false, __LINE__);
  all(far, own, 1, right, to, none, false, __LINE__);
  all(null, own, 1, -1, to, q, false, __LINE__);
  all(null, own, 1, ggas_nodes(), to, q, false, __LINE__);
  all(end, own, 2, right, to, q, true, __LINE__);
  all(end, null, 2, right, to, q, true, __LINE__);
  f.status(ggas_put_value_notify(misaligned, uint64_t{7}, 8, to, t, q), ggas_bad_argument, __LINE__);
  const ggas_queue in = ggas_queue_of(to);
  ggas_notification note{123, 0, 0, 0, 0, 0, 0};
  size_t taken = 9;
  f.status(ggas_notification_wait(nullptr, t, in), ggas_bad_argument, __LINE__);
  f.status(ggas_notification_wait(&note, t, none), ggas_bad_argument, __LINE__);
  f.status(ggas_notification_wait_warp(&note, t, none), ggas_bad_argument, __LINE__);
  f.status(ggas_notification_wait_some(&note, 0, &taken, t, in), ggas_bad_argument, __LINE__);
  f.status(ggas_notification_wait_some(&note, 1, nullptr, t, in), ggas_bad_argument, __LINE__);
  f.status(ggas_notification_wait_all(nullptr, 1, &taken, t, in), ggas_bad_argument, __LINE__);
  f.status(ggas_notification_wait_all(&note, 0, &taken, t, in), ggas_bad_argument, __LINE__);
  f.want(taken == 9, __LINE__);
  f.status(ggas_barrier_block(t), ggas_ok, __LINE__);
  find_none(a, in, f);
  f.write(a.outcomes);
}

// One thread, without a NIC. A ring that is not read accepts records until it is full, and stores nothing of refused
// records. Reading makes room, which is reported in quarters.
__global__ void notify_full_ring(notify_args a) {
  found f;
  constexpr uint64_t records = layout::direct_records;
  const int right = (ggas_node() + 1) % ggas_nodes();
  const ggas_queue q = ggas_queue_of(0), in = ggas_queue_of(a.to_queue);
  for (uint64_t turn = 0; turn < 3; ++turn) {
    uint64_t sent = 0;
    while (sent <= records && ggas_notify(right, turn << 32 | sent, a.to_queue, 0, q) == ggas_ok) ++sent;
    f.want(sent <= records && sent > (turn == 0 ? 0 : records - records / 4), __LINE__);
    const uint64_t begin = bench::time_ns();
    f.status(ggas_notify(right, 77, a.to_queue, a.brief_ns, q), ggas_timed_out, __LINE__);
    f.want(bench::time_ns() - begin >= a.brief_ns, __LINE__);
    f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
    ggas_notification note{};
    uint64_t taken = 0;
    for (; ggas_notification_wait(&note, 0, in) == ggas_ok; ++taken)
      f.want(note.cookie == (turn << 32 | taken), __LINE__);
    f.want(taken <= records && taken > (turn == 0 ? 0 : records - records / 4), __LINE__);
    find_none(a, in, f);
    f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
  }
  f.write(a.outcomes);
}

// ---- host

template <class Machine>
void run_notifications(Machine& m, uint64_t count) {
  for (int queue = 0; queue < 4; ++queue) {
    const std::string ring = ", ring " + std::to_string(queue);
    notify_args a{m.data(),
                  m.data() + 32768,
                  m.data() + 65536,
                  m.outcomes(),
                  count,
                  static_cast<uint64_t>(queue),
                  m.timeout_ns(),
                  m.brief_ns(),
                  queue};
    run_found(m, 1, 64, notify_in_a_ring, a, "notify_in_a_ring" + ring);
    a.count = count / 4 + 1;
    run_found(m, 4, 33, notify_many_takers, a, "notify_many_takers" + ring);
    run_found(m, 1, 1, notify_refused, a, "notify_refused" + ring);
    if (!m.has_nic()) run_found(m, 1, 1, notify_full_ring, a, "notify_full_ring" + ring);
  }
}

}  // namespace ggas::calls
