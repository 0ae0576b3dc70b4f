// SPDX-License-Identifier: Apache-2.0
// put, get, strided forms. Up to 64 bytes travel in the descriptor's slots: no read of GPU memory by the NIC. Included
// by rma.cuh.
#pragma once

#include "ggas/detail/rma_queue.cuh"

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
  const char* data;  // inline: the bytes behind the first slot
  unsigned bytes;
  unsigned slots;

  GGAS_DEVICE uint64_t word(unsigned i) const {
    if (i < slot_words) return head.word(i);
    const unsigned at = (i - slot_words) * 8;
    return at < bytes ? load_bytes(data + at, bytes - at < 8 ? bytes - at : 8) : 0;
  }
};

GGAS_DEVICE put_slots make_put(const place& to, const char* local, uint64_t bytes, const extras& with) {
  const uint64_t flags = with.flags | want_ack, target = nla(to.offset);
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

// Copies with the largest unit both addresses allow.
template <class G, class T>
GGAS_DEVICE void move_units(const G& g, char* to, const char* from, uint64_t units) {
  if constexpr (__is_same(G, thread_group)) {
    for (uint64_t i = 0; i < units; ++i)
      store_relaxed(reinterpret_cast<T*>(to) + i, load_relaxed(reinterpret_cast<const T*>(from) + i));
  } else {
    copy(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), units, g.rank(), g.size());
  }
}

template <class G>
GGAS_DEVICE void move(const G& g, void* target, const void* source, uint64_t bytes) {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const char*>(source);
  const auto off = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  const uint64_t unit = off % 16 == 0 ? 16 : off % 8 == 0 ? 8 : off % 4 == 0 ? 4 : 1;
  const uint64_t bulk = bytes / unit;
  if (unit == 16) move_units<G, word_pair>(g, to, from, bulk);
  if (unit == 8) move_units<G, uint64_t>(g, to, from, bulk);
  if (unit == 4) move_units<G, uint32_t>(g, to, from, bulk);
  if (unit == 1) move_units<G, uint8_t>(g, to, from, bulk);
  const uint64_t done = bulk * unit;
  if (done < bytes) move_units<G, uint8_t>(g, to + done, from + done, bytes - done);
  g.sync();
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
  transfer t{{-1, 0}, n * sizeof(T), ggas_bad_argument};
  if (!q.good() || n > ~0ull / sizeof(T) || !remote || !local) return t;
  t.at = locate(remote, t.bytes);
  if (t.at.node >= 0 && (!q.at.page || is_local(local, t.bytes))) t.status = ggas_ok;
  return t;
}

// Without a NIC: `q` is a queue by name only.
template <class G, class T>
GGAS_DEVICE ggas_status copy_directly(const G& g, const transfer& t, T* target, const T* source) {
  if (t.status != ggas_ok || t.bytes == 0) return t.status;
  g.sync();
  move(g, target, source, t.bytes);
  return ggas_ok;
}

