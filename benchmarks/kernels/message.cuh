// SPDX-License-Identifier: Apache-2.0
// Messages between ranks of kernels in loops, and what they are compared with: a bare flag, bare stores, puts. Two
// ranks work as a pair: the first of all and the first one of the last block of all.
#pragma once

#include "benchmarks/kernels/common.cuh"
#include "ggas/message.cuh"
#include "ggas/ranks.cuh"

namespace ggas::bench {

struct message_loop {
  ggas_messages world;
  uint64_t buffers;  // offset of two buffers of `room` bytes of each rank of the node
  uint64_t room, bytes;
  uint64_t samples;  // offset of `rounds` durations in ns
  uint64_t rounds;   // measured ones; one more goes before
  uint64_t batch;    // of calls in a round
  uint64_t outcomes, seed, timeout_ns;
  int waiting;  // messages that wait at both ranks of the pair
  bool any;     // they receive from any source
};

// The caller and its partner; others have none.
struct message_pair {
  int me, other;
  GGAS_DEVICE explicit message_pair(const ggas_messages& m) : me(ggas_message_rank(m)) {
    const int last = ggas_message_ranks(m) - static_cast<int>(detail::ranks_of_block(m));
    other = me == 0 ? last : me == last ? 0 : -1;
  }
  GGAS_DEVICE bool first() const { return me == 0; }
};
GGAS_DEVICE char* message_buffer_at(const message_loop& a, int rank, bool in) {
  const int here = detail::ranks_of_node(a.world);
  const uint64_t at = (static_cast<uint64_t>(rank % here) * 2 + in) * a.room;
  return ggas_pointer_of_node<char>(rank / here, a.buffers + at);
}

template <class G>
class message_side {
 public:
  GGAS_DEVICE message_side(const message_loop& a, int me)
      : a_(a), out_(message_buffer_at(a, me, false)), in_(message_buffer_at(a, me, true)) {}

  // Message `number` is `bytes` long, at least 8: its number, then what is the same in all of a point.
  GGAS_DEVICE void fill(int me) const {
    for (uint64_t i = 8 + g_.rank(); i < a_.bytes; i += g_.size()) out_[i] = byte_of(me, i);
    g_.sync();
  }
  GGAS_DEVICE ggas_status send(int to, uint64_t number) const {
    if (g_.leads()) *reinterpret_cast<uint64_t*>(out_) = number;
    return ggas_send(g_, a_.world, out_, a_.bytes, to, tag, a_.timeout_ns);
  }
  GGAS_DEVICE ggas_status receive(int from, uint64_t number, uint64_t& wrong) const {
    const ggas_status s = ggas_recv(g_, a_.world, in_, a_.bytes, a_.any ? ggas_any_source : from, tag,
                                    static_cast<ggas_message*>(nullptr), a_.timeout_ns);
    if (g_.leads()) wrong += *reinterpret_cast<uint64_t*>(in_) != number;
    return s;
  }
  GGAS_DEVICE uint64_t wrong_bytes(int from) const {
    uint64_t wrong = 0;
    for (uint64_t i = 8 + g_.rank(); i < a_.bytes; i += g_.size()) wrong += in_[i] != byte_of(from, i);
    return wrong;
  }
  // What nothing receives in this launch.
  GGAS_DEVICE ggas_status leave_waiting(int to) const {
    ggas_status s = ggas_ok;
    for (int i = 0; i < a_.waiting && s == ggas_ok; ++i)
      s = ggas_send(g_, a_.world, out_, 8, to, other_tag, a_.timeout_ns);
    return s;
  }
  GGAS_DEVICE void keep(uint64_t round, uint64_t ns) const {
    if (round > 0 && g_.leads()) own<uint64_t>(a_.samples)[round - 1] = ns;
  }

