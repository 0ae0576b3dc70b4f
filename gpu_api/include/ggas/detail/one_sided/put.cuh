// SPDX-License-Identifier: Apache-2.0
// put and get. Through a queue up to 64 bytes travel in the descriptor's slots: no read of GPU memory by the NIC.
// Without a NIC the group moves the bytes itself. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/rma_queue.cuh"

namespace ggas::detail {

// What a put may bring along.
struct extras {
  uint64_t flags = 0;  // notify_completer
  uint32_t vpid = 0;   // whom the notification is for
  uint64_t cookie = 0;
};

// The slots of one put of at most `largest_put` bytes.
struct put_slots {
  slot head;
  const char* data;  // inline: the bytes after the first slot
  unsigned bytes;
  unsigned slots;

  GGAS_DEVICE uint64_t word(unsigned i) const {
    if (i < slot_words) return head.word(i);
    const unsigned at = (i - slot_words) * 8;
    return at < bytes ? load_bytes(data + at, bytes - at < 8 ? bytes - at : 8) : 0;
  }
};

GGAS_DEVICE put_slots make_put(const place& to, const char* local, uint64_t bytes, const extras& with) {
  const uint64_t flags = with.flags | want_ack, target = nla(to);
  const int vpid = static_cast<int>(with.vpid);
  if (bytes <= 8) {
    const uint64_t value = load_bytes(local, static_cast<unsigned>(bytes));
    return {{first_word(desc_imm | flags, to.node, bytes, vpid), value, target, with.cookie}, nullptr, 0, 1};
  }
  if (bytes <= inline_most) {
    const auto n = static_cast<unsigned>(bytes);
    return {{first_word(desc_inline | flags, to.node, bytes, vpid), 0, target, with.cookie},
            local,
            n,
            1 + (n + slot_bytes - 1) / slot_bytes};
  }
  return {{first_word(desc_put | flags, to.node, bytes, vpid), local_nla(local), target, with.cookie}, nullptr, 0, 1};
}

// What the group wrote before must be where the NIC reads: in L2, which device scope orders.
template <class G>
GGAS_DEVICE void expose_source(const G& g, uint64_t bytes) {
  g.sync();
  if (bytes > inline_most && g.rank() == 0) ggas_fence_gpu();
}

// Posts all but the last piece of a long put; what is left is at `local`, `to`, `bytes`.
template <class G>
GGAS_DEVICE ggas_status post_pieces(const G& g, const ggas_queue& q, place& to, const char*& local, uint64_t& bytes,
                                    const deadline& end) {
  while (bytes > largest_put) {
    const put_slots piece = make_put(to, local, largest_put, {});
    const ggas_status s = post(
        g, q, piece.slots, 1, [&](unsigned i) { return piece.word(i); }, end);
    if (s != ggas_ok) return s;
    local += largest_put;
    to.offset += largest_put;
    bytes -= largest_put;
  }
  return ggas_ok;
}

// The arguments of a transfer, checked.
struct transfer {
  place at;  // the remote side
  uint64_t bytes;
  ggas_status status;
};

template <class T>
GGAS_DEVICE transfer check_transfer(const ggas_queue& q, const T* remote, const T* local, size_t n) {
  static_assert(__is_trivially_copyable(T), "put and get move plain data");
  const uint64_t bytes = n * sizeof(T);
  const place at = locate(remote, bytes);
  const bool posts = posts_to(q);
  const uintptr_t both = reinterpret_cast<uintptr_t>(remote) | reinterpret_cast<uintptr_t>(local);
  const bool good = q.good() & (n <= ~0ull / sizeof(T)) & (local != nullptr) & (both % alignof(T) == 0) &
                    (at.node >= 0);  // of null, too
  return {at, bytes, good && (!posts || is_local(local, bytes)) ? ggas_ok : ggas_bad_argument};
}

// Without a NIC the group moves the data itself. Every thread checks the arguments, which are the same for all: that
// takes less time than informing each other.

// A put of whole words of 16 bytes, followed by up to three words of `unit` bytes. A large group has a thread for each
// word, so that no thread moves two of them one after the other.
struct ragged_put {
  bool pair, rest;    // what this thread moves
  unsigned unit, at;  // of the rest: 4 or 8 bytes, and where they are
  uint64_t value;
};
template <class G>
GGAS_DEVICE bool is_ragged(const G& g, uintptr_t places, uint64_t bytes) {
  return places % 16 == 0 && bytes % 4 == 0 && bytes / 16 + 3 <= g.size();
}
GGAS_DEVICE ragged_put load_rest(const void* source, uint64_t bytes, unsigned rank) {
  const auto pairs = static_cast<unsigned>(bytes / 16), rest = static_cast<unsigned>(bytes % 16);
  ragged_put p{rank < pairs, false, rest == 8 ? 8u : 4u, 0, 0};  // elements of 8 bytes are not torn
  const unsigned mine = (rank - pairs) * p.unit;                 // beyond the rest, if this thread has a pair
  p.rest = rank >= pairs && mine < rest;
  p.at = 16 * pairs + mine;
  const char* const from = static_cast<const char*>(source) + p.at;
  if (p.rest)
    p.value = p.unit == 8 ? load_own_now(reinterpret_cast<const uint64_t*>(from))
                          : load_own_now(reinterpret_cast<const uint32_t*>(from));
  return p;
}
GGAS_DEVICE void store_rest(void* target, const ragged_put& p) {
  if (!p.rest) return;
  char* const to = static_cast<char*>(target) + p.at;
  if (p.unit == 8)
    store_relaxed(reinterpret_cast<uint64_t*>(to), p.value);
  else
    store_relaxed(reinterpret_cast<uint32_t*>(to), static_cast<uint32_t>(p.value));
}
template <class T, class Check>
GGAS_DEVICE ggas_status put_ragged(T* target, const T* source, uint64_t bytes, unsigned rank, Check check) {
  const ragged_put p = load_rest(source, bytes, rank);
  word_pair v{};
  if (p.pair) v = load_own_now(reinterpret_cast<const word_pair*>(source) + rank);
  if (const ggas_status s = check(); s != ggas_ok) [[unlikely]]
    return s;
  if (p.pair) store_relaxed(reinterpret_cast<word_pair*>(target) + rank, v);
  store_rest(target, p);
  return ggas_ok;
}

// Not inline, and one call for everything that is not short, because registers that are live across the call go to the
// stack. Makes a put. If there is at most one word for each thread, the words are loaded while the arguments are
// checked.
template <class G, class T, class Check>
GGAS_DEVICE ggas_status put_checked(const G& g, T* target, const T* source, uint64_t bytes, Check check) {
  const auto places = reinterpret_cast<uintptr_t>(target) | reinterpret_cast<uintptr_t>(source), all = places | bytes;
  const bool one = bytes == 8 && all % 8 == 0, few = all % 16 == 0 && bytes / 16 <= g.size();
  const unsigned rank = g.rank();
  if constexpr (!has_leader<G>)  // of a warp the instructions count
    if (source && !one && !few && is_ragged(g, places, bytes)) return put_ragged(target, source, bytes, rank, check);
  const bool single = source && one && rank == 0, pair = source && few && rank < bytes / 16;
  auto* const to = reinterpret_cast<word_pair*>(target);
  const auto* const from = reinterpret_cast<const word_pair*>(source);
  uint64_t word = 0;
  word_pair v{};
  if (single) word = load_own_now(reinterpret_cast<const uint64_t*>(source));
  if (pair) v = load_own_now(from + rank);
  if (const ggas_status s = check(); s != ggas_ok) [[unlikely]]
    return s;
  if (pair) store_relaxed(to + rank, v);
  if (single) store_relaxed(reinterpret_cast<uint64_t*>(target), word);
  if (one || few) [[likely]]
    return ggas_ok;
  move_long<origin::own>(target, source, bytes, movers_of(g));
  return ggas_ok;
}

template <class G, class T>
GGAS_DEVICE ggas_status put_directly(const G& g, const ggas_queue& q, T* remote, const T* local, size_t n) {
  g.sync();
  const ggas_status s =
      put_checked(g, remote, local, n * sizeof(T), [&] { return check_transfer(q, remote, local, n).status; });
  g.sync();
  return s;
}

template <class G, class T>
GGAS_DEVICE ggas_status get_directly(const G& g, const ggas_queue& q, T* local, const T* remote, size_t n) {
  const ggas_status s = check_transfer(q, remote, local, n).status;
  g.sync();
  if (s == ggas_ok) move_bytes<origin::remote>(local, remote, n * sizeof(T), movers_of(g));
  g.sync();
  return s;
}

template <class G, class T>
GGAS_DEVICE ggas_status post_put(const G& g, T* remote, const T* local, size_t n, const deadline& end,
                                 const ggas_queue& q) {
  transfer t = check_transfer(q, remote, local, n);
  if (t.status != ggas_ok || t.bytes == 0) return t.status;
  const auto* from = reinterpret_cast<const char*>(local);
  expose_source(g, t.bytes);
  const ggas_status s = post_pieces(g, q, t.at, from, t.bytes, end);
  if (s != ggas_ok) return s;
  const put_slots last = make_put(t.at, from, t.bytes, {});
  return post(
      g, q, last.slots, 1, [&](unsigned i) { return last.word(i); }, end);
}

template <class G, class T>
GGAS_DEVICE ggas_status post_get(const G& g, T* local, const T* remote, size_t n, const deadline& end,
                                 const ggas_queue& q) {
  const transfer t = check_transfer(q, remote, local, n);
  if (t.status != ggas_ok || t.bytes == 0) return t.status;
  g.sync();
  uint64_t to = local_nla(local), from = nla(t.at);
  for (uint64_t left = t.bytes; left > 0;) {
    const uint64_t bytes = left < largest_put ? left : largest_put;
    const slot d{first_word(desc_get, t.at.node, bytes), from, to, 0};
    const ggas_status s = post(
        g, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
    if (s != ggas_ok) return s;
    left -= bytes;
    from += bytes;
    to += bytes;
  }
  return ggas_ok;
}

// Completion of what the group's leader posted last.
template <class G>
GGAS_DEVICE ggas_status finish(const G& g, const ggas_queue& q, ggas_status posted, const deadline& end) {
  if (posted != ggas_ok) return posted;
  int s = ggas_ok;
  if (g.rank() == 0) s = complete(q, completion::remote, q.ticket, end);
  g.sync();
  return static_cast<ggas_status>(g.of_leader(s));
}

// Whether a call returns when its effect is there, or once it is posted.
enum class until { posted, complete };

// In a block, or several of its warps, the first warp posts. Lambdas name their parameter, as NVRTC requires.
template <class G>
using poster_of = either_t<has_leader<G>, G, warp_group>;
template <class G, class F>
GGAS_DEVICE ggas_status by_queue(const G& g, until when, const ggas_queue& q, const deadline& end, F post_it) {
  if constexpr (has_leader<G>) {
    const ggas_status s = post_it(g);
    return when == until::complete ? finish(g, q, s, end) : s;
  } else {
    return by_first_warp(g, [&](const warp_group& w) { return by_queue(w, when, q, end, post_it); });
  }
}
// A grid: its first block does.
template <class F>
GGAS_DEVICE ggas_status by_queue(const grid_group&, until when, const ggas_queue& q, const deadline& end, F post_it) {
  return block_rank() == 0 ? by_queue(block_group{}, when, q, end, post_it) : ggas_ok;
}

// Some blocks: the first of them does.
template <class F>
GGAS_DEVICE ggas_status by_queue(const blocks_group& g, until when, const ggas_queue& q, const deadline& end,
                                 F post_it) {
  return block_rank() == g.first ? by_queue(block_group{}, when, q, end, post_it) : ggas_ok;
}

// Stores the group made at peers are there. A block's are after the barrier that ended the copy.
template <class G>
GGAS_DEVICE ggas_status settle(const G& g, ggas_status copied) {
  if (copied != ggas_ok) return copied;
  return g.join(g.leads() ? quiet_stores() : ggas_ok);
}

// Calls through a queue are not inline: in a kernel on peers' memory this code never runs, and it must not lie between
// code that runs. The handle is passed as a copy, so that the caller's handle stays in registers.
template <class F>
GGAS_DEVICE auto with_copy(const ggas_queue& q, F call) {
  const ggas_queue copy = q;
  const auto s = call(copy);
  q.remember(copy);
  return s;
}

template <class G, class T>
GGAS_DEVICE_FUNCTION ggas_status put_by_queue(const G& g, until when, T* remote, const T* local, size_t n,
                                              uint64_t timeout_ns, const ggas_queue& q) {
  const deadline end(timeout_ns);
  return by_queue(g, when, q, end, [&](const poster_of<G>& some) { return post_put(some, remote, local, n, end, q); });
}
template <class G, class T>
GGAS_DEVICE_FUNCTION ggas_status get_by_queue(const G& g, until when, T* local, const T* remote, size_t n,
                                              uint64_t timeout_ns, const ggas_queue& q) {
  const deadline end(timeout_ns);
  return by_queue(g, when, q, end, [&](const poster_of<G>& some) { return post_get(some, local, remote, n, end, q); });
}

template <class G, class T>
GGAS_DEVICE ggas_status put(const G& g, until when, T* remote, const T* local, size_t n, uint64_t timeout_ns,
                            const ggas_queue& q) {
  if (!posts_descriptors()) [[likely]] {
    const ggas_status s = put_directly(g, q, remote, local, n);
    return when == until::complete ? settle(g, s) : s;
  }
  if constexpr (nic_possible) {
    return with_copy(q, [&](const ggas_queue& c) { return put_by_queue(g, when, remote, local, n, timeout_ns, c); });
  } else {
    return ggas_no_queue;  // not reached
  }
}

// Without a NIC a get is complete when it returns.
template <class G, class T>
GGAS_DEVICE ggas_status get(const G& g, until when, T* local, const T* remote, size_t n, uint64_t timeout_ns,
                            const ggas_queue& q) {
  if (!posts_descriptors()) [[likely]]
    return get_directly(g, q, local, remote, n);
  if constexpr (nic_possible) {
    return with_copy(q, [&](const ggas_queue& c) { return get_by_queue(g, when, local, remote, n, timeout_ns, c); });
  } else {
    return ggas_no_queue;  // not reached
  }
}

}  // namespace ggas::detail
