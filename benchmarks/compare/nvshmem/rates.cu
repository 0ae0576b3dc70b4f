// SPDX-License-Identifier: Apache-2.0
// Bandwidth of puts and gets, message rate and RandomAccess with NVSHMEM.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem/nvshmem.cuh"
#include "benchmarks/kernels/random_access/hpcc_stream.cuh"

namespace ggas::compare {

namespace {

// Each block moves its part.
template <bool put>
__global__ void __launch_bounds__(1024) move_parts(char* to, const char* from, size_t bytes, int peer) {
  const size_t part = bytes / gridDim.x / 16 * 16, at = blockIdx.x * part;
  const size_t mine = blockIdx.x + 1 == gridDim.x ? bytes - at : part;
  if constexpr (put) {
    nvshmemx_putmem_nbi_block(to + at, from + at, mine, peer);
  } else {
    nvshmemx_getmem_nbi_block(to + at, from + at, mine, peer);
  }
  if (threadIdx.x == 0) nvshmem_quiet();
}

// `count` messages of each sender: words of threads, puts of warps.
__global__ void put_values(uint64_t* to, uint64_t key, uint64_t count, size_t words_apart, int peer) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x, t = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = (i * threads + t) * words_apart;
    nvshmem_uint64_p(to + at, word_of(key, at), peer);
  }
  __syncthreads();
  if (threadIdx.x == 0) nvshmem_quiet();
}
template <bool by_warps>
__global__ void put_messages(char* to, const char* from, uint64_t count, size_t bytes, int peer) {
  constexpr unsigned group = by_warps ? 32 : 1;
  const uint64_t senders = uint64_t{gridDim.x} * blockDim.x / group;
  const uint64_t sender = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / group;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = (i * senders + sender) * bytes;
    if constexpr (by_warps) {
      nvshmemx_putmem_nbi_warp(to + at, from + at, bytes, peer);
    } else {
      nvshmem_putmem_nbi(to + at, from + at, bytes, peer);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) nvshmem_quiet();
}

// Elements at a stride on both sides: each block its part.
__global__ void __launch_bounds__(1024)
    put_strided(uint64_t* to, const uint64_t* from, size_t stride, size_t elements, int peer) {
  const size_t part = (elements + gridDim.x - 1) / gridDim.x, at = blockIdx.x * part;
  if (at < elements)
    nvshmemx_uint64_iput_block(to + at * stride, from + at * stride, static_cast<ptrdiff_t>(stride),
                               static_cast<ptrdiff_t>(stride), min(part, elements - at), peer);
  if (threadIdx.x == 0) nvshmem_quiet();
}

// RandomAccess by atomics on tables of 2^log2_words words, one on each GPU.
__global__ void atomic_updates(uint64_t* table, int log2_words, uint64_t updates) {
  const auto me = static_cast<uint64_t>(nvshmem_my_pe()), count = static_cast<uint64_t>(nvshmem_n_pes());
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x, t = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t share = updates / threads;
  uint64_t number = bench::hpcc_stream::at((me * threads + t) * share);
  for (uint64_t i = 0; i < share; ++i) {
    number = bench::hpcc_stream::next(number);
    nvshmem_uint64_atomic_xor(table + (number & ((uint64_t{1} << log2_words) - 1)), number,
                              static_cast<int>((number >> log2_words) % count));
  }
}

double per_second(double amount, double ns) { return 1e9 * amount / ns; }

constexpr size_t data_words = processing_element::data_bytes / sizeof(uint64_t);

