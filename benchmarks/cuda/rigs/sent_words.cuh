// SPDX-License-Identifier: Apache-2.0
// Fills what is sent and checks what came (kernels/sent_words.cuh).
#pragma once

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/kernels/sent_words.cuh"

namespace ggas::bench {

inline constexpr unsigned words_blocks = 256, words_block_threads = 256,
                          words_threads = words_blocks * words_block_threads;

// Queues new words at a node for a run.
[[maybe_unused]] static void fill_sent(gpu_session& s, int node, words_args w, uint64_t run) {
  w.key = sender_key(run, node);
  launch_one(s, node, words_blocks, words_block_threads, fill_words, w);
}

// Looks at what has come to a node from another one; where words have no key, for their value.
[[maybe_unused]] static fault check_sent(gpu_session& s, int node, words_args w, int from, uint64_t run,
                                         const std::string& what) {
  if (w.key != 0) w.key = sender_key(run, from);
  s.fill(node, w.outcomes, words_threads * sizeof(outcome), 0xff);
  launch_one(s, node, words_blocks, words_block_threads, check_words, w);
  GGAS_GPU_TRY(s.run(what));
  return check_outcomes(s, node, w.outcomes, words_threads, what);
}

}  // namespace ggas::bench
