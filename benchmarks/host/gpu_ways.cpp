// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/host/gpu_ways.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "benchmarks/host/must.hpp"
#include "benchmarks/host/table.hpp"

namespace ggas::host_bench {
namespace {

constexpr uint64_t gpu_timeout = 600'000'000'000;  // ns
constexpr uint32_t gpu = 0, host = 1;              // segments
constexpr size_t least = 8;

struct way {
  const char* name;
  ggas_gpu_way is;
};
constexpr std::array ways{way{"direct", GGAS_GPU_DIRECT}, way{"staged", GGAS_GPU_STAGED},
                          way{"hybrid", GGAS_GPU_HYBRID}};

class pair_of_gpus {
 public:
  pair_of_gpus(const std::string& module, size_t most) : most_(most) {
    must(ggas_process_start(&p_, gpu_timeout), "start");
    must(ggas_process_rank(p_, &rank_), "rank");
    uint32_t size = 0;
    must(ggas_process_size(p_, &size), "size");
    if (size != 2) throw failure("--gpu needs 2 ranks: ./ggas run -n 2 ggas-host-bench --gpu MODULE");
    must(ggas_gpu_open(p_, module.c_str(), -1, std::max(2 * most, size_t{64} << 20), gpu_timeout), "GPU");
    must(ggas_gpu_segment_create(p_, gpu, most, GGAS_GROUP_ALL, gpu_timeout), "segment of the GPU");
    must(ggas_segment_create(p_, host, most, GGAS_GROUP_ALL, gpu_timeout), "segment");
  }
  ~pair_of_gpus() { ggas_process_stop(p_); }
  pair_of_gpus(const pair_of_gpus&) = delete;

  bool sends() const { return rank_ == 0; }
  void meet() { must(ggas_group_barrier(p_, GGAS_GROUP_ALL, gpu_timeout), "barrier"); }
  void tune() { must(ggas_gpu_tune(p_, gpu, 1, nullptr), "tuner"); }
  uint64_t threshold() const { return limits().first; }
  uint64_t chunk() const { return limits().second; }

  // Nanoseconds from the call until the bytes are there.
  double time_of(ggas_gpu_way is, size_t bytes) {
    const ggas_part part{gpu, gpu, 0, 0, bytes};
    const uint64_t begin = now();
    must(ggas_gpu_write(p_, &part, 1, 0, is, gpu_timeout), "write");
    must(ggas_queue_wait(p_, 0, gpu_timeout), "wait");
    return double(now() - begin);
  }
  // Bytes of that seed on this GPU.
  void fill(unsigned seed) {
    for (size_t i = 0; i < most_; ++i) bytes()[i] = byte(i, seed);
    const ggas_part up{host, gpu, 0, 0, most_};
    must(ggas_queue_write(p_, &up, rank_, 0, gpu_timeout), "fill");
    must(ggas_queue_wait(p_, 0, gpu_timeout), "fill");
  }
  void check(size_t n, unsigned seed, const char* of) {
    const ggas_part down{host, gpu, 0, 0, most_};
    must(ggas_queue_read(p_, &down, rank_, 0, gpu_timeout), "check");
    must(ggas_queue_wait(p_, 0, gpu_timeout), "check");
    for (size_t i = 0; i < n; ++i)
      if (bytes()[i] != byte(i, seed))
        throw failure(std::string(of) + ": byte " + std::to_string(i) + " of " + std::to_string(n) + " is wrong");
  }

 private:
  static uint8_t byte(size_t i, unsigned seed) { return uint8_t(i * 31 + seed * 7 + (i >> 8)); }
  uint8_t* bytes() {
    void* at = nullptr;
    must(ggas_segment_pointer(p_, host, &at), "segment");
    return static_cast<uint8_t*>(at);
  }
  std::pair<uint64_t, uint64_t> limits() const {
    uint64_t threshold = 0, chunk = 0;
    must(ggas_gpu_limits(p_, &threshold, &chunk), "limits");
    return {threshold, chunk};
  }
  uint64_t now() {
    uint64_t ns = 0;
    must(ggas_process_time(p_, &ns), "time");
    return ns;
  }
  ggas_process* p_ = nullptr;
  uint32_t rank_ = 0;
  size_t most_;
};

double median_of(pair_of_gpus& two, ggas_gpu_way is, size_t bytes, bool quick) {
  std::vector<double> all(quick ? 3 : 11);
  two.time_of(is, bytes);  // pages
  for (double& t : all) t = two.time_of(is, bytes);
  std::ranges::sort(all);
  return all[all.size() / 2];
}

void row(pair_of_gpus& two, size_t bytes, bool quick, std::ofstream& json) {
  std::array<double, ways.size()> ns{};
  for (size_t w = 0; w < ways.size(); ++w) {
    const auto seed = unsigned(bytes % 251 + w);
    two.fill(two.sends() ? seed : ~seed);
    two.meet();
    if (two.sends()) ns[w] = median_of(two, ways[w].is, bytes, quick);
    two.meet();
    if (!two.sends()) two.check(bytes, seed, ways[w].name);
  }
  if (!two.sends()) return;
  const double ratio = ns[2] / std::min(ns[0], ns[1]);
  std::printf("%-10zu %14.3f %14.3f %14.3f %8.3f\n", bytes, ns[0] / 1000, ns[1] / 1000, ns[2] / 1000, ratio);
  if (!json.is_open()) return;
  for (size_t w = 0; w < ways.size(); ++w)
    json << nlohmann::json{{"benchmark", "gpu_write"},
                           {"variant", ways[w].name},
                           {"bytes", bytes},
                           {"unit", "ns"},
                           {"median", ns[w]}}
         << '\n';
}

}  // namespace

void measure_gpu_ways(const std::string& module, size_t most, bool quick, const std::string& json) {
  pair_of_gpus two(module, most);
  results_file results(two.sends() ? json : "");
  std::ofstream& file = results.lines;
  if (two.sends()) {
    two.tune();
    std::printf("# write from GPU to GPU and wait, us, module %s; tuned: threshold %llu, chunk %llu bytes\n",
                module.c_str(), static_cast<unsigned long long>(two.threshold()),
                static_cast<unsigned long long>(two.chunk()));
    std::printf("%-10s %14s %14s %14s %8s\n", "# Size", "direct", "staged", "hybrid", "to best");
  }
  two.meet();
  for (size_t bytes = least; bytes <= most; bytes *= 2) row(two, bytes, quick, file);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw failure("standard output: not all could be written");
  if (file.is_open() && !file.flush()) throw failure(json + ": not all results could be written");
}

}  // namespace ggas::host_bench
