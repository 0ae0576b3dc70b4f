// SPDX-License-Identifier: Apache-2.0
// Litmus tests of plain accesses mixed with ggas_ accesses to the node's own memory: order within a thread, after
// barriers of block and warp, after fences between blocks, and after the statuses of calls. One source for the host
// engine, the simulator and GPUs. Every case counts wrong values; the expected result is 0.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::program_order {

struct args {
  uint64_t memory;    // offset of memory_bytes, the same on every node
  uint64_t outcomes;  // of a bench::outcome for each thread; begin_ns: the first case that was wrong
  uint64_t rounds;
  uint64_t timeout_ns;
  bool notifications;  // this cluster has them
};
constexpr uint64_t memory_bytes = 128 << 10, most_threads = 128;

// What a thread found.
struct findings {
  uint64_t wrong = 0, first = 0;
  ggas_status status = ggas_ok;
  GGAS_DEVICE void check(bool right, uint64_t number) {
    if (right) return;
    if (wrong++ == 0) first = number;
  }
  GGAS_DEVICE void report(const args& a) const {
    bench::own<bench::outcome>(a.outcomes)[bench::global_thread()] = {first, 0, wrong, static_cast<uint64_t>(status)};
  }
};

struct alignas(16) pair {
  uint64_t low, high;
  pair() = default;
  GGAS_HOST_DEVICE explicit pair(uint64_t v) : low(v), high(~v) {}
  GGAS_HOST_DEVICE friend bool operator==(pair a, pair b) { return a.low == b.low && a.high == b.high; }
};

// ---- one thread, accesses of each size

template <class T>
GGAS_DEVICE void one_size(T* p, uint64_t round, uint64_t number, findings& f) {
  const uint64_t v = bench::pattern(number, round, bench::global_thread());
  const T a(v), b(v + 1), c(v + 2);
  ggas_store(p, a);
  f.check(*p == a, number);
  ggas_store(p, b);
  *p = c;
  f.check(*p == c, number + 1);
  f.check(ggas_load(p) == c, number + 2);
  ggas_fence_gpu();
  f.check(*p == c, number + 3);  // the store does not land on top of it later
  *p = a;
  ggas_store(p, b, ggas_release);
  f.check(*p == b, number + 4);
  const T found = ggas_load(p, ggas_acquire);
  *p = a;
  f.check(found == b && ggas_load(p) == a, number + 5);
}

GGAS_DEVICE void atomics(uint32_t* p, uint32_t round, uint64_t number, findings& f) {
  ggas_store(p, round);
  f.check(atomicAdd(p, 1u) == round, number);
  f.check(*p == round + 1, number + 1);
  *p = round + 5;
  f.check(atomicCAS(p, round + 5, round + 6) == round + 5, number + 2);
  f.check(ggas_load(p) == round + 6, number + 3);
  atomicExch(p, round);
  *p += 7;
  f.check(atomicAdd(p, 0u) == round + 7, number + 4);
}

static __global__ void one_thread(args a) {
  findings f;
  auto* const mine = bench::own<pair>(a.memory) + 4 * bench::global_thread();
  for (uint64_t round = 0; round < a.rounds; ++round) {
    one_size(reinterpret_cast<uint8_t*>(mine) + 3, round, 100, f);
    one_size(reinterpret_cast<uint16_t*>(mine) + 2, round, 110, f);
    one_size(reinterpret_cast<uint32_t*>(mine) + 2, round, 120, f);
    one_size(reinterpret_cast<uint64_t*>(mine + 1), round, 130, f);
    one_size(mine + 2, round, 140, f);
    atomics(reinterpret_cast<uint32_t*>(mine + 3), static_cast<uint32_t>(round), 150, f);
  }
  f.report(a);
}

// ---- threads of a block

// Each writes its own word or the `other`'s, its own is the other one of thread `from`; `meet` brings them together.
template <class F>
GGAS_DEVICE void hand_over(uint64_t* words, unsigned me, unsigned other, unsigned from, uint64_t round, uint64_t number,
                           findings& f, F meet) {
  const auto v = [&](unsigned thread, uint64_t step) { return bench::pattern(number + step, round, thread); };
  ggas_store(words + me, v(me, 0));
  meet();
  f.check(words[other] == v(other, 0), number);
  meet();
  words[me] = v(me, 1);
  meet();
  f.check(ggas_load(words + other) == v(other, 1), number + 1);
  meet();
  ggas_store(words + me, v(me, 2));
  meet();
  words[other] = v(me, 3);  // over the other thread's store
  meet();
  f.check(words[me] == v(from, 3), number + 2);
  ggas_fence_gpu();
  f.check(words[me] == v(from, 3) && ggas_load(words + me) == v(from, 3), number + 3);
  meet();
  words[me] = v(me, 4);
  meet();
  ggas_store(words + other, v(me, 5));
  meet();
  f.check(words[me] == v(from, 5), number + 4);
  meet();
}

