// SPDX-License-Identifier: Apache-2.0
// put_bandwidth of on-stream puts: the copy engine of the source moves the data.
#include "benchmarks/cuda/rigs/graphs.cuh"
#include "benchmarks/cuda/rigs/sent_words.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t most_bytes = 1u << 30;

// Puts in sequence, each to a place of its own.
fault put_point(gpu_session& s, node_graphs& clock, uint64_t bytes) {
  const std::string what = "stream, " + std::to_string(bytes) + " bytes";
  const uint64_t outcomes = s.data_offset(), from = outcomes + words_threads * sizeof(outcome), to = from + most_bytes;
  const auto puts = std::clamp<uint64_t>((256u << 20) / bytes, 1, 50);
  const words_args sent{from, puts * bytes / sizeof(uint64_t), 1, 1, 0, outcomes},
      came{to, sent.count, 1, 1, 0, outcomes};
  const stream_report report{s.wait_ns(), nullptr};
  std::vector<double> samples;
  for (int i = 0; i <= s.runs(); ++i) {
    const auto run = static_cast<uint64_t>(i);
    fill_sent(s, 0, sent, run);
    s.fill(1, to, puts * bytes, 0);
    GGAS_GPU_TRY(s.run(what));
    double ns = 0;
    GGAS_GPU_TRY(clock.timed_alone(
        0, what,
        [&] {
          result<> e;
          for (uint64_t at = 0; at < puts * bytes && e; at += bytes)
            e = put_on_stream(s.machine(), 0, global_ptr<char>(1, to + at), s.segment(0) + from + at, bytes, report);
          return e;
        },
        ns));
    GGAS_GPU_TRY(check_sent(s, 1, came, 0, run, what));
    if (i > 0) samples.push_back(static_cast<double>(puts * bytes) * 1e9 / ns);  // the first one warms up
  }
  s.emit({.variant = "copy_engine",
          .params = {{"bytes", bytes}, {"blocks", 0}, {"method", "stream"}},
          .metric = "bandwidth",
          .unit = "B/s",
          .samples = samples,
          .limit = s.limits().link_ceiling()});
  return {};
}

}  // namespace

fault run_put_on_stream(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 2 * most_bytes + words_threads * sizeof(outcome)));
  node_graphs clock(s);
  const std::vector<uint64_t> sizes = s.opts().quick
                                          ? std::vector<uint64_t>{1u << 20, 1u << 30}
                                          : std::vector<uint64_t>{64u << 10, 1u << 20, 16u << 20, 256u << 20, 1u << 30};
  for (const uint64_t bytes : sizes) GGAS_GPU_TRY(put_point(s, clock, bytes));
  return {};
}

}  // namespace ggas::bench
