// SPDX-License-Identifier: Apache-2.0
// Messages on streams as nodes of graphs that are launched again and again: each node sends to the next one by one
// stream and receives from the one before by another. The same on every provider. A machine has on(), nodes(),
// timeout_ns(), brief_ns(), write(), read(), run(what), make_graph(stream, queue).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kernels/common.cuh"
#include "ggas/message_on_stream.cuh"
#include "tests/gpu_api/messages_run.hpp"

namespace ggas::calls {

// Around the limits between one warp, a block, 4 and 8 blocks, and between records and copies.
constexpr uint64_t stream_sizes[] = {0,     1,     100,   2047,  2048,  2049,   8191,   8192,
                                     32767, 32768, 65535, 65536, 65537, 262144, 262145, 1 << 20};
constexpr uint64_t stream_guard = 64;  // bytes before and after a buffer
constexpr uint8_t stream_guard_byte = 0xa5;

// What lies in every segment, from a multiple of 64 on; then come the two buffers with their guards.
struct stream_words {
  uint64_t sent, received, wrong;  // rounds, rounds, bytes and results that were not as they had to be
  uint64_t status[2];              // of the streams that send and receive
  uint64_t failed, unsent;         // of the receive and the send that are to fail
  ggas_message got;
};
struct stream_buffers {
  uint64_t words, out, in;  // offsets
  uint64_t bytes;           // of a message
  int to, from;             // ranks
  GGAS_DEVICE stream_words& here() const { return *bench::own<stream_words>(words); }
};
GGAS_DEVICE uint8_t stream_byte(int rank, uint64_t round, uint64_t i) {
  return static_cast<uint8_t>(bench::pattern(static_cast<uint64_t>(rank), round, i) >> 8);
}

// By one block.
[[maybe_unused]] static __global__ void fill_sent(stream_buffers b, int me) {
  ggas_after_stream();
  const uint64_t round = b.here().sent;
  for (uint64_t i = detail::thread_rank(); i < b.bytes; i += detail::thread_count())
    bench::own<uint8_t>(b.out)[i] = stream_byte(me, round, i);
  __syncthreads();
  if (detail::is_first_thread()) b.here().sent = round + 1;
}
// Then the buffer is as before a message.
[[maybe_unused]] static __global__ void check_received(stream_buffers b) {
  ggas_after_stream();
  stream_words& w = b.here();
  const uint64_t round = w.received;
  auto* const in = bench::own<uint8_t>(b.in - stream_guard);
  uint64_t wrong = 0;
  for (uint64_t i = detail::thread_rank(); i < b.bytes + 2 * stream_guard; i += detail::thread_count()) {
    const bool data = i >= stream_guard && i < stream_guard + b.bytes;
    wrong += in[i] != (data ? stream_byte(b.from, round, i - stream_guard) : stream_guard_byte);
    in[i] = stream_guard_byte;
  }
  if (detail::is_first_thread()) wrong += w.got.source != b.from || w.got.bytes != b.bytes;
  if (wrong != 0) detail::add_gpu(&w.wrong, wrong);
  __syncthreads();
  if (detail::is_first_thread()) w.received = round + 1;
}
// Of a receive that failed: the buffer is as before, and the status is cleared, so that later calls wait again.
[[maybe_unused]] static __global__ void check_failed(stream_buffers b, ggas_status expected) {
  ggas_after_stream();
  stream_words& w = b.here();
  uint64_t wrong = 0;
  for (uint64_t i = detail::thread_rank(); i < b.bytes + 2 * stream_guard; i += detail::thread_count())
    wrong += bench::own<uint8_t>(b.in - stream_guard)[i] != stream_guard_byte;
  if (detail::is_first_thread()) {
    const uint64_t found = expected == ggas_bad_argument ? b.bytes : 0;
    wrong += w.failed != static_cast<uint64_t>(expected) || w.got.bytes != found;
    w.failed = ggas_ok;
  }
  if (wrong != 0) detail::add_gpu(&w.wrong, wrong);
}

// Two ranks a node, which are blocks: the first one sends by the node's own stream, the second one receives by another.
template <class Machine>
class messages_of_streams {
 public:
  messages_of_streams(Machine& m, const ggas_messages& world, uint64_t words, std::vector<stream> receivers)
      : m_(m), world_(world), words_(words), receivers_(std::move(receivers)) {
    for (int n = 0; n < m.nodes(); ++n) {
      m.write(n, words_, std::vector<uint8_t>(sizeof(stream_words)));
      queued(begin_messages_on_stream(m.on(), n, world_, report(n, sends)));
    }
    m.run("begin");
  }
  static constexpr uint64_t room(uint64_t most) { return 256 + 2 * (most + 4 * stream_guard); }

