// SPDX-License-Identifier: Apache-2.0
// store_bandwidth, load_bandwidth, put_bandwidth, get_bandwidth, message_rate on real GPUs.
#include "benchmarks/kernels/bandwidth.cuh"

#include <algorithm>

#include "benchmarks/cuda/rigs/sent_words.cuh"
#include "benchmarks/kernels/peer_rates.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t gigabyte = 1u << 30, places_bytes = 4u << 20;
constexpr unsigned copy_threads = 512;

// Where things are in every segment: outcomes and a counter, then a buffer to move from and one to move to.
struct rate_places {
  uint64_t outcomes, counter, here, there;
  explicit rate_places(gpu_session& s) {
    layout_plan room(s.data_offset());
    outcomes = room.place<outcome>(words_threads);
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

// New words for the nodes that send, or are loaded from; the others forget what they have got.
void fill(gpu_session& s, const words_args& from, uint64_t to, bool leaders_send, uint64_t run) {
  for (int node = 0; node < s.nodes(); ++node) {
    if ((node % 2 == 0) == leaders_send) {
      fill_sent(s, node, from, run);
    } else {
      s.fill(node, to, from.count * sizeof(uint64_t), 0);
    }
  }
}

// Looks at every word that came.
fault check(gpu_session& s, const words_args& came, bool leaders_sent, uint64_t run, const std::string& what) {
  for (int lead = 0; lead + 1 < s.nodes(); lead += 2) {
    const int from = leaders_sent ? lead : lead + 1, to = leaders_sent ? lead + 1 : lead;
    GGAS_GPU_TRY(check_sent(s, to, came, from, run, what));
  }
  return {};
}

template <class Args>
fault bandwidth_point(gpu_session& s, const char* variant, unsigned blocks, void (*kernel)(Args), const Args& a,
                      uint64_t bytes, const rate_places& at, bool toward_partner, uint64_t from, uint64_t to) {
  const std::string what = std::string(variant) + ", " + std::to_string(blocks) + " blocks";
  const words_args sent{from, bytes / sizeof(uint64_t), 1, 1, 0, at.outcomes},
      came{to, sent.count, 1, 1, 0, at.outcomes};
  std::vector<double> samples;
  for (int run = 0; run <= s.runs(); ++run) {
    fill(s, sent, to, toward_partner, static_cast<uint64_t>(run));
    for (int node = 0; node < s.nodes(); ++node) s.fill(node, at.counter, sizeof(uint64_t), 0);
    GGAS_GPU_TRY(s.run(what));  // all buffers are filled
    std::vector<double> seconds;
    GGAS_GPU_TRY(timed(s, what, blocks, copy_threads, kernel, a, seconds));
    GGAS_GPU_TRY(check(s, came, toward_partner, static_cast<uint64_t>(run), what));
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
    const rate_args a{at.here, at.there, bytes, 0, at.outcomes, s.wait_ns(), 0};
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

enum class small { value, put_warp, put_thread, add, float_add };  // what is sent

bool is_put(small what) { return what == small::put_warp || what == small::put_thread; }

struct rate_point {
  const char* variant;
  const char* metric;
  void (*kernel)(rate_args);
  small what;
  uint64_t bytes;  // of a put; of the others the distance of two words
};

// What must be at the partner when all have been sent: words of the run, or what the adds make of zeros.
words_args expected(const rate_places& at, const rate_point& p, uint64_t messages) {
  const uint64_t words = p.bytes / sizeof(uint64_t);
  if (is_put(p.what)) return {at.there, messages * words, 1, 1, 0, at.outcomes};
  if (p.what == small::value) return {at.there, messages, words, 1, 0, at.outcomes};
  if (p.bytes == 0) return {at.there, 1, 1, 0, messages, at.outcomes};
  if (p.what == small::float_add) return {at.there, messages, words, 0, 0x3f800000, at.outcomes};  // 1.0f and a zero
  return {at.there, messages, words, 0, 1, at.outcomes};
}

fault rate_of(gpu_session& s, const rate_places& at, const rate_point& p, unsigned blocks, unsigned threads) {
  const uint64_t senders = uint64_t{blocks} * threads / (p.what == small::put_warp ? 32 : 1);
  const uint64_t count =
      std::min<uint64_t>(p.bytes == 0 ? 16 : 1000, gigabyte / std::max<uint64_t>(p.bytes, 1) / senders);
  rate_args a{at.here, at.there, p.bytes, count, at.outcomes, s.wait_ns(), 0};
  const words_args came = expected(at, p, senders * count);
  const words_args sent{at.here, came.count * came.step, 1, 1, 0, at.outcomes};
  std::vector<double> samples;
  for (int run = 0; run <= s.runs(); ++run) {
    a.run = static_cast<uint64_t>(run);
    fill(s, sent, at.there, true, a.run);
    GGAS_GPU_TRY(s.run(p.variant));
    std::vector<double> seconds;
    GGAS_GPU_TRY(timed(s, p.variant, blocks, threads, p.kernel, a, seconds));
    GGAS_GPU_TRY(check(s, came, true, a.run, p.variant));
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
  const rate_point points[] = {{"value", "messages", put_values, small::value, 128},
                               {"put_warp", "messages", put_messages, small::put_warp, 64},
                               {"put_thread", "messages", put_messages_of_threads, small::put_thread, 64},
                               {"put_warp", "messages", put_messages, small::put_warp, 512},
                               {"put_warp", "messages", put_messages, small::put_warp, 4096},
                               {"add", "atomics", post_adds, small::add, 128},
                               {"add", "atomics", post_adds, small::add, 8},
                               {"add_same", "atomics", post_adds, small::add, 0},
                               {"float_add", "atomics", post_float_adds, small::float_add, 128}};
  for (const rate_point& p : points) {
    for (const unsigned blocks : {1u, 16u, static_cast<unsigned>(s.limits().multiprocessors)}) {
      GGAS_GPU_TRY(rate_of(s, at, p, blocks, 512));
      if (p.what != small::add && p.what != small::float_add) GGAS_GPU_TRY(rate_of(s, at, p, blocks, 1024));
    }
  }
  return {};
}

}  // namespace ggas::bench