template <class G, class T>
GGAS_DEVICE ggas_status put_nbi(const G& g, T* remote, const T* local, size_t n, const deadline& end,
                                const ggas_queue& q) {
  transfer t = check_transfer(q, remote, local, n);
  if (!q.at.page) return copy_directly(g, t, remote, local);
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
GGAS_DEVICE ggas_status get_nbi(const G& g, T* local, const T* remote, size_t n, const deadline& end,
                                const ggas_queue& q) {
  const transfer t = check_transfer(q, remote, local, n);
  if (!q.at.page) return copy_directly(g, t, local, remote);
  if (t.status != ggas_ok || t.bytes == 0) return t.status;
  g.sync();
  uint64_t to = local_nla(local), from = nla(t.at.offset);
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
  if (!q.at.page) return quiet(g, q, completion::remote, end);
  int s = ggas_ok;
  if (g.rank() == 0) s = complete(q, completion::remote, q.ticket, end);
  return static_cast<ggas_status>(g.of_leader(s));
}

// A block: its first warp posts; without a NIC all of it copies.
template <class T>
GGAS_DEVICE ggas_status put_nbi_block(T* remote, const T* local, size_t n, const deadline& end, const ggas_queue& q) {
  if (!q.at.page) return block_status(copy_directly(block_group{}, check_transfer(q, remote, local, n), remote, local));
  return by_first_warp([&](const warp_group& g) { return put_nbi(g, remote, local, n, end, q); });
}
template <class T>
GGAS_DEVICE ggas_status get_nbi_block(T* local, const T* remote, size_t n, const deadline& end, const ggas_queue& q) {
  if (!q.at.page) return block_status(copy_directly(block_group{}, check_transfer(q, remote, local, n), local, remote));
  return by_first_warp([&](const warp_group& g) { return get_nbi(g, local, remote, n, end, q); });
}

template <class G, class T>
GGAS_DEVICE ggas_status put_value_nbi(const G& g, T* remote, T value, const deadline& end, const ggas_queue& q) {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T), "a value has at most 8 bytes");
  const place at = locate(remote, sizeof(T));
  if (!q.good() || at.node < 0) return ggas_bad_argument;
  if (!q.at.page) {
    if (g.rank() == 0) store_relaxed(remote, value);
    return ggas_ok;
  }
  const slot d{first_word(desc_imm | want_ack, at.node, sizeof(T)), as_bits<uint64_t>(value), nla(at.offset), 0};
  return post(
      g, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
}

// Elements a post carries: a slot each.
template <class G>
GGAS_DEVICE constexpr unsigned batch_of(const G&) {
  return __is_same(G, thread_group) ? 1 : 8;
}

// Element i lies i * stride elements from the start, forwards or backwards.
template <class T>
GGAS_DEVICE bool strided_good(const ggas_queue& q, const T* remote, const T* local, ptrdiff_t remote_stride,
                              ptrdiff_t local_stride, size_t n, place& first) {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T), "strided elements have 1, 2, 4 or 8 bytes");
  if (!q.good() || n >> 40) return false;
  first = locate(remote, sizeof(T));
  const auto last = static_cast<ptrdiff_t>(n - 1);
  const place end = locate(remote + last * remote_stride, sizeof(T));
  return first.node >= 0 && end.node == first.node &&
         (!q.at.page || (is_local(local, sizeof(T)) && is_local(local + last * local_stride, sizeof(T))));
}

template <class T>
GGAS_DEVICE uint64_t strided(uint64_t offset, size_t i, ptrdiff_t stride) {
  return offset + static_cast<uint64_t>(static_cast<ptrdiff_t>(i) * stride * static_cast<ptrdiff_t>(sizeof(T)));
}

template <class G, class T>
GGAS_DEVICE void move_strided(const G& g, T* to, const T* from, ptrdiff_t to_stride, ptrdiff_t from_stride, size_t n) {
  g.sync();
  for (size_t i = g.rank(); i < n; i += g.size()) {
    const auto k = static_cast<ptrdiff_t>(i);
    store_relaxed(to + k * to_stride, load_relaxed(from + k * from_stride));
  }
  g.sync();
}

template <class G, class T>
GGAS_DEVICE ggas_status iput(const G& g, T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                             size_t n, const deadline& end, const ggas_queue& q) {
  if (n == 0) return ggas_ok;
  place at{};
  if (!strided_good(q, remote, local, remote_stride, local_stride, n, at)) return ggas_bad_argument;
  if (!q.at.page) return move_strided(g, remote, local, remote_stride, local_stride, n), ggas_ok;
  g.sync();
  for (size_t done = 0; done < n;) {
    const size_t left = n - done;
    const unsigned k = left < batch_of(g) ? static_cast<unsigned>(left) : batch_of(g);
    const auto word = [&](unsigned i) {
      const size_t e = done + i / slot_words;
      const auto* from = reinterpret_cast<const char*>(local + static_cast<ptrdiff_t>(e) * local_stride);
      const slot d{first_word(desc_imm | want_ack, at.node, sizeof(T)), 0, nla(strided<T>(at.offset, e, remote_stride)),
                   0};
      return i % slot_words == 1 ? load_bytes(from, sizeof(T)) : d.word(i % slot_words);
    };
    const ggas_status s = post(g, q, k, k, word, end);
    if (s != ggas_ok) return s;
    done += k;
  }
  return ggas_ok;
}

