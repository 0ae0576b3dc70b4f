// SPDX-License-Identifier: Apache-2.0
// store_bandwidth, load_bandwidth, put_bandwidth, get_bandwidth, message_rate on real GPUs.
#include "benchmarks/kernels/bandwidth.cuh"

#include <algorithm>

#include "benchmarks/cuda/rig.cuh"
#include "benchmarks/kernels/peer_rates.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t gigabyte = 1u << 30, places_bytes = 1u << 20;
constexpr unsigned copy_threads = 512;

// Where things are in every segment: outcomes and a counter, then a buffer to move from and one to move to.
struct rate_places {
  uint64_t outcomes, counter, here, there;
  explicit rate_places(gpu_session& s) {
    layout_plan room(s.data_offset());
    outcomes = room.place<outcome>(places_bytes / 2 / sizeof(outcome));
    counter = room.place<uint64_t>(1);
    here = room.place<char>(gigabyte);
    there = room.place<char>(gigabyte);
  }
  static constexpr uint64_t bytes = places_bytes + 2 * gigabyte;
};

// Seconds from the first block's begin to the last one's end, on each first node of a pair.
template <class Args>
fault timed(gpu_session& s, const std::string& what, unsigned blocks, unsigned threads, void (*kernel)(Args),
            const Args& a, std::vector<double>& seconds) {
  clear_outcomes(s, a.outcomes, blocks);
  launch_all(s, blocks, threads, kernel, a);
  GGAS_GPU_TRY(s.run(what));
  for (int node = 0; node + 1 < s.nodes(); node += 2) {
    outcome all{};
    GGAS_GPU_TRY(check_outcomes(s, node, a.outcomes, blocks, what, &all));
    seconds.push_back(double(all.end_ns - all.begin_ns) * 1e-9);
  }
  return {};
}

// The first bytes, some in the middle and the last ones of what was copied.
fault check_copy(gpu_session& s, const std::string& what, int from, uint64_t at, int to, uint64_t copy,
                 uint64_t bytes) {
  for (const uint64_t place : {uint64_t{0}, bytes / 2 / 16 * 16, bytes - 16}) {
    if (s.read<uint64_t>(from, at + place, 2) != s.read<uint64_t>(to, copy + place, 2))
      return {what + ": wrong data at byte " + std::to_string(place)};
  }
  return {};
}

template <class Args>
fault bandwidth_point(gpu_session& s, const char* variant, unsigned blocks, void (*kernel)(Args), const Args& a,
                      uint64_t bytes, const rate_places& at, bool toward_partner, uint64_t from, uint64_t to) {
  const std::string what = std::string(variant) + ", " + std::to_string(blocks) + " blocks";
  std::vector<double> samples;
  for (int run = 0; run <= s.runs(); ++run) {
    for (int node = 0; node < s.nodes(); ++node) {
      s.fill(node, from, bytes, run + 1 + node);
      s.fill(node, at.counter, sizeof(uint64_t), 0);
    }
    GGAS_GPU_TRY(s.run(what));  // all buffers are filled
    std::vector<double> seconds;
    GGAS_GPU_TRY(timed(s, what, blocks, copy_threads, kernel, a, seconds));
    GGAS_GPU_TRY(check_copy(s, what, toward_partner ? 0 : 1, from, toward_partner ? 1 : 0, to, bytes));
    for (const double t : seconds) {
      if (run > 0) samples.push_back(double(bytes) / t);  // the first one warms up
    }
  }
  s.emit({.variant = variant,
          .params = {{"bytes", bytes}, {"blocks", blocks}, {"threads", copy_threads}, {"method", "kernel"}},
          .metric = "bandwidth",
          .unit = "B/s",
          .samples = samples,
          .limit = s.limits().link_ceiling()});
  return {};
}

// By the number of multiprocessors that take part: a block each.
template <class F>
fault by_blocks(gpu_session& s, F point) {
  const auto all = static_cast<unsigned>(s.limits().multiprocessors);
  std::vector<unsigned> counts = {1, 2, 4, 8, 12, 16, 32, 64};
  if (s.opts().quick) counts = {1, 8, 16};
  counts.push_back(all);
  for (const unsigned blocks : counts) {
    if (blocks <= all) GGAS_GPU_TRY(point(blocks));
  }
  return {};
}

