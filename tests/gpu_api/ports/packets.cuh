// SPDX-License-Identifier: Apache-2.0
// Data that carry their flag: packets of 16 bytes as in the low-latency protocols of NCCL (LL) and MSCCL++, and lines
// of 128 bytes as in NCCL's LL128.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/ring_allreduce.cuh"

namespace ggas::ports {

// ---- 8 bytes of data in 16: each half carries its flag, because 16 bytes are atomic in halves

struct alignas(16) packet {
  uint32_t data0, flag0, data1, flag1;
};
constexpr unsigned packet_threads = 64;

GGAS_DEVICE ggas_status take_packet(const packet* from, uint32_t flag, uint64_t timeout_ns, packet* got) {
  const uint64_t end = bench::time_ns() + timeout_ns;
  do {
    *got = ggas_load(from);
    if (got->flag0 == flag && got->flag1 == flag) return ggas_ok;
  } while (bench::time_ns() < end);
  return ggas_timed_out;
}

// Every thread sends its packet to all, and sums the received ones; places of a round are used again two rounds later.
static __global__ void packet_allreduce(args a) {
  const int me = ggas_node(), nodes = ggas_nodes();
  const auto all = static_cast<uint64_t>(nodes);
  room places{a.memory};
  const uint64_t inbox = places.take<packet>(2 * all * packet_threads);
  uint32_t* const mine = bench::own<uint32_t>(places.take<uint32_t>(2 * packet_threads));
  uint32_t* const result = bench::own<uint32_t>(a.result);
  const unsigned t = threadIdx.x;
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    mine[2 * t] = value(me, round, 2 * t);
    mine[2 * t + 1] = value(me, round, 2 * t + 1);
    const auto flag = static_cast<uint32_t>(round + 1);
    const auto slot = [&](int from) {
      return inbox + ((round % 2 * all + static_cast<uint64_t>(from)) * packet_threads + t) * sizeof(packet);
    };
    for (int n = 0; n < nodes; ++n)
      if (n != me) ggas_store(ggas_pointer_of_node<packet>(n, slot(me)), {mine[2 * t], flag, mine[2 * t + 1], flag});
    for (int n = 0; n < nodes && s == ggas_ok; ++n) {
      packet got{mine[2 * t], flag, mine[2 * t + 1], flag};
      if (n != me) s = take_packet(bench::own<packet>(slot(n)), flag, a.timeout_ns, &got);
      result[2 * t] += got.data0;
      result[2 * t + 1] += got.data1;
    }
  }
  report(a, s);
}

inline std::vector<uint32_t> want_packet_allreduce(int nodes, int, uint64_t rounds) {
  return sums(nodes, rounds, 2 * packet_threads);
}

// ---- 120 bytes of data and a flag of 8 in 128, by eight lanes. NCCL relies on such a line arriving whole. No
// specification guarantees that, so here the lane with the flag releases it after the others.

struct alignas(16) piece {
  uint32_t word[4];
};
constexpr unsigned line_words = 30, line_pieces = 8, lines = 8, line_threads = lines * line_pieces;

struct line_lane {
  unsigned line, lane;
  GGAS_DEVICE line_lane() : line(threadIdx.x / line_pieces), lane(threadIdx.x % line_pieces) {}
  GGAS_DEVICE bool has_flag() const { return lane == line_pieces - 1; }
  GGAS_DEVICE unsigned words() const { return has_flag() ? 2 : 4; }
  GGAS_DEVICE unsigned first_word() const { return line * line_words + 4 * lane; }

  GGAS_DEVICE void send(piece* to, const uint32_t* from, uint64_t flag) const {
    const uint32_t* const words = from + first_word();
    piece* const mine = to + line * line_pieces + lane;
    auto* const halves = reinterpret_cast<uint64_t*>(mine);
    if (!has_flag()) ggas_store(mine, {words[0], words[1], words[2], words[3]});
    if (has_flag()) ggas_store(halves, words[0] | static_cast<uint64_t>(words[1]) << 32);
    __syncwarp();
    if (has_flag()) ggas_store(halves + 1, flag, ggas_release);
  }
  GGAS_DEVICE ggas_status take(uint32_t* to, const piece* from, uint64_t flag, uint64_t timeout_ns) const {
    const piece* const mine = from + line * line_pieces + lane;
    int s = ggas_ok;
    if (has_flag()) s = ggas_wait_until(reinterpret_cast<const uint64_t*>(mine) + 1, ggas_ge, flag, timeout_ns);
    __syncwarp();
    s = __shfl_sync(0xffffffffu, s, line_pieces - 1, line_pieces);
    for (unsigned w = 0; w < words(); ++w) to[first_word() + w] = mine->word[w];
    return static_cast<ggas_status>(s);
  }
};

// Allgather in a ring of lines; each warp goes its own way.
static __global__ void line_allgather(args a) {
  const int me = ggas_node(), nodes = ggas_nodes(), right = (me + 1) % nodes;
  constexpr uint64_t words = lines * line_words, pieces = lines * line_pieces;
  room places{a.memory};
  uint32_t* const all = bench::own<uint32_t>(places.take<uint32_t>(static_cast<uint64_t>(nodes) * words));
  const uint64_t inbox = places.take<piece>(2 * static_cast<uint64_t>(nodes) * pieces);
  const line_lane l;
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    for (unsigned w = 0; w < l.words(); ++w) {
      const uint64_t i = l.first_word() + w;
      all[static_cast<uint64_t>(me) * words + i] = value(me, round, i);
    }
    for (int hop = 0; hop + 1 < nodes && s == ggas_ok; ++hop) {
      const auto step = round * static_cast<uint64_t>(nodes) + static_cast<uint64_t>(hop);
      const uint64_t slot =
          inbox + (round % 2 * static_cast<uint64_t>(nodes) + static_cast<uint64_t>(hop)) * pieces * sizeof(piece);
      l.send(ggas_pointer_of_node<piece>(right, slot), all + static_cast<uint64_t>(modulo(me - hop, nodes)) * words,
             step + 1);
      s = l.take(all + static_cast<uint64_t>(modulo(me - hop - 1, nodes)) * words, bench::own<piece>(slot), step + 1,
                 a.timeout_ns);
    }
    for (int n = 0; n < nodes; ++n)
      for (unsigned w = 0; w < l.words(); ++w) {
        const uint64_t i = static_cast<uint64_t>(n) * words + l.first_word() + w;
        bench::own<uint32_t>(a.result)[i] += all[i];
      }
  }
  report(a, s);
}

inline std::vector<uint32_t> want_line_allgather(int nodes, int, uint64_t rounds) {
  std::vector<uint32_t> all;
  for (int n = 0; n < nodes; ++n)
    for (uint64_t i = 0; i < lines * line_words; ++i) {
      all.push_back(0);
      for (uint64_t round = 0; round < rounds; ++round) all.back() += value(n, round, i);
    }
  return all;
}

}  // namespace ggas::ports