static __global__ void one_block(args a) {
  findings f;
  const unsigned me = threadIdx.x, all = blockDim.x, lane = me % 32;
  uint64_t* const words = bench::own<uint64_t>(a.memory) + blockIdx.x * all;
  for (uint64_t round = 0; round < a.rounds; ++round) {
    const auto turn = static_cast<unsigned>(1 + round % 31), far = (8 * turn + 3) % all;
    const unsigned near_other = me - lane + (lane + turn) % 32, near_from = me - lane + (lane + 32 - turn) % 32;
    hand_over(words, me, (me + turn) % all, (me + all - turn) % all, round, 200, f, [] { __syncthreads(); });
    hand_over(words, me, (me + far) % all, (me + all - far) % all, round, 210, f, [] { __syncthreads_or(1); });
    hand_over(words, me, near_other, near_from, round, 220, f, [] { __syncwarp(); });
    __syncthreads();
  }
  f.report(a);
}

// ---- two blocks: words and a flag each way, of each thread

static __global__ void two_blocks(args a) {
  findings f;
  const unsigned me = threadIdx.x, all = blockDim.x;
  uint64_t* const words = bench::own<uint64_t>(a.memory);
  uint64_t *const mine = words + 4 * me, *const flags = words + 4 * all, *const answers = flags + all;
  for (uint64_t round = 1; round <= a.rounds && f.status == ggas_ok; ++round) {
    const uint64_t v = bench::pattern(300, round, me);
    if (blockIdx.x == 0) {
      mine[0] = v;
      ggas_store(mine + 1, v + 1);
      mine[2] = v + 2;
      ggas_store(mine + 3, v + 3);
      if (round % 2) {
        ggas_fence_gpu();
        ggas_store(flags + me, round);
      } else {
        ggas_store(flags + me, round, ggas_release);
      }
      f.status = ggas_wait_until(answers + me, ggas_ge, round, a.timeout_ns);
      f.check(mine[1] == v + 11 && ggas_load(mine + 2) == v + 12, 300);
    } else {
      f.status = ggas_wait_until(flags + me, ggas_ge, round, a.timeout_ns);
      f.check(mine[0] == v && mine[1] == v + 1, 310);
      f.check(ggas_load(mine + 2) == v + 2 && ggas_load(mine + 3) == v + 3, 311);
      ggas_store(mine + 1, v + 11);
      mine[2] = v + 12;
      ggas_store(answers + me, round, ggas_release);
    }
  }
  f.report(a);
}

// ---- from node to node: what arrives, and what is overwritten in a call that is complete

constexpr unsigned row_words = 96;

struct passing {
  const args& a;
  findings& f;
  const int me = ggas_node(), right = (me + 1) % ggas_nodes(), left = (me + ggas_nodes() - 1) % ggas_nodes();
  const uint64_t inbox = a.memory + row_words * 8, lines = inbox + row_words * 8, flag = lines + row_words * 16;
  uint64_t *const out = bench::own<uint64_t>(a.memory), *const in = bench::own<uint64_t>(inbox);
  uint64_t* const there = ggas_pointer_of_node<uint64_t>(right, inbox);
  uint64_t* const reported = ggas_pointer_of_node<uint64_t>(right, flag);
  ggas_tagged* const lines_there = ggas_pointer_of_node<ggas_tagged>(right, lines);

