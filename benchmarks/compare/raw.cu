// SPDX-License-Identifier: Apache-2.0
// Bare CUDA on the GPUs of this computer: the limits that the figures of GGAS, NVSHMEM and NCCL are judged by. One
// process drives all GPUs. Prints a record a line, variant `raw`.
//
//   compare_raw [GPUs]      0 or nothing: all of them
#include <algorithm>
#include <functional>
#include <vector>

#include "benchmarks/compare/figure.hpp"
#include "benchmarks/compare/raw.cuh"

namespace ggas::compare {

namespace {

constexpr uint64_t data_bytes = uint64_t{1} << 30;
constexpr int log2_words = 27;  // of a GPU's table: the same memory

struct gpu {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  outcome* found;
  char* source;
};

class rig {
 public:
  explicit rig(int count) : gpus_(static_cast<size_t>(count)) {
    all_.count = count;
    for (int i = 0; i < count; ++i) open(i);
    from_ = origin_of(count);
  }

  int count() const { return all_.count; }
  const origin& from() const { return from_; }
  gpu& at(int i) { return gpus_[static_cast<size_t>(i)]; }
  peers seen_by(int i) const {
    peers p = all_;
    p.me = i;
    return p;
  }
  // The last number that flags may hold; they only grow.
  uint64_t next_base(uint64_t used) { return (base_ += used) - used; }

  void synchronize() {
    for (int i = 0; i < count(); ++i) {
      COMPARE_CUDA(cudaSetDevice(i));
      COMPARE_CUDA(cudaStreamSynchronize(at(i).stream));
    }
  }
  // Starts work on the first `used` GPUs and returns the longest time in ns of their streams.
  double time(int used, const std::function<void(int)>& start) {
    synchronize();
    for (int i = 0; i < used; ++i) {
      COMPARE_CUDA(cudaSetDevice(i));
      COMPARE_CUDA(cudaEventRecord(at(i).begin, at(i).stream));
      start(i);
      COMPARE_CUDA(cudaGetLastError());
      COMPARE_CUDA(cudaEventRecord(at(i).end, at(i).stream));
    }
    synchronize();
    float longest = 0;
    for (int i = 0; i < used; ++i) {
      float ms = 0;
      COMPARE_CUDA(cudaEventElapsedTime(&ms, at(i).begin, at(i).end));
      longest = std::max(longest, ms);
    }
    return 1e6 * longest;
  }
  // The longest time in ns that a kernel found; the process ends if one gave up.
  double found(int used, const char* what) {
    uint64_t longest = 0;
    for (int i = 0; i < used; ++i) {
      longest = std::max(longest, at(i).found->ns);
      if (at(i).found->failed == 0) continue;
      std::fprintf(stderr, "%s: GPU %d gave up waiting\n", what, i);
      std::exit(1);
    }
    return static_cast<double>(longest);
  }

