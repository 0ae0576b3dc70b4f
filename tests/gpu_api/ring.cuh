// SPDX-License-Identifier: Apache-2.0
// Rings of records between nodes: records of many writers arrive once, whole and in each writer's order. One source for
// the host engine, the simulator and GPUs; for one translation unit.
#pragma once

#include "ggas/detail/ring.cuh"
#include "tests/gpu_api/calls_found_run.hpp"

namespace ggas::calls {

struct ring_args {
  ring_shape ring;
  uint64_t marks;    // offset of what readers counted: by source and writer, of all readers and of each
  uint64_t scratch;  // offset of 16 KB for each node
  uint64_t outcomes;
  uint64_t count;  // records of a writer
  uint64_t seed, timeout_ns, brief_ns;
  unsigned readers;
  uint32_t launch;
};

// A node has 16 warps and 8 threads of one more warp, each with the ring of one receiver.
constexpr unsigned warp_writers = 16, thread_writers = 8, writers = warp_writers + thread_writers;
constexpr unsigned writer_blocks = warp_writers + 1;

// What readers know of a writer. `next`: of one reader; `count` and `sum`: of all.
struct ring_mark {
  uint64_t count, sum;
};
GGAS_DEVICE ring_mark* mark_of(const ring_args& a, int source, unsigned writer) {
  return bench::own<ring_mark>(a.marks) + static_cast<unsigned>(source) * writers + writer;
}
GGAS_DEVICE uint64_t* next_of(const ring_args& a, unsigned reader, int source, unsigned writer) {
  auto* const first = reinterpret_cast<uint64_t*>(mark_of(a, ggas_nodes(), 1));
  return first + (reader * static_cast<unsigned>(ggas_nodes()) + static_cast<unsigned>(source)) * writers + writer;
}
// Records that the readers of this node have taken.
GGAS_DEVICE uint64_t* taken_of(const ring_args& a) { return reinterpret_cast<uint64_t*>(mark_of(a, ggas_nodes(), 0)); }

GGAS_HOST_DEVICE inline int receiver_of(int node, unsigned writer, int nodes) {
  return (node + static_cast<int>(writer)) % nodes;
}
GGAS_HOST_DEVICE inline uint64_t hash_of(uint64_t number) { return bench::pattern(77, 0, number); }

// Record `number` of a writer: mostly some words, sometimes none, sometimes all that a ring takes.
GGAS_DEVICE detail::ring_head head_of(const ring_args& a, int source, unsigned writer, uint64_t number) {
  const uint64_t dice = bench::pattern(a.seed, static_cast<uint64_t>(source) * writers + writer, number);
  const uint64_t most = dice % 64 == 0 ? a.ring.largest_record() : dice % 4 == 0 ? 0 : 96;
  const uint64_t fits = most < a.ring.largest_record() ? most : a.ring.largest_record();
  return {static_cast<uint32_t>((dice >> 8) % (fits + 1)), writer << 24 | static_cast<uint32_t>(number & 0xffffff)};
}
GGAS_DEVICE uint64_t word_of_record(int source, uint32_t word, uint64_t i) {
  return bench::pattern(static_cast<uint64_t>(source), word, i);
}

template <class G>
GGAS_DEVICE void write_records(const ring_args& a, const G& g, unsigned writer, found& f) {
  const int me = ggas_node();
  for (uint64_t n = 0; n < a.count; ++n) {
    const detail::ring_head head = head_of(a, me, writer, n);
    const ggas_status s = detail::ring_send(
        g, a.ring, receiver_of(me, writer, ggas_nodes()), head,
        [=](uint64_t i) { return word_of_record(me, head.word, i); }, detail::deadline(a.timeout_ns));
    f.status(s, ggas_ok, __LINE__);
    if (s != ggas_ok) return;
  }
}

// What a reader has taken: what was sent, and sent after what it took of that writer before.
GGAS_DEVICE void count_record(const ring_args& a, unsigned reader, int source, const detail::ring_head& head,
                              found& f) {
  const unsigned writer = head.word >> 24;
  if (writer >= writers) return f.want(false, __LINE__);
  uint64_t* const next = next_of(a, reader, source, writer);
  const uint64_t before = detail::load_relaxed(next);
  const uint64_t number = before + ((head.word - before) & 0xffffff);  // 2^24 records later it would be taken for older
  f.want(number < a.count && head.bytes == head_of(a, source, writer, number).bytes, __LINE__);
  detail::store_relaxed(next, number + 1);
  detail::add_gpu(&mark_of(a, source, writer)->count, uint64_t{1});
  detail::add_gpu(&mark_of(a, source, writer)->sum, hash_of(number));
}

GGAS_DEVICE void read_records(const ring_args& a, unsigned reader, found& f) {
  const detail::warp_group g;
  const auto sharing = a.readers == 1 ? detail::ring_sharing::one_reader : detail::ring_sharing::many_readers;
  const uint64_t all = writers * a.count;
  detail::deadline end(a.timeout_ns);
  uint64_t taken = 0;
  for (int start = 0; taken < all;) {
    unsigned torn = 0;
    detail::ring_head head{};
    int source = start;
    const auto check = [&](uint64_t i, uint64_t v) {
      if (i == g.rank()) torn = 0;
      torn += v != word_of_record(source, head.word, i);
    };
    const auto most = static_cast<uint32_t>(a.ring.largest_record());
    const detail::ring_look look = detail::ring_take_any(g, a.ring, source, sharing, most, head, check);
    if (look == detail::ring_look::taken) {
      f.want(torn == 0 || g.rank() >= detail::words_of_record(head), __LINE__);
      if (g.leads()) {
        count_record(a, reader, source, head, f);
        detail::add_gpu(taken_of(a), uint64_t{1});
      }
      start = source + 1 < ggas_nodes() ? source + 1 : 0;
      end = detail::deadline(a.timeout_ns);
      continue;
    }
    f.want(look == detail::ring_look::nothing, __LINE__);
    start = source;
    if (g.leads()) taken = detail::load_relaxed(taken_of(a));
    taken = g.of_leader(taken);
    const int late = g.of_leader(static_cast<int>(taken < all && g.leads() && end.over()));
    f.want(!late, __LINE__);
    if (late) return;
  }
}

// The first blocks write, the others read.
__global__ void ring_random(ring_args a) {
  found f;
  const unsigned block = blockIdx.x;
  if (block < warp_writers) {
    write_records(a, detail::warp_group{}, block, f);
  } else if (block == warp_writers) {
    if (threadIdx.x < thread_writers) write_records(a, detail::thread_group{}, warp_writers + threadIdx.x, f);
  } else {
    read_records(a, block - writer_blocks, f);
  }
  f.write(a.outcomes);
}

// Every size and alignment, by threads, tiles and warps; no byte next to the data is touched.
template <class G>
GGAS_DEVICE void send_sizes(const ring_args& a, const G& g, uint64_t step, uint64_t first, found& f) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes(), left = (me + ggas_nodes() - 1) % ggas_nodes();
  auto *const from = bench::own<uint8_t>(a.scratch), *const to = from + 8192;
  for (uint64_t n = first; n <= a.ring.largest_record(); n += step) {
    const uint64_t shift = n % 3 == 0 ? 0 : n % 11;
    for (uint64_t i = g.rank(); i < n; i += g.size())
      ggas_store(from + shift + i, static_cast<uint8_t>(bench::pattern(static_cast<uint64_t>(me), n, i)));
    for (uint64_t i = g.rank(); i < n + 64; i += g.size()) ggas_store(to + i, uint8_t{0xa5});
    g.sync();
    const auto bytes = static_cast<uint32_t>(n);
    f.status(ring_send_bytes(g, a.ring, right, bytes ^ 0xabcu, from + shift, bytes, detail::deadline(a.timeout_ns)),
             ggas_ok, __LINE__);
    detail::ring_head head{};
    int source = n % 2 ? left : detail::any_source;
    if (bytes != 0) {
      f.status(ring_receive_bytes(g, a.ring, source, detail::ring_sharing::many_readers, head, to + 16, bytes - 1,
                                  detail::deadline(a.timeout_ns)),
               ggas_bad_argument, __LINE__);
      f.want(source == left && head.bytes == bytes, __LINE__);
    }
    source = n % 2 ? left : detail::any_source;
    f.status(ring_receive_bytes(g, a.ring, source, detail::ring_sharing::one_reader, head, to + 16, bytes,
                                detail::deadline(a.timeout_ns)),
             ggas_ok, __LINE__);
    f.want(source == left && head.bytes == bytes && head.word == (bytes ^ 0xabcu), __LINE__);
    g.sync();
    for (uint64_t i = g.rank(); i < n + 64; i += g.size()) {
      const bool guard = i < 16 || i >= n + 16;
      const uint64_t sent = bench::pattern(static_cast<uint64_t>(left), n, i - 16);
      f.want(ggas_load(to + i) == (guard ? 0xa5 : static_cast<uint8_t>(sent)), __LINE__);
    }
    g.sync();
  }
  f.status(ring_send_bytes(g, a.ring, right, 0, from, static_cast<uint32_t>(a.ring.largest_record()) + 1,
                           detail::deadline(a.brief_ns)),
           ggas_bad_argument, __LINE__);
}

