// SPDX-License-Identifier: Apache-2.0
// Atomics on real GPUs: every kind and type, by all nodes at once.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

// All threads of all nodes work on words of all nodes; what the words must hold at the end does not depend on the
// order.
template <class T>
struct words {
  T sum, all_and, all_or, parity, least, most, counter, last;
};

template <class T>
__global__ void mix(places at, uint64_t each) {
  outcome out{0, 0, 0, ggas_ok};
  const auto keep = [&](ggas_status s) {
    if (s != ggas_ok) out.status = s;
  };
  const uint64_t me = static_cast<uint64_t>(ggas_node()) * bench::global_threads() + bench::global_thread();
  for (uint64_t i = 0; i < each; ++i) {
    for (int n = 0; n < ggas_nodes(); ++n) {
      auto* const w = ggas_pointer_of_node<words<T>>(n, at.base);
      const T mine = static_cast<T>(me * each + i);
      T old{};
      keep(ggas_add(&w->sum, mine, timeout_ns));
      keep(ggas_atomic_post(ggas_atomic_and, &w->all_and, static_cast<T>(~(T{1} << me % 20)), T{}, timeout_ns));
      keep(ggas_atomic_post(ggas_atomic_or, &w->all_or, static_cast<T>(T{1} << me % 30), T{}, timeout_ns));
      keep(ggas_atomic_post(ggas_atomic_xor, &w->parity, mine, T{}, timeout_ns));
      keep(ggas_atomic_post(ggas_atomic_min, &w->least, static_cast<T>(5 - static_cast<T>(mine % 1000)), T{},
                            timeout_ns));
      keep(ggas_atomic_fetch(ggas_atomic_max, &w->most, mine, T{}, &old, timeout_ns));
      // Compare and swap as a counter, and a swap whose old values are all different.
      T seen = ggas_load(&w->counter);
      for (;;) {
        keep(ggas_compare_swap(&w->counter, seen, static_cast<T>(seen + 1), &old, timeout_ns));
        if (old == seen || out.status != ggas_ok) break;
        seen = old;
      }
      keep(ggas_fetch_swap(&w->last, static_cast<T>(mine + 1), &old, timeout_ns));
      out.errors += old == static_cast<T>(mine + 1);
    }
  }
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

class atomics : public rig {
 protected:
  static constexpr unsigned blocks = 8, threads = 64;
  static constexpr uint64_t each = 10;

  template <class T>
  void every_kind(const char* type) {
    words<T> fresh{};
    fresh.all_and = static_cast<T>(-1);
    fresh.least = 5;
    for (int n = 0; n < nodes(); ++n) write(n, at.base, std::vector<words<T>>{fresh});
    start_all(blocks, threads, mix<T>, at, each);
    run(type);
    check_all_outcomes(blocks * threads, type);
    const uint64_t count = each * blocks * threads * static_cast<uint64_t>(nodes());
    words<T> want = fresh;
    for (uint64_t i = 0; i < count; ++i) {
      want.sum = static_cast<T>(want.sum + static_cast<T>(i));
      want.parity = static_cast<T>(want.parity ^ static_cast<T>(i));
      want.least = std::min(want.least, static_cast<T>(5 - static_cast<T>(static_cast<T>(i) % 1000)));
    }
    want.all_and = static_cast<T>(static_cast<T>(-1) << 20);
    want.all_or = static_cast<T>((T{1} << 30) - 1);
    want.most = static_cast<T>(count - 1);
    want.counter = static_cast<T>(count);
    for (int n = 0; n < nodes(); ++n) {
      const words<T> got = read<words<T>>(n, at.base, 1)[0];
      EXPECT_EQ(got.sum, want.sum) << type;
      EXPECT_EQ(got.all_and, want.all_and) << type;
      EXPECT_EQ(got.all_or, want.all_or) << type;
      EXPECT_EQ(got.parity, want.parity) << type;
      EXPECT_EQ(got.least, want.least) << type;
      EXPECT_EQ(got.most, want.most) << type;
      EXPECT_EQ(got.counter, want.counter) << type;
      EXPECT_GE(got.last, T{1}) << type;
    }
  }
};

TEST_F(atomics, every_kind_of_every_type) {
  every_kind<int32_t>("int32_t");
  every_kind<uint32_t>("uint32_t");
  every_kind<int64_t>("int64_t");
  every_kind<uint64_t>("uint64_t");
}

// Lanes that add the same to the same word may go together, others not: whole warps, parts of them, and lanes that
// differ in the word or in the number, in turns.
template <class T>
__global__ void add_in_crowds(places at, uint64_t each) {
  outcome out{0, 0, 0, ggas_ok};
  auto* const words = ggas_pointer_of_node<T>(ggas_nodes() - 1, at.base);
  const unsigned lane = detail::lane_rank();
  for (uint64_t i = 0; i < each; ++i) {
    const unsigned way = i % 5;
    if (way == 4 && lane % 3 == 0) continue;
    const auto word = way == 1 ? lane : way == 2 ? lane / 16 : 0;
    const auto number = static_cast<T>(way == 3 ? 1 + lane / 8 : 3);
    if (const ggas_status s = ggas_add(words + word, number, timeout_ns); s != ggas_ok) out.status = s;
  }
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

template <class T>
void count_crowds(std::vector<T> got, uint64_t warps, uint64_t each) {
  std::vector<uint64_t> want(32);
  for (uint64_t lane = 0; lane < 32; ++lane) {
    want[lane] += 3;
    want[lane / 16] += 3;
    want[0] += 3 + (1 + lane / 8) + (lane % 3 == 0 ? 0 : 3);
  }
  for (size_t w = 0; w < 32; ++w) EXPECT_EQ(got[w], static_cast<T>(want[w] * warps * (each / 5))) << w;
}

TEST_F(rig, adds_of_crowds_are_all_counted) {
  constexpr unsigned blocks = 4, threads = 96;
  constexpr uint64_t each = 50, first = 4096;
  const uint64_t warps = uint64_t{blocks} * threads / 32 * static_cast<uint64_t>(nodes());
  start_all(blocks, threads, add_in_crowds<uint64_t>, at, each);
  run("add_in_crowds");
  check_all_outcomes(blocks * threads, "add_in_crowds");
  count_crowds(read<uint64_t>(nodes() - 1, at.base, 32), warps, each);
  places behind = at;
  behind.base += first;
  start_all(blocks, threads, add_in_crowds<int32_t>, behind, each);
  run("add_in_crowds");
  check_all_outcomes(blocks * threads, "add_in_crowds");
  count_crowds(read<int32_t>(nodes() - 1, behind.base, 32), warps, each);
}

// The old values of all adds together are a permutation.
__global__ void draw_tickets(places at, uint64_t each) {
  outcome out{0, 0, 0, ggas_ok};
  for (uint64_t i = 0; i < each; ++i) {
    uint64_t ticket = 0;
    const ggas_status s = ggas_fetch_add(ggas_pointer_of_node<uint64_t>(0, at.base), uint64_t{1}, &ticket, timeout_ns);
    if (s != ggas_ok) out.status = s;
    if (s == ggas_ok) ggas_store(ggas_pointer_of_node<uint32_t>(0, at.data) + ticket, 1u);
  }
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

TEST_F(rig, tickets_of_all_threads_differ) {
  constexpr unsigned blocks = 16, threads = 128;
  constexpr uint64_t each = 50;
  start_all(blocks, threads, draw_tickets, at, each);
  run("draw_tickets");
  check_all_outcomes(blocks * threads, "draw_tickets");
  const uint64_t count = each * blocks * threads * static_cast<uint64_t>(nodes());
  EXPECT_EQ(read<uint64_t>(0, at.base, 1)[0], count);
  EXPECT_EQ(read<uint32_t>(0, at.data, count), std::vector<uint32_t>(count, 1));
}

}  // namespace
}  // namespace ggas::gpu_test