  GGAS_DEVICE static uint64_t word(int node, uint64_t step, uint64_t i) {
    return bench::pattern(400 + static_cast<uint64_t>(node), step, i);
  }
  GGAS_DEVICE bool ok(ggas_status s) {
    if (f.status == ggas_ok) f.status = s;
    return f.status == ggas_ok;
  }
  // Half of the words by plain stores, half by the API's.
  GGAS_DEVICE void fill(uint64_t step) const {
    for (unsigned i = threadIdx.x; i < row_words; i += blockDim.x) {
      if (i % 2) out[i] = word(me, step, i);
      if (i % 2 == 0) ggas_store(out + i, word(me, step, i));
    }
    __syncthreads();
  }
  GGAS_DEVICE void spoil() const {
    for (unsigned i = threadIdx.x; i < row_words; i += blockDim.x) out[i] = 0;
    __syncthreads();
  }
  GGAS_DEVICE bool send(int way, uint64_t step) {
    const ggas_queue q = ggas_default_queue();
    switch (way) {
      case 0:  // stores, a fence by one thread
        ggas_store_block(there, out, row_words);
        if (threadIdx.x == 0) ggas_fence();
        if (threadIdx.x == 0) ggas_store(reported, step);
        return true;
      case 1:
        for (unsigned i = threadIdx.x; i < row_words; i += blockDim.x) ggas_store(there + i, out[i]);
        __syncthreads();
        if (threadIdx.x == 0) ggas_store(reported, step, ggas_release);
        return true;
      case 2: {
        const bool done =
            ok(ggas_put_signal_block(there, out, row_words, reported, step, ggas_signal_set, a.timeout_ns));
        spoil();
        return done;
      }
      case 3: {
        if (!ok(ggas_put_nbi_block(there, out, row_words, a.timeout_ns))) return false;
        ggas_status s = ggas_ok;
        if (threadIdx.x == 0) s = ggas_quiet_local(q, a.timeout_ns);
        __syncthreads();
        spoil();
        if (threadIdx.x == 0 && s == ggas_ok) s = ggas_fence(q, a.timeout_ns);
        if (threadIdx.x == 0 && s == ggas_ok) ggas_store(reported, step);
        return ok(s);
      }
      case 4: {
        const bool done = ok(ggas_put_block(there, out, row_words, a.timeout_ns));
        spoil();
        if (threadIdx.x == 0) ggas_store(reported, step);
        return done;
      }
      case 5:
        return ok(ggas_put_tagged_block(lines_there, out, row_words, static_cast<uint32_t>(step)));
      default:
        return ok(ggas_put_notify_block(there, out, row_words, step, 0, a.timeout_ns));
    }
  }
  GGAS_DEVICE bool receive(int way, uint64_t step) {
    if (way < 5) return ok(ggas_wait_until_block(bench::own<uint64_t>(flag), ggas_ge, step, a.timeout_ns));
    if (way == 5)
      return ok(ggas_take_tagged_block(in, bench::own<ggas_tagged>(lines), row_words, static_cast<uint32_t>(step),
                                       a.timeout_ns));
    if (threadIdx.x != 0) return true;
    ggas_notification note;
    const ggas_status s = ggas_notification_wait(&note, a.timeout_ns, ggas_queue_of(0));
    return ok(s == ggas_ok && note.cookie != step ? ggas_peer_error : s);
  }
  GGAS_DEVICE void check(int way, uint64_t step) {
    for (unsigned i = threadIdx.x; i < row_words; i += blockDim.x) {
      const unsigned other = row_words - 1 - i;  // that another thread may have received
      f.check(in[other] == word(left, step, other), 400 + 10 * static_cast<uint64_t>(way));
      f.check(ggas_load(in + other) == word(left, step, other), 401 + 10 * static_cast<uint64_t>(way));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < row_words; i += blockDim.x) in[i] = i;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < row_words; i += blockDim.x)
      f.check(ggas_load(in + i) == i, 402 + 10 * static_cast<uint64_t>(way));
  }
};

static __global__ void neighbours(args a) {
  findings f;
  passing p{a, f};
  uint64_t step = 0;
  bool ok = true;
  for (uint64_t round = 0; round < a.rounds && ok; ++round)
    for (int way = 0; way < (a.notifications ? 7 : 6) && ok; ++way) {
      ++step;
      p.fill(step);
      ok = p.send(way, step);
      ok = ok && p.receive(way, step);
      ok = __syncthreads_and(ok) != 0;
      if (!ok) break;
      p.check(way, step);
      ok = ggas_barrier_block(a.timeout_ns) == ggas_ok;
    }
  if (!ok && f.status == ggas_ok) f.status = ggas_timed_out;
  f.report(a);
}

// ---- results of collectives and of calls that fetch, looked at by plain loads

struct fetching {
  const args& a;
  findings& f;
  const int me = ggas_node(), nodes = ggas_nodes();
  const uint64_t all = static_cast<uint64_t>(nodes);
  uint32_t *const src = bench::own<uint32_t>(a.memory), *const dst = bench::own<uint32_t>(a.memory + (48 << 10));