 private:
  void open(int i) {
    COMPARE_CUDA(cudaSetDevice(i));
    for (int peer = 0; peer < count(); ++peer)
      if (peer != i) COMPARE_CUDA(cudaDeviceEnablePeerAccess(peer, 0));
    gpu& g = at(i);
    COMPARE_CUDA(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    COMPARE_CUDA(cudaEventCreate(&g.begin));
    COMPARE_CUDA(cudaEventCreate(&g.end));
    COMPARE_CUDA(cudaMallocHost(&g.found, sizeof(outcome)));
    COMPARE_CUDA(cudaMalloc(&g.source, data_bytes));
    COMPARE_CUDA(cudaMalloc(&all_.data[i], data_bytes));
    COMPARE_CUDA(cudaMalloc(&all_.flags[i], 4096));
    COMPARE_CUDA(cudaMemset(g.source, 0, data_bytes));
    COMPARE_CUDA(cudaMemset(all_.data[i], 0, data_bytes));
    COMPARE_CUDA(cudaMemset(all_.flags[i], 0, 4096));
    COMPARE_CUDA(cudaDeviceSynchronize());
  }

  std::vector<gpu> gpus_;
  peers all_{};
  origin from_;
  uint64_t base_ = 0;
};

// A warm-up, then a sample of `once` for each repetition.
std::vector<double> repeat(const std::function<double()>& once) {
  once();
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i) samples.push_back(once());
  return samples;
}

// Half a round trip through the flags of a line of 128 bytes, in ns.
template <bool ordered>
double pingpong(rig& r, int line, uint64_t rounds) {
  const uint64_t base = r.next_base(rounds + 1);
  r.time(2, [&](int i) {
    const peers p = r.seen_by(i);
    uint64_t *mine = p.flags[i] + 16 * line, *theirs = p.flags[1 - i] + 16 * line;
    raw_pingpong<ordered><<<1, 1, 0, r.at(i).stream>>>(mine, theirs, i == 0, rounds, base, r.at(i).found);
  });
  return r.found(2, "ping-pong") / (2 * static_cast<double>(rounds));
}

// The time depends on which part of the L2 cache holds the flag, so the fastest of 32 lines is measured too.
int fastest_line(rig& r) {
  std::vector<double> times;
  for (int line = 0; line < 32; ++line) times.push_back(pingpong<false>(r, line, 200));
  return static_cast<int>(std::min_element(times.begin(), times.end()) - times.begin());
}

template <bool ordered>
void pingpongs(rig& r, int line, const char* method) {
  print(r.from(), {"store_latency",
                   "raw",
                   "half_round_trip",
                   "ns",
                   {{"threads", 1}, {"bytes", 8}, {"method", 0, method}},
                   repeat([&] { return pingpong<ordered>(r, line, 2000); })});
}

template <fencing fence>
void exchange(rig& r, int threads, const char* method) {
  constexpr uint64_t rounds = 2000;
  auto once = [&] {
    const uint64_t base = r.next_base(rounds + 1);
    r.time(r.count(), [&](int i) {
      raw_exchange<fence><<<1, threads, 0, r.at(i).stream>>>(r.seen_by(i), rounds, base, r.at(i).found);
    });
    return r.found(r.count(), "flag exchange") / rounds;
  };
  print(r.from(), {"barrier", "raw", "latency", "ns", {{"threads", threads}, {"method", 0, method}}, repeat(once)});
}

using copy = std::function<void(int from, int to, uint64_t offset, uint64_t bytes)>;

// Bandwidth of a GPU that sends: GPU 0 to GPU 1, and every GPU to all others, a part each.
void bandwidth(rig& r, int64_t blocks, const char* method, const copy& start) {
  auto pair = [&] { return 1e9 * data_bytes / r.time(1, [&](int) { start(0, 1, 0, data_bytes); }); };
  const uint64_t part = data_bytes / static_cast<uint64_t>(r.count()) / bulk_bytes * bulk_bytes;
  auto every = [&] {
    const double ns = r.time(r.count(), [&](int i) {
      for (int k = 1; k < r.count(); ++k) start(i, (i + k) % r.count(), static_cast<uint64_t>(i) * part, part);
    });
    return 1e9 * static_cast<double>(part) * (r.count() - 1) / ns;
  };
  for (const bool all : {false, true}) {
    print(r.from(), {"put_bandwidth",
                     "raw",
                     "bandwidth",
                     "B/s",
                     {{"bytes", data_bytes},
                      {"blocks", blocks},
                      {"connections", all ? r.count() * (r.count() - 1) : 1},
                      {"method", 0, method}},
                     all ? repeat(every) : repeat(pair)});
  }
}

void bandwidths(rig& r) {
  int sms = 0;
  COMPARE_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  auto target = [&](int to, uint64_t offset) { return r.seen_by(0).data[to] + offset; };
  for (const int blocks : {8, 16, 32, sms}) {
    const auto grid = static_cast<unsigned>(blocks);
    bandwidth(r, blocks, "stores", [&](int from, int to, uint64_t offset, uint64_t bytes) {
      raw_stores<<<grid, 1024, 0, r.at(from).stream>>>(reinterpret_cast<const uint4*>(r.at(from).source + offset),
                                                       reinterpret_cast<uint4*>(target(to, offset)), bytes / 16);
    });
    bandwidth(r, blocks, "bulk", [&](int from, int to, uint64_t offset, uint64_t bytes) {
      raw_bulk<<<grid, 128, bulk_bytes, r.at(from).stream>>>(target(to, offset), bytes);
    });
  }
  bandwidth(r, 0, "copy_engine", [&](int from, int to, uint64_t offset, uint64_t bytes) {
    COMPARE_CUDA(cudaMemcpyAsync(target(to, offset), r.at(from).source + offset, bytes, cudaMemcpyDeviceToDevice,
                                 r.at(from).stream));
  });
}

// Updates a second of all GPUs together. Local: every GPU on its own table.
template <bool system>
void updates(rig& r, bool local, const char* method) {
  constexpr uint64_t each = uint64_t{1} << 27;
  auto once = [&] {
    const double ns = r.time(r.count(), [&](int i) {
      raw_updates<system>
          <<<1056, 256, 0, r.at(i).stream>>>(r.seen_by(i), local ? i : 0, local ? 1 : r.count(), log2_words, each);
    });
    constexpr uint64_t done = each / (1056 * 256) * (1056 * 256);
    return 1e9 * static_cast<double>(done) * r.count() / ns;
  };
  print(r.from(), {"random_access",
                   "raw",
                   "updates",
                   "1/s",
                   {{"elements", r.count() * (int64_t{1} << log2_words)}, {"method", 0, method}},
                   repeat(once)});
}

}  // namespace

}  // namespace ggas::compare

int main(int argc, char** argv) {
  using namespace ggas::compare;
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // loading a kernel may wait for one that waits for it
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::fprintf(stderr, "no GPU here\n");
    return 77;
  }
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
  if (wanted < 0 || wanted > gpus || gpus > most_gpus) {
    std::fprintf(stderr, "GPUs: 0 (all) ... %d, not %s\n", std::min(gpus, most_gpus), argv[1]);
    return 2;
  }
  rig r(wanted == 0 ? gpus : wanted);
  if (r.count() > 1) {
    pingpongs<false>(r, 0, "relaxed");
    pingpongs<false>(r, fastest_line(r), "relaxed_fastest_line");
    pingpongs<true>(r, 0, "ordered");
    for (const int threads : {32, 256}) {
      exchange<fencing::none>(r, threads, "sync");
      exchange<fencing::before>(r, threads, "barrier");
    }
    bandwidths(r);
    updates<true>(r, false, "atomic");
  }
  updates<false>(r, true, "local_atomic");
  return 0;
}