uint64_t bytes_for(unsigned blocks) { return blocks < 8 ? gigabyte / 8 : gigabyte; }

fault grid_copies(gpu_session& s, const char* variant, void (*kernel)(rate_args), bool put) {
  GGAS_GPU_TRY(start(s, rate_places::bytes));
  const rate_places at(s);
  return by_blocks(s, [&](unsigned blocks) {
    const uint64_t bytes = bytes_for(blocks);
    const rate_args a{at.here, at.there, bytes, 0, at.outcomes, s.wait_ns()};
    return bandwidth_point(s, variant, blocks, kernel, a, bytes, at, put, put ? at.here : at.there,
                           put ? at.there : at.here);
  });
}

fault word_copies(gpu_session& s, const char* variant, void (*kernel)(copy_args), bool store) {
  GGAS_GPU_TRY(start(s, rate_places::bytes));
  const rate_places at(s);
  return by_blocks(s, [&](unsigned blocks) {
    const uint64_t bytes = gigabyte / 8;
    const copy_args a{at.here, at.there, bytes / 8, at.counter, at.outcomes};
    return bandwidth_point(s, variant, blocks, kernel, a, bytes, at, store, at.here, at.there);
  });
}

struct rate_point {
  const char* variant;
  const char* metric;
  void (*kernel)(rate_args);
  uint64_t bytes;    // of a message, or the distance of two words
  bool each_thread;  // sends; else each warp
};

fault rate_of(gpu_session& s, const rate_places& at, const rate_point& p, unsigned blocks) {
  const unsigned threads = 512;
  const uint64_t senders = uint64_t{blocks} * threads / (p.each_thread ? 1 : 32);
  const uint64_t count =
      std::min<uint64_t>(p.bytes == 0 ? 16 : 1000, gigabyte / std::max<uint64_t>(p.bytes, 1) / senders);
  const rate_args a{at.here, at.there, p.bytes, count, at.outcomes, s.wait_ns()};
  std::vector<double> samples;
  for (int run = 0; run <= s.runs(); ++run) {
    std::vector<double> seconds;
    GGAS_GPU_TRY(timed(s, p.variant, blocks, threads, p.kernel, a, seconds));
    for (const double t : seconds) {
      if (run > 0) samples.push_back(double(senders * count) / t);
    }
  }
  s.emit({.variant = p.variant,
          .params = {{"bytes", p.bytes}, {"blocks", blocks}, {"threads", threads}},
          .metric = p.metric,
          .unit = "1/s",
          .samples = samples});
  return {};
}

}  // namespace

fault run_store_bandwidth(gpu_session& s) { return word_copies(s, "store", store_copy, true); }
fault run_load_bandwidth(gpu_session& s) { return word_copies(s, "load", load_copy, false); }
fault run_put_bandwidth(gpu_session& s) { return grid_copies(s, "put", put_by_grid, true); }
fault run_get_bandwidth(gpu_session& s) { return grid_copies(s, "get", get_by_grid, false); }

fault run_message_rate(gpu_session& s) {
  GGAS_GPU_TRY(start(s, rate_places::bytes));
  const rate_places at(s);
  const rate_point points[] = {
      {"value", "messages", put_values, 128, true},       {"put_warp", "messages", put_messages, 64, false},
      {"put_warp", "messages", put_messages, 512, false}, {"put_warp", "messages", put_messages, 4096, false},
      {"add", "atomics", post_adds, 128, true},           {"add", "atomics", post_adds, 8, true},
      {"add_same", "atomics", post_adds, 0, true}};
  for (const rate_point& p : points) {
    for (const unsigned blocks : {1u, 16u, static_cast<unsigned>(s.limits().multiprocessors)})
      GGAS_GPU_TRY(rate_of(s, at, p, blocks));
  }
  return {};
}

}  // namespace ggas::bench
