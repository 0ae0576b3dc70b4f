// SPDX-License-Identifier: Apache-2.0
// Messages between ranks of kernels: latency and bandwidth over size, rates over ranks, messages that wait, and what
// they are compared with.
#include <fmt/format.h>

#include <cstring>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/plans/message_plan.hpp"

namespace ggas::bench {

namespace {

// One launch of all ranks of all nodes.
class message_point {
 public:
  message_point(session& s, const message_shape& shape, uint64_t bytes, uint64_t rounds, uint64_t batch)
      : s_(s), shape_(shape) {
    layout_plan room(s.data_offset());
    const ggas_messages world = place_messages(room, s.nodes(), shape);
    args = place_message_loop(room, world, bytes, rounds, batch);
    args.seed = s.opts().cluster.seed;
    args.timeout_ns = s.opts().timeout_ns / 4;
    for (int node = 0; node < s.nodes(); ++node)
      std::memset(at_offset<char>(s, node, world.blocks.place), 0, room.place<char>(0) - world.blocks.place);
  }

  result<> run(void (*kernel)(message_loop), const std::string& what) {
    const message_loop a = args;
    GGAS_TRY(s_.launch_together(
        {shape_.blocks}, {shape_.threads}, [&](int) { return [=] { kernel(a); }; }, what));
    GGAS_TRY(s_.run(what));
    longest_ns = 0;
    for (int node = 0; node < s_.nodes(); ++node) {
      const auto o = join_outcomes(s_, node, a.outcomes, size_t{shape_.blocks} * shape_.threads, what);
      if (!o) return o.error();
      longest_ns = std::max(longest_ns, static_cast<double>(o->end_ns - o->begin_ns));
    }
    return {};
  }
  void emit(const char* variant, const char* metric, const char* unit, const nlohmann::ordered_json& more,
            const std::vector<double>& samples) {
    record r = s_.begin(variant, metric, unit);
    r.params = {{"ranks", static_cast<uint64_t>(detail::rank_count(args.world))}, {"threads", shape_.threads}};
    r.params.update(more);
    if (shape_.short_bytes != message_shape{}.short_bytes) r.params["record_bytes"] = shape_.short_bytes;
    summarise(r, samples);
    s_.emit(std::move(r));
  }
  std::vector<double> samples(double factor) {
    std::vector<double> all;
    read_samples(s_, 0, args.samples, args.rounds, factor, all);
    return all;
  }

  message_loop args{};
  double longest_ns = 0;  // of the ranks of a node

