// SPDX-License-Identifier: Apache-2.0
// message_on_stream: sends and receives between two GPUs as nodes of graphs, one way and there and back.
#include "ggas/message_on_stream.cuh"

#include "benchmarks/cuda/rigs/graphs.cuh"
#include "benchmarks/cuda/rigs/sent_words.cuh"
#include "benchmarks/plans/message_world.hpp"

namespace ggas::bench {

namespace {

enum class way { one_way, ping_pong };
constexpr const char* way_names[] = {"one_way", "ping_pong"};
constexpr int tag = 1;

// Up to how many bytes a message is one record, and in which ring.
struct record_shape {
  unsigned short_bytes, lines_log2;
};
constexpr record_shape small_records{64, 6}, large_records{1 << 18, 18};

// Ranks 0 of GPU 0 and of GPU 1 belong to the streams. Words lie at `out`, and come to `in`.
class two_streams {
 public:
  two_streams(gpu_session& s, uint64_t bytes, const record_shape& records) : s_(s), bytes_(bytes), records_(records) {
    layout_plan room(s.data_offset());
    message_shape shape{ggas_rank_is_block, 1, 32, 4};
    shape.short_bytes = records.short_bytes;
    shape.lines_log2 = records.lines_log2;
    world_ = place_messages(room, s.nodes(), shape);
    const uint64_t begin = world_.blocks.place;
    status_ = room.place<uint64_t>(1);
    const uint64_t end = room.place<char>(0);
    const uint64_t outcomes = room.place<outcome>(words_threads);
    out_ = {room.place<char>(bytes), bytes / sizeof(uint64_t), 1, 1, 0, outcomes};
    in_ = {room.place<char>(bytes), out_.count, 1, 1, 0, outcomes};
    for (int node = 0; node < s.nodes(); ++node) s.fill(node, begin, end - begin, 0);
  }

  // Times of a message in graphs of `length` calls, after such a graph in which each message has its own data.
  fault measure(way w, int length, std::vector<double>& samples) {
    const std::string what = std::string(way_names[static_cast<int>(w)]) + ", " + std::to_string(bytes_) + " bytes";
    GGAS_GPU_TRY(s_.run(what));
    for (int node = 0; node < s_.nodes(); ++node)
      s_.keep(begin_messages_on_stream(s_.machine(), node, world_, report(node)), "begin");
    GGAS_GPU_TRY(check(what));
    GGAS_GPU_TRY(check_each(w, length, what));
    node_graphs graphs(s_);
    graphs.capture([&](int node) {
      return queue(
          w, node, length, [](uint64_t) {}, [](uint64_t) {});
    });
    for (int i = 0; i <= s_.runs(); ++i) {
      const auto run = static_cast<uint64_t>(i);
      for (int node = 0; node < 2; ++node) {
        fill_sent(s_, node, out_, run);
        s_.fill(node, in_.at, bytes_, 0);
      }
      GGAS_GPU_TRY(s_.run(what));
      double ns = 0;
      GGAS_GPU_TRY(graphs.run(what, ns));
      GGAS_GPU_TRY(check(what));
      for (int node = w == way::ping_pong ? 0 : 1; node < 2; ++node)
        GGAS_GPU_TRY(check_sent(s_, node, in_, 1 - node, run, what));
      if (i > 0) samples.push_back(ns / (w == way::ping_pong ? 2 * length : length));
    }
    return {};
  }
  void emit(way w, std::vector<double> samples) {
    s_.emit({.variant = "stream",
             .params = {{"bytes", bytes_},
                        {"record_bytes", records_.short_bytes},
                        {"method", way_names[static_cast<int>(w)]}},
             .metric = w == way::ping_pong ? "half_round_trip" : "time",
             .unit = "ns",
             .samples = std::move(samples),
             .limit = s_.limits().link_floor(1, static_cast<double>(bytes_))});
  }

