// SPDX-License-Identifier: Apache-2.0
// message on real GPUs: latency and bandwidth over size, rates over ranks, messages that wait; next to a bare flag,
// bare stores, puts and barriers.
#include "benchmarks/kernels/message.cuh"

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/plans/message_plan.hpp"

namespace ggas::bench {

namespace {

// One launch of all ranks of all GPUs.
class message_point {
 public:
  message_point(gpu_session& s, const message_shape& shape, uint64_t bytes, uint64_t rounds, uint64_t batch)
      : s_(s), shape_(shape) {
    layout_plan room(s.data_offset());
    const ggas_messages world = place_messages(room, s.nodes(), shape);
    args = place_message_loop(room, world, bytes, rounds, batch);
    args.seed = s.seed();
    args.timeout_ns = s.wait_ns();
    end_ = room.place<char>(0);
  }

  fault run(void (*kernel)(message_loop), const std::string& what) {
    const uint64_t begin = args.world.blocks.place;
    const size_t count = size_t{shape_.blocks} * shape_.threads;
    for (int node = 0; node < s_.nodes(); ++node) s_.fill(node, begin, end_ - begin, 0);
    clear_outcomes(s_, args.outcomes, count);
    GGAS_GPU_TRY(s_.run(what));
    for (int node = 0; node < s_.nodes(); ++node)
      s_.keep(ggas::launch_grid(s_.machine(), node, shape_.blocks, shape_.threads, kernel, args), "launch");
    GGAS_GPU_TRY(s_.run(what));
    longest_ns = 0;
    for (int node = 0; node < s_.nodes(); ++node) {
      outcome o{};
      GGAS_GPU_TRY(check_outcomes(s_, node, args.outcomes, count, what, &o));
      longest_ns = std::max(longest_ns, static_cast<double>(o.end_ns - o.begin_ns));
    }
    return {};
  }
  void emit(const char* variant, const char* metric, const char* unit, std::vector<param> more,
            std::vector<double> samples) {
    more.insert(more.begin(), {{"ranks", detail::rank_count(args.world)}, {"threads", shape_.threads}});
    if (shape_.short_bytes != message_shape{}.short_bytes) more.emplace_back("record_bytes", shape_.short_bytes);
    s_.emit({.variant = variant, .params = more, .metric = metric, .unit = unit, .samples = std::move(samples)});
  }

  message_loop args{};
  double longest_ns = 0;  // of the ranks of a GPU

