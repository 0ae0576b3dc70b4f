// SPDX-License-Identifier: Apache-2.0
// Workers: a resident kernel whose groups of blocks take orders from the host and from kernels of any node, and run
// functions of a table (docs/work.md). Tables are made by ggas/workers.hpp. Includes ggas.cuh.
#pragma once

#include "ggas/detail/platform/worker_shape.hpp"
#include "ggas/ggas.cuh"

namespace ggas {

// What a function of workers knows of the block that it runs as. The threads are those of the block itself (blockDim).
struct work_block {
  uint32_t x, y, z;     // of this virtual block
  uint32_t nx, ny, nz;  // virtual blocks of the request
  // The blocks that run the request together, for calls of a group. If the function is launched as a kernel there is no
  // such group, and calls return ggas_bad_argument.
  blocks group;
};

}  // namespace ggas

#include "ggas/detail/work/run.cuh"

namespace ggas {

// The resident kernel, of groups x l.blocks blocks. W: run(), parameters, as GGAS_DEFINE_WORK makes them.
template <class... W>
GGAS_DEVICE void run_workers(const worker_launch& l) {
  detail::worker w(l);
  while (w.next()) w.template carry_out<W...>();
}

namespace detail {

template <class... A>
GGAS_DEVICE ggas_status send_order(const ggas_workers& to, int node, work_order o, uint64_t timeout_ns, A... a) {
  constexpr uint64_t count = (work_order::words + ... + words_of_argument<A>);
  static_assert(count <= worker_shape::most_words, "the arguments do not fit into an order");
  uint64_t words[count] = {};
  memcpy(words, &o, sizeof o);
  [[maybe_unused]] uint64_t at = work_order::words;  // without arguments
  ((memcpy(words + at, &a, sizeof a), at += words_of_argument<A>), ...);
  return ring_send(
      thread_group{}, to.ring, node, {8 * count, 0}, [&](uint64_t i) { return words[i]; }, deadline(timeout_ns));
}

}  // namespace detail
}  // namespace ggas

/// Gives the workers of a node an order: function number `function` of their table (ggas::dispatcher::function) for
/// `blocks` virtual blocks, with arguments of exactly the types of its parameters. `done`, a word of the caller's
/// segment, then gets ticket << 8 | status; ticket < 2^56. By one thread.
/// Order: earlier stores of the caller are visible to the function; the function's stores are visible to a thread that
/// sees the ticket.
/// Cost: a line of 16 bytes for each 8 bytes and one hop; the report of the end takes another hop.
/// Errors: ggas_bad_argument: no workers, node or word; ggas_timed_out: no room, nothing was sent; ggas_aborted.
template <class... A>
GGAS_DEVICE ggas_status ggas_enqueue_work(const ggas_workers& to, int node, uint32_t function, uint32_t blocks,
                                          uint64_t* done, uint64_t ticket, uint64_t timeout_ns, A... arguments) {
  const auto& own = ggas::detail::device_context();
  const uint64_t at = reinterpret_cast<uintptr_t>(done) - reinterpret_cast<uintptr_t>(own.local);
  if (to.ring.nodes == 0 || static_cast<uint32_t>(node) >= to.ring.nodes || at % 8 != 0 || at >= own.segment_bytes)
    return ggas_bad_argument;
  return ggas::detail::send_order(to, node, {at, ticket, function, ggas_node(), blocks, 1, 1, 0, 0}, timeout_ns,
                                  arguments...);
}
/// Waits until the word has the ticket of an order, or a later one. By one thread.
/// Order: an acquire: the stores of the function are visible.
/// Cost: polls memory of the own GPU.
/// Errors: what the function returned; ggas_bad_argument: the workers have no such function; ggas_timed_out.
GGAS_DEVICE ggas_status ggas_wait_work(const uint64_t* done, uint64_t ticket, uint64_t timeout_ns) {
  const ggas_status s = ggas_wait_until(done, ggas_ge, ticket << 8, timeout_ns);
  return s == ggas_ok ? static_cast<ggas_status>(ggas_load(done) & 0xff) : s;
}