// `count`: what sizes differ by.
__global__ void ring_sizes(ring_args a) {
  found f;
  send_sizes(a, detail::warp_group{}, a.count, 0, f);
  if (threadIdx.x == 0) send_sizes(a, detail::thread_group{}, 3 * a.count, 1, f);
  __syncwarp();
  if (threadIdx.x >= 8 && threadIdx.x < 12) send_sizes(a, detail::tile_group<4>{}, 3 * a.count, 2, f);
  f.write(a.outcomes);
}

// One thread: a ring that no one reads takes what it has room for, and leaves nothing of the rest.
__global__ void ring_full(ring_args a) {
  found f;
  const int me = ggas_node(), right = (me + 1) % ggas_nodes(), left = (me + ggas_nodes() - 1) % ggas_nodes();
  const detail::thread_group g;
  for (uint64_t turn = 0; turn < 5; ++turn) {
    uint64_t sent = 0;
    const auto send = [&](uint64_t time) {
      const uint64_t value = turn << 32 | sent;
      return ring_send_bytes(g, a.ring, right, 5, &value, 8, detail::deadline(time));
    };
    const uint64_t lines = a.ring.lines();
    while (sent <= lines && send(0) == ggas_ok) ++sent;
    f.want(2 * sent <= lines && 2 * sent > lines - lines / 4 - 2, __LINE__);
    const uint64_t begin = bench::time_ns();
    f.status(send(a.brief_ns), ggas_timed_out, __LINE__);
    f.want(bench::time_ns() - begin >= a.brief_ns, __LINE__);
    f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
    detail::ring_head head{};
    uint64_t value = 0, taken = 0;
    const auto take = [&](uint64_t time) {
      int source = left;
      return ring_receive_bytes(g, a.ring, source, detail::ring_sharing::many_readers, head, &value, 8,
                                detail::deadline(time));
    };
    for (; take(taken < sent ? a.timeout_ns : 0) == ggas_ok; ++taken) f.want(value == (turn << 32 | taken), __LINE__);
    f.want(taken == sent, __LINE__);
    f.status(take(a.brief_ns), ggas_timed_out, __LINE__);
    f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
  }
  f.write(a.outcomes);
}

