// SPDX-License-Identifier: Apache-2.0
// Put with a signal behind it, and waiting for many flags. Included by rma.cuh.
#pragma once

#include "ggas/detail/amo.cuh"

namespace ggas::detail {

// The word at the target: a slot to set it, two to add to it.
struct signal_slots {
  atomic_slots d;
  unsigned slots;
};

GGAS_DEVICE signal_slots make_signal(const place& at, uint64_t value, ggas_signal_op op) {
  if (op == ggas_signal_add) return {make_atomic(ggas_atomic_add, at, value, uint64_t{0}, 0, 0), 2};
  return {{{first_word(desc_imm | want_ack, at.node, 8), value, nla(at.offset), 0}, {}}, 1};
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

// The data, and behind it the signal: the leader's release covers what the group stored before its barrier.
template <class G, class T, class Check>
GGAS_DEVICE ggas_status move_and_signal(const G& g, T* target, const T* source, uint64_t bytes, const signal_target& to,
                                        Check check) {
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
  g.sync();  // what any thread sends next comes behind the signal
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
                  [&](const auto& some) { return post_put_signal(some, remote, local, n, to, end, q); });
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

template <class T>
GGAS_DEVICE bool flags_good(const T* flags, size_t n, ggas_cmp cmp) {
  return n > 0 && wait_arguments_good(flags, cmp);
}

// Which flags of an array count: an array of int says it, or all do.
struct no_mask {
  GGAS_DEVICE int operator[](size_t) const { return 0; }
};
// Nobody has to be waited for.
template <class Mask>
GGAS_DEVICE bool all_ignored(const Mask& ignore, size_t n) {
  if constexpr (is_same<Mask, no_mask>) return false;
  for (size_t i = 0; i < n; ++i) {
    if (!ignore[i]) return false;
  }
  return true;
}

template <class T, class Mask>
GGAS_DEVICE ggas_status wait_any(const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value, size_t* index,
                                 uint64_t timeout_ns) {
  if (!flags_good(flags, n, cmp) || !index) return ggas_bad_argument;
  if (all_ignored(ignore, n)) return *index = n, ggas_ok;
  const unsigned good = outcomes_of(cmp);
  patience time(timeout_ns);
  do {
    for (size_t i = 0; i < n; ++i) {
      if (ignore[i] || !is_outcome(good, load_poll(flags + i), value)) continue;
      *index = i;
      acquire_after_poll();
      return ggas_ok;
    }
  } while (!time.over(n));
  return time.in_vain();
}

template <class T, class Mask>
GGAS_DEVICE ggas_status wait_some(const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value, size_t* indices,
                                  size_t* count, uint64_t timeout_ns) {
  if (!flags_good(flags, n, cmp) || !indices || !count) return ggas_bad_argument;
  if (all_ignored(ignore, n)) return *count = 0, ggas_ok;
  const unsigned good = outcomes_of(cmp);
  patience time(timeout_ns);
  size_t found = 0;
  do {
    for (size_t i = 0; i < n; ++i) {
      if (!ignore[i] && is_outcome(good, load_poll(flags + i), value)) indices[found++] = i;
    }
  } while (found == 0 && !time.over(n));
  *count = found;
  acquire_after_poll();
  return found != 0 ? ggas_ok : time.in_vain();
}

// Every thread of the group watches its share.
template <class T, class Mask>
GGAS_DEVICE ggas_status wait_share(const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value,
                                   const deadline& end, unsigned rank, unsigned size) {
  if (!flags_good(flags, n, cmp)) return ggas_bad_argument;
  for (size_t i = rank; i < n; i += size) {
    if (ignore[i]) continue;
    const ggas_status s = wait_until(flags + i, cmp, value, end);
    if (s != ggas_ok) return s;
  }
  return ggas_ok;
}
template <class G, class T, class Mask>
GGAS_DEVICE ggas_status wait_all(const G& g, const T* flags, size_t n, const Mask& ignore, ggas_cmp cmp, T value,
                                 uint64_t timeout_ns) {
  return g.join(wait_share(flags, n, ignore, cmp, value, deadline(timeout_ns), g.rank(), g.size()));
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_nbi(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                            ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_signal(thread_group{}, until::posted, remote, local, n, {signal, value, op}, timeout_ns, q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_nbi_warp(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                                 ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_signal(warp_group{}, until::posted, remote, local, n, {signal, value, op}, timeout_ns, q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_nbi_block(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                                  ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_signal(block_group{}, until::posted, remote, local, n, {signal, value, op}, timeout_ns, q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                        ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_signal(thread_group{}, until::complete, remote, local, n, {signal, value, op}, timeout_ns, q);
}

template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_warp(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                             ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_signal(warp_group{}, until::complete, remote, local, n, {signal, value, op}, timeout_ns, q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_block(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                              ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_signal(block_group{}, until::complete, remote, local, n, {signal, value, op}, timeout_ns, q);
}
GGAS_DEVICE ggas_status ggas_signal_wait_until(const uint64_t* signal, ggas_cmp cmp, uint64_t value, uint64_t* seen,
                                               uint64_t timeout_ns) {
  using namespace ggas::detail;
  if (!wait_arguments_good(signal, cmp)) return ggas_bad_argument;
  uint64_t found = 0;
  const ggas_status s = wait_until(signal, cmp, value, found, patience(timeout_ns));
  if (s == ggas_ok && seen) *seen = found;
  return s;
}

template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_any(const T* flags, size_t n, ggas_cmp cmp, T value, size_t* index,
                                            uint64_t timeout_ns) {
  return ggas::detail::wait_any(flags, n, ggas::detail::no_mask{}, cmp, value, index, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_any(const T* flags, size_t n, const int* ignore, ggas_cmp cmp, T value,
                                            size_t* index, uint64_t timeout_ns) {
  return ggas::detail::wait_any(flags, n, ignore, cmp, value, index, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_some(const T* flags, size_t n, ggas_cmp cmp, T value, size_t* indices,
                                             size_t* count, uint64_t timeout_ns) {
  return ggas::detail::wait_some(flags, n, ggas::detail::no_mask{}, cmp, value, indices, count, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_some(const T* flags, size_t n, const int* ignore, ggas_cmp cmp, T value,
                                             size_t* indices, size_t* count, uint64_t timeout_ns) {
  return ggas::detail::wait_some(flags, n, ignore, cmp, value, indices, count, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all(const T* flags, size_t n, ggas_cmp cmp, T value, uint64_t timeout_ns) {
  return ggas::detail::wait_all(ggas::detail::thread_group{}, flags, n, ggas::detail::no_mask{}, cmp, value,
                                timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all(const T* flags, size_t n, const int* ignore, ggas_cmp cmp, T value,
                                            uint64_t timeout_ns) {
  return ggas::detail::wait_all(ggas::detail::thread_group{}, flags, n, ignore, cmp, value, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all_warp(const T* flags, size_t n, ggas_cmp cmp, T value, uint64_t timeout_ns) {
  return ggas::detail::wait_all(ggas::detail::warp_group{}, flags, n, ggas::detail::no_mask{}, cmp, value, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all_block(const T* flags, size_t n, ggas_cmp cmp, T value,
                                                  uint64_t timeout_ns) {
  return ggas::detail::wait_all(ggas::detail::block_group{}, flags, n, ggas::detail::no_mask{}, cmp, value, timeout_ns);
}

template <class T>
GGAS_DEVICE bool ggas_test_any(const T* flags, size_t n, ggas_cmp cmp, T value, size_t* index) {
  return ggas_wait_until_any(flags, n, cmp, value, index, 0) == ggas_ok;
}
template <class T>
GGAS_DEVICE bool ggas_test_all(const T* flags, size_t n, ggas_cmp cmp, T value) {
  return ggas_wait_until_all(flags, n, cmp, value, 0) == ggas_ok;
}
