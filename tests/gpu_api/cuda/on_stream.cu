// SPDX-License-Identifier: Apache-2.0
// On-stream calls on GPUs: captured into graphs that run again and again, mixed with collectives in kernels, large
// transfers, status words in memory of the host, time-outs.
#include "ggas/on_stream.cuh"

#include <chrono>

#include "tests/gpu_api/cuda/rig.hpp"

namespace ggas::gpu_test {
namespace {

// Words at places::base.
enum word : uint64_t { rounds, wrong, status, arrived, taken, back, back_taken, words };

class on_stream : public rig {
 protected:
  uint64_t* word_of(int node, word w) { return reinterpret_cast<uint64_t*>(segment(node) + at.base) + w; }
  global_ptr<uint64_t> word_at(int node, word w) const { return {node, at.base + w * sizeof(uint64_t)}; }
  template <class T>
  T* local(int node, uint64_t offset) {
    return reinterpret_cast<T*>(segment(node) + offset);
  }
  stream_report report(int node) { return {timeout_ns, word_of(node, status)}; }
  static int next(int n) { return (n + 1) % nodes(); }
  static int before(int n) { return (n + nodes() - 1) % nodes(); }
  void expect_words(word w, uint64_t want) {
    for (int n = 0; n < nodes(); ++n) EXPECT_EQ(read<uint64_t>(n, at.base, words)[w], want) << "node " << n;
  }

