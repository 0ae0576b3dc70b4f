// SPDX-License-Identifier: Apache-2.0
// Put with a signal after it, and waiting for many flags. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/amo.cuh"

namespace ggas::detail {

// The word at the target: a slot to set it, two to add to it.
struct signal_slots {
  atomic_slots d;
  unsigned slots;
};

GGAS_DEVICE signal_slots make_signal(const place& at, uint64_t value, ggas_signal_op op) {
  if (op == ggas_signal_add) return {make_atomic(ggas_atomic_add, at, value, uint64_t{0}, 0, 0), 2};
  return {{{first_word(desc_imm | want_ack, at.node, 8), value, nla(at), 0}, {}}, 1};
}

struct signal_target {
  uint64_t* word;
  uint64_t value;
  ggas_signal_op op;
};

// `data` is where the data goes.
GGAS_DEVICE ggas_status check_signal(const signal_target& to, const place& data, place& at) {
  at = locate(to.word, 8);
  const bool good = (at.node >= 0) & (at.node == data.node) & (at.offset % 8 == 0) &
                    (static_cast<unsigned>(to.op) <= ggas_signal_add);
  const bool possible = to.op == ggas_signal_set || posts_descriptors() || peers_take_atomics();
  return !good ? ggas_bad_argument : possible ? ggas_ok : ggas_no_queue;
}

// The data, and after it the signal: the leader's release covers what the group stored before its barrier.
template <class G, class T, class Check>
GGAS_DEVICE ggas_status move_and_signal(const G& g, T* target, const T* source, uint64_t bytes, const signal_target& to,
                                        Check check) {
  static_assert(!has_several_blocks<G>, "of several blocks: a put, a barrier of theirs, and a signal by one thread");
  const ggas_status s = put_checked(g, target, source, bytes, check);
  g.sync();
  if (s != ggas_ok || g.rank() != 0) return s;
  fence_acq_rel_system();
  if (to.op == ggas_signal_set) {
    store_relaxed(to.word, to.value);
  } else {
    red_add_system(to.word, to.value);
  }
  return s;
}

template <class G, class T>
GGAS_DEVICE ggas_status put_signal_directly(const G& g, T* remote, const T* local, size_t n, const signal_target& to,
                                            const ggas_queue& q) {
  g.sync();
  const ggas_status s = move_and_signal(g, remote, local, n * sizeof(T), to, [&] {
    const transfer t = check_transfer(q, remote, local, n);
    place at{};
    const ggas_status signal = check_signal(to, t.at, at);
    return t.status == ggas_ok ? signal : t.status;
  });
  g.sync();  // what any thread sends next comes after the signal
  return s;
}

// Data and signal are two descriptors on one connection: they arrive in order. The last piece and the signal leave as
// one store.
template <class G, class T>
GGAS_DEVICE ggas_status post_put_signal(const G& g, T* remote, const T* local, size_t n, const signal_target& to,
                                        const deadline& end, const ggas_queue& q) {
  transfer t = check_transfer(q, remote, local, n);
  place at{};
  ggas_status s = t.status;
  if (s == ggas_ok) s = check_signal(to, t.at, at);
  if (s != ggas_ok) return s;
  const signal_slots sig = make_signal(at, to.value, to.op);
  if (t.bytes == 0)
    return post(
        g, q, sig.slots, 1, [&](unsigned i) { return sig.d.word(i); }, end);
  const auto* from = reinterpret_cast<const char*>(local);
  expose_source(g, t.bytes);
  s = post_pieces(g, q, t.at, from, t.bytes, end);
  if (s != ggas_ok) return s;
  const put_slots last = make_put(t.at, from, t.bytes, {});
  const unsigned words = last.slots * slot_words;
  return post(
      g, q, last.slots + sig.slots, 2, [&](unsigned i) { return i < words ? last.word(i) : sig.d.word(i - words); },
      end);
}

template <class G, class T>
GGAS_DEVICE_FUNCTION ggas_status put_signal_by_queue(const G& g, until when, T* remote, const T* local, size_t n,
                                                     const signal_target& to, uint64_t timeout_ns,
                                                     const ggas_queue& q) {
  const deadline end(timeout_ns);
  return by_queue(g, when, q, end,
                  [&](const poster_of<G>& some) { return post_put_signal(some, remote, local, n, to, end, q); });
}

template <class G, class T>
GGAS_DEVICE ggas_status put_signal(const G& g, until when, T* remote, const T* local, size_t n, const signal_target& to,
                                   uint64_t timeout_ns, const ggas_queue& q) {
  if (!posts_descriptors()) [[likely]] {
    const ggas_status s = put_signal_directly(g, remote, local, n, to, q);
    return when == until::complete ? settle(g, s) : s;
  }
  if constexpr (nic_possible) {
    const signal_target signal = to;
    return with_copy(
        q, [&](const ggas_queue& c) { return put_signal_by_queue(g, when, remote, local, n, signal, timeout_ns, c); });
  } else {
    return ggas_no_queue;  // not reached
  }
}

// `seen` (may be null) gets the value that ended the wait.
GGAS_DEVICE ggas_status wait_for_signal(const uint64_t* signal, ggas_cmp cmp, uint64_t value, uint64_t* seen,
                                        uint64_t timeout_ns) {
  if (!wait_arguments_good(signal, cmp)) return ggas_bad_argument;
  uint64_t found = 0;
  const ggas_status s = wait_until(signal, cmp, value, found, poll_deadline(timeout_ns));
  if (s == ggas_ok && seen) *seen = found;
  return s;
}

}  // namespace ggas::detail