// GPU 0 moves words: a put to GPU 1 or a get from there. `step`: every so many words one is moved.
job move_job(processing_element& pe, bool put, size_t words, const std::function<void(uint64_t run)>& start,
             size_t step = 1) {
  auto *const source = reinterpret_cast<uint64_t*>(pe.source), *const target = reinterpret_cast<uint64_t*>(pe.target);
  const int from = put ? 0 : 1;
  return {start,
          [=, &pe](uint64_t run) {
            give_words<<<check_blocks, check_threads, 0, pe.stream>>>(key_of(run, from), source, words * step);
          },
          [=, &pe](uint64_t run) {
            if (pe.me() != 1 - from) return;
            check_words<<<check_blocks, check_threads, 0, pe.stream>>>(key_of(run, from), target, words, pe.found,
                                                                       step);
          }};
}

int multiprocessors(const processing_element& pe) {
  int sms = 0;
  COMPARE_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, pe.me()));
  return sms;
}

template <bool put>
void kernel_bandwidth(processing_element& pe, unsigned blocks, unsigned threads) {
  constexpr auto bytes = static_cast<int64_t>(processing_element::data_bytes);
  measure_events(
      pe,
      {put ? "put_bandwidth" : "get_bandwidth",
       "nvshmem",
       "bandwidth",
       "B/s",
       {{"bytes", bytes}, {"blocks", blocks}, {"threads", threads}, {"connections", 1}, {"method", 0, "kernel"}},
       {}},
      1, [](double ns) { return per_second(static_cast<double>(bytes), ns); },
      move_job(pe, put, data_words, [&pe, blocks, threads](uint64_t) {
        move_parts<put><<<blocks, threads, 0, pe.stream>>>(pe.target, pe.source, bytes, 1);
      }));
}

// Puts of one size in sequence, as many as GGAS's benchmark queues, each to a place of its own.
void put_on_stream(processing_element& pe, size_t bytes) {
  const int puts = static_cast<int>(std::clamp<size_t>((size_t{256} << 20) / bytes, 1, 50));
  measure_events(
      pe,
      {"put_bandwidth",
       "nvshmem",
       "bandwidth",
       "B/s",
       {{"bytes", static_cast<int64_t>(bytes)}, {"connections", 1}, {"method", 0, "stream"}},
       {}},
      1, [=](double ns) { return per_second(static_cast<double>(bytes) * puts, ns); },
      move_job(pe, true, static_cast<size_t>(puts) * bytes / sizeof(uint64_t), [&](uint64_t) {
        for (int i = 0; i < puts; ++i) {
          const size_t at = static_cast<size_t>(i) * bytes;
          nvshmemx_putmem_on_stream(pe.target + at, pe.source + at, bytes, 1, pe.stream);
        }
      }));
}

// The same as GGAS's typed put of a vector of 8-byte blocks, in sequence.
void strided_puts(processing_element& pe, size_t bytes, unsigned blocks) {
  constexpr size_t stride = 8;  // elements, as that of the pattern vector_8
  constexpr unsigned threads = 512;
  const size_t elements = bytes / sizeof(uint64_t);
  const int puts = static_cast<int>(std::clamp<size_t>((size_t{64} << 20) / bytes, 1, 20));
  measure_events(
      pe,
      {"typed_put",
       "nvshmem",
       "bandwidth",
       "B/s",
       {{"bytes", static_cast<int64_t>(bytes)},
        {"blocks", blocks},
        {"threads", threads},
        {"pattern", 0, "vector_8"},
        {"method", 0, "iput"}},
       {}},
      1, [=](double ns) { return per_second(static_cast<double>(bytes) * puts, ns); },
      move_job(
          pe, true, elements,
          [&pe, elements, blocks, puts](uint64_t) {
            for (int i = 0; i < puts; ++i)
              put_strided<<<blocks, threads, 0, pe.stream>>>(reinterpret_cast<uint64_t*>(pe.target),
                                                             reinterpret_cast<const uint64_t*>(pe.source), stride,
                                                             elements, 1);
          },
          stride));
}