  // A graph of every node's work, launched `times` times.
  template <class F>
  void replay(unsigned times, F queue) {
    std::vector<cudaGraphExec_t> graphs;
    for (int n = 0; n < nodes(); ++n) {
      ok(cudaSetDevice(machine().device(n)), "device");
      cudaGraph_t graph{};
      ok(cudaStreamBeginCapture(machine().cuda_stream(n), cudaStreamCaptureModeThreadLocal), "capture");
      queue(n);
      ok(cudaStreamEndCapture(machine().cuda_stream(n), &graph), "capture");
      ok(cudaGraphInstantiate(&graphs.emplace_back(), graph, 0), "instantiate");
      ok(cudaGraphUpload(graphs.back(), machine().cuda_stream(n)), "upload");
      ok(cudaGraphDestroy(graph), "graph");
    }
    run("upload");
    for (unsigned i = 0; i < times; ++i) {
      for (int n = 0; n < nodes(); ++n) {
        ok(cudaSetDevice(machine().device(n)), "device");
        ok(cudaGraphLaunch(graphs[static_cast<size_t>(n)], machine().cuda_stream(n)), "launch");
      }
    }
    run("graphs");
    for (cudaGraphExec_t g : graphs) ok(cudaGraphExecDestroy(g), "graph");
  }
};

constexpr uint64_t vector = 3000;  // floats

__device__ uint64_t& my_word(const places& at, word w) { return own<uint64_t>(at.base)[w]; }

// Vectors of a round: what a node gives, and what must come of it.
__device__ float given(uint64_t round, int node, uint64_t i) {
  return static_cast<float>((round + static_cast<uint64_t>(node) * 17 + i) % 513);
}

__global__ void give(places at) {
  if (threadIdx.x == 0) ++my_word(at, rounds);
  __syncthreads();
  const uint64_t round = my_word(at, rounds);
  for (uint64_t i = threadIdx.x; i < vector; i += blockDim.x) own<float>(at.data)[i] = given(round, ggas_node(), i);
}

__global__ void expect_sums(places at) {
  for (uint64_t i = threadIdx.x; i < vector; i += blockDim.x) {
    float sum = 0;
    for (int n = 0; n < ggas_nodes(); ++n) sum += given(my_word(at, rounds), n, i);
    if (own<float>(at.copy)[i] != sum) detail::add_gpu(&my_word(at, wrong), 1);
  }
}

__global__ void expect_neighbour(places at) {
  const int from = (ggas_node() + ggas_nodes() - 1) % ggas_nodes();
  for (uint64_t i = threadIdx.x; i < vector; i += blockDim.x)
    if (own<float>(at.copy)[i] != given(my_word(at, rounds), from, i)) detail::add_gpu(&my_word(at, wrong), 1);
}

__global__ void in_kernel_max(places at) {
  float* const v = own<float>(at.copy);
  const ggas_status s = ggas_allreduce_block(v, v, vector, ggas_max, ggas_auto, timeout_ns);
  if (threadIdx.x == 0 && s != ggas_ok) my_word(at, status) = s;
}

TEST_F(on_stream, GraphsRunAgainAndAgain) {
  const unsigned times = rounds_of(1000);
  replay(times, [&](int n) {
    float *const in = local<float>(n, at.data), *const out = local<float>(n, at.copy);
    ok(ggas::launch(machine(), n, 1, 512, give, at), "give");
    ok(allreduce_on_stream(machine(), n, out, in, vector, ggas_sum, report(n)), "allreduce");
    ok(ggas::launch(machine(), n, 1, 256, in_kernel_max, at), "allreduce in a kernel");
    ok(ggas::launch(machine(), n, 1, 512, expect_sums, at), "expect");
    ok(barrier_on_stream(machine(), n, report(n)), "barrier");
    ok(put_signal_on_stream(machine(), n, global_ptr<float>(next(n), at.copy), in, vector, word_at(next(n), arrived), 1,
                            ggas_signal_add, report(n)),
       "put");
    ok(signal_take_on_stream(machine(), n, word_of(n, arrived), word_of(n, taken), 1, report(n)), "take");
    ok(ggas::launch(machine(), n, 1, 512, expect_neighbour, at), "expect");
    ok(sync_on_stream(machine(), n, report(n)), "sync");
  });
  expect_words(rounds, times);
  expect_words(wrong, 0);
  expect_words(status, ggas_ok);
  expect_words(taken, times);
}

// ---- sizes: one block, a cluster, the copy engine; addresses that are not multiples of 16

__global__ void fill_bytes(places at, uint64_t shift, uint64_t bytes, uint64_t seed) {
  for (uint64_t i = bench::global_thread(); i < bytes; i += bench::global_threads())
    own<char>(at.data + shift)[i] = static_cast<char>(pattern(seed, static_cast<uint64_t>(ggas_node()), i));
}
__global__ void expect_bytes(places at, uint64_t shift, uint64_t bytes, uint64_t seed, int from) {
  ggas_after_stream();
  for (uint64_t i = bench::global_thread(); i < bytes; i += bench::global_threads())
    if (own<char>(at.copy + shift)[i] != static_cast<char>(pattern(seed, static_cast<uint64_t>(from), i)))
      detail::add_gpu(&my_word(at, wrong), 1);
}

TEST_F(on_stream, PutWithSignalOfEverySize) {
  uint64_t seed = 0;
  for (const uint64_t bytes : {1u, 8u, 1000u, 8191u, 8192u, 40000u, 98304u, 1u << 20, 5u << 20, 17u << 20}) {
    for (const uint64_t shift : {0u, 3u}) {
      ++seed;
      for (int n = 0; n < nodes(); ++n) {
        ok(ggas::launch(machine(), n, 64, 256, fill_bytes, at, 2 * shift, bytes, seed), "fill");
        ok(put_signal_on_stream(machine(), n, global_ptr<char>(next(n), at.copy + shift),
                                local<char>(n, at.data + 2 * shift), bytes, word_at(next(n), arrived), seed,
                                ggas_signal_set, report(n)),
           "put");
        ok(signal_wait_on_stream(machine(), n, word_of(n, arrived), ggas_ge, seed, report(n)), "wait");
        ok(ggas::launch(machine(), n, 64, 256, expect_bytes, at, shift, bytes, seed, before(n)), "expect");
        // The next round may write here.
        ok(sync_on_stream(machine(), n, report(n)), "sync");
      }
      run("put with signal of " + std::to_string(bytes) + " bytes");
      expect_words(wrong, 0);
      expect_words(status, ggas_ok);
    }
  }
}

TEST_F(on_stream, PutAndGetOfTheCopyEngine) {
  const uint64_t bytes = (3u << 20) + 5;
  for (int n = 0; n < nodes(); ++n) ok(ggas::launch(machine(), n, 64, 256, fill_bytes, at, 0, bytes, 7), "fill");
  run("fill");
  for (int n = 0; n < nodes(); ++n) {
    ok(put_on_stream(machine(), n, global_ptr<char>(next(n), at.copy), local<char>(n, at.data), bytes, report(n)),
       "put");
    ok(barrier_on_stream(machine(), n, report(n)), "barrier");
    ok(ggas::launch(machine(), n, 64, 256, expect_bytes, at, 0, bytes, 7, before(n)), "expect");
    ok(get_on_stream(machine(), n, local<char>(n, at.copy), global_ptr<char>(next(n), at.data), bytes, report(n)),
       "get");
    ok(ggas::launch(machine(), n, 64, 256, expect_bytes, at, 0, bytes, 7, next(n)), "expect");
  }
  run("put and get");
  expect_words(wrong, 0);
  expect_words(status, ggas_ok);
}

// Copies and kernels by turns in one graph: a kernel that may be loaded early waits for the copy before it all the
// same.
TEST_F(on_stream, GraphsOfCopiesAndKernels) {
  const uint64_t bytes = (17u << 20) + 3;
  const unsigned times = rounds_of(5);
  for (int n = 0; n < nodes(); ++n) ok(ggas::launch(machine(), n, 64, 256, fill_bytes, at, 0, bytes, 11), "fill");
  run("fill");
  replay(times, [&](int n) {
    ok(put_signal_on_stream(machine(), n, global_ptr<char>(next(n), at.copy), local<char>(n, at.data), bytes,
                            word_at(next(n), arrived), 1, ggas_signal_add, report(n)),
       "put with signal");
    ok(signal_take_on_stream(machine(), n, word_of(n, arrived), word_of(n, taken), 1, report(n)), "take");
    ok(launch_dependent(machine(), n, 64, 256, expect_bytes, at, 0, bytes, 11, before(n)), "expect");
    ok(cudaMemsetAsync(local<char>(n, at.copy), 0, bytes, machine().cuda_stream(n)), "clear");
    ok(get_on_stream(machine(), n, local<char>(n, at.copy), global_ptr<char>(next(n), at.data), bytes, report(n)),
       "get");
    ok(launch_dependent(machine(), n, 64, 256, expect_bytes, at, 0, bytes, 11, next(n)), "expect");
    ok(cudaMemsetAsync(local<char>(n, at.copy), 0, bytes, machine().cuda_stream(n)), "clear");
    ok(sync_on_stream(machine(), n, report(n)), "sync");
  });
  expect_words(wrong, 0);
  expect_words(status, ggas_ok);
  expect_words(taken, times);
}

// ---- collectives

TEST_F(on_stream, CollectivesThatMoveData) {
  constexpr uint64_t n_all = 5000;  // elements of each node and destination
  const auto all = static_cast<uint64_t>(nodes());
  for (int n = 0; n < nodes(); ++n) {
    std::vector<float> v(n_all * all);
    for (uint64_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(pattern(3, static_cast<uint64_t>(n), i) % 1024);
    write(n, at.data, v);
  }
  const uint64_t broadcasted = at.copy, gathered = broadcasted + (1u << 20), exchanged = broadcasted + (2u << 20),
                 reduced = broadcasted + (3u << 20);
  for (int n = 0; n < nodes(); ++n) {
    const float* const in = local<float>(n, at.data);
    ok(broadcast_on_stream(machine(), n, local<float>(n, broadcasted), in, n_all, nodes() - 1, report(n)), "broadcast");
    ok(allgather_on_stream(machine(), n, local<float>(n, gathered), in, n_all, report(n)), "allgather");
    ok(alltoall_on_stream(machine(), n, local<float>(n, exchanged), in, n_all, report(n)), "alltoall");
    ok(reduce_on_stream(machine(), n, local<float>(n, reduced), in, n_all, ggas_max, 0, report(n)), "reduce");
  }
  run("collectives");
  expect_words(status, ggas_ok);
  const auto value = [&](uint64_t node, uint64_t i) { return static_cast<float>(pattern(3, node, i) % 1024); };
  for (int n = 0; n < nodes(); ++n) {
    const auto c = read<float>(n, broadcasted, n_all), g = read<float>(n, gathered, n_all * all),
               x = read<float>(n, exchanged, n_all * all), r = read<float>(n, reduced, n_all);
    for (uint64_t i = 0; i < n_all; ++i) {
      ASSERT_EQ(c[i], value(all - 1, i)) << "broadcast, node " << n;
      float most = 0;
      for (uint64_t k = 0; k < all; ++k) {
        most = std::max(most, value(k, i));
        ASSERT_EQ(g[k * n_all + i], value(k, i)) << "allgather, node " << n;
        ASSERT_EQ(x[k * n_all + i], value(k, static_cast<uint64_t>(n) * n_all + i)) << "alltoall, node " << n;
      }
      if (n == 0) ASSERT_EQ(r[i], most) << "reduce";
    }
  }
}

// ---- failures

TEST_F(on_stream, AWaitThatTimesOutIsReportedToTheHost) {
  uint64_t* reported = nullptr;
  ok(cudaHostAlloc(&reported, sizeof *reported, cudaHostAllocMapped), "host memory");
  *reported = ggas_ok;
  constexpr uint64_t brief = 20'000'000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i)
    ok(signal_wait_on_stream(machine(), 0, word_of(0, arrived), ggas_ge, 1, {brief, reported}), "wait");
  run("waits that time out");
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(*reported, ggas_timed_out);
  EXPECT_GE(took.count(), brief);
  EXPECT_LT(took.count(), 25 * brief) << "waits behind a failure must end at once";
  ok(cudaFreeHost(reported), "host memory");
}

TEST_F(on_stream, BadPlacesAreReported) {
  const uint64_t end = machine().device_context(0).segment_bytes;
  const float* const mine = local<float>(0, at.data);
  EXPECT_TRUE(refused(put_on_stream(machine(), 0, global_ptr<float>(0, end - 8), mine, 3, report(0))));
  EXPECT_TRUE(refused(put_on_stream(machine(), 0, global_ptr<float>(nodes(), 0), mine, 3, report(0))));
  const auto get = [&](float* to, const global_ptr<float>& from, size_t n) {
    return get_on_stream(machine(), 0, to, from, n, report(0));
  };
  std::vector<float> elsewhere(3);  // not of the segment
  EXPECT_TRUE(refused(put_on_stream(machine(), 0, global_ptr<float>(0, at.copy), elsewhere.data(), 3, report(0))));
  EXPECT_TRUE(refused(put_on_stream(machine(), 0, global_ptr<float>(0, at.copy), mine, ~size_t{0} / 4 + 2, report(0))))
      << "bytes that wrap";
  EXPECT_TRUE(refused(get(elsewhere.data(), global_ptr<float>(0, at.copy), 3)));
  EXPECT_TRUE(refused(get(local<float>(0, end - 8), global_ptr<float>(0, at.copy), 3)));
  ok(get(nullptr, global_ptr<float>(0, at.copy), 0), "nothing to get");
  const auto put = [&](const global_ptr<float>& to, const float* from, const global_ptr<uint64_t>& signal) {
    return put_signal_on_stream(machine(), 0, to, from, 3, signal, 1, ggas_signal_set, report(0));
  };
  const global_ptr<float> there(0, at.copy);
  EXPECT_TRUE(refused(put(global_ptr<float>(0, end - 8), mine, word_at(0, arrived))));
  EXPECT_TRUE(refused(put(there, nullptr, word_at(0, arrived))));
  EXPECT_TRUE(refused(put(there, elsewhere.data(), word_at(0, arrived))));
  EXPECT_TRUE(refused(put(there, mine, global_ptr<uint64_t>(0, at.base + 4)))) << "a misaligned word";
  EXPECT_TRUE(refused(put(there, mine, global_ptr<uint64_t>(nodes(), at.base))));
  if (nodes() > 1) EXPECT_TRUE(refused(put(there, mine, word_at(1, arrived)))) << "the word of another node";
  run("bad puts");
  EXPECT_EQ(read<uint64_t>(0, at.base, words)[arrived], 0u);
}

// The same sums whatever the caller chooses.
TEST_F(on_stream, TheCallerMayChooseHow) {
  for (const ggas_method method :
       {ggas_auto, ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree}) {
    for (const stream_shape& shape :
         {stream_shape{0, 0, method}, stream_shape{1, 64, method}, stream_shape{5, 512, method}}) {
      for (int n = 0; n < nodes(); ++n) {
        ok(ggas::launch(machine(), n, 1, 512, give, at), "give");
        ok(allreduce_on_stream(machine(), n, local<float>(n, at.copy), local<float>(n, at.data), vector, ggas_sum,
                               report(n), shape),
           "allreduce");
        ok(ggas::launch(machine(), n, 1, 512, expect_sums, at), "expect");
      }
      run("allreduce");
      expect_words(status, ggas_ok);
      expect_words(wrong, 0);
    }
  }
}

// A stream of the user's in place of the cluster's.
TEST_F(on_stream, AStreamOfTheUser) {
  std::vector<cudaStream_t> mine;
  for (int n = 0; n < nodes(); ++n) {
    ok(cudaSetDevice(machine().device(n)), "device");
    ok(cudaStreamCreateWithFlags(&mine.emplace_back(), cudaStreamNonBlocking), "stream");
  }
  for (int n = 0; n < nodes(); ++n) write(n, at.data, std::vector<double>{1.5 * (n + 1)});
  for (int n = 0; n < nodes(); ++n) {
    const stream users = user_stream(n, mine[static_cast<size_t>(n)]);
    ok(allreduce_on_stream(machine(), users, local<double>(n, at.copy), local<double>(n, at.data), 1, ggas_sum,
                           report(n)),
       "allreduce");
  }
  for (cudaStream_t s : mine) ok(cudaStreamSynchronize(s), "wait");
  for (int n = 0; n < nodes(); ++n) EXPECT_EQ(read<double>(n, at.copy, 1)[0], 0.75 * nodes() * (nodes() + 1));
  expect_words(status, ggas_ok);
  for (cudaStream_t s : mine) ok(cudaStreamDestroy(s), "stream");
}

}  // namespace
}  // namespace ggas::gpu_test