  GGAS_DEVICE static uint32_t word(int node, uint64_t step, uint64_t i) {
    return static_cast<uint32_t>(bench::pattern(500 + static_cast<uint64_t>(node), step, i));
  }
  GGAS_DEVICE void fill(uint64_t step, uint64_t n) const {
    for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) {
      if (i % 2) src[i] = word(me, step, i);
      if (i % 2 == 0) ggas_store(src + i, word(me, step, i));
      dst[i] = 0;
    }
    __syncthreads();
  }
  template <class Want>
  GGAS_DEVICE void look(uint64_t number, uint64_t n, Want want) const {
    for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const uint64_t other = n - 1 - i;
      f.check(dst[other] == want(other), number);
      f.check(ggas_load(dst + other) == want(other), number + 1);
    }
  }
  GGAS_DEVICE uint32_t sum(uint64_t step, uint64_t i) const {
    uint32_t s = 0;
    for (int k = 0; k < nodes; ++k) s += word(k, step, i);
    return s;
  }
  // One call and what it must have left; false: it failed.
  GGAS_DEVICE bool call(int which, uint64_t step, uint64_t n);
};
constexpr int fetching_calls = 11;

GGAS_DEVICE bool fetching::call(int which, uint64_t step, uint64_t n) {
  const auto t = a.timeout_ns;
  const auto number = 500 + 10 * static_cast<uint64_t>(which);
  const auto mine = static_cast<uint64_t>(me);
  const int root = static_cast<int>(step % all), right = (me + 1) % nodes;
  const auto passed = [&](ggas_status s) { return (f.status = s) == ggas_ok; };
  const uint32_t* const theirs = ggas_pointer_of_node<uint32_t>(right, a.memory);
  switch (which) {
    case 0:
      if (!passed(ggas_allreduce_block(dst, src, n, ggas_sum, ggas_auto, t))) return false;
      return look(number, n, [&](uint64_t i) { return sum(step, i); }), true;
    case 1:
      if (!passed(ggas_reduce_block(dst, src, n, ggas_sum, root, ggas_auto, t))) return false;
      if (me == root) look(number, n, [&](uint64_t i) { return sum(step, i); });
      return true;
    case 2:
      if (!passed(ggas_broadcast_block(dst, src, n, root, t))) return false;
      return look(number, n, [&](uint64_t i) { return word(root, step, i); }), true;
    case 3:
      if (!passed(ggas_allgather_block(dst, src, n, t))) return false;
      return look(number, n * all, [&](uint64_t i) { return word(static_cast<int>(i / n), step, i % n); }), true;
    case 4:
      if (!passed(ggas_alltoall_block(dst, src, n, t))) return false;
      return look(number, n * all, [&](uint64_t i) { return word(static_cast<int>(i / n), step, mine * n + i % n); }),
             true;
    case 5:
      if (!passed(ggas_gather_block(dst, src, n, root, t))) return false;
      if (me == root) look(number, n * all, [&](uint64_t i) { return word(static_cast<int>(i / n), step, i % n); });
      return true;
    case 6:
      if (!passed(ggas_scatter_block(dst, src, n, root, t))) return false;
      return look(number, n, [&](uint64_t i) { return word(root, step, mine * n + i); }), true;
    case 7:
      if (!passed(ggas_reducescatter_block(dst, src, n, ggas_sum, t))) return false;
      return look(number, n, [&](uint64_t i) { return sum(step, mine * n + i); }), true;
    case 8:
      if (!passed(ggas_get_block(dst, theirs, n, t))) return false;
      return look(number, n, [&](uint64_t i) { return word(right, step, i); }), true;
    case 9:
      ggas_load_block(dst, theirs, n);
      return look(number, n, [&](uint64_t i) { return word(right, step, i); }), true;
    default:
      ggas_store_block(dst, src, n);  // to the own node
      return look(number, n, [&](uint64_t i) { return word(me, step, i); }), true;
  }
}

static __global__ void results(args a) {
  findings f;
  fetching calls{a, f};
  uint64_t step = 0;
  for (uint64_t round = 0; round < a.rounds; ++round)
    for (const uint64_t n : {uint64_t{3}, uint64_t{200}, uint64_t{1000}})
      for (int which = 0; which < fetching_calls; ++which) {
        ++step;
        calls.fill(step, n * calls.all);
        // Peers store into what has been filled, and load it.
        if (f.status == ggas_ok) f.status = ggas_barrier_block(a.timeout_ns);
        if (f.status != ggas_ok || !calls.call(which, step, n)) return f.report(a);
        if ((f.status = ggas_barrier_block(a.timeout_ns)) != ggas_ok) return f.report(a);
      }
  f.report(a);
}

}  // namespace ggas::program_order