 private:
  session& s_;
  message_shape shape_;
};

message_shape shape_of(ggas_rank_kind kind) { return {kind, 2, kind == ggas_rank_is_thread ? 32u : 64u}; }
// Blocks whose messages are one record up to 16 KB.
message_shape shape_of_records() {
  message_shape shape = shape_of(ggas_rank_is_block);
  shape.waiting = 4;
  shape.short_bytes = 16384;
  shape.lines_log2 = 13;
  return shape;
}

result<> half_round_trip(session& s, const char* variant, const message_shape& shape, uint64_t bytes,
                         void (*kernel)(message_loop), int waiting = 0, bool any = false) {
  const uint64_t batch = s.simulated() ? 1 : 50;
  message_point p(s, shape, bytes, s.opts().sized(5u, 10u, 20u), batch);
  p.args.waiting = waiting;
  p.args.any = any;
  GGAS_TRY(p.run(kernel, fmt::format("{} {} bytes", variant, bytes)));
  nlohmann::ordered_json more = {{"bytes", bytes}, {"method", any ? "any_source" : "named"}};
  if (waiting > 0) more["waiting"] = waiting;
  p.emit(variant, "half_round_trip", "ns", more, p.samples(0.5 / static_cast<double>(batch)));
  return {};
}

result<> bandwidth(session& s, const char* variant, const message_shape& shape, uint64_t bytes,
                   void (*kernel)(message_loop)) {
  const uint64_t batch = s.opts().sized(4u, 8u, 16u);
  message_point p(s, shape, bytes, s.opts().sized(2u, 5u, 10u), batch);
  GGAS_TRY(p.run(kernel, fmt::format("{} one way, {} bytes", variant, bytes)));
  std::vector<double> rates = p.samples(1);
  for (double& v : rates) v = static_cast<double>(batch * bytes) * 1e9 / v;
  p.emit(variant, "bandwidth", "B/s", {{"bytes", bytes}}, rates);
  return {};
}

result<> rate(session& s, const char* variant, const message_shape& shape, void (*kernel)(message_loop)) {
  message_point p(s, shape, 8, 1, s.opts().sized(3u, 5u, 10u));
  GGAS_TRY(p.run(kernel, fmt::format("{} to the next of {} blocks", variant, shape.blocks)));
  const double sent = static_cast<double>(p.args.batch) * detail::rank_count(p.args.world);
  p.emit(variant, "messages", "1/s", {{"bytes", 8}}, {sent * 1e9 / p.longest_ns});
  return {};
}

result<> meetings(session& s, const char* variant, void (*kernel)(message_loop)) {
  const uint64_t batch = s.simulated() ? 1 : 10;
  message_point p(s, shape_of(ggas_rank_is_thread), 8, s.opts().sized(5u, 10u, 20u), batch);
  GGAS_TRY(p.run(kernel, variant));
  p.emit(variant, "latency", "ns", nlohmann::ordered_json::object(), p.samples(1 / static_cast<double>(batch)));
  return {};
}

}  // namespace

result<> run_message(session& s) {
  session::wish w{.bytes = 8u << 20};
  if (s.simulated()) w.queues.mailbox = queue_config::place::gpu;
  GGAS_TRY(s.start(w));
  const auto sizes = s.opts().sized(std::vector<uint64_t>{8, 1024}, std::vector<uint64_t>{8, 64, 1024, 16384},
                                    std::vector<uint64_t>{8, 64, 256, 1024, 4096, 16384, 65536});
  for (const auto kind : {ggas_rank_is_thread, ggas_rank_is_warp, ggas_rank_is_block}) {
    const char* const name = rank_kind_names[kind];
    for (const uint64_t bytes : sizes) {
      GGAS_TRY(half_round_trip(s, name, shape_of(kind), bytes, message_play_of<message_game::ping_pong>(kind)));
      GGAS_TRY(bandwidth(s, name, shape_of(kind), bytes, message_play_of<message_game::one_way>(kind)));
    }
    for (const unsigned blocks :
         s.opts().sized(std::vector<unsigned>{2}, std::vector<unsigned>{2, 4}, std::vector<unsigned>{2, 4, 8})) {
      message_shape shape = shape_of(kind);
      shape.blocks = blocks;
      GGAS_TRY(rate(s, name, shape, message_play_of<message_game::neighbours>(kind)));
      if (kind == ggas_rank_is_thread) GGAS_TRY(rate(s, "stores", shape, message_lines));
    }
  }
  const message_shape blocks = shape_of(ggas_rank_is_block);
  for (const uint64_t bytes : sizes) {
    GGAS_TRY(half_round_trip(s, "flag", blocks, bytes, message_flag));
    GGAS_TRY(bandwidth(s, "put_block", blocks, bytes, message_put));
  }
  const message_shape records = shape_of_records();
  for (const uint64_t bytes : sizes) {
    if (bytes <= blocks.short_bytes || bytes > records.short_bytes) continue;
    GGAS_TRY(half_round_trip(s, "block", records, bytes, message_play_of<message_game::ping_pong>(ggas_rank_is_block)));
    GGAS_TRY(bandwidth(s, "block", records, bytes, message_play_of<message_game::one_way>(ggas_rank_is_block)));
  }
  for (const uint64_t bytes : {8, 64}) {
    if (!s.simulated() || s.nodes() < 2) break;  // a NIC has VELO
    GGAS_TRY(half_round_trip(s, "velo", blocks, bytes, message_velo<message_game::ping_pong>));
    GGAS_TRY(bandwidth(s, "velo", blocks, bytes, message_velo<message_game::one_way>));
  }
  for (const int waiting :
       s.opts().sized(std::vector<int>{10, 100}, std::vector<int>{10, 100}, std::vector<int>{10, 1000})) {
    message_shape shape = blocks;
    shape.waiting = 1024;
    for (const bool any : {false, true})
      GGAS_TRY(half_round_trip(s, "block", shape, 8, message_play_of<message_game::ping_pong>(ggas_rank_is_block),
                               waiting, any));
  }
  GGAS_TRY(meetings(s, "begin", message_meetings<true>));
  return meetings(s, "barrier", message_meetings<false>);
}

}  // namespace ggas::bench
