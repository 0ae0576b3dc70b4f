// SPDX-License-Identifier: Apache-2.0
// Litmus tests of docs/memory-model.md: one source for the host engine, the simulator and GPUs. A test has up to four
// roles, each a thread with one or two accesses to words x and y, which are zero; many threads run it at once, with
// separate words, over many rounds.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::litmus {

enum class shape { corr, mp, s, lb, wrc, sb, r, w22, iriw };
// What stands at the accesses, or between them.
enum class order { relaxed, acq_rel, fence };

struct args {
  shape test;
  uint64_t x, y;  // offsets of words, `spacing` bytes apart, at x_node and y_node
  int x_node, y_node;
  uint64_t results;  // offset of what a role found: 4 bytes for each run of each role, on the role's node
  uint64_t ready;    // offset of a word for each role: rounds it is ready for; zero at first
  uint64_t outcomes;
  uint64_t first_round, rounds, seed, timeout_ns;  // rounds begin with number first_round + 1
};
constexpr uint64_t spacing = 16;

struct description {
  shape test;
  const char* name;
  int roles;
  order weakest;  // with which the weak outcome is forbidden
  const char* program;
  const char* weak;
};
inline constexpr description all_tests[] = {
    {shape::corr, "CoRR", 2, order::relaxed, "x=1 | a=x b=x", "a=1 b=0"},
    {shape::mp, "MP", 2, order::acq_rel, "x=1 y=1 | a=y b=x", "a=1 b=0"},
    {shape::s, "S", 2, order::acq_rel, "x=2 y=1 | a=y x=1", "a=1, at last x=2"},
    {shape::lb, "LB", 2, order::acq_rel, "a=x y=1 | b=y x=1", "a=1 b=1"},
    {shape::wrc, "WRC", 3, order::acq_rel, "x=1 | a=x y=1 | b=y c=x", "a=1 b=1 c=0"},
    {shape::sb, "SB", 2, order::fence, "x=1 a=y | y=1 b=x", "a=0 b=0"},
    {shape::r, "R", 2, order::fence, "x=1 y=1 | y=2 a=x", "a=0, at last y=2"},
    {shape::w22, "2+2W", 2, order::fence, "x=1 y=2 | y=1 x=2", "at last x=1 y=1"},
    {shape::iriw, "IRIW", 4, order::fence, "x=1 | y=1 | a=x b=y | c=y d=x", "a=1 b=0 c=1 d=0"},
};

// What the roles found in one run, first access in bits 0 ... 7, second in bits 8 ... 15, and the words at the end.
struct run_result {
  uint32_t role[4];
  uint64_t x, y;
  GGAS_HOST_DEVICE uint32_t first(int r) const { return role[r] & 0xff; }
  GGAS_HOST_DEVICE uint32_t second(int r) const { return role[r] >> 8; }
};

inline bool is_weak(shape test, const run_result& f) {
  switch (test) {
    case shape::corr:
    case shape::mp:
      return f.first(1) == 1 && f.second(1) == 0;
    case shape::s:
      return f.first(1) == 1 && f.x == 2;
    case shape::lb:
      return f.first(0) == 1 && f.first(1) == 1;
    case shape::wrc:
      return f.first(1) == 1 && f.first(2) == 1 && f.second(2) == 0;
    case shape::sb:
      return f.second(0) == 0 && f.second(1) == 0;
    case shape::r:
      return f.second(1) == 0 && f.y == 2;
    case shape::w22:
      return f.x == 1 && f.y == 1;
    case shape::iriw:
      return f.first(2) == 1 && f.second(2) == 0 && f.first(3) == 1 && f.second(3) == 0;
  }
  return false;
}

template <order O>
struct player {
  uint32_t found = 0;
  unsigned access = 0;

  GGAS_DEVICE void write(uint64_t* p, uint64_t v) {
    before_access();
    O == order::acq_rel ? ggas_store(p, v, ggas_release) : ggas_store(p, v);
  }
  GGAS_DEVICE void read(const uint64_t* p) {
    before_access();
    const uint64_t v = O == order::acq_rel ? ggas_load(p, ggas_acquire) : ggas_load(p);
    found |= static_cast<uint32_t>(v) << (access == 1 ? 0 : 8);
  }