void message_rate(processing_element& pe, unsigned blocks, unsigned threads) {
  constexpr size_t words_apart = value_bytes_apart / sizeof(uint64_t);
  const auto point = [&](int64_t bytes, const char* method, uint64_t messages, const job& j) {
    measure_events(
        pe,
        {"message_rate",
         "nvshmem",
         "messages",
         "1/s",
         {{"bytes", bytes}, {"blocks", blocks}, {"threads", threads}, {"method", 0, method}},
         {}},
        1, [=](double ns) { return per_second(static_cast<double>(messages), ns); }, j);
  };
  const message_plan values(blocks * threads, value_bytes_apart), of_warps(blocks * threads / 32, put_bytes),
      of_threads(blocks * threads, put_bytes);
  const auto puts = [&](const char* method, const message_plan& plan, auto kernel) {
    point(put_bytes, method, plan.messages(),
          move_job(pe, true, plan.messages() * put_bytes / sizeof(uint64_t),
                   [&pe, blocks, threads, plan, kernel](uint64_t) {
                     kernel<<<blocks, threads, 0, pe.stream>>>(pe.target, pe.source, plan.each, put_bytes, 1);
                   }));
  };
  point(value_bytes_apart, "value", values.messages(),
        move_job(
            pe, true, values.messages(),
            [&](uint64_t run) {
              put_values<<<blocks, threads, 0, pe.stream>>>(reinterpret_cast<uint64_t*>(pe.target), key_of(run, 0),
                                                            values.each, words_apart, 1);
            },
            words_apart));
  puts("put_warp", of_warps, put_messages<true>);
  puts("put_thread", of_threads, put_messages<false>);
}

void bandwidths(processing_element& pe) {
  const auto all = static_cast<unsigned>(multiprocessors(pe));
  for (const unsigned blocks : {8u, 12u, 16u, 32u, 64u, all}) {
    for (const unsigned threads : {512u, 1024u}) {
      kernel_bandwidth<true>(pe, blocks, threads);
      kernel_bandwidth<false>(pe, blocks, threads);
    }
  }
  for (const size_t bytes : {size_t{1} << 20, size_t{16} << 20, processing_element::data_bytes})
    put_on_stream(pe, bytes);
  for (const size_t bytes : {size_t{512} << 10, size_t{16} << 20})
    for (const unsigned blocks : {16u, 64u, all}) strided_puts(pe, bytes, blocks);
  for (const unsigned blocks : {1u, all})
    for (const unsigned threads : {256u, 512u, 1024u}) message_rate(pe, blocks, threads);
}

void random_access(processing_element& pe, const shape& s) {
  constexpr int log2_words = 27;  // all of the target memory
  const uint64_t senders = s.blocks * s.threads, updates = (uint64_t{1} << 27) / senders * senders;
  static_assert(repetitions % 2 == 1, "an even number of runs, with the warm-up: the updates take each other back");
  auto* const table = reinterpret_cast<uint64_t*>(pe.target);
  measure_events(pe,
                 {"random_access",
                  "nvshmem",
                  "updates",
                  "1/s",
                  {{"elements", pe.count() * (int64_t{1} << log2_words)},
                   {"blocks", s.blocks},
                   {"threads", s.threads},
                   {"method", 0, "atomic"}},
                  {}},
                 pe.count(), [&](double ns) { return per_second(static_cast<double>(updates) * pe.count(), ns); },
                 {[&](uint64_t) { atomic_updates<<<s.blocks, s.threads, 0, pe.stream>>>(table, log2_words, updates); },
                  [&](uint64_t run) {
                    if (run == 0) give_words<<<check_blocks, check_threads, 0, pe.stream>>>(0, table, data_words);
                  },
                  [&](uint64_t run) {
                    if (run == repetitions)
                      check_words<<<check_blocks, check_threads, 0, pe.stream>>>(0, table, data_words, pe.found);
                  }});
}

}  // namespace

void measure_rates(processing_element& pe) {
  if (pe.count() > 1) bandwidths(pe);
  for (const shape& s : update_grids) random_access(pe, s);
}

}  // namespace ggas::compare
