// SPDX-License-Identifier: Apache-2.0
// One-sided calls by blocks of every shape: one thread, incomplete warps, 1024 threads, two and three dimensions. One
// source for the host engine, the simulator and GPUs; for one translation unit.
#pragma once

#include "ggas/launch.hpp"
#include "tests/gpu_api/calls_found_run.hpp"

namespace ggas::calls {

struct shape_args {
  uint64_t data;  // offset of shape_places::bytes, zero at first
  uint64_t outcomes, timeout_ns;
};

constexpr uint64_t shape_most = 8192, shape_of_warp = 128;  // bytes of a block, of a warp

// From shape_args::data. Every node writes to the right.
struct shape_places {
  uint64_t source, by_block, by_warp, brought, lines, taken, words;
  GGAS_DEVICE explicit shape_places(uint64_t data)
      : source(data),
        by_block(source + shape_most),
        by_warp(by_block + shape_most),
        brought(by_warp + shape_most),
        lines(brought + shape_most),
        taken(lines + 2 * shape_most),
        words(taken + shape_most) {}
};

GGAS_DEVICE uint8_t shape_byte(int node, uint64_t i) {
  return static_cast<uint8_t>(bench::pattern(77, static_cast<uint64_t>(node), i) >> 9);
}

// By all threads: n bytes at `at` are those of `node` from `first` on.
GGAS_DEVICE void want_bytes(found& f, uint64_t at, uint64_t n, int node, int line) {
  for (uint64_t i = detail::thread_rank(); i < n; i += detail::thread_count())
    f.want(ggas_load(bench::own<uint8_t>(at + i)) == shape_byte(node, i), line);
}

__global__ void GGAS_LAUNCH_BOUNDS(1024) shape_ring(shape_args a) {
  found f;
  const shape_places at(a.data);
  const unsigned rank = detail::thread_rank(), threads = detail::thread_count(), warp = rank / 32;
  const int nodes = ggas_nodes(), right = (ggas_node() + 1) % nodes, left = (ggas_node() + nodes - 1) % nodes;
  const uint64_t n = 7 * threads + 3, warps = (threads + 31) / 32, t = a.timeout_ns;
  const auto* const source = bench::own<uint8_t>(at.source);
  const auto far = [&](uint64_t place) { return ggas_global_pointer<uint8_t>(right, place); };
  for (uint64_t i = rank; i < shape_most; i += threads)
    ggas_store(bench::own<uint8_t>(at.source + i), shape_byte(ggas_node(), i));

  // Groups and places in every way: the group given or in the name, pointers and global_ptr, literals.
  const ggas::global_ptr<uint64_t> words(right, at.words);
  f.status(ggas_put_signal_nbi(ggas::block{}, ggas::global_ptr<uint8_t>(right, at.by_block), source, n, words, 5,
                               ggas_signal_set, t),
           ggas_ok, __LINE__);
  f.status(ggas_wait_until(ggas::block{}, bench::own<uint64_t>(at.words), ggas_eq, 5, t), ggas_ok, __LINE__);
  want_bytes(f, at.by_block, n, left, __LINE__);
  // Every warp its part, and one addition.
  const uint64_t part = warp * shape_of_warp;
  f.status(ggas_put(ggas::warp{}, far(at.by_warp + part), source + part, shape_of_warp, t), ggas_ok, __LINE__);
  uint64_t old = ~uint64_t{0};
  f.status(ggas_atomic_fetch_warp(ggas_atomic_add, words + 1, 1, 0, &old, t), ggas_ok, __LINE__);
  f.want(old < warps, __LINE__);
  f.status(ggas_wait_until_warp(bench::own<uint64_t>(at.words), ggas_ge, 5, t), ggas_ok, __LINE__);
  f.status(ggas_barrier(ggas::block{}, t), ggas_ok, __LINE__);
  want_bytes(f, at.by_warp, warps * shape_of_warp, left, __LINE__);
  f.want(ggas_load(ggas::global_ptr<uint64_t>(ggas_node(), at.words) + 1, ggas_acquire) == warps, __LINE__);
  ggas_store(words + 2, 3, ggas_release);

  f.status(ggas_get(ggas::block{}, bench::own<uint8_t>(at.brought), far(at.source), n, t), ggas_ok, __LINE__);
  want_bytes(f, at.brought, n, right, __LINE__);
  const uint32_t tag = 9;
  f.status(ggas_put_tagged_block(ggas_global_pointer<ggas_tagged>(right, at.lines), source, n, tag), ggas_ok, __LINE__);
  f.status(ggas_take_tagged_block(bench::own<uint8_t>(at.taken), bench::own<ggas_tagged>(at.lines), n, tag, t), ggas_ok,
           __LINE__);
  want_bytes(f, at.taken, n, left, __LINE__);
  // What no thread may have written.
  for (const uint64_t place : {at.by_block, at.brought, at.taken})
    f.want(ggas_load(bench::own<uint8_t>(place + n)) == 0, __LINE__);
  f.status(ggas_barrier_block(t), ggas_ok, __LINE__);
  f.want(ggas_load(bench::own<uint64_t>(at.words) + 2) == 3, __LINE__);
  f.write(a.outcomes);
}

// ---- host

template <class Machine>
void run_shapes(Machine& m) {
  for (const dim3 shape : {dim3(1), dim3(2), dim3(31), dim3(32), dim3(33), dim3(8, 4, 2), dim3(3, 5, 7), dim3(1, 1, 64),
                           dim3(1, 65), dim3(1024), dim3(4, 16, 16)}) {
    const unsigned threads = shape.x * shape.y * shape.z;
    const std::string what = "block of " + std::to_string(shape.x) + " x " + std::to_string(shape.y) + " x " +
                             std::to_string(shape.z) + " threads";
    const shape_args a{m.data(), m.outcomes(), m.timeout_ns()};
    for (int k = 0; k < m.nodes(); ++k) {
      m.write(k, m.data(), std::vector<uint8_t>(96 * 1024));
      m.write(k, m.outcomes(), std::vector<uint8_t>(threads * sizeof(bench::outcome), 0xff));
    }
    for (int k = 0; k < m.nodes(); ++k) EXPECT_TRUE(m.queued(launch(m.target(), k, 1, shape, shape_ring, a))) << what;
    m.wait();
    check_found(m, threads, what);
  }
}

}  // namespace ggas::calls
