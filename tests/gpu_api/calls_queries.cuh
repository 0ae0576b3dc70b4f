// SPDX-License-Identifier: Apache-2.0
// Queries of a kernel: nodes, sizes, pointers, queues; comparisons of values; kernels that begin before the one before
// has ended. One source for the host engine, the simulator and GPUs; for one translation unit.
#pragma once

#include "ggas/on_stream.cuh"
#include "tests/gpu_api/calls_found_run.hpp"

namespace ggas::calls {

struct query_args {
  uint64_t segment_bytes, reserved, words, outcomes, timeout_ns;
  int nodes;
};

template <class T>
GGAS_DEVICE void check_pointers(const query_args& a, found& f) {
  const uint64_t size = a.segment_bytes;
  for (const int node : {0, ggas_node(), a.nodes - 1}) {
    const uint64_t last = size - sizeof(T);
    f.want(ggas_pointer_of_node<T>(node, last) == ggas_pointer_of_node<T>(node) + last / sizeof(T), __LINE__);
    f.want(ggas_global_pointer<T>(node, last) == ggas_global_pointer<T>(node) + last / sizeof(T), __LINE__);
    f.want((node == ggas_node()) || ggas_pointer_of_node<T>(node, 64) == ggas_global_pointer<T>(node, 64), __LINE__);
    for (const uint64_t outside : {last + 1, size, size + 64, ~uint64_t{0}, ~uint64_t{0} - 7}) {
      f.want(ggas_pointer_of_node<T>(node, outside) == nullptr, __LINE__);
      f.want(ggas_global_pointer<T>(node, outside) == nullptr, __LINE__);
    }
  }
  for (const int nobody : {-1, a.nodes, 1 << 30, -2147483647 - 1}) {
    f.want(ggas_pointer_of_node<T>(nobody) == nullptr && ggas_global_pointer<T>(nobody) == nullptr, __LINE__);
  }
  f.want(ggas_pointer_of_others<T>(64) == nullptr, __LINE__);  // no NIC, or one with one link
}

// Every comparison of `v` with a smaller, the same and a larger value.
template <class T>
GGAS_DEVICE void check_comparisons(const query_args& a, T v, T less, T more, found& f) {
  T* const flag = bench::own<T>(a.words + 64);
  ggas_store(flag, v);
  const T others[] = {less, v, more};
  for (int i = 0; i < 3; ++i) {
    const bool holds[] = {i == 1, i != 1, i == 2, i >= 1, i == 0, i <= 1};  // in the order of ggas_cmp
    for (int c = 0; c < 6; ++c) {
      const ggas_status want = holds[c] ? ggas_ok : ggas_timed_out;
      f.status(ggas_wait_until(flag, static_cast<ggas_cmp>(c), others[i], 0), want, __LINE__);
      f.want(ggas_test_all(flag, 1, static_cast<ggas_cmp>(c), others[i]) == holds[c], __LINE__);
    }
  }
}

// Nothing is equal to what is no number, and nothing is less or greater.
template <class T>
GGAS_DEVICE void check_no_number(const query_args& a, found& f) {
  T* const flag = bench::own<T>(a.words + 64);
  const T zero{};
  ggas_store(flag, zero / ggas_load(bench::own<T>(a.words + 128)));  // 0 / 0
  for (int c = 0; c < 6; ++c) {
    const ggas_status want = c == ggas_ne ? ggas_ok : ggas_timed_out;
    f.status(ggas_wait_until(flag, static_cast<ggas_cmp>(c), T{1}, 0), want, __LINE__);
  }
}

GGAS_DEVICE void check_queues(found& f) {
  f.want(ggas_queues() >= 4, __LINE__);
  f.want(ggas_default_queue().index() == static_cast<int>(detail::block_rank()) % ggas_queues(), __LINE__);
  for (int i = -1; i <= ggas_queues(); ++i) {
    const bool there = i >= 0 && i < ggas_queues();
    const ggas_queue q = ggas_queue_of(i);
    f.want(q.good() == there && (!there || q.index() == i), __LINE__);
    if (!there) continue;
    ggas_queue_forgive(q);
    f.want(ggas_queue_error(q).count == 0 && ggas_queue_error(q).code == 0, __LINE__);
  }
}

// Through pointers that are the same on every node: a word to the right.
GGAS_DEVICE void check_global_pointers(const query_args& a, found& f) {
  const int me = ggas_node(), right = (me + 1) % a.nodes, left = (me + a.nodes - 1) % a.nodes;
  const global_ptr<uint32_t> first(right, a.words), third = first + 2;
  f.want(third.node() == right && third.offset() == a.words + 8 && third + -2 == first, __LINE__);
  f.want(third.get() == ggas_pointer_of_node<uint32_t>(right, a.words + 8), __LINE__);
  f.want(global_ptr<uint32_t>(a.nodes, 0).get() == nullptr, __LINE__);
  third.store(1000u + static_cast<uint32_t>(me));
  f.status(ggas_quiet(), ggas_ok, __LINE__);
  f.want(third.load() == 1000u + static_cast<uint32_t>(me), __LINE__);
  f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
  f.want(global_ptr<uint32_t>(me, a.words + 8).load() == 1000u + static_cast<uint32_t>(left), __LINE__);
}

// One thread.
__global__ void ask_everything(query_args a) {
  found f;
  f.want(ggas_nodes() == a.nodes && ggas_node() >= 0 && ggas_node() < a.nodes, __LINE__);
  f.want(ggas_segment_bytes() == a.segment_bytes && ggas_reserved_bytes() == a.reserved, __LINE__);
  check_pointers<char>(a, f);
  check_pointers<uint64_t>(a, f);
  check_queues(f);
  check_global_pointers(a, f);
  check_comparisons<int8_t>(a, -1, -128, 1, f);
  check_comparisons<uint16_t>(a, 0x8000, 0x7fff, 0xffff, f);
  check_comparisons<int32_t>(a, -5, -6, 7, f);
  check_comparisons<uint32_t>(a, 0x80000000u, 1, ~0u, f);
  check_comparisons<int64_t>(a, -1, -(int64_t{1} << 62), 0, f);
  check_comparisons<uint64_t>(a, uint64_t{1} << 63, uint64_t{1} << 62, ~uint64_t{0}, f);
  check_comparisons<float>(a, -0.5f, -1e30f, 0.0f, f);
  check_comparisons<double>(a, 0.0, -1e-300, 1e-300, f);
  check_no_number<float>(a, f);
  check_no_number<double>(a, f);
  for (size_t bytes = 0; bytes < 100; ++bytes)
    f.want(ggas_tagged_lines(bytes) * 8 >= bytes && ggas_tagged_lines(bytes) * 8 < bytes + 8, __LINE__);
  ggas_store(bench::own<uint32_t>(a.words), static_cast<uint32_t>(ggas_node()));
  f.write(a.outcomes);
}

// Step `step` of a chain: each thread adds one to what another block's thread has left in the step before.
__global__ void add_behind(uint64_t words, uint64_t step) {
  ggas_after_stream();
  const unsigned me = bench::global_thread(), all = bench::global_threads();
  const auto* const before = bench::own<uint64_t>(words) + step % 2 * all;
  auto* const behind = bench::own<uint64_t>(words) + (step + 1) % 2 * all;
  behind[me] = before[(me + 37) % all] + 1;
}

// ---- host

template <class Machine>
void run_queries(Machine& m) {
  const query_args a{m.segment_bytes(), m.reserved(), m.data(), m.outcomes(), m.timeout_ns(), m.nodes()};
  run_found(m, 1, 1, ask_everything, a, "ask_everything");
  for (int k = 0; k < m.nodes(); ++k) EXPECT_EQ(m.read(k, m.data(), 1)[0], k) << "the node has another number";
}

template <class Machine>
void run_chain(Machine& m, unsigned blocks, unsigned threads, uint64_t steps) {
  const size_t words = size_t{blocks} * threads;
  for (int k = 0; k < m.nodes(); ++k) {
    m.write(k, m.data(), std::vector<uint8_t>(16 * words));
    for (uint64_t s = 0; s < steps; ++s)
      ASSERT_TRUE(m.queued(launch_dependent(m.target(), k, blocks, threads, add_behind, m.data(), s))) << s;
  }
  m.wait();
  for (int k = 0; k < m.nodes(); ++k) {
    const auto raw = m.read(k, m.data() + steps % 2 * 8 * words, 8 * words);
    for (size_t w = 0; w < words; ++w) {
      uint64_t got = 0;
      std::memcpy(&got, raw.data() + 8 * w, 8);
      ASSERT_EQ(got, steps) << "node " << k << ", word " << w;
    }
  }
}

}  // namespace ggas::calls