  // `times` messages of a size, with buffers that are `shift` bytes out of line, from a named or any source.
  void exchange(uint64_t bytes, uint64_t shift, bool any, unsigned times) {
    const stream_buffers b = place(bytes, shift);
    rounds(
        times, [&](int n) { return send(n, b, 1); },
        [&](int n) { return receive(n, b, any ? ggas_any_source : before(n), 1); });
    expect(times, text(bytes, shift));
  }
  // A message that is longer than the buffer is lost, and the one after it arrives.
  void too_long(uint64_t bytes, unsigned times) {
    const stream_buffers b = place(bytes, 0);
    rounds(
        times,
        [&](int n) {
          auto r = send(n, b, 1);
          return r ? send_again(n, b, 2, report(n, sends)) : r;
        },
        [&](int n) {
          auto r = fail(n, b, bytes - 1, 1, timeout_of(n, &stream_words::failed, m_.timeout_ns()), ggas_bad_argument);
          return r ? receive(n, b, before(n), 2) : r;
        });
    expect(times, "too long, " + text(bytes, 0));
  }
  // Neither a receive nor, where it waits, a send without partner lasts; the next message of the pair arrives.
  void without_partner(uint64_t bytes) {
    const bool waits = bytes > world_.short_bytes;
    const stream_buffers b = place(bytes, 0);
    rounds(
        1,
        [&](int n) {
          auto r = fill(n, b);
          if (r && waits) r = send_again(n, b, 3, timeout_of(n, &stream_words::unsent, m_.brief_ns()));
          return r ? send_again(n, b, 1, report(n, sends)) : r;
        },
        [&](int n) {
          auto r = fail(n, b, bytes, 4, timeout_of(n, &stream_words::failed, m_.brief_ns()), ggas_timed_out);
          return r ? receive(n, b, ggas_any_source, 1) : r;
        });
    expect(1, "without partner, " + text(bytes, 0), waits ? ggas_timed_out : ggas_ok);
  }

 private:
  enum side { sends, receives };
#ifdef __CUDACC__
  static constexpr unsigned threads = 512;
#else
  static constexpr unsigned threads = 32;
#endif

  int before(int n) const { return 2 * ((n + m_.nodes() - 1) % m_.nodes()); }
  int next(int n) const { return 2 * ((n + 1) % m_.nodes()) + 1; }
  template <class T>
  T* at(int node, uint64_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(m_.on().segment(node)) + offset);
  }
  stream_words& words_of(int n) { return *at<stream_words>(n, words_); }
  stream_report report(int n, side s) { return {m_.timeout_ns(), &words_of(n).status[s]}; }
  // Of a call that is to fail.
  stream_report timeout_of(int n, uint64_t stream_words::*status, uint64_t timeout_ns) {
    return {timeout_ns, &(words_of(n).*status)};
  }
  std::string text(uint64_t bytes, uint64_t shift) const {
    return std::to_string(bytes) + " bytes, shift " + std::to_string(shift) + ", records of " +
           std::to_string(world_.short_bytes);
  }
  static void queued(const result<>& r) { ASSERT_TRUE(r) << r.error().text; }