template <class G, class T>
GGAS_DEVICE ggas_status iget(const G& g, T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                             size_t n, const deadline& end, const ggas_queue& q) {
  if (n == 0) return ggas_ok;
  place at{};
  if (!strided_good(q, remote, local, remote_stride, local_stride, n, at)) return ggas_bad_argument;
  if (!q.at.page) return move_strided(g, local, remote, local_stride, remote_stride, n), ggas_ok;
  for (size_t done = 0; done < n;) {
    const size_t left = n - done;
    const unsigned k = left < batch_of(g) ? static_cast<unsigned>(left) : batch_of(g);
    const auto word = [&](unsigned i) {
      const size_t e = done + i / slot_words;
      return slot{first_word(desc_get, at.node, sizeof(T)), nla(strided<T>(at.offset, e, remote_stride)),
                  strided<T>(local_nla(local), e, local_stride), 0}
          .word(i % slot_words);
    };
    const ggas_status s = post(g, q, k, k, word, end);
    if (s != ggas_ok) return s;
    done += k;
  }
  return ggas_ok;
}

}  // namespace ggas::detail

// ---------------------------------------------------------------------------------------------- calls

template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi(T* remote, const T* local, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_nbi(thread_group{}, remote, local, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi_warp(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q) {
  using namespace ggas::detail;
  return put_nbi(warp_group{}, remote, local, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi_block(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q) {
  using namespace ggas::detail;
  return put_nbi_block(remote, local, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put(T* remote, const T* local, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const thread_group g;
  return finish(g, q, put_nbi(g, remote, local, n, end, q), end);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_warp(T* remote, const T* local, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const warp_group g;
  return finish(g, q, put_nbi(g, remote, local, n, end, q), end);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_block(T* remote, const T* local, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const ggas_status s = put_nbi_block(remote, local, n, end, q);
  return by_first_warp([&](const warp_group& g) { return finish(g, q, s, end); });
}

template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi(T* local, const T* remote, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return get_nbi(thread_group{}, local, remote, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi_warp(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q) {
  using namespace ggas::detail;
  return get_nbi(warp_group{}, local, remote, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi_block(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q) {
  using namespace ggas::detail;
  return get_nbi_block(local, remote, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_get(T* local, const T* remote, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const thread_group g;
  return finish(g, q, get_nbi(g, local, remote, n, end, q), end);
}
template <class T>
GGAS_DEVICE ggas_status ggas_get_warp(T* local, const T* remote, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const warp_group g;
  return finish(g, q, get_nbi(g, local, remote, n, end, q), end);
}
template <class T>
GGAS_DEVICE ggas_status ggas_get_block(T* local, const T* remote, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const ggas_status s = get_nbi_block(local, remote, n, end, q);
  return by_first_warp([&](const warp_group& g) { return finish(g, q, s, end); });
}

template <class T>
GGAS_DEVICE ggas_status ggas_put_value_nbi(T* remote, T value, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_value_nbi(thread_group{}, remote, value, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_nbi_warp(T* remote, T value, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return put_value_nbi(warp_group{}, remote, value, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_value(T* remote, T value, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  const deadline end(timeout_ns);
  const thread_group g;
  return finish(g, q, put_value_nbi(g, remote, value, end, q), end);
}

template <class T>
GGAS_DEVICE ggas_status ggas_iput(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride, size_t n,
                                  uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return iput(thread_group{}, remote, local, remote_stride, local_stride, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_iput_warp(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                                       size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return iput(warp_group{}, remote, local, remote_stride, local_stride, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_iget(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride, size_t n,
                                  uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return iget(thread_group{}, local, remote, local_stride, remote_stride, n, deadline(timeout_ns), q);
}
template <class T>
GGAS_DEVICE ggas_status ggas_iget_warp(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                       size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  return iget(warp_group{}, local, remote, local_stride, remote_stride, n, deadline(timeout_ns), q);
}