 private:
  stream_report report(int node) { return {s_.wait_ns(), reinterpret_cast<uint64_t*>(s_.segment(node) + status_)}; }
  fault check(const std::string& what) {
    GGAS_GPU_TRY(s_.run(what));
    for (int node = 0; node < s_.nodes(); ++node) {
      const auto status = static_cast<ggas_status>(s_.read<uint64_t>(node, status_, 1)[0]);
      if (status != ggas_ok) return {what + ": node " + std::to_string(node) + ": " + ggas_status_text(status)};
    }
    return {};
  }
  result<> send(int node) {
    return send_on_stream(s_.machine(), node, world_, node, s_.segment(node) + out_.at, bytes_, 1 - node, tag,
                          report(node));
  }
  result<> receive(int node) {
    return recv_on_stream(s_.machine(), node, world_, node, s_.segment(node) + in_.at, bytes_, 1 - node, tag, nullptr,
                          report(node));
  }
  // Calls of a node; before(i) goes before what is sent, after(i) after what is received.
  template <class Before, class After>
  result<> queue(way w, int node, int length, Before before, After after) {
    result<> e;
    for (int call = 0; call < length && e; ++call) {
      const auto i = static_cast<uint64_t>(call);
      for (int turn = 0; turn < (w == way::ping_pong ? 2 : 1) && e; ++turn) {
        if (turn == node) {
          before(i);
          e = send(node);
        } else if (node < 2) {
          e = receive(node);
          after(i);
        }
      }
    }
    return e;
  }
  // Each message has its own data, and every word is checked before the next one comes.
  fault check_each(way w, int length, const std::string& what) {
    for (int node = 0; node < 2; ++node) s_.fill(node, in_.outcomes, words_threads * sizeof(outcome), 0);
    node_graphs graphs(s_);
    graphs.capture([&](int node) {
      const auto keyed = [&](words_args a, uint64_t i, int from) {
        a.key = sender_key(1000 + i, from);
        return a;
      };
      return queue(
          w, node, length,
          [&](uint64_t i) {
            launch_one(s_, node, words_blocks, words_block_threads, fill_words, keyed(out_, i, node));
          },
          [&](uint64_t i) {
            launch_one(s_, node, words_blocks, words_block_threads, add_wrong_words, keyed(in_, i, 1 - node));
          });
    });
    double ns = 0;
    GGAS_GPU_TRY(graphs.run(what, ns));
    GGAS_GPU_TRY(check(what));
    for (int node = 0; node < 2; ++node) GGAS_GPU_TRY(check_outcomes(s_, node, in_.outcomes, words_threads, what));
    return {};
  }

  gpu_session& s_;
  uint64_t bytes_, status_ = 0;
  record_shape records_;
  ggas_messages world_{};
  words_args out_{}, in_{};
};

}  // namespace

fault run_message_on_stream(gpu_session& s) {
  const std::vector<uint64_t> all = {8, 64, 1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20},
                              few = {8, 4096, 65536, 1 << 20, 16 << 20};
  const uint64_t rings = (static_cast<uint64_t>(s.nodes()) + 2) * (16 << large_records.lines_log2);
  GGAS_GPU_TRY(start(s, 2 * all.back() + rings + (16u << 20)));
  for (const uint64_t bytes : s.opts().quick ? few : all) {
    for (const record_shape& records : {small_records, large_records}) {
      const bool large = records.short_bytes > small_records.short_bytes;
      if (large && (bytes <= small_records.short_bytes || bytes > large_records.short_bytes)) continue;  // no other way
      for (const way w : {way::one_way, way::ping_pong}) {
        two_streams streams(s, bytes, records);
        std::vector<double> samples;
        GGAS_GPU_TRY(streams.measure(w, bytes >= (4u << 20) ? 8 : 50, samples));
        streams.emit(w, std::move(samples));
      }
    }
  }
  return {};
}

}  // namespace ggas::bench