  // Both buffers; everything is as before the first message.
  stream_buffers place(uint64_t bytes, uint64_t shift) {
    stream_buffers b{words_, words_ + 256 + shift, 0, bytes, 0, 0};
    b.in = (b.out + bytes + 63) / 64 * 64 + stream_guard + 3 * shift;
    for (int n = 0; n < m_.nodes(); ++n) {
      m_.write(n, words_, std::vector<uint8_t>(sizeof(stream_words)));
      m_.write(n, b.in - stream_guard, std::vector<uint8_t>(bytes + 2 * stream_guard, stream_guard_byte));
    }
    return b;
  }
  stream_buffers of(int n, stream_buffers b) const {
    b.from = before(n);
    return b;
  }
  result<> fill(int n, const stream_buffers& b) { return launch(m_.on(), n, 1, threads, fill_sent, b, 2 * n); }
  result<> send_again(int n, const stream_buffers& b, int tag, const stream_report& to) {
    return send_on_stream(m_.on(), n, world_, 2 * n, at<char>(n, b.out), b.bytes, next(n), tag, to);
  }
  result<> send(int n, const stream_buffers& b, int tag) {
    auto r = fill(n, b);
    return r ? send_again(n, b, tag, report(n, sends)) : r;
  }
  result<> receive_only(int n, const stream_buffers& b, uint64_t most, int from, int tag, const stream_report& to) {
    return recv_on_stream(m_.on(), receivers_[size_t(n)], world_, 2 * n + 1, at<char>(n, b.in), most, from, tag,
                          &words_of(n).got, to);
  }
  result<> receive(int n, const stream_buffers& b, int from, int tag) {
    auto r = receive_only(n, b, b.bytes, from, tag, report(n, receives));
    return r ? launch(m_.on(), receivers_[size_t(n)], 1, threads, check_received, of(n, b)) : r;
  }
  result<> fail(int n, const stream_buffers& b, uint64_t most, int tag, const stream_report& to, ggas_status expected) {
    auto r = receive_only(n, b, most, before(n), tag, to);
    return r ? launch(m_.on(), receivers_[size_t(n)], 1, threads, check_failed, of(n, b), expected) : r;
  }
  // Graphs of both streams of each node, made before any of them runs.
  template <class Send, class Receive>
  void rounds(unsigned times, Send send, Receive receive) {
    std::vector<graph> sending, receiving;
    for (int n = 0; n < m_.nodes(); ++n) {
      sending.push_back(m_.make_graph(n, [&] { return send(n); }));
      receiving.push_back(m_.make_graph(receivers_[size_t(n)], [&] { return receive(n); }));
    }
    m_.run("graphs");
    for (unsigned i = 0; i < times; ++i)
      for (int n = 0; n < m_.nodes(); ++n) {
        queued(m_.on().launch_graph(sending[size_t(n)], n));
        queued(m_.on().launch_graph(receiving[size_t(n)], receivers_[size_t(n)]));
      }
    m_.run("messages on streams");
    for (const auto& g : sending) queued(m_.on().drop_graph(g));
    for (const auto& g : receiving) queued(m_.on().drop_graph(g));
  }
  void expect(uint64_t received, const std::string& what, ggas_status unsent = ggas_ok) {
    for (int n = 0; n < m_.nodes(); ++n) {
      stream_words w{};
      const std::vector<uint8_t> raw = m_.read(n, words_, sizeof w);
      std::memcpy(&w, raw.data(), sizeof w);
      const std::string where = what + ", node " + std::to_string(n);
      ASSERT_EQ(w.status[sends], ggas_ok) << where;
      ASSERT_EQ(w.status[receives], ggas_ok) << where;
      ASSERT_EQ(w.unsent, unsent) << where;
      ASSERT_EQ(w.wrong, 0u) << where;
      ASSERT_EQ(w.received, received) << where;
    }
  }

  Machine& m_;
  ggas_messages world_;
  uint64_t words_;
  std::vector<stream> receivers_;
};

}  // namespace ggas::calls