 private:
  gpu_session& s_;
  message_shape shape_;
  uint64_t end_;
};

message_shape shape_of(ggas_rank_kind kind) { return {kind, 2, kind == ggas_rank_is_thread ? 32u : 128u}; }
// Blocks whose messages are one record up to 64 KB.
message_shape shape_of_records() {
  message_shape shape = shape_of(ggas_rank_is_block);
  shape.waiting = 4;
  shape.short_bytes = 65536;
  shape.lines_log2 = 16;
  return shape;
}

struct waiting_ones {
  int count = 0;
  bool any = false;
};
fault half_round_trip(gpu_session& s, const char* variant, const message_shape& shape, uint64_t bytes,
                      void (*kernel)(message_loop), waiting_ones w = {}) {
  const uint64_t rounds = s.opts().quick ? 10 : 50, batch = 50;
  message_point p(s, shape, bytes, rounds, batch);
  p.args.waiting = w.count;
  p.args.any = w.any;
  GGAS_GPU_TRY(p.run(kernel, std::string(variant) + ", " + std::to_string(bytes) + " bytes"));
  std::vector<param> more = {{"bytes", bytes}, {"method", w.any ? "any_source" : "named"}};
  if (w.count > 0) more.emplace_back("waiting", w.count);
  p.emit(variant, "half_round_trip", "ns", more, s.samples(0, p.args.samples, rounds, 0.5 / double{batch}));
  return {};
}

fault bandwidth(gpu_session& s, const char* variant, const message_shape& shape, uint64_t bytes,
                void (*kernel)(message_loop)) {
  const uint64_t rounds = s.opts().quick ? 5 : 11, batch = 20;
  message_point p(s, shape, bytes, rounds, batch);
  GGAS_GPU_TRY(p.run(kernel, std::string(variant) + " one way, " + std::to_string(bytes) + " bytes"));
  std::vector<double> rates = s.samples(0, p.args.samples, rounds);
  for (double& v : rates) v = static_cast<double>(batch * bytes) * 1e9 / v;
  p.emit(variant, "bandwidth", "B/s", {{"bytes", bytes}}, rates);
  return {};
}

fault rate(gpu_session& s, const char* variant, const message_shape& shape, void (*kernel)(message_loop)) {
  message_point p(s, shape, 8, 1, 100);
  std::vector<double> rates;
  for (int i = 0; i < s.runs(); ++i) {
    GGAS_GPU_TRY(p.run(kernel, std::string(variant) + " to the next, " + std::to_string(shape.blocks) + " blocks"));
    rates.push_back(static_cast<double>(p.args.batch) * detail::rank_count(p.args.world) * 1e9 / p.longest_ns);
  }
  p.emit(variant, "messages", "1/s", {{"bytes", 8}}, rates);
  return {};
}

fault meetings(gpu_session& s, const char* variant, const message_shape& shape, void (*kernel)(message_loop)) {
  const uint64_t rounds = s.opts().quick ? 10 : 50, batch = 20;
  message_point p(s, shape, 8, rounds, batch);
  GGAS_GPU_TRY(p.run(kernel, std::string(variant) + ", " + std::to_string(shape.blocks) + " blocks"));
  p.emit(variant, "latency", "ns", {}, s.samples(0, p.args.samples, rounds, 1 / double{batch}));
  return {};
}

}  // namespace

fault run_message(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 1u << 30));
  const std::vector<uint64_t> all = {8, 64, 256, 1024, 4096, 16384, 65536, 1 << 20}, few = {8, 4096, 1 << 20};
  const std::vector<uint64_t>& sizes = s.opts().quick ? few : all;
  const auto multiprocessors = static_cast<unsigned>(s.limits().multiprocessors);
  for (const auto kind : {ggas_rank_is_thread, ggas_rank_is_warp, ggas_rank_is_block}) {
    const char* const name = rank_kind_names[kind];
    for (const uint64_t bytes : sizes) {
      if (kind == ggas_rank_is_thread && bytes > 4096) continue;
      GGAS_GPU_TRY(half_round_trip(s, name, shape_of(kind), bytes, message_play_of<message_game::ping_pong>(kind)));
      GGAS_GPU_TRY(bandwidth(s, name, shape_of(kind), bytes, message_play_of<message_game::one_way>(kind)));
    }
    for (const unsigned blocks : {8u, multiprocessors}) {
      message_shape shape = shape_of(kind);
      shape.blocks = blocks;
      shape.threads = 128;
      GGAS_GPU_TRY(rate(s, name, shape, message_play_of<message_game::neighbours>(kind)));
      if (kind == ggas_rank_is_thread) GGAS_GPU_TRY(rate(s, "stores", shape, message_lines));
    }
  }
  const message_shape blocks = shape_of(ggas_rank_is_block);
  for (const uint64_t bytes : sizes) {
    if (bytes <= 4096) GGAS_GPU_TRY(half_round_trip(s, "flag", blocks, bytes, message_flag));
    GGAS_GPU_TRY(bandwidth(s, "put_block", blocks, bytes, message_put));
  }
  const message_shape records = shape_of_records();
  for (const uint64_t bytes : sizes) {
    if (bytes <= blocks.short_bytes || bytes > records.short_bytes) continue;
    GGAS_GPU_TRY(
        half_round_trip(s, "block", records, bytes, message_play_of<message_game::ping_pong>(ggas_rank_is_block)));
    GGAS_GPU_TRY(bandwidth(s, "block", records, bytes, message_play_of<message_game::one_way>(ggas_rank_is_block)));
  }
  // Many messages wait, and many ranks may be the source.
  for (const waiting_ones w : {waiting_ones{10, false}, {1000, false}, {10, true}, {1000, true}}) {
    message_shape shape = blocks;
    shape.waiting = 1024;
    GGAS_GPU_TRY(
        half_round_trip(s, "block", shape, 8, message_play_of<message_game::ping_pong>(ggas_rank_is_block), w));
  }
  for (const bool any : {false, true})
    GGAS_GPU_TRY(half_round_trip(s, "thread", {ggas_rank_is_thread, 8, 128}, 8,
                                 message_play_of<message_game::ping_pong>(ggas_rank_is_thread), {0, any}));
  for (const unsigned count : {multiprocessors, 2 * multiprocessors}) {
    const message_shape grid{ggas_rank_is_thread, count, 128};
    GGAS_GPU_TRY(meetings(s, "begin", grid, message_meetings<true>));
    GGAS_GPU_TRY(meetings(s, "barrier", grid, message_meetings<false>));
  }
  return {};
}

}  // namespace ggas::bench
