// SPDX-License-Identifier: Apache-2.0
// Words that a benchmark of bandwidth moves: other ones in every run, made and looked at by all threads of a grid.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

// Word `i` of what a node sends in a run: two multiplications, so that a sender can make it on its way.
GGAS_HOST_DEVICE constexpr uint64_t sender_key(uint64_t run, int node) {
  return 2 * (64 * run + static_cast<uint64_t>(node)) + 1;
}
GGAS_DEVICE uint64_t sent_word(uint64_t key, uint64_t i) { return key * (0x9e3779b97f4a7c15u * i + 1); }

struct words_args {
  uint64_t at, count;  // offset of the first word, and how many
  uint64_t step;       // words from one to the next
  uint64_t key;        // of who sent them; 0: every word is `value`
  uint64_t value;
  uint64_t outcomes;  // offset of an outcome for each thread
};
GGAS_DEVICE uint64_t word_at(const words_args& a, uint64_t i) { return a.key ? sent_word(a.key, i * a.step) : a.value; }

[[maybe_unused]] static __global__ void fill_words(words_args a) {
  for (uint64_t i = global_thread(); i < a.count; i += global_threads())
    own<uint64_t>(a.at)[i * a.step] = word_at(a, i);
}
// Those that the caller looks at.
GGAS_DEVICE uint64_t wrong_words(const words_args& a) {
  uint64_t wrong = 0;
  for (uint64_t i = global_thread(); i < a.count; i += global_threads())
    wrong += own<uint64_t>(a.at)[i * a.step] != word_at(a, i);
  return wrong;
}
[[maybe_unused]] static __global__ void check_words(words_args a) {
  own<outcome>(a.outcomes)[global_thread()] = {0, 0, wrong_words(a), ggas_ok};
}
// Of several checks in sequence; the words are overwritten, so that none is found twice.
[[maybe_unused]] static __global__ void add_wrong_words(words_args a) {
  own<outcome>(a.outcomes)[global_thread()].errors += wrong_words(a);
  for (uint64_t i = global_thread(); i < a.count; i += global_threads()) own<uint64_t>(a.at)[i * a.step] = 0;
}

}  // namespace ggas::bench
