// SPDX-License-Identifier: Apache-2.0
// The device API on real GPUs: the kernels of the benchmarks and of this file on provider cuda. Every GPU of the
// computer is a node. Exit status 77 without a GPU (the test is skipped), 1 if something is wrong.
//
//   gpu_test [nodes]      results of each part, and what was measured beside it
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/kernels/collectives.cuh"
#include "benchmarks/kernels/latency.cuh"
#include "ggas/cuda_cluster.hpp"
#include "ggas/launch.hpp"

namespace {

using ggas::cuda_cluster;
using ggas::bench::outcome;
using ggas::bench::own;
using ggas::bench::pattern;

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t timeout_ns = 5 * second;
int failures = 0;

void check(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

void run(cuda_cluster& c, const char* what) {
  const std::string wrong = c.run(30 * second);
  check(wrong.empty(), std::string(what) + ": " + wrong);
  if (!wrong.empty()) std::exit(1);  // a kernel still spins: nothing more can be done with these GPUs
}

void check(cudaError_t e, const char* what) { check(e == cudaSuccess, std::string(what) + ": " + cudaGetErrorName(e)); }

// Starts a kernel. Outcomes are all ones before, so that those of a kernel that did not run are wrong.
template <class... P, class... A>
void start(cuda_cluster& c, int node, unsigned blocks, unsigned threads, uint64_t outcomes, void (*kernel)(P...),
           A... args) {
  check(cudaSetDevice(c.device(node)), "cudaSetDevice");
  check(cudaMemsetAsync(c.segment(node) + outcomes, 0xff, blocks * threads * sizeof(outcome), c.stream(node)),
        "cudaMemsetAsync");
  check(ggas::launch(c, node, blocks, threads, kernel, args...), "launch");
}

// A copy of n elements from a node's segment.
template <class T>
std::vector<T> read(cuda_cluster& c, int node, uint64_t offset, size_t n) {
  std::vector<T> v(n);
  check(cudaMemcpy(v.data(), c.segment(node) + offset, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return v;
}
template <class T>
void write(cuda_cluster& c, int node, uint64_t offset, const std::vector<T>& v) {
  check(cudaMemcpy(c.segment(node) + offset, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
}

uint64_t median(std::vector<uint64_t> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

// Offsets in every segment.
struct places {
  uint64_t base, outcomes, samples, data, copy;
  explicit places(uint64_t reserved)
      : base(reserved),
        outcomes(base + (1 << 20)),
        samples(base + (2 << 20)),
        data(base + (4 << 20)),
        copy(base + (20 << 20)) {}
};

void check_outcomes(cuda_cluster& c, int node, uint64_t offset, size_t n, const std::string& what) {
  for (const outcome& o : read<outcome>(c, node, offset, n)) {
    check(o.status == ggas_ok && o.errors == 0, what + " on node " + std::to_string(node) + ": status " +
                                                    std::to_string(o.status) + ", " + std::to_string(o.errors) +
                                                    " wrong values");
    if (o.status != ggas_ok || o.errors) return;
  }
}

// ------------------------------------------------------------------------------------------------ loads and stores

void ping_pong(cuda_cluster& c, const places& at, unsigned threads) {
  const ggas::bench::latency_args a{at.base, at.copy, at.outcomes, at.samples, 1000, 1, timeout_ns};
  for (int n = 0; n < 2; ++n) start(c, n, 1, threads, at.outcomes, ggas::bench::store_pingpong, a);
  run(c, "store_pingpong");
  for (int n = 0; n < 2; ++n) check_outcomes(c, n, at.outcomes, threads, "store_pingpong");
  const double half = 0.5 * double(median(read<uint64_t>(c, 0, at.samples, a.rounds)));
  const auto o = read<outcome>(c, 0, at.outcomes, 1)[0];
  std::printf("store ping-pong, %4u threads: half round trip %.0f ns (mean %.0f ns)\n", threads, half,
              double(o.end_ns - o.begin_ns) / double(2 * a.rounds));
}

// ------------------------------------------------------------------------------------------------ put, get, signal

// Node 0 puts `bytes` at odd places into node 1 with a signal behind it, node 1 gets something back.
__global__ void put_and_get(places at, uint64_t bytes, uint64_t shift, uint64_t round) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_node();
  char* const from = own<char>(at.data + shift);
  char* const to = ggas_pointer_of_node<char>(1, at.copy + 2 * shift);
  uint64_t* const signal = ggas_pointer_of_node<uint64_t>(1, at.base);
  ggas_status s = ggas_ok;
  if (me == 0) {
    s = ggas_put_signal_nbi_block(to, from, bytes, signal, round, ggas_signal_set, timeout_ns);
    if (s == ggas_ok) s = ggas_quiet_block();
  } else if (me == 1) {
    s = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, round, timeout_ns);
    const char* const got = own<char>(at.copy + 2 * shift);
    for (uint64_t i = ggas::detail::thread_rank(); i < bytes; i += ggas::detail::thread_count())
      if (ggas_load(got + i) != static_cast<char>(pattern(round, 0, i))) ++out.errors;
    __syncthreads();
    char* const back = own<char>(at.copy + (8 << 20));
    if (s == ggas_ok) s = ggas_get_block(back, ggas_pointer_of_node<char>(0, at.data + shift), bytes, timeout_ns);
    for (uint64_t i = ggas::detail::thread_rank(); i < bytes; i += ggas::detail::thread_count())
      if (ggas_load(back + i) != static_cast<char>(pattern(round, 0, i))) ++out.errors;
  }
  out.status = s;
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

void transfers(cuda_cluster& c, const places& at) {
  uint64_t round = 1;
  for (uint64_t bytes : {1u, 7u, 8u, 16u, 100u, 4096u, 65536u + 3, 1u << 20}) {
    for (uint64_t shift : {0u, 1u, 4u, 9u, 16u}) {
      ++round;
      std::vector<char> v(bytes);
      for (uint64_t i = 0; i < bytes; ++i) v[i] = static_cast<char>(pattern(round, 0, i));
      write(c, 0, at.data + shift, v);
      write(c, 1, at.copy + 2 * shift - (shift ? 1 : 0), std::vector<char>(bytes + 2, 'x'));
      for (int n = 0; n < 2; ++n) start(c, n, 1, 256, at.outcomes, put_and_get, at, bytes, shift, round);
      run(c, "put_and_get");
      for (int n = 0; n < 2; ++n)
        check_outcomes(c, n, at.outcomes, 256,
                       "put and get of " + std::to_string(bytes) + " bytes, shift " + std::to_string(shift));
      check(read<char>(c, 1, at.copy + 2 * shift + bytes, 1)[0] == 'x' || shift == 0, "a put wrote behind its end");
    }
  }
  std::printf("put with signal, get: %llu transfers\n", static_cast<unsigned long long>(round - 1));
}

// ------------------------------------------------------------------------------------------------ atomics

__global__ void add_everywhere(places at, uint64_t each) {
  outcome out{0, 0, 0, ggas_ok};
  for (uint64_t i = 0; i < each; ++i) {
    for (int n = 0; n < ggas_nodes(); ++n) {
      uint64_t old = 0;
      const ggas_status s = ggas_fetch_add(ggas_pointer_of_node<uint64_t>(n, at.base), uint64_t{1}, &old, timeout_ns);
      if (s != ggas_ok) out.status = s;
    }
  }
  own<outcome>(at.outcomes)[ggas::bench::global_thread()] = out;
}

void atomics(cuda_cluster& c, const places& at) {
  constexpr unsigned blocks = 16, threads = 128;
  constexpr uint64_t each = 50;
  for (int n = 0; n < c.nodes(); ++n) write(c, n, at.base, std::vector<uint64_t>{0});
  for (int n = 0; n < c.nodes(); ++n) start(c, n, blocks, threads, at.outcomes, add_everywhere, at, each);
  run(c, "add_everywhere");
  for (int n = 0; n < c.nodes(); ++n) {
    check_outcomes(c, n, at.outcomes, blocks * threads, "fetch_add");
    const uint64_t sum = read<uint64_t>(c, n, at.base, 1)[0];
    const uint64_t want = each * blocks * threads * static_cast<uint64_t>(c.nodes());
    check(sum == want, "fetch_add: " + std::to_string(sum) + " instead of " + std::to_string(want));
  }
  std::printf("fetch_add: %llu on each of %d words\n",
              static_cast<unsigned long long>(each * blocks * threads * static_cast<uint64_t>(c.nodes())), c.nodes());
}

// ------------------------------------------------------------------------------------------------ collectives

void barriers(cuda_cluster& c, const places& at, unsigned blocks) {
  const ggas::bench::barrier_args a{at.base, at.outcomes, at.samples, 1000, 50, timeout_ns};
  for (int n = 0; n < c.nodes(); ++n) start(c, n, blocks, 128, at.outcomes, ggas::bench::barrier_loop, a);
  run(c, "barrier_loop");
  for (int n = 0; n < c.nodes(); ++n) check_outcomes(c, n, at.outcomes, blocks * 128, "barrier");
  std::printf("barrier, %2u blocks a GPU, %d GPUs: median %llu ns\n", blocks, c.nodes(),
              static_cast<unsigned long long>(median(read<uint64_t>(c, 0, at.samples, a.rounds))));
}

void reductions(cuda_cluster& c, const places& at, uint64_t elements, int method) {
  const ggas::bench::reduce_args a{at.data,    at.copy, elements, at.outcomes, at.samples, 200, at.copy + (8 << 20),
                                   timeout_ns, method};
  std::vector<float> sums(elements, 0.0f);
  for (int n = 0; n < c.nodes(); ++n) {
    std::vector<float> in(elements);
    for (uint64_t i = 0; i < elements; ++i) in[i] = static_cast<float>((i + static_cast<uint64_t>(n)) % 17);
    for (uint64_t i = 0; i < elements; ++i) sums[i] += in[i];
    write(c, n, a.input, in);
  }
  for (int n = 0; n < c.nodes(); ++n) write(c, n, a.expected, sums);
  for (int n = 0; n < c.nodes(); ++n) start(c, n, 1, 512, at.outcomes, ggas::bench::reduce_loop, a);
  run(c, "reduce_loop");
  for (int n = 0; n < c.nodes(); ++n) check_outcomes(c, n, at.outcomes, 512, "allreduce");
  std::printf("allreduce %6llu floats, %s: median %llu ns\n", static_cast<unsigned long long>(elements),
              method == ggas_gather ? "gather    " : "all-gather",
              static_cast<unsigned long long>(median(read<uint64_t>(c, 0, at.samples, a.rounds))));
}

// ------------------------------------------------------------------------------------------------ time-outs

__global__ void wait_in_vain(places at) {
  outcome out{0, 0, 0, 0};
  out.begin_ns = ggas::bench::time_ns();
  out.status = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, ~uint64_t{7}, 1'000'000);
  out.end_ns = ggas::bench::time_ns();
  if (ggas_barrier_block(1'000'000) != ggas_timed_out && ggas_nodes() > 1) out.errors = 1;
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

void time_outs(cuda_cluster& c, const places& at) {
  start(c, 0, 1, 64, at.outcomes, wait_in_vain, at);
  run(c, "wait_in_vain");
  for (const outcome& o : read<outcome>(c, 0, at.outcomes, 64)) {
    check(o.status == ggas_timed_out && o.errors == 0, "a wait in vain did not time out");
    check(o.end_ns - o.begin_ns >= 1'000'000, "a time-out came early");
  }
  std::printf("time-outs\n");
}

}  // namespace

int main(int argc, char** argv) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: skipped\n");
    return 77;
  }
  std::string why;
  auto c = cuda_cluster::create({argc > 1 ? std::atoi(argv[1]) : 0, 64u << 20}, why);
  if (!c) {
    std::printf("FAILED: %s\n", why.c_str());
    return 1;
  }
  for (int n = 0; n < c->nodes(); ++n) {
    cudaSetDevice(c->device(n));
    if (cudaError_t e = ggas::set_device_context(c->device_context(n), c->stream(n)); e != cudaSuccess)
      check(false, cudaGetErrorName(e));
  }
  run(*c, "contexts");
  const places at(c->device_context(0).reserved);
  if (c->nodes() > 1) {
    for (unsigned threads : {1u, 32u, 512u}) ping_pong(*c, at, threads);
    transfers(*c, at);
  }
  atomics(*c, at);
  for (unsigned blocks : {1u, 16u}) barriers(*c, at, blocks);
  for (uint64_t elements : {1u, 64u, 1024u, 16384u})
    for (int method : {ggas_gather, ggas_all_gather}) reductions(*c, at, elements, method);
  time_outs(*c, at);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
