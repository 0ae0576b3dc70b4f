// SPDX-License-Identifier: Apache-2.0
// Compiled for the host engine and by nvcc.
#include "benchmarks/work/kernels.hpp"

#include "ggas/workers.hpp"

namespace ggas::bench {

static GGAS_DEVICE ggas_status do_nothing(const work_block&, uint64_t*) { return ggas_ok; }
GGAS_DEFINE_WORK(nothing, do_nothing);

static __global__ void stay_for(uint64_t ns) {
  const uint64_t begin = detail::clock_ns();
  while (detail::clock_ns() - begin < ns) __nanosleep(1000);
}
GGAS_DEFINE_KERNEL(stay, stay_for);

static GGAS_DEVICE ggas_status increment_all(const work_block& b, uint32_t* x, uint64_t n) {
  for (uint64_t i = b.x * blockDim.x + threadIdx.x; i < n; i += uint64_t{b.nx} * blockDim.x) x[i] += 1;
  return ggas_ok;
}
GGAS_DEFINE_WORK(increment, increment_all);

static GGAS_DEVICE ggas_status busy_for(const work_block&, uint64_t ns) {
  const uint64_t begin = detail::clock_ns();
  while (detail::clock_ns() - begin < ns) __nanosleep(100);
  return ggas_ok;
}
GGAS_DEFINE_WORK(busy, busy_for);

static __global__ void answer_own_word(const uint64_t* orders, uint64_t* answers) {
  if (threadIdx.x != 0) return;
  for (uint64_t last = 0, seen = 0;; last = seen) {
    while ((seen = detail::load_poll(orders + blockIdx.x)) == last) {
    }
    if (seen == ~uint64_t{0}) return;
    detail::store_release(answers + blockIdx.x, seen);
  }
}
GGAS_DEFINE_KERNEL(answer_words, answer_own_word);

constexpr uint64_t longest_wait = 10'000'000'000;

static GGAS_DEVICE ggas_status order_one_by_one(const work_block&, ggas_workers to, int node, int function,
                                                uint64_t* done, uint64_t ticket, uint64_t times, uint64_t* ns) {
  if (threadIdx.x != 0) return ggas_ok;
  uint64_t begin = 0;
  for (uint64_t t = 0; t <= times; ++t) {
    if (t == 1) begin = detail::clock_ns();
    ggas_status s = ggas_enqueue_work(to, node, static_cast<uint32_t>(function), 1, done, ++ticket, longest_wait,
                                      static_cast<uint64_t*>(nullptr));
    if (s == ggas_ok) s = ggas_wait_work(done, ticket, longest_wait);
    if (s != ggas_ok) return s;
  }
  *ns = detail::clock_ns() - begin;
  return ggas_ok;
}
GGAS_DEFINE_WORK(order_in_turn, order_one_by_one);

static GGAS_DEVICE ggas_status pass_back_and_forth(const work_block&, uint64_t* room, int other, uint64_t other_at,
                                                   int leads, uint64_t last, uint64_t times, uint64_t* ns) {
  constexpr uint64_t words = work_order::words + 1;  // and an argument
  if (threadIdx.x != 0) return ggas_ok;
  auto* const theirs = ggas_pointer_of_node<uint64_t>(other, other_at);
  uint64_t begin = 0;
  for (uint64_t t = 0; t <= times; ++t) {
    if (t == 1) begin = detail::clock_ns();
    ++last;
    ggas_status s = leads ? ggas_ok : ggas_wait_until(room, ggas_ge, last, longest_wait);
    if (s == ggas_ok)
      s = ggas_put_signal_nbi(theirs + 1, room + 1 + words, words, theirs, last, ggas_signal_set, longest_wait);
    if (s == ggas_ok && leads) s = ggas_wait_until(room, ggas_ge, last, longest_wait);
    if (s != ggas_ok) return s;
  }
  *ns = detail::clock_ns() - begin;
  return ggas_quiet();
}
GGAS_DEFINE_WORK(pass_signal, pass_back_and_forth);

GGAS_DEFINE_WORKERS(bench_work, nothing_work, increment_work, busy_work, order_in_turn_work, pass_signal_work);

}  // namespace ggas::bench