 private:
  static constexpr int tag = 2, other_tag = 1;
  GGAS_DEVICE char byte_of(int rank, uint64_t i) const {
    return static_cast<char>(pattern(a_.seed, static_cast<uint64_t>(rank), i));
  }
  const message_loop& a_;
  const G g_{};
  char *out_, *in_;
};

template <class G>
GGAS_DEVICE ggas_status play_ping_pong(const message_loop& a, const message_pair& p, outcome& out) {
  const message_side<G> side(a, p.me);
  side.fill(p.me);
  ggas_status s = side.leave_waiting(p.other);
  uint64_t number = 0;
  for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
    const uint64_t before = time_ns();
    GGAS_NO_UNROLL
    for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) {
      ++number;
      if (p.first()) s = side.send(p.other, number);
      if (s == ggas_ok) s = side.receive(p.other, number, out.errors);
      if (!p.first() && s == ggas_ok) s = side.send(p.other, number);
    }
    if (p.first()) side.keep(round, time_ns() - before);
  }
  out.errors += side.wrong_bytes(p.other);
  return s;
}
// `batch` messages one way, and the answer to the last one.
template <class G>
GGAS_DEVICE ggas_status play_one_way(const message_loop& a, const message_pair& p, outcome& out) {
  const message_side<G> side(a, p.me);
  side.fill(p.me);
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
    const uint64_t before = time_ns();
    GGAS_NO_UNROLL
    for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i)
      s = p.first() ? side.send(p.other, i) : side.receive(p.other, i, out.errors);
    if (s == ggas_ok) s = p.first() ? side.receive(p.other, round, out.errors) : side.send(p.other, round);
    if (p.first()) side.keep(round, time_ns() - before);
  }
  out.errors += side.wrong_bytes(p.other);
  return s;
}
// Every rank sends to the next one and receives from the one before.
template <class G>
GGAS_DEVICE ggas_status play_neighbours(const message_loop& a, outcome& out) {
  const G g;
  const int me = ggas_message_rank(a.world), ranks = ggas_message_ranks(a.world), next = (me + 1) % ranks,
            before = (me + ranks - 1) % ranks;
  auto *const sent = reinterpret_cast<uint64_t*>(message_buffer_at(a, me, false)), *const got =
                                                                                       reinterpret_cast<uint64_t*>(
                                                                                           message_buffer_at(a, me,
                                                                                                             true));
  ggas_status s = ggas_ok;
  out.begin_ns = time_ns();
  GGAS_NO_UNROLL
  for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) {
    if (g.leads()) *sent = i + static_cast<uint64_t>(me);
    s = ggas_sendrecv(g, a.world, sent, 1, next, 3, got, 1, before, 3, static_cast<ggas_message*>(nullptr),
                      a.timeout_ns);
    if (g.leads()) out.errors += *got != i + static_cast<uint64_t>(before);
  }
  out.end_ns = time_ns();
  return s;
}

enum class message_game { ping_pong, one_way, neighbours };

