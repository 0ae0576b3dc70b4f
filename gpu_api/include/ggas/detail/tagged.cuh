// SPDX-License-Identifier: Apache-2.0
// Data with a tag in every line of 16 bytes: who takes them waits for tags, nobody for a fence. Each half of a line is
// one access of 8 bytes, so a reader that sees the tag sees the data beside it. Included by rma.cuh.
#pragma once

#include "ggas/detail/group.cuh"
#include "ggas/detail/rma_descriptor.cuh"

namespace ggas::detail {

constexpr unsigned lines_in_flight = 4;  // of one thread

GGAS_DEVICE ggas_tagged tagged_line(uint32_t tag, uint64_t data) {
  return {static_cast<uint32_t>(data), tag, static_cast<uint32_t>(data >> 32), tag};
}
GGAS_DEVICE bool has_tag(const ggas_tagged& l, uint32_t tag) { return l.low_tag == tag && l.high_tag == tag; }
GGAS_DEVICE uint64_t tagged_data(const ggas_tagged& l) { return uint64_t{l.high} << 32 | l.low; }

// Memory at any address as words of 8 bytes, the last of which may be short.
template <class Byte>
struct word_view {
  Byte* at;
  uint64_t bytes;
  GGAS_DEVICE uint64_t words() const { return (bytes + 7) / 8; }
  GGAS_DEVICE bool whole() const { return (reinterpret_cast<uintptr_t>(at) | bytes) % 8 == 0; }
  GGAS_DEVICE unsigned size_of(uint64_t i) const {
    return bytes - 8 * i < 8 ? static_cast<unsigned>(bytes - 8 * i) : 8;
  }
  GGAS_DEVICE uint64_t load(uint64_t i) const {
    if (whole()) return load_own(reinterpret_cast<const uint64_t*>(at) + i);
    uint64_t v = 0;
    for (unsigned b = 0; b < size_of(i); ++b)
      v |= uint64_t{load_own(reinterpret_cast<const uint8_t*>(at) + 8 * i + b)} << 8 * b;
    return v;
  }
  GGAS_DEVICE void store(uint64_t i, uint64_t v) const {
    if (whole()) return store_own(reinterpret_cast<uint64_t*>(at) + i, v);
    for (unsigned b = 0; b < size_of(i); ++b)
      store_own(reinterpret_cast<uint8_t*>(at) + 8 * i + b, static_cast<uint8_t>(v >> 8 * b));
  }
};

template <class T>
GGAS_DEVICE bool tagged_good(const ggas_tagged* lines, const T* local, size_t n, uint32_t tag) {
  static_assert(__is_trivially_copyable(T), "tagged puts move plain data");
  return (lines != nullptr) & (reinterpret_cast<uintptr_t>(lines) % sizeof(ggas_tagged) == 0) & (local != nullptr) &
         (n <= ~0ull / 16 / sizeof(T)) & (tag != 0);
}

// The first words of each thread are on the way while the arguments are checked.
template <class G, class T>
GGAS_DEVICE ggas_status put_tagged(const G& g, ggas_tagged* remote, const T* local, size_t n, uint32_t tag) {
  const word_view<const char> source{reinterpret_cast<const char*>(local), n * sizeof(T)};
  const bool good = tagged_good(remote, local, n, tag);
  const uint64_t words = good ? source.words() : 0;
  g.sync();
  uint64_t first[lines_in_flight] = {};
  GGAS_UNROLL
  for (unsigned k = 0; k < lines_in_flight; ++k) {
    const uint64_t i = uint64_t{k} * g.size() + g.rank();
    if (i < words) first[k] = source.load(i);
  }
  const bool there = locate(remote, words * sizeof(ggas_tagged)).node >= 0;
  const auto send = [=](uint64_t i, uint64_t v) { store_relaxed(remote + i, tagged_line(tag, v)); };
  if (good && there) {
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_in_flight; ++k) {
      const uint64_t i = uint64_t{k} * g.size() + g.rank();
      if (i < words) send(i, first[k]);
    }
    const uint64_t done = uint64_t{lines_in_flight} * g.size();
    if (words > done) {
      move_each<lines_in_flight>(
          words - done, g.rank(), g.size(), [=](uint64_t i) { return source.load(done + i); },
          [=](uint64_t i, uint64_t v) { send(done + i, v); });
    }
  }
  g.sync();
  return good && there ? ggas_ok : ggas_bad_argument;
}

// Several lines of a thread are polled at once.
template <class T>
GGAS_DEVICE ggas_status take_share(T* local, const ggas_tagged* lines, size_t n, uint32_t tag, uint64_t timeout_ns,
                                   unsigned rank, unsigned count) {
  if (!tagged_good(lines, local, n, tag)) return ggas_bad_argument;
  const word_view<char> target{reinterpret_cast<char*>(local), n * sizeof(T)};
  const uint64_t words = target.words();
  patience time(timeout_ns);
  for (uint64_t base = rank; base < words; base += uint64_t{lines_in_flight} * count) {
    ggas_tagged l[lines_in_flight] = {};
    for (bool all = false; !all;) {
      all = true;
      GGAS_UNROLL
      for (unsigned k = 0; k < lines_in_flight; ++k) {
        if (base + k * count < words) l[k] = load_spin(lines + base + k * count);
      }
      GGAS_UNROLL
      for (unsigned k = 0; k < lines_in_flight; ++k) all &= base + k * count >= words || has_tag(l[k], tag);
      if (!all && time.over()) return ggas_timed_out;
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_in_flight; ++k) {
      if (base + k * count < words) target.store(base + k * count, tagged_data(l[k]));
    }
  }
  return ggas_ok;
}

template <class G, class T>
GGAS_DEVICE ggas_status take_tagged(const G& g, T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                    uint64_t timeout_ns) {
  return g.join(take_share(local, lines, n, tag, timeout_ns, g.rank(), g.size()));
}

}  // namespace ggas::detail

GGAS_HOST_DEVICE constexpr size_t ggas_tagged_lines(size_t bytes) { return (bytes + 7) / 8; }

template <class T>
GGAS_DEVICE ggas_status ggas_put_tagged(ggas_tagged* remote, const T* local, size_t n, uint32_t tag) {
  return ggas::detail::put_tagged(ggas::detail::thread_group{}, remote, local, n, tag);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_tagged_warp(ggas_tagged* remote, const T* local, size_t n, uint32_t tag) {
  return ggas::detail::put_tagged(ggas::detail::warp_group{}, remote, local, n, tag);
}
template <class T>
GGAS_DEVICE ggas_status ggas_put_tagged_block(ggas_tagged* remote, const T* local, size_t n, uint32_t tag) {
  return ggas::detail::put_tagged(ggas::detail::block_group{}, remote, local, n, tag);
}
template <class T>
GGAS_DEVICE ggas_status ggas_take_tagged(T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                         uint64_t timeout_ns) {
  return ggas::detail::take_tagged(ggas::detail::thread_group{}, local, lines, n, tag, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_take_tagged_warp(T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                              uint64_t timeout_ns) {
  return ggas::detail::take_tagged(ggas::detail::warp_group{}, local, lines, n, tag, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_take_tagged_block(T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                               uint64_t timeout_ns) {
  return ggas::detail::take_tagged(ggas::detail::block_group{}, local, lines, n, tag, timeout_ns);
}
