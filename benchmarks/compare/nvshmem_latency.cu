// SPDX-License-Identifier: Apache-2.0
// Ping-pongs, sync and barrier with NVSHMEM.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem.cuh"

namespace ggas::compare {

namespace {

// One thread stores a word and waits for the answer. `base` is the last number of the run before. The clock starts
// behind the first round, when both kernels run; so everywhere here.
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

// A block puts data with a signal behind it; the block that got it answers likewise.
__global__ void put_signal_pingpong(char* to, const char* from, size_t bytes, uint64_t* signal, int peer, bool first,
                                    uint64_t rounds, uint64_t base, outcome* out) {
  uint64_t begin = 0;
  for (uint64_t i = 0; i <= rounds; ++i) {
    if (i == 1) begin = time_ns();
    if (first) nvshmemx_putmem_signal_block(to, from, bytes, signal, base + i + 1, NVSHMEM_SIGNAL_SET, peer);
    if (threadIdx.x == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, base + i + 1);
    __syncthreads();
    if (!first) nvshmemx_putmem_signal_block(to, from, bytes, signal, base + i + 1, NVSHMEM_SIGNAL_SET, peer);
  }
  if (threadIdx.x == 0) *out = {time_ns() - begin, 0};
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
// fastest of some places, as everybody measures it here. All processes get the same answer.
int fastest_place(processing_element& pe) {
  constexpr uint64_t rounds = 200;
  int best = 0;
  uint64_t least = ~uint64_t{0};
  for (int place = 0; place < places; ++place) {
    pe.all.meet();
    if (pe.me() < 2) {
      p_pingpong<<<1, 1>>>(pe.flags + words_apart * place, 1 - pe.me(), pe.me() == 0, rounds, 0, pe.found);
    }
    COMPARE_CUDA(cudaDeviceSynchronize());
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
                   p_pingpong<<<1, 1>>>(flag, 1 - pe.me(), pe.me() == 0, rounds, (run + 1) * (rounds + 1), pe.found);
                 }});
}

// Every ping-pong uses a signal of its own, so that it begins at 0.
void put_signal(processing_element& pe, size_t bytes, int threads, uint64_t* signal) {
  const uint64_t rounds = bytes > 65536 ? 300 : 1000;
  const size_t words = bytes / sizeof(uint64_t);
  auto *const source = reinterpret_cast<uint64_t*>(pe.source), *const target = reinterpret_cast<uint64_t*>(pe.target);
  measure_rounds(
      pe,
      {"put_latency",
       "nvshmem",
       "half_round_trip",
       "ns",
       {{"bytes", static_cast<int64_t>(bytes)}, {"threads", threads}},
       {}},
      2, 2 * static_cast<double>(rounds),
      {[&](uint64_t run) {
         put_signal_pingpong<<<1, threads>>>(pe.target, pe.source, bytes, signal, 1 - pe.me(), pe.me() == 0, rounds,
                                             run * (rounds + 1), pe.found);
       },
       [&](uint64_t run) { give_words<<<check_blocks, check_threads>>>(key_of(run, pe.me()), source, words); },
       [&](uint64_t run) {
         if (pe.me() > 1) return;
         check_words<<<check_blocks, check_threads>>>(key_of(run, 1 - pe.me()), target, words, pe.found);
       }});
}

void barrier(processing_element& pe, int threads, bool with_quiet) {
  constexpr uint64_t rounds = 1000;
  measure_rounds(pe,
                 {"barrier",
                  "nvshmem",
                  "latency",
                  "ns",
                  {{"threads", threads}, {"method", 0, with_quiet ? "barrier" : "sync"}},
                  {}},
                 pe.count(), rounds, {[&](uint64_t) { sync_rounds<<<1, threads>>>(rounds, with_quiet, pe.found); }});
}

}  // namespace

void measure_latencies(processing_element& pe) {
  if (pe.count() > 1) {
    pingpong(pe);
    uint64_t* signal = pe.flags + words_apart * places;
    for (const size_t bytes : {size_t{8}, size_t{4096}, size_t{262144}})
      for (const int threads : {32, 256, 1024}) put_signal(pe, bytes, threads, signal++);
  }
  for (const int threads : {32, 256, 1024})
    for (const bool with_quiet : {false, true}) barrier(pe, threads, with_quiet);
}

}  // namespace ggas::compare
