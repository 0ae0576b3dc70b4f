// SPDX-License-Identifier: Apache-2.0
// Values, and elements at a stride. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/sides.cuh"

namespace ggas::detail {

template <class G, class T>
GGAS_DEVICE ggas_status put_value(const G& g, until when, T* remote, T value, uint64_t timeout_ns,
                                  const ggas_queue& q) {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T), "a value has at most 8 bytes");
  const place at = locate(remote, sizeof(T));
  const bool posts = posts_to(q);
  if (!q.good() || at.node < 0 || at.offset % sizeof(T) != 0) return ggas_bad_argument;
  if (!posts) {
    if (g.rank() == 0) store_relaxed(remote, value);
    if (when == until::complete) return settle(g, ggas_ok);
    g.sync();  // what any thread sends next comes after the value
    return ggas_ok;
  }
  if constexpr (nic_possible) {
    const slot d{first_word(desc_imm | want_ack, at.node, sizeof(T)), as_bits<uint64_t>(value), nla(at), 0};
    const deadline end(timeout_ns);
    return by_queue(g, when, q, end, [&](const poster_of<G>& some) {
      return post(
          some, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
    });
  } else {
    return ggas_no_queue;  // not reached
  }
}

// Whether n elements at a stride can lie in one segment: their distances are numbers then.
GGAS_DEVICE bool spans(ptrdiff_t stride, size_t n, size_t bytes) {
  const uint64_t most = device_context().segment_bytes / bytes;
  const uint64_t step = stride < 0 ? uint64_t{0} - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
  return static_cast<double>(n - 1) * static_cast<double>(step) <= static_cast<double>(most);
}

// Elements at a stride, forwards or backwards: a side of a transfer whose units are the elements.
template <class T>
struct strided_side {
  T* first;
  ptrdiff_t stride;

  GGAS_DEVICE unit_place<T> operator()(uint64_t i) const { return {first + static_cast<ptrdiff_t>(i) * stride, true}; }
  // How far from the first one element i lies.
  GGAS_DEVICE uint64_t behind(uint64_t i) const {
    return static_cast<uint64_t>(static_cast<ptrdiff_t>(i) * stride * static_cast<ptrdiff_t>(sizeof(T)));
  }
};
template <class T>
GGAS_DEVICE strided_side<T> side_of(const T* first, ptrdiff_t stride) {
  return {const_cast<T*>(first), stride};
}

// With the pointers of the call: nvcc keeps fewer numbers for a check that returns early.
template <class T>
GGAS_DEVICE bool strided_good(const ggas_queue& q, const T* remote, const T* local, ptrdiff_t remote_stride,
                              ptrdiff_t local_stride, size_t n, place& first) {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T), "strided elements have 1, 2, 4 or 8 bytes");
  const bool posts = posts_to(q);
  if (!q.good() || n >> 40 || !spans(remote_stride, n, sizeof(T)) || !spans(local_stride, n, sizeof(T))) return false;
  if (!remote || !local || reinterpret_cast<uintptr_t>(local) % sizeof(T) != 0) return false;
  first = locate(remote, sizeof(T));
  const auto last = static_cast<ptrdiff_t>(n - 1);
  const place end = locate(remote + last * remote_stride, sizeof(T));
  return first.node >= 0 && end.node == first.node && first.offset % sizeof(T) == 0 &&
         (!posts || (is_local(local, sizeof(T)) && is_local(local + last * local_stride, sizeof(T))));
}

template <origin From, class G, class T>
GGAS_DEVICE void move_strided(const G& g, const strided_side<T>& to, const strided_side<T>& from, size_t n) {
  g.sync();
  move_units_between<4, From, T>(n, movers_of(g), to, from);
  g.sync();
}

template <class G, class T>
GGAS_DEVICE ggas_status iput(const G& g, until when, T* remote, const T* local, ptrdiff_t remote_stride,
                             ptrdiff_t local_stride, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  if (n == 0) return ggas_ok;
  const strided_side<T> to = side_of(remote, remote_stride), from = side_of(local, local_stride);
  place at{};
  if (!strided_good(q, remote, local, remote_stride, local_stride, n, at)) return ggas_bad_argument;
  const auto move = [&] {
    move_strided<origin::own>(g, to, from, n);
    return when == until::complete ? settle(g, ggas_ok) : ggas_ok;
  };
  return transfer_between(move, [&] {
    const deadline end(timeout_ns);
    return by_queue(g, when, q, end, [&](const poster_of<G>& some) {
      return post_element_puts(
          some, q, {at.node, sizeof(T), n}, end, [&](uint64_t e) { return at.offset + to.behind(e); },
          [&](uint64_t e) { return from(e).at; });
    });
  });
}

template <class G, class T>
GGAS_DEVICE ggas_status iget(const G& g, until when, T* local, const T* remote, ptrdiff_t local_stride,
                             ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  if (n == 0) return ggas_ok;
  const strided_side<T> to = side_of(local, local_stride), from = side_of(remote, remote_stride);
  place at{};
  if (!strided_good(q, remote, local, remote_stride, local_stride, n, at)) return ggas_bad_argument;
  const auto move = [&] {
    move_strided<origin::remote>(g, to, from, n);
    return ggas_ok;
  };
  return transfer_between(move, [&] {
    const deadline end(timeout_ns);
    return by_queue(g, when, q, end, [&](const poster_of<G>& some) {
      return post_element_gets(
          some, q, {at.node, sizeof(T), n}, end, [&](uint64_t e) { return at.offset + from.behind(e); },
          [&](uint64_t e) { return to(e).at; });
    });
  });
}

}  // namespace ggas::detail