// What a kernel that was stopped leaves: records no one took, lines claimed and not written, half a record.
__global__ void ring_leave_debris(ring_args a) {
  found f;
  const int right = (ggas_node() + 1) % ggas_nodes();
  const detail::deadline end(a.timeout_ns);
  for (uint64_t i = 0; i < a.count; ++i) {
    const uint64_t value = i;
    f.status(ring_send_bytes(detail::thread_group{}, a.ring, right, 1, &value, 8, end), ggas_ok, __LINE__);
  }
  uint64_t position = 0;
  f.status(detail::claim_lines(a.ring, right, 3, position, end), ggas_ok, __LINE__);
  if (a.count % 2) {
    detail::store_relaxed(detail::ring_line(a.ring, right, ggas_node(), position),
                          detail::tagged_line(a.ring.tag(position), 16));
  }
  f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
  f.write(a.outcomes);
}

// A launch that begins clean: what it sends is what it takes, several times round.
__global__ void ring_begin_clean(ring_args a) {
  found f;
  const detail::warp_group g;
  const int me = ggas_node(), right = (me + 1) % ggas_nodes(), left = (me + ggas_nodes() - 1) % ggas_nodes();
  const detail::deadline end(a.timeout_ns);
  f.status(detail::ring_begin(detail::warp_group{}, a.ring, a.launch, end), ggas_ok, __LINE__);
  for (uint64_t i = 0; i < 3 * a.ring.lines(); ++i) {
    const uint64_t sent = i << 32 | a.launch;
    f.status(ring_send_bytes(g, a.ring, right, 2, &sent, 8, end), ggas_ok, __LINE__);
    detail::ring_head head{};
    uint64_t got = 0;
    const auto store = [&](uint64_t, uint64_t v) { got = v; };
    detail::ring_look look = detail::ring_look::nothing;
    while (look == detail::ring_look::nothing && f.all_good()) {
      look = detail::ring_take(g, a.ring, left, detail::ring_sharing::one_reader, 8, head, store);
      f.want(!end.over(), __LINE__);
    }
    f.want(look == detail::ring_look::taken && head.word == 2 && (g.rank() != 0 || got == sent), __LINE__);
    if (!f.all_good()) break;
  }
  f.write(a.outcomes);
}

