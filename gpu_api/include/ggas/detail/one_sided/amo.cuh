// SPDX-License-Identifier: Apache-2.0
// Remote atomics. Included by rma.cuh.
//
// A fetching atomic gets its result as a record of old value and cookie in own memory. Records come from a pool with a
// bit each. A record whose answer did not arrive in time stays taken, because the answer may still come, and is marked
// as abandoned; a later caller may take an abandoned record whose answer has arrived. A queue that is used exclusively
// has its own record.
#pragma once

#include "ggas/detail/one_sided/strided.cuh"

namespace ggas::detail {

constexpr uint64_t amo_signed = 16;

template <class T>
GGAS_DEVICE constexpr bool is_atomic_word() {
  return (is_integer<T> || is_floating<T>)&&(sizeof(T) == 4 || sizeof(T) == 8);
}
// Words of floating point take no operations on bits.
template <class T>
GGAS_DEVICE bool word_takes(ggas_atomic what) {
  const bool bits = what == ggas_atomic_and || what == ggas_atomic_or || what == ggas_atomic_xor;
  return static_cast<unsigned>(what) <= ggas_atomic_max && !(is_floating<T> && bits);
}
// A word of floating point as the integer that the NIC and compare-and-swaps see.
template <class T>
using word_bits = either_t<!is_floating<T>, T, either_t<sizeof(T) == 4, uint32_t, uint64_t>>;

// What a word of floating point becomes; not of an addition at peers' memory, which their atomic units make.
template <class T>
GGAS_DEVICE T floating_after(ggas_atomic what, T old, T v) {
  if (what == ggas_atomic_add) return old + v;
  if (what == ggas_atomic_swap) return v;
  return extreme(what == ggas_atomic_min, old, v);
}
// Replaces a word by floating_after() of its value and returns the old value. It repeats compare_swap(expected, wanted)
// until no other thread has interfered. An unchanged value is not written.
template <class T, class Swap>
GGAS_DEVICE word_bits<T> swap_until_done(ggas_atomic what, T v, word_bits<T> old, Swap compare_swap) {
  using bits = word_bits<T>;
  for (;;) {
    const bits next = as_bits<bits>(floating_after(what, as_bits<T>(old), v));
    if (next == old) return old;
    const bits found = compare_swap(old, next);
    if (found == old) return old;
    old = found;
  }
}

// On a peer's memory, at system scope: the word is the one that the atomic units of its GPU work on.
template <class T>
requires(is_floating<T>) GGAS_DEVICE T atomic_directly(ggas_atomic what, T* p, T v, T compare) {
  using bits = word_bits<T>;
  auto* const word = reinterpret_cast<bits*>(p);
  if (what == ggas_atomic_add) return add_system(p, v);
  if (what == ggas_atomic_swap) return as_bits<T>(swap_system(word, as_bits<bits>(v)));
  if (what == ggas_atomic_cas) return as_bits<T>(cas_system(word, as_bits<bits>(compare), as_bits<bits>(v)));
  return as_bits<T>(
      swap_until_done(what, v, load_relaxed(word), [=](bits old, bits next) { return cas_system(word, old, next); }));
}
template <class T>
requires(is_integer<T>) GGAS_DEVICE T atomic_directly(ggas_atomic what, T* p, T v, T compare) {
  switch (what) {
    case ggas_atomic_add:
      return add_system(p, v);
    case ggas_atomic_swap:
      return swap_system(p, v);
    case ggas_atomic_cas:
      return cas_system(p, compare, v);
    case ggas_atomic_and:
      return and_system(p, v);
    case ggas_atomic_or:
      return or_system(p, v);
    case ggas_atomic_xor:
      return xor_system(p, v);
    case ggas_atomic_min:
      return min_system(p, v);
    case ggas_atomic_max:
      return max_system(p, v);
  }
  return T{};
}

// The same when no thread asks for the old value: a reduction has no answer to wait for, and twice the rate.
template <class T>
GGAS_DEVICE void reduce_directly(ggas_atomic what, T* p, T v, T compare) {
  if constexpr (is_floating<T>) {
    if (what == ggas_atomic_add) return red_add_system(p, v);
    atomic_directly(what, p, v, compare);
  } else {
    switch (what) {
      case ggas_atomic_add:
        return red_add_system_together(p, v);
      case ggas_atomic_and:
        return red_and_system(p, v);
      case ggas_atomic_or:
        return red_or_system(p, v);
      case ggas_atomic_xor:
        return red_xor_system(p, v);
      default:
        atomic_directly(what, p, v, compare);
    }
  }
}

// The two slots of an atomic.
struct atomic_slots {
  slot first, second;
  GGAS_DEVICE uint64_t word(unsigned i) const { return i < slot_words ? first.word(i) : second.word(i - slot_words); }
};

// result: offset of the record in the own segment, 0 for none.
template <class T>
GGAS_DEVICE atomic_slots make_atomic(ggas_atomic what, const place& at, T v, T compare, uint64_t result,
                                     uint64_t cookie) {
  const bool with_sign = has_sign<T> && (what == ggas_atomic_min || what == ggas_atomic_max);
  return {{first_word(desc_atomic, at.node, sizeof(T)), as_bits<uint64_t>(v), nla(at), cookie},
          {as_bits<uint64_t>(compare), result == 0 ? 0 : own_nla(result),
           static_cast<uint64_t>(what) | (with_sign ? amo_signed : 0), 0}};
}

// ---- result records

struct result_record {
  uint64_t offset;      // in the own segment; 0: none was free in time
  uint64_t group, bit;  // bit = 0: not from the pool
};

GGAS_DEVICE layout record_layout() { return {static_cast<uint64_t>(ggas_nodes()), 0, 0, 0}; }

GGAS_DEVICE uint64_t* cookie_of(const result_record& r) {
  return reinterpret_cast<uint64_t*>(device_context().local + r.offset) + 1;
}
// Not 0 once the answer is here.
GGAS_DEVICE bool has_answer(const result_record& r) { return load_relaxed(cookie_of(r)) != 0; }

// Takes over an abandoned record if its answer has arrived and no other thread has taken it.
GGAS_DEVICE bool take_left_record(const result_record& r) {
  uint64_t* const left = own_word(record_layout().results_left(r.group));
  if (!(load_relaxed(left) & r.bit) || !has_answer(r) || !(and_gpu(left, ~r.bit) & r.bit)) return false;
  store_relaxed(cookie_of(r), uint64_t{0});
  ggas_fence_gpu();
  return true;
}

GGAS_DEVICE result_record take_record(const ggas_queue& q, const deadline& end) {
  const layout l = record_layout();
  if (q.exclusive) return {l.exclusive_result(static_cast<uint64_t>(q.index())), 0, 0};
  constexpr uint64_t groups = layout::results / 64;
  const uint64_t start = block_rank() * thread_count() + thread_rank();
  for (uint64_t tries = 0; tries < layout::results || !end.over(); ++tries) {
    const uint64_t i = (start + tries) % layout::results, group = i % groups, bit = uint64_t{1} << i / groups;
    const result_record r{l.result(group * 64 + i / groups), group, bit};
    if (!(or_gpu(own_word(l.results_taken(group)), bit) & bit) || take_left_record(r)) return r;
  }
  return {0, 0, 0};
}

// An old cookie must not be taken for that of the next operation.
GGAS_DEVICE void give_record(const result_record& r) {
  store_relaxed(cookie_of(r), uint64_t{0});
  if (!r.bit) return;
  ggas_fence_gpu();
  and_gpu(own_word(record_layout().results_taken(r.group)), ~r.bit);
}
// Its answer may still come.
GGAS_DEVICE void leave_record(const result_record& r) {
  if (r.bit) or_gpu(own_word(record_layout().results_left(r.group)), r.bit);
}

// Waits for the record to carry the cookie, or for the operation to have failed.
GGAS_DEVICE ggas_status await_record(const ggas_queue& q, const result_record& r, uint64_t cookie, const deadline& end,
                                     uint64_t& old) {
  const auto* const record = reinterpret_cast<const word_pair*>(device_context().local + r.offset);
  const auto* const status = reinterpret_cast<const uint64_t*>(q.at.status) + 1;
  for (unsigned turn = 1;; ++turn) {
    const word_pair v = load_poll(record);
    if (v.hi == cookie) {
      old = v.lo;
      acquire_after_poll();
      return ggas_ok;
    }
    if (end.over()) return end_of_wait();
    // Failures are rare: not every turn.
    if (turn % 16 == 0 && static_cast<uint32_t>(load_poll(status) >> 32) != 0) {
      const ggas_status s = complete(q, completion::remote, q.ticket, end);
      if (s != ggas_ok && load_poll(record).hi != cookie) return s;
    }
  }
}

// ---- operations

template <class T>
GGAS_DEVICE ggas_status check_atomic(const ggas_queue& q, ggas_atomic what, const T* remote, place& at) {
  static_assert(is_atomic_word<T>(), "atomics are on integers of 4 and 8 bytes, float and double");
  at = locate(remote, sizeof(T));
  const bool posts = posts_to(q);
  const bool good = q.good() && at.node >= 0 && at.offset % sizeof(T) == 0 && word_takes<T>(what);
  if (!good) return ggas_bad_argument;
  return posts || peers_take_atomics() ? ggas_ok : ggas_no_queue;
}

// What became of a fetch; the old value is the leader's alone.
struct fetched {
  ggas_status status;
  uint64_t old;
};
template <class G, class T>
GGAS_DEVICE_FUNCTION fetched fetch_by_queue(const G& g, ggas_atomic what, place at, T v, T compare, uint64_t timeout_ns,
                                            const ggas_queue& q) {
  const deadline end(timeout_ns);
  result_record r{};
  if (g.rank() == 0) r = take_record(q, end);
  r.offset = g.of_leader(r.offset);
  if (r.offset == 0) return {end_of_wait(), 0};
  // Unlike every other one that could be in the record.
  const uint64_t cookie = g.of_leader(clock_ns() << 8 | static_cast<uint64_t>(q.index()) | uint64_t{1} << 63);
  const atomic_slots d = make_atomic(what, at, v, compare, r.offset, cookie);
  fetched f{post(
                g, q, 2, 1, [&](unsigned i) { return d.word(i); }, end),
            0};
  const bool posted = f.status == ggas_ok;
  if (g.rank() != 0) return f;
  if (posted) f.status = await_record(q, r, cookie, end, f.old);
  posted && (f.status == ggas_timed_out || f.status == ggas_aborted) ? leave_record(r) : give_record(r);
  return f;
}

// Floating-point atomics. The NIC itself swaps and compares bits. Other operations are a loop of compare-and-swaps,
// each of which takes a round trip; the first one reads the word. Only the leader has the old value; all members get
// the status.
template <class G, class T>
GGAS_DEVICE_FUNCTION fetched fetch_floating(const G& g, ggas_atomic what, place at, T v, T compare, uint64_t timeout_ns,
                                            const ggas_queue& q) {
  using bits = word_bits<T>;
  const deadline end(timeout_ns);
  const auto once = [&](ggas_atomic how, bits operand, bits expected) {
    const uint64_t now = clock_ns(), left = end.at == 0 || end.at == ~0ull ? end.at : end.at > now ? end.at - now : 0;
    const fetched f = fetch_by_queue(g, how, at, operand, expected, left, q);
    return fetched{g.of_leader(f.status), g.of_leader(f.old)};
  };
  if (what == ggas_atomic_swap) return once(ggas_atomic_swap, as_bits<bits>(v), bits{});
  if (what == ggas_atomic_cas) return once(ggas_atomic_cas, as_bits<bits>(v), as_bits<bits>(compare));
  fetched f = once(ggas_atomic_cas, bits{}, bits{});
  if (f.status != ggas_ok) return f;
  const bits old = swap_until_done(what, v, static_cast<bits>(f.old), [&](bits expected, bits next) {
    f = once(ggas_atomic_cas, next, expected);
    return f.status == ggas_ok ? static_cast<bits>(f.old) : expected;
  });
  return {f.status, old};
}

// By one thread. The timer is looked at only where something may have to be waited for.
template <class T>
GGAS_DEVICE ggas_status post_atomic(ggas_atomic what, T* remote, T v, T compare, uint64_t timeout_ns,
                                    const ggas_queue& q) {
  place at{};
  if (const ggas_status s = check_atomic(q, what, remote, at); s != ggas_ok) return s;
  if (!posts_descriptors()) return reduce_directly(what, remote, v, compare), ggas_ok;
  if constexpr (!nic_possible) {
    return ggas_no_queue;  // not reached
  } else if constexpr (is_floating<T>) {
    const fetched f = fetch_floating(thread_group{}, what, at, v, compare, timeout_ns, q);
    return static_cast<ggas_status>(f.status);
  } else {
    const atomic_slots d = make_atomic(what, at, v, compare, 0, 0);
    return post(
        thread_group{}, q, 2, 1, [&](unsigned i) { return d.word(i); }, deadline(timeout_ns));
  }
}

// Lanes of a warp may want the old value or not, each for itself.
template <class G, class T>
GGAS_DEVICE ggas_status hand_out(const G& g, const fetched& leaders, T* old) {
  g.sync();
  const auto status = static_cast<ggas_status>(g.of_leader(static_cast<int>(leaders.status)));
  const fetched f{status, g.of_leader(leaders.old)};
  if (f.status == ggas_ok && old) *old = as_bits<T>(static_cast<word_bits<T>>(f.old));
  return f.status;
}

template <class G, class T>
requires(has_leader<G>) GGAS_DEVICE ggas_status fetch_atomic(const G& g, ggas_atomic what, T* remote, T v, T compare,
                                                             T* old, uint64_t timeout_ns, const ggas_queue& q) {
  place at{};
  if (const ggas_status s = check_atomic(q, what, remote, at); s != ggas_ok) return s;
  if (!posts_descriptors()) [[likely]] {
    const T found = g.rank() == 0 ? atomic_directly(what, remote, v, compare) : T{};
    return hand_out(g, {ggas_ok, as_bits<uint64_t>(found)}, old);
  }
  if constexpr (nic_possible) {
    const auto fetch = [&](const ggas_queue& c) {
      if constexpr (is_floating<T>)
        return fetch_floating(g, what, at, v, compare, timeout_ns, c);
      else
        return fetch_by_queue(g, what, at, v, compare, timeout_ns, c);
    };
    return hand_out(g, with_copy(q, fetch), old);
  } else {
    return ggas_no_queue;  // not reached
  }
}

// By a block, or several of its warps: the first warp does it.
template <class G, class T>
requires(!has_leader<G>) GGAS_DEVICE ggas_status fetch_atomic(const G& g, ggas_atomic what, T* remote, T v, T compare,
                                                              T* old, uint64_t timeout_ns, const ggas_queue& q) {
  return by_first_warp(
      g, [&](const warp_group& w) { return fetch_atomic(w, what, remote, v, compare, old, timeout_ns, q); });
}

}  // namespace ggas::detail
