// SPDX-License-Identifier: Apache-2.0
// Data with a tag in every line of 16 bytes: who takes them waits for tags, no thread for a fence. Included by rma.cuh.
#pragma once

#include "ggas/detail/access/memory_words.cuh"
#include "ggas/detail/access/tagged_line.cuh"
#include "ggas/detail/one_sided/rma_descriptor.cuh"
#include "ggas/detail/sync/group.cuh"

namespace ggas::detail {

constexpr unsigned lines_in_flight = 4;  // of one thread

template <class T>
GGAS_DEVICE bool tagged_good(const ggas_tagged* lines, const T* local, size_t n, uint32_t tag) {
  static_assert(__is_trivially_copyable(T), "tagged puts move plain data");
  return (lines != nullptr) & (reinterpret_cast<uintptr_t>(lines) % sizeof(ggas_tagged) == 0) & (local != nullptr) &
         (reinterpret_cast<uintptr_t>(local) % alignof(T) == 0) & (n <= ~0ull / 16 / sizeof(T)) & (tag != 0);
}

// The first word of each thread is on the way while the address is checked: of few words there is no other.
template <class G, class Words>
GGAS_DEVICE ggas_status put_words(const G& g, ggas_tagged* remote, const Words& source, uint64_t words, uint32_t tag) {
  const bool mine = g.rank() < words;
  const uint64_t first = mine ? source.load(g.rank()) : 0;
  if (locate(remote, words * sizeof(ggas_tagged)).node < 0) return ggas_bad_argument;
  if (mine) store_relaxed(remote + g.rank(), tagged_line(tag, first));
  if (words <= g.size()) return ggas_ok;
  const uint64_t done = g.size();
  move_each<lines_in_flight>(
      words - done, movers_of(g), [=](uint64_t i) { return source.load(done + i); },
      [=](uint64_t i, uint64_t v) { store_relaxed(remote + done + i, tagged_line(tag, v)); });
  return ggas_ok;
}

template <class G, class T>
GGAS_DEVICE ggas_status put_tagged(const G& g, ggas_tagged* remote, const T* local, size_t n, uint32_t tag) {
  const uint64_t bytes = n * sizeof(T), words = ggas_tagged_lines(bytes);
  ggas_status s = ggas_bad_argument;
  g.sync();
  const bool good = tagged_good(remote, local, n, tag);
  if (good && are_whole(local, bytes)) {
    s = put_words(g, remote, whole_words<const uint64_t>{reinterpret_cast<const uint64_t*>(local)}, words, tag);
  } else if (good) {
    s = put_words(g, remote, misaligned_words<const uint8_t>{reinterpret_cast<const uint8_t*>(local), bytes}, words,
                  tag);
  }
  g.sync();
  return s;
}

// A thread's next lines, every `count`-th from `first` on, are polled at once.
template <unsigned Lines, class Words>
GGAS_DEVICE bool take_some(const ggas_tagged* lines, const Words& target, uint64_t first, uint64_t words,
                           unsigned count, uint32_t tag, poll_deadline& time) {
  ggas_tagged l[Lines] = {};
  for (bool all = false; !all;) {
    all = true;
    GGAS_UNROLL
    for (unsigned k = 0; k < Lines; ++k) {
      if (first + k * count < words) l[k] = load_spin(lines + first + k * count);
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < Lines; ++k) all &= first + k * count >= words || has_tag(l[k], tag);
    if (!all && time.over()) return false;
  }
  GGAS_UNROLL
  for (unsigned k = 0; k < Lines; ++k) {
    if (first + k * count < words) target.store(first + k * count, tagged_data(l[k]));
  }
  return true;
}

template <class Words>
GGAS_DEVICE ggas_status take_words(const ggas_tagged* lines, const Words& target, uint64_t words, uint32_t tag,
                                   uint64_t timeout_ns, unsigned rank, unsigned count) {
  poll_deadline time(timeout_ns);
  bool good = true;
  if (words <= count) {
    if (rank < words) good = take_some<1>(lines, target, rank, words, count, tag, time);
  } else {
    for (uint64_t first = rank; first < words && good; first += uint64_t{lines_in_flight} * count)
      good = take_some<lines_in_flight>(lines, target, first, words, count, tag, time);
  }
  return good ? ggas_ok : time.status();
}

template <class G, class T>
GGAS_DEVICE ggas_status take_tagged(const G& g, T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                    uint64_t timeout_ns) {
  const uint64_t bytes = n * sizeof(T), words = ggas_tagged_lines(bytes);
  ggas_status s = ggas_bad_argument;
  const bool good = tagged_good(lines, local, n, tag);
  if (good && are_whole(local, bytes)) {
    s = take_words(lines, whole_words<uint64_t>{reinterpret_cast<uint64_t*>(local)}, words, tag, timeout_ns, g.rank(),
                   g.size());
  } else if (good) {
    s = take_words(lines, misaligned_words<uint8_t>{reinterpret_cast<uint8_t*>(local), bytes}, words, tag, timeout_ns,
                   g.rank(), g.size());
  }
  return g.join(s);
}

// The record of a call that waited for lines: the first that does not carry the tag.
GGAS_DEVICE_FUNCTION void record_lines(call_id call, ggas_status s, uint64_t timeout_ns, const ggas_tagged* lines,
                                       uint64_t words, uint32_t tag) {
  GGAS_NO_UNROLL
  for (; words > 1 && has_tag(load_relaxed(lines), tag); --words) ++lines;
  record_word(call, s, timeout_ns, reinterpret_cast<const uint32_t*>(lines) + 1, type_of_word<uint32_t>(), ggas_eq,
              tag);
}

}  // namespace ggas::detail