template <class G, message_game Game>
static __global__ void GGAS_LAUNCH_BOUNDS(256) message_play(message_loop a) {
  outcome out{0, 0, 0, ggas_ok};
  ggas_status s = ggas_messages_begin(a.world, a.timeout_ns);
  const message_pair p(a.world);
  if (s == ggas_ok) {
    if constexpr (Game == message_game::neighbours)
      s = play_neighbours<G>(a, out);
    else if (p.other >= 0)
      s = Game == message_game::ping_pong ? play_ping_pong<G>(a, p, out) : play_one_way<G>(a, p, out);
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// ---- what messages are compared with: ranks are blocks, but of message_lines

// Data by all threads of a block, then a word that the first one waits for.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) message_flag(message_loop a) {
  outcome out{0, 0, 0, ggas_ok};
  const message_pair p(a.world);
  ggas_status s = ggas_ok;
  if (p.other >= 0) {
    char* const there = message_buffer_at(a, p.other, true);
    auto* const flag = reinterpret_cast<uint64_t*>(there + a.bytes - 8);
    const auto* const mine = reinterpret_cast<const uint64_t*>(message_buffer_at(a, p.me, true) + a.bytes - 8);
    const char* const data = message_buffer_at(a, p.me, false);
    const auto give = [&](uint64_t number) {
      for (uint64_t i = detail::thread_rank(); i < a.bytes / 8 - 1; i += detail::thread_count())
        ggas_store(reinterpret_cast<uint64_t*>(there) + i, reinterpret_cast<const uint64_t*>(data)[i]);
      if (a.bytes > 8) {
        ggas_fence();
        __syncthreads();
      }
      if (detail::is_first_thread()) ggas_store(flag, number);
    };
    const auto take = [&](uint64_t number) { s = ggas_wait_until_block(mine, ggas_eq, number, a.timeout_ns); };
    uint64_t number = 0;
    for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
      const uint64_t before = time_ns();
      GGAS_NO_UNROLL
      for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) {
        ++number;
        if (p.first()) give(number);
        take(number);
        if (!p.first()) give(number);
      }
      if (p.first() && round > 0 && detail::is_first_thread()) own<uint64_t>(a.samples)[round - 1] = time_ns() - before;
    }
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// Messages of at most 64 bytes by VELO, into the mailbox of the partner's queue, whose only user its block is. Without
// match: a source and a tag would be for the receiver to compare.
class velo_side {
 public:
  GGAS_DEVICE velo_side(const message_loop& a, const message_pair& p)
      : a_(a),
        out_(reinterpret_cast<uint64_t*>(message_buffer_at(a, p.me, false))),
        in_(reinterpret_cast<uint64_t*>(message_buffer_at(a, p.me, true))),
        own_(ggas_queue_of(p.me % detail::ranks_of_node(a.world))),
        node_(p.other / detail::ranks_of_node(a.world)),
        queue_(p.other % detail::ranks_of_node(a.world)) {}
  GGAS_DEVICE ggas_status send(uint64_t number) const {
    if (detail::is_first_thread()) out_[0] = number;
    return ggas_velo_send_block(node_, out_, static_cast<unsigned>(a_.bytes), 0, queue_, a_.timeout_ns, own_);
  }
  GGAS_DEVICE ggas_status receive(uint64_t number, uint64_t& wrong) const {
    ggas_status s = ggas_ok;
    if (detail::is_first_thread()) {
      ggas_velo_message m{};
      s = ggas_velo_take(&m, a_.timeout_ns, own_);
      for (unsigned i = 0; i < a_.bytes / 8; ++i) in_[i] = m.data[i];
      wrong += s == ggas_ok && m.data[0] != number;
    }
    return detail::block_status(s);
  }

 private:
  const message_loop& a_;
  uint64_t *out_, *in_;
  ggas_queue own_;
  int node_, queue_;
};
template <message_game Game>
static __global__ void GGAS_LAUNCH_BOUNDS(256) message_velo(message_loop a) {
  outcome out{0, 0, 0, ggas_ok};
  const message_pair p(a.world);
  ggas_status s = ggas_ok;
  if (p.other >= 0) {
    const velo_side side(a, p);
    uint64_t sent = 0, received = 0;
    const auto send = [&] { s = side.send(++sent); };
    const auto receive = [&] { s = side.receive(++received, out.errors); };
    for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
      const uint64_t before = time_ns();
      GGAS_NO_UNROLL
      for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) {
        const bool answered = Game == message_game::ping_pong || i + 1 == a.batch;
        if (p.first()) send();
        if (s == ggas_ok && (!p.first() || answered)) receive();
        if (s == ggas_ok && !p.first() && answered) send();
      }
      if (p.first() && round > 0 && detail::is_first_thread()) own<uint64_t>(a.samples)[round - 1] = time_ns() - before;
    }
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// As many lines as a short message of 8 bytes has, by each thread to the next one, one message after the other.
struct alignas(16) message_line {
  uint64_t a, b;
};
constexpr uint64_t message_lines_of_word = 3;
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) message_lines(message_loop a) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_message_rank(a.world), next = (me + 1) % ggas_message_ranks(a.world);
  auto* const there = reinterpret_cast<message_line*>(message_buffer_at(a, next, true));
  ggas_status s = ggas_barrier(a.world.blocks, a.timeout_ns);
  out.begin_ns = time_ns();
  GGAS_NO_UNROLL
  for (uint64_t i = 0; i < a.batch; ++i) {
    GGAS_UNROLL
    for (uint64_t k = 0; k < message_lines_of_word; ++k) ggas_store(there + k, message_line{i, k});
  }
  ggas_fence();
  out.end_ns = time_ns();
  if (s == ggas_ok) s = ggas_barrier(a.world.blocks, a.timeout_ns);
  const auto* const got = reinterpret_cast<const message_line*>(message_buffer_at(a, me, true));
  out.errors += s == ggas_ok && (got[0].a != a.batch - 1 || got[2].b != 2);
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// One way by puts of a block.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) message_put(message_loop a) {
  outcome out{0, 0, 0, ggas_ok};
  const message_pair p(a.world);
  ggas_status s = ggas_ok;
  if (p.first() && p.other >= 0) {
    const int here = detail::ranks_of_node(a.world);
    const global_ptr<char> there(p.other / here, a.buffers + (static_cast<uint64_t>(p.other % here) * 2 + 1) * a.room);
    const char* const data = message_buffer_at(a, 0, false);
    for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
      const uint64_t before = time_ns();
      GGAS_NO_UNROLL
      for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) s = ggas_put_block(there, data, a.bytes, a.timeout_ns);
      if (round > 0 && detail::is_first_thread()) own<uint64_t>(a.samples)[round - 1] = time_ns() - before;
    }
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// The beginning of a launch, and a barrier of all blocks, again and again.
template <bool Begin>
static __global__ void GGAS_LAUNCH_BOUNDS(1024) message_meetings(message_loop a) {
  outcome out{0, 0, 0, ggas_ok};
  ggas_status s = ggas_messages_begin(a.world, a.timeout_ns);
  for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
    const uint64_t before = time_ns();
    GGAS_NO_UNROLL
    for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i)
      s = Begin ? ggas_messages_begin(a.world, a.timeout_ns) : ggas_barrier(a.world.blocks, a.timeout_ns);
    if (round > 0 && global_thread() == 0) own<uint64_t>(a.samples)[round - 1] = time_ns() - before;
  }
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// By kind of rank, for those who launch.
template <message_game Game>
void (*message_play_of(ggas_rank_kind kind))(message_loop) {
  return kind == ggas_rank_is_thread ? message_play<ggas::thread, Game>
         : kind == ggas_rank_is_warp ? message_play<ggas::warp, Game>
                                     : message_play<ggas::block, Game>;
}

}  // namespace ggas::bench