// ---- host

template <class Machine>
ring_args ring_in(Machine& m, uint32_t lines_log2) {
  return {{m.data() + 32768, static_cast<uint32_t>(m.nodes()), lines_log2},
          m.data(),
          m.data() + 98304,
          m.outcomes(),
          0,
          lines_log2,
          m.timeout_ns(),
          m.brief_ns(),
          1,
          0};
}

// After ring_random: each record came once.
template <class Machine>
void check_marks(Machine& m, const ring_args& a, const std::string& what) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < a.count; ++i) sum += hash_of(i);
  for (int k = 0; k < m.nodes(); ++k) {
    const auto raw = m.read(k, a.marks, static_cast<size_t>(m.nodes()) * writers * sizeof(ring_mark));
    std::vector<ring_mark> marks(raw.size() / sizeof(ring_mark));
    std::memcpy(marks.data(), raw.data(), raw.size());
    for (size_t i = 0; i < marks.size(); ++i) {
      const int source = static_cast<int>(i / writers);
      const auto writer = static_cast<unsigned>(i % writers);
      const bool mine = receiver_of(source, writer, m.nodes()) == k;
      const std::string whose = what + ", node " + std::to_string(k) + ": writer " + std::to_string(i);
      ASSERT_EQ(marks[i].count, mine ? a.count : 0) << whose;
      ASSERT_EQ(marks[i].sum, mine ? sum : 0) << whose;
    }
  }
}

template <class Machine>
void run_ring_random(Machine& m, uint32_t lines_log2, unsigned readers, uint64_t count, uint64_t seed = 1) {
  ring_args a = ring_in(m, lines_log2);
  a.count = count;
  a.seed = seed;
  a.readers = readers;
  const std::string what = std::to_string(a.ring.lines()) + " lines, " + std::to_string(readers) + " readers";
  run_found(m, writer_blocks + readers, 32, ring_random, a, what);
  check_marks(m, a, what);
}

// Where numbers of laps, of 32 bits in a line, begin again.
template <class Machine>
void run_ring_behind_32_bits(Machine& m, uint64_t count) {
  ring_args a = ring_in(m, 4);
  a.count = count;
  constexpr uint64_t lap = (uint64_t{1} << 32) - 2;
  std::vector<uint8_t> image(96 * 1024);
  const auto put = [&](uint64_t offset, uint64_t v) { std::memcpy(image.data() + (offset - m.data()), &v, sizeof v); };
  for (int node = 0; node < m.nodes(); ++node) {
    put(a.ring.claimed(node), lap << 4);
    put(a.ring.taken(node), lap << 4);
    for (uint64_t quarter = 0; quarter < 4; ++quarter) put(a.ring.released(node, quarter), lap);
    for (uint64_t i = 0; i < a.ring.lines(); ++i) {
      put(a.ring.line(node, i), uint64_t{a.ring.tag((lap - 1) << 4)} << 32);
      put(a.ring.line(node, i) + 8, uint64_t{a.ring.tag((lap - 1) << 4)} << 32);
    }
  }
  for (int k = 0; k < m.nodes(); ++k) m.write(k, m.data(), image);
  m.run(writer_blocks + 1, 32, ring_random, a);
  check_found(m, (writer_blocks + 1) * 32, "behind 32 bits");
  check_marks(m, a, "behind 32 bits");
}

template <class Machine>
void run_ring_sizes(Machine& m, uint32_t lines_log2, uint64_t step) {
  ring_args a = ring_in(m, lines_log2);
  a.count = step;
  run_found(m, 1, 32, ring_sizes, a, "ring_sizes");
}

template <class Machine>
void run_ring_full(Machine& m) {
  run_found(m, 1, 1, ring_full, ring_in(m, 6), "ring_full");
}

template <class Machine>
void run_ring_launches(Machine& m) {
  ring_args a = ring_in(m, 4);
  run_found(m, 1, 1, ring_leave_debris, a, "nothing but claims");
  for (a.launch = 1; a.launch <= 6; ++a.launch) {
    a.count = a.launch % 4;
    if (a.launch > 1) {
      m.run(1, 1, ring_leave_debris, a);
      check_found(m, 1, "debris");
    }
    m.run(1, 32, ring_begin_clean, a);
    check_found(m, 32, "launch " + std::to_string(a.launch));
  }
}

}  // namespace ggas::calls
