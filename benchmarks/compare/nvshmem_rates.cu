// SPDX-License-Identifier: Apache-2.0
// Put bandwidth and RandomAccess with NVSHMEM.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem.cuh"
#include "benchmarks/kernels/hpcc_stream.cuh"

namespace ggas::compare {

namespace {

// Each block puts its part.
__global__ void __launch_bounds__(1024) put_parts(char* to, const char* from, size_t bytes, int peer) {
  const size_t part = bytes / gridDim.x / 16 * 16, at = blockIdx.x * part;
  nvshmemx_putmem_nbi_block(to + at, from + at, blockIdx.x + 1 == gridDim.x ? bytes - at : part, peer);
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

// A put of all data from GPU 0 to GPU 1.
job put_job(processing_element& pe, const std::function<void()>& start) {
  auto *const source = reinterpret_cast<uint64_t*>(pe.source), *const target = reinterpret_cast<uint64_t*>(pe.target);
  return {[start](uint64_t) { start(); },
          [=](uint64_t run) { give_words<<<check_blocks, check_threads>>>(key_of(run, 0), source, data_words); },
          [=, &pe](uint64_t run) {
            if (pe.me() != 1) return;
            check_words<<<check_blocks, check_threads>>>(key_of(run, 0), target, data_words, pe.found);
          }};
}

void put_bandwidth(processing_element& pe) {
  constexpr auto bytes = static_cast<int64_t>(processing_element::data_bytes);
  int sms = 0;
  COMPARE_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, pe.me()));
  const auto rate = [](double ns) { return per_second(static_cast<double>(bytes), ns); };
  for (const int blocks : {8, 16, 32, sms}) {
    measure_events(pe,
                   {"put_bandwidth",
                    "nvshmem",
                    "bandwidth",
                    "B/s",
                    {{"bytes", bytes}, {"blocks", blocks}, {"connections", 1}, {"method", 0, "kernel"}},
                    {}},
                   1, rate, put_job(pe, [&] {
                     put_parts<<<static_cast<unsigned>(blocks), 1024>>>(pe.target, pe.source, bytes, 1);
                   }));
  }
  measure_events(pe,
                 {"put_bandwidth",
                  "nvshmem",
                  "bandwidth",
                  "B/s",
                  {{"bytes", bytes}, {"connections", 1}, {"method", 0, "stream"}},
                  {}},
                 1, rate, put_job(pe, [&] { nvshmemx_putmem_on_stream(pe.target, pe.source, bytes, 1, nullptr); }));
}

void random_access(processing_element& pe) {
  constexpr int log2_words = 27;  // all of the target memory
  constexpr unsigned blocks = 1056, threads = 256;
  constexpr uint64_t updates = (uint64_t{1} << 27) / (blocks * threads) * (blocks * threads);
  static_assert(repetitions % 2 == 1, "an even number of runs, with the warm-up: the updates take each other back");
  auto* const table = reinterpret_cast<uint64_t*>(pe.target);
  measure_events(pe,
                 {"random_access",
                  "nvshmem",
                  "updates",
                  "1/s",
                  {{"elements", pe.count() * (int64_t{1} << log2_words)}, {"method", 0, "atomic"}},
                  {}},
                 pe.count(), [&](double ns) { return per_second(static_cast<double>(updates) * pe.count(), ns); },
                 {[&](uint64_t) { atomic_updates<<<blocks, threads>>>(table, log2_words, updates); },
                  [&](uint64_t run) {
                    if (run == 0) give_words<<<check_blocks, check_threads>>>(0, table, data_words);
                  },
                  [&](uint64_t run) {
                    if (run == repetitions)
                      check_words<<<check_blocks, check_threads>>>(0, table, data_words, pe.found);
                  }});
}

}  // namespace

void measure_rates(processing_element& pe) {
  if (pe.count() > 1) put_bandwidth(pe);
  random_access(pe);
}

}  // namespace ggas::compare
