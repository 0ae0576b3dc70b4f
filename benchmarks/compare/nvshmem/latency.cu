// SPDX-License-Identifier: Apache-2.0
// Ping-pongs, sync and barrier with NVSHMEM.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem/nvshmem.cuh"

namespace ggas::compare {

namespace {

// One thread stores a word and waits for the answer. `base` is the last number of the run before. The clock starts
// after the first round, when both kernels run; so everywhere here.
__global__ void p_pingpong(uint64_t* flag, int peer, bool first, uint64_t rounds, uint64_t base, outcome* out) {
  uint64_t begin = 0;
  for (uint64_t i = 0; i <= rounds; ++i) {
    if (i == 1) begin = time_ns();
    if (first) nvshmem_uint64_p(flag, base + i + 1, peer);
    nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_GE, base + i + 1);
    if (!first) nvshmem_uint64_p(flag, base + i + 1, peer);
  }
  *out = {time_ns() - begin, 0};
}

// A block puts data with a signal after it; the block that got it answers likewise. Checked: every round has data of
// its own, whose keys follow those given, and what came is looked at.
struct put_call {
  uint64_t *to, *from;
  size_t words;
  uint64_t* signal;
  int peer;
  bool first;
  uint64_t rounds, base;
  uint64_t here, there;  // keys of what this one and the peer send
};
template <bool checked>
__global__ void put_signal_pingpong(put_call c, outcome* out) {
  uint64_t begin = 0;
  const auto send = [&](uint64_t i) {
    if constexpr (checked) {
      give_block(c.here + 2 * i, c.from, c.words);
      __syncthreads();
    }
    nvshmemx_putmem_signal_block(c.to, c.from, c.words * sizeof(uint64_t), c.signal, c.base + i + 1, NVSHMEM_SIGNAL_SET,
                                 c.peer);
  };
  for (uint64_t i = 0; i <= c.rounds; ++i) {
    if (i == 1) begin = time_ns();
    if (c.first) send(i);
    if (threadIdx.x == 0) nvshmem_signal_wait_until(c.signal, NVSHMEM_CMP_GE, c.base + i + 1);
    __syncthreads();
    if constexpr (checked) {
      add_wrong(wrong_in_block(c.there + 2 * i, c.to, c.words), out);
      __syncthreads();
    }
    if (!c.first) send(i);
  }
  if (!checked && threadIdx.x == 0) *out = {time_ns() - begin, 0};
}

__global__ void sync_rounds(uint64_t rounds, bool with_quiet, outcome* out) {
  uint64_t begin = 0;
  for (uint64_t i = 0; i <= rounds; ++i) {
    if (i == 1) begin = time_ns();
    if (with_quiet) {
      nvshmemx_barrier_all_block();
    } else {
      nvshmemx_sync_all_block();
    }
  }
  if (threadIdx.x == 0) *out = {time_ns() - begin, 0};
}

constexpr int places = 32, words_apart = (4096 + 128) / 8;

// Half a round trip depends on which part of the L2 cache holds the flag, which differs by page and by line: the
// fastest of some places, as every member measures it here. All processes get the same answer.
int fastest_place(processing_element& pe) {
  constexpr uint64_t rounds = 200;
  int best = 0;
  uint64_t least = ~uint64_t{0};
  for (int place = 0; place < places; ++place) {
    pe.all.meet();
    if (pe.me() < 2) {
      p_pingpong<<<1, 1, 0, pe.stream>>>(pe.flags + words_apart * place, 1 - pe.me(), pe.me() == 0, rounds, 0,
                                         pe.found);
    }
    COMPARE_CUDA(cudaStreamSynchronize(pe.stream));
    if (pe.found->ns < least) {
      least = pe.found->ns;
      best = place;
    }
  }
  pe.all.share(&best, sizeof(best));
  return best;
}

void pingpong(processing_element& pe) {
  constexpr uint64_t rounds = 2000;
  uint64_t* const flag = pe.flags + words_apart * fastest_place(pe);
  measure_rounds(pe, {"store_latency", "nvshmem", "half_round_trip", "ns", {{"threads", 1}, {"bytes", 8}}, {}}, 2,
                 2 * rounds, {[&](uint64_t run) {
                   p_pingpong<<<1, 1, 0, pe.stream>>>(flag, 1 - pe.me(), pe.me() == 0, rounds, (run + 1) * (rounds + 1),
                                                      pe.found);
                 }});
}

// Every ping-pong uses a signal of its own, so that it begins at 0.
void put_signal(processing_element& pe, size_t bytes, unsigned threads, uint64_t* signal) {
  const uint64_t rounds = bytes > 65536 ? 300 : 1000, checks = 100;
  const size_t words = bytes / sizeof(uint64_t);
  auto *const source = reinterpret_cast<uint64_t*>(pe.source), *const target = reinterpret_cast<uint64_t*>(pe.target);
  const auto call = [&](uint64_t count, uint64_t base, uint64_t run) {
    return put_call{target,
                    source,
                    words,
                    signal,
                    1 - pe.me(),
                    pe.me() == 0,
                    count,
                    base,
                    key_of(run, pe.me()),
                    key_of(run, 1 - pe.me())};
  };
  const figure f{"put_latency",
                 "nvshmem",
                 "half_round_trip",
                 "ns",
                 {{"bytes", static_cast<int64_t>(bytes)}, {"blocks", 1}, {"threads", threads}},
                 {}};
  check_rounds(pe, f, 2, {[&](uint64_t run) {
                 put_signal_pingpong<true><<<1, threads, 0, pe.stream>>>(call(checks, 0, run), pe.found);
               }});
  measure_rounds(pe, f, 2, 2 * static_cast<double>(rounds),
                 {[&](uint64_t run) {
                    put_signal_pingpong<false>
                        <<<1, threads, 0, pe.stream>>>(call(rounds, checks + 1 + run * (rounds + 1), run), pe.found);
                  },
                  [&](uint64_t run) {
                    give_words<<<check_blocks, check_threads, 0, pe.stream>>>(key_of(run, pe.me()), source, words);
                  },
                  [&](uint64_t run) {
                    if (pe.me() > 1) return;
                    check_words<<<check_blocks, check_threads, 0, pe.stream>>>(key_of(run, 1 - pe.me()), target, words,
                                                                               pe.found);
                  }});
}

void barrier(processing_element& pe, unsigned threads, bool with_quiet) {
  constexpr uint64_t rounds = 1000;
  measure_rounds(pe,
                 {"barrier",
                  "nvshmem",
                  "latency",
                  "ns",
                  {{"blocks", 1}, {"threads", threads}, {"method", 0, with_quiet ? "barrier" : "sync"}},
                  {}},
                 pe.count(), rounds,
                 {[&](uint64_t) { sync_rounds<<<1, threads, 0, pe.stream>>>(rounds, with_quiet, pe.found); }});
}

}  // namespace

void measure_latencies(processing_element& pe) {
  if (pe.count() > 1) {
    pingpong(pe);
    uint64_t* signal = pe.flags + words_apart * places;
    for (const size_t bytes : {size_t{8}, size_t{4096}, size_t{262144}})
      for (const unsigned threads : thread_counts) put_signal(pe, bytes, threads, signal++);
  }
  for (const unsigned threads : thread_counts)
    for (const bool with_quiet : {false, true}) barrier(pe, threads, with_quiet);
}

}  // namespace ggas::compare
