// SPDX-License-Identifier: Apache-2.0
// Values, and elements at a stride. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/put.cuh"

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
    g.sync();  // what any thread sends next comes behind the value
    return ggas_ok;
  }
  if constexpr (nic_possible) {
    const slot d{first_word(desc_imm | want_ack, at.node, sizeof(T)), as_bits<uint64_t>(value), nla(at), 0};
    const deadline end(timeout_ns);
    return by_queue(g, when, q, end, [&](const auto& some) {
      return post(
          some, q, 1, 1, [&](unsigned i) { return d.word(i); }, end);
    });
  } else {
    return ggas_no_queue;  // not reached
  }
}

// Elements a post carries: a slot each.
template <class G>
GGAS_DEVICE constexpr unsigned batch_of(const G&) {
  return is_same<G, thread_group> ? 1 : 8;
}

// Whether n elements at a stride can lie in one segment: their distances are numbers then.
GGAS_DEVICE bool spans(ptrdiff_t stride, size_t n, size_t bytes) {
  const uint64_t most = device_context().segment_bytes / bytes;
  const uint64_t step = stride < 0 ? uint64_t{0} - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
  return static_cast<double>(n - 1) * static_cast<double>(step) <= static_cast<double>(most);
}

// Element i lies i * stride elements from the start, forwards or backwards.
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

template <class T>
GGAS_DEVICE uint64_t strided(uint64_t offset, size_t i, ptrdiff_t stride) {
  return offset + static_cast<uint64_t>(static_cast<ptrdiff_t>(i) * stride * static_cast<ptrdiff_t>(sizeof(T)));
}

template <class G, class T>
GGAS_DEVICE void move_strided(const G& g, T* to, const T* from, ptrdiff_t to_stride, ptrdiff_t from_stride, size_t n) {
  g.sync();
  move_each<4>(
      n, g.rank(), g.size(), [=](uint64_t i) { return load_relaxed(from + static_cast<ptrdiff_t>(i) * from_stride); },
      [=](uint64_t i, T v) { store_relaxed(to + static_cast<ptrdiff_t>(i) * to_stride, v); });
  g.sync();
}

// Posts a slot for each of n elements; word(e, i) is word i of the slot of element e.
template <class G, class W>
GGAS_DEVICE ggas_status post_elements(const G& g, const ggas_queue& q, size_t n, const deadline& end, W word) {
  g.sync();
  for (size_t done = 0; done < n;) {
    const size_t left = n - done;
    const unsigned k = left < batch_of(g) ? static_cast<unsigned>(left) : batch_of(g);
    const ggas_status s = post(
        g, q, k, k, [&](unsigned i) { return word(done + i / slot_words, i % slot_words); }, end);
    if (s != ggas_ok) return s;
    done += k;
  }
  return ggas_ok;
}

template <class G, class T>
GGAS_DEVICE ggas_status iput(const G& g, until when, T* remote, const T* local, ptrdiff_t remote_stride,
                             ptrdiff_t local_stride, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  if (n == 0) return ggas_ok;
  place at{};
  if (!strided_good(q, remote, local, remote_stride, local_stride, n, at)) return ggas_bad_argument;
  if (!posts_descriptors()) {
    move_strided(g, remote, local, remote_stride, local_stride, n);
    return when == until::complete ? settle(g, ggas_ok) : ggas_ok;
  }
  if constexpr (nic_possible) {
    const deadline end(timeout_ns);
    return by_queue(g, when, q, end, [&](const auto& some) {
      return post_elements(some, q, n, end, [&](size_t e, unsigned i) {
        const slot d{first_word(desc_imm | want_ack, at.node, sizeof(T)), 0,
                     nla(at.node, strided<T>(at.offset, e, remote_stride)), 0};
        const T* const from = local + static_cast<ptrdiff_t>(e) * local_stride;
        return i == 1 ? load_bytes(reinterpret_cast<const char*>(from), sizeof(T)) : d.word(i);
      });
    });
  } else {
    return ggas_no_queue;  // not reached
  }
}

template <class G, class T>
GGAS_DEVICE ggas_status iget(const G& g, until when, T* local, const T* remote, ptrdiff_t local_stride,
                             ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns, const ggas_queue& q) {
  if (n == 0) return ggas_ok;
  place at{};
  if (!strided_good(q, remote, local, remote_stride, local_stride, n, at)) return ggas_bad_argument;
  if (!posts_descriptors()) {
    move_strided(g, local, remote, local_stride, remote_stride, n);
    return ggas_ok;
  }
  if constexpr (nic_possible) {
    const deadline end(timeout_ns);
    return by_queue(g, when, q, end, [&](const auto& some) {
      return post_elements(some, q, n, end, [&](size_t e, unsigned i) {
        const slot d{first_word(desc_get, at.node, sizeof(T)), nla(at.node, strided<T>(at.offset, e, remote_stride)),
                     strided<T>(local_nla(local), e, local_stride), 0};
        return d.word(i);
      });
    });
  } else {
    return ggas_no_queue;  // not reached
  }
}

}  // namespace ggas::detail