 private:
  GGAS_DEVICE void before_access() {
    if (access++ == 1 && O == order::fence) ggas_fence();
  }
};

template <order O>
GGAS_DEVICE uint32_t play(shape test, int role, uint64_t* x, uint64_t* y) {
  player<O> p;
  switch (test) {
    case shape::corr:
      if (role == 0) return p.write(x, 1), 0;
      return p.read(x), p.read(x), p.found;
    case shape::mp:
      if (role == 0) return p.write(x, 1), p.write(y, 1), 0;
      return p.read(y), p.read(x), p.found;
    case shape::s:
      if (role == 0) return p.write(x, 2), p.write(y, 1), 0;
      return p.read(y), p.write(x, 1), p.found;
    case shape::lb:
      if (role == 0) return p.read(x), p.write(y, 1), p.found;
      return p.read(y), p.write(x, 1), p.found;
    case shape::wrc:
      if (role == 0) return p.write(x, 1), 0;
      if (role == 1) return p.read(x), p.write(y, 1), p.found;
      return p.read(y), p.read(x), p.found;
    case shape::sb:
      if (role == 0) return p.write(x, 1), p.read(y), p.found;
      return p.write(y, 1), p.read(x), p.found;
    case shape::r:
      if (role == 0) return p.write(x, 1), p.write(y, 1), 0;
      return p.write(y, 2), p.read(x), p.found;
    case shape::w22:
      if (role == 0) return p.write(x, 1), p.write(y, 2), 0;
      return p.write(y, 1), p.write(x, 2), 0;
    case shape::iriw:
      if (role < 2) return p.write(role == 0 ? x : y, 1), 0;
      if (role == 2) return p.read(x), p.read(y), p.found;
      return p.read(y), p.read(x), p.found;
  }
  return 0;
}

// All roles are ready for a round before one begins it.
GGAS_DEVICE ggas_status meet(const args& a, int role, int roles, uint64_t round) {
  __syncthreads();
  ggas_status s = ggas_ok;
  if (detail::thread_rank() == 0) {
    for (int n = 0; n < ggas_nodes(); ++n) ggas_store(ggas_pointer_of_node<uint64_t>(n, a.ready) + role, round);
    for (int r = 0; r < roles && s == ggas_ok; ++r)
      s = ggas_wait_until(bench::own<uint64_t>(a.ready) + r, ggas_ge, round, a.timeout_ns);
  }
  return detail::block_status(s);
}

// A grid of roles / nodes blocks, rounded up, on every node: role node + nodes * block.
template <order O>
__global__ void run(args a, int roles) {
  const int role = ggas_node() + ggas_nodes() * static_cast<int>(detail::block_rank());
  if (role >= roles) return;
  const uint64_t threads = detail::thread_count(), me = detail::thread_rank();
  uint32_t* const results = bench::own<uint32_t>(a.results) + static_cast<uint64_t>(role) * a.rounds * threads;
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    const uint64_t i = round * threads + me;
    uint64_t* const x = ggas_pointer_of_node<uint64_t>(a.x_node, a.x + i * spacing);
    uint64_t* const y = ggas_pointer_of_node<uint64_t>(a.y_node, a.y + i * spacing);
    s = meet(a, role, roles, a.first_round + round + 1);
    // Roles and warps begin a little apart, differently in every round.
    const uint64_t delay = bench::pattern(a.seed + static_cast<uint64_t>(role), round, me / 32) % 8;
    for (uint64_t d = 0; d < delay; ++d) ggas_load(bench::own<uint64_t>(a.ready));
    results[i] = play<O>(a.test, role, x, y);
  }
  bench::own<bench::outcome>(a.outcomes)[bench::global_thread()] = {0, 0, 0, static_cast<uint64_t>(s)};
}

using kernel = void (*)(args, int);
inline kernel kernel_of(order o) {
  return o == order::relaxed ? run<order::relaxed> : o == order::acq_rel ? run<order::acq_rel> : run<order::fence>;
}
inline const char* name_of(order o) {
  return o == order::relaxed ? "relaxed" : o == order::acq_rel ? "release, acquire" : "fence";
}

}  // namespace ggas::litmus
