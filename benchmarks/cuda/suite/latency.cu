// SPDX-License-Identifier: Apache-2.0
// store_latency, load_latency, put_latency, atomic_latency, notification on real GPUs.
#include "benchmarks/kernels/peer_latency.cuh"

#include <algorithm>

#include "benchmarks/cuda/rigs/rig.cuh"

namespace ggas::bench {

namespace {

using peer_kernel = void (*)(peer_args);

// What is measured at one point, and how a duration becomes a sample.
struct point {
  std::string variant, metric;
  std::vector<param> params;
  peer_kernel kernel;
  unsigned blocks, threads;
  uint64_t bytes;  // of data
  double share;    // of a round that is the sample
};

// Lines that a flag is tried in, each in another 4 KB: GPUs spread memory over the halves of their L2 in pieces of that
// size, and a multiprocessor is near to one half.
constexpr uint64_t line_step = 4096 + 128, lines = 32;

class latency_runs {
 public:
  explicit latency_runs(gpu_session& s) : s_(s) {}

  // The median of each window, in ns, with slots `shift` bytes further on.
  fault measure(const point& p, uint64_t windows, uint64_t rounds, uint64_t shift, std::vector<double>& samples) {
    layout_plan room(s_.data_offset());
    const uint64_t threads = uint64_t{p.blocks} * p.threads;
    peer_args a{};
    a.slots = room.place<char>(threads * sizeof(uint64_t) + lines * line_step) + shift;
    a.outcomes = room.place<outcome>(threads);
    a.samples = room.place<uint64_t>(windows);
    a.data = room.place<char>(6 * pingpong_room(p.bytes));
    a.bytes = p.bytes;
    a.windows = windows;
    a.rounds = rounds;
    a.seed = s_.seed();
    a.timeout_ns = s_.wait_ns();
    for (int node = 0; node < s_.nodes(); ++node) {
      s_.fill(node, a.slots, threads * sizeof(uint64_t), 0);
      if (p.bytes != 0) s_.fill(node, a.data, 6 * pingpong_room(p.bytes), 0);
    }
    clear_outcomes(s_, a.outcomes, threads);
    GGAS_GPU_TRY(s_.run(p.variant));  // no one stores into slots that are not clear yet
    launch_all(s_, p.blocks, p.threads, p.kernel, a);
    GGAS_GPU_TRY(s_.run(p.variant));
    const bool both = p.share == 0.5;  // the partner answers
    for (int node = 0; node + 1 < s_.nodes(); node += 2) {
      for (int n = node; n <= node + (both ? 1 : 0); ++n)
        GGAS_GPU_TRY(check_outcomes(s_, n, a.outcomes, threads, p.variant));
      const auto some = s_.samples(node, a.samples, windows, p.share / double(rounds));
      samples.insert(samples.end(), some.begin(), some.end());
    }
    return {};
  }

  fault emit(const point& p, uint64_t shift = 0) {
    std::vector<double> samples;
    if (p.bytes != 0) {  // windows of the one round that begins them: the data of each is looked at
      GGAS_GPU_TRY(measure(p, 2 * windows(), 0, shift, samples));
      samples.clear();
    }
    GGAS_GPU_TRY(measure(p, windows(), rounds_of(p.bytes), shift, samples));
    s_.emit({.variant = p.variant, .params = p.params, .metric = p.metric, .unit = "ns", .samples = samples});
    return {};
  }

  // The line of 32 whose round trips are the shortest. `each` gets the median of every line.
  fault nearest_line(const point& p, uint64_t& shift, std::vector<double>& each) {
    for (uint64_t l = 0; l < lines; ++l) {
      std::vector<double> some;
      GGAS_GPU_TRY(measure(p, 5, 40, l * line_step, some));
      std::nth_element(some.begin(), some.begin() + 2, some.end());
      each.push_back(some[2]);
    }
    shift = static_cast<uint64_t>(std::min_element(each.begin(), each.end()) - each.begin()) * line_step;
    return {};
  }

 private:
  uint64_t windows() const { return s_.opts().quick ? 20 : 50; }
  static uint64_t rounds_of(uint64_t bytes) { return bytes > 65536 ? 20 : 100; }
  gpu_session& s_;
};

}  // namespace

fault run_store_latency(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 4u << 20));
  latency_runs runs(s);
  for (const unsigned threads : {1u, 32u, 512u, 2048u, 8192u}) {
    const unsigned block = std::min(threads, 256u);
    const point p{"store",
                  "half_round_trip",
                  {{"threads", threads}, {"bytes", 8 * threads}},
                  store_count,
                  threads / block,
                  block,
                  0,
                  0.5};
    if (threads > 1) {
      GGAS_GPU_TRY(runs.emit(p));
      continue;
    }
    uint64_t nearest = 0;
    std::vector<double> each;
    GGAS_GPU_TRY(runs.nearest_line(p, nearest, each));
    GGAS_GPU_TRY(runs.emit(p, nearest));
    s.emit({.variant = "any_line", .params = p.params, .metric = p.metric, .unit = "ns", .samples = each});
  }
  return {};
}

fault run_load_latency(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 4u << 20));
  latency_runs runs(s);
  for (const unsigned threads : {1u, 32u, 512u}) {
    const unsigned block = std::min(threads, 256u);
    GGAS_GPU_TRY(runs.emit({"load",
                            "round_trip",
                            {{"threads", threads}, {"bytes", 8 * threads}},
                            load_chain,
                            threads / block,
                            block,
                            0,
                            1}));
  }
  return {};
}

fault run_put_latency(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 16u << 20));
  latency_runs runs(s);
  const auto ping_pongs = [&](const char* variant, peer_kernel kernel, const std::vector<uint64_t>& sizes) -> fault {
    for (const uint64_t bytes : sizes) {
      // One warp moves few bytes as fast as a block does. For more bytes the best block size depends on the length.
      for (const unsigned threads : bytes <= 512 ? std::vector<unsigned>{32} : std::vector<unsigned>{256, 512}) {
        const point p{variant,
                      "half_round_trip",
                      {{"bytes", bytes}, {"blocks", 1}, {"threads", threads}},
                      kernel,
                      1,
                      threads,
                      bytes,
                      0.5};
        GGAS_GPU_TRY(runs.emit(p));
      }
    }
    return {};
  };
  GGAS_GPU_TRY(ping_pongs("put_signal", put_signal_pingpong, {8, 64, 512, 4096, 32768, 262144, 1048576}));
  return ping_pongs("put_tagged", put_tagged_pingpong, {8, 64, 512, 4096, 16384, 32768});
}

fault run_atomic_latency(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 4u << 20));
  return latency_runs(s).emit({"fetch_add", "round", {{"bytes", 8}}, add_chain, 1, 1, 0, 1});
}

// The old ring lies where others have the data, which are zero at first.
fault run_notification(gpu_session& s) {
  static_assert(claimed_notes::bytes <= 6 * pingpong_room(8));
  GGAS_GPU_TRY(start(s, 4u << 20));
  latency_runs runs(s);
  const auto point_of = [](const char* variant, peer_kernel kernel) {
    return point{variant, "half_round_trip", {{"bytes", 8}, {"blocks", 1}, {"threads", 1}}, kernel, 1, 1, 8, 0.5};
  };
  GGAS_GPU_TRY(runs.emit(point_of("ring", notify_pingpong)));
  return runs.emit(point_of("claimed", claimed_pingpong));
}

}  // namespace ggas::bench
