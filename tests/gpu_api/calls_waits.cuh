// SPDX-License-Identifier: Apache-2.0
// Waits for flags in every form, in random rounds: their results, the data after a flag, refused calls. One source for
// the host engine, the simulator and GPUs; for one translation unit.
#pragma once

#include "tests/gpu_api/calls_found_run.hpp"

namespace ggas::calls {

constexpr unsigned most_flags = 100;

// Rounds in a ring. The left neighbour sets `many` of `flags` flags, from number `first` on, to the number of the
// round, one after the other. It stores a word of data before each flag.
struct wait_round {
  uint64_t number;
  unsigned flags, first, many;
  GGAS_DEVICE wait_round(uint64_t seed, uint64_t r) : number(r) {
    const uint64_t dice = bench::pattern(seed, 0, r);
    flags = 1 + static_cast<unsigned>(dice % most_flags);
    first = static_cast<unsigned>((dice >> 16) % flags);
    many = 1 + static_cast<unsigned>((dice >> 32) % (flags - first));
  }
  GGAS_DEVICE bool sets(size_t i) const { return i >= first && i - first < many; }
};

struct wait_args {
  uint64_t flags, data;  // offsets of words of 8 bytes, zero at first
  uint64_t outcomes;     // of one for each thread
  uint64_t rounds, seed, timeout_ns, brief_ns;
};

GGAS_DEVICE uint64_t behind_flag(const wait_round& r, int node, size_t i) {
  return bench::pattern(r.number, static_cast<uint64_t>(node), i);
}

GGAS_DEVICE void set_flags(const wait_args& a, const wait_round& r) {
  const int right = (ggas_node() + 1) % ggas_nodes();
  auto* const flags = ggas_pointer_of_node<uint64_t>(right, a.flags);
  auto* const data = ggas_pointer_of_node<uint64_t>(right, a.data);
  for (size_t i = r.first; i < r.first + r.many; ++i) {
    ggas_store(data + i, behind_flag(r, ggas_node(), i));
    ggas_store(flags + i, r.number, ggas_release);
  }
}

// The words after flags i, i + step ... of the round.
GGAS_DEVICE bool data_is_there(const wait_args& a, const wait_round& r, size_t i, size_t step) {
  const int left = (ggas_node() + ggas_nodes() - 1) % ggas_nodes();
  const auto* const data = bench::own<uint64_t>(a.data);
  for (; i < r.first + r.many; i += step)
    if (ggas_load(data + i) != behind_flag(r, left, i)) return false;
  return true;
}

// Calls of one thread.
GGAS_DEVICE void wait_alone(const wait_args& a, const wait_round& r, found& f) {
  const auto* const flags = bench::own<uint64_t>(a.flags);
  const uint64_t v = r.number;
  size_t index = most_flags, count = 0, indices[most_flags];
  uint64_t seen = 0;
  switch (r.number % 8) {
    case 0:
      f.status(ggas_wait_until_any(flags, r.flags, ggas_eq, v, &index, a.timeout_ns), ggas_ok, __LINE__);
      f.want(r.sets(index) && data_is_there(a, r, index, most_flags), __LINE__);
      break;
    case 1:
      f.status(ggas_wait_until_some(flags, r.flags, ggas_ge, v, indices, &count, a.timeout_ns), ggas_ok, __LINE__);
      f.want(count >= 1 && count <= r.many, __LINE__);
      for (size_t k = 0; k < count && k < r.many; ++k) {
        f.want(r.sets(indices[k]) && (k == 0 || indices[k] > indices[k - 1]), __LINE__);
        f.want(data_is_there(a, r, indices[k], most_flags), __LINE__);
      }
      break;
    case 2:
      f.status(ggas_wait_until_all(flags + r.first, r.many, ggas_eq, v, a.timeout_ns), ggas_ok, __LINE__);
      f.want(data_is_there(a, r, r.first, 1), __LINE__);
      break;
    case 3:  // the last one set: all data is there
      f.status(ggas_signal_wait_until(flags + r.first + r.many - 1, ggas_gt, v - 1, &seen, a.timeout_ns), ggas_ok,
               __LINE__);
      f.want(seen == v && data_is_there(a, r, r.first, 1), __LINE__);
      break;
    case 4: {
      const detail::deadline end(a.timeout_ns);
      while (!ggas_test_any(flags, r.flags, ggas_eq, v, &index) && !end.passed()) {
      }
      f.want(r.sets(index) && data_is_there(a, r, index, most_flags), __LINE__);
      break;
    }
    case 6: {  // without the first that is set
      int ignore[most_flags] = {};
      ignore[r.first] = 1;
      const size_t left = r.many - 1;
      f.status(ggas_wait_until_all(flags + r.first, r.many, ignore + r.first, ggas_eq, v, a.timeout_ns), ggas_ok,
               __LINE__);
      f.want(data_is_there(a, r, r.first + 1, 1), __LINE__);
      if (left == 0) break;
      f.status(ggas_wait_until_any(flags, r.flags, ignore, ggas_eq, v, &index, a.timeout_ns), ggas_ok, __LINE__);
      f.want(r.sets(index) && index != r.first && data_is_there(a, r, index, most_flags), __LINE__);
      f.status(ggas_wait_until_some(flags, r.flags, ignore, ggas_eq, v, indices, &count, a.timeout_ns), ggas_ok,
               __LINE__);
      f.want(count == left && indices[0] == r.first + 1, __LINE__);
      break;
    }
    case 7: {  // with none at all
      int ignore[most_flags];
      for (int& i : ignore) i = 3;
      f.status(ggas_wait_until_any(flags, r.flags, ignore, ggas_gt, v, &index, a.timeout_ns), ggas_ok, __LINE__);
      f.status(ggas_wait_until_some(flags, r.flags, ignore, ggas_gt, v, indices, &count, a.timeout_ns), ggas_ok,
               __LINE__);
      f.status(ggas_wait_until_all(flags, r.flags, ignore, ggas_gt, v, a.timeout_ns), ggas_ok, __LINE__);
      f.want(index == r.flags && count == 0, __LINE__);
      break;
    }
    case 5: {
      const detail::deadline end(a.timeout_ns);
      while (!ggas_test_all(flags + r.first, r.many, ggas_eq, v) && !end.passed()) {
      }
      f.want(data_is_there(a, r, r.first, 1), __LINE__);
      break;
    }
  }
}

// What holds for all flags only when all are set, and for none of the others.
GGAS_DEVICE void find_nothing_more(const wait_args& a, const wait_round& r, found& f) {
  const auto* const flags = bench::own<uint64_t>(a.flags);
  size_t index = 0, count = 9, indices[most_flags];
  f.want(ggas_test_all(flags, r.flags, ggas_eq, r.number) == (r.many == r.flags), __LINE__);
  f.want(ggas_test_any(flags, r.flags, ggas_gt, r.number, &index) == false, __LINE__);
  f.status(ggas_wait_until_some(flags, r.flags, ggas_gt, r.number, indices, &count, 0), ggas_timed_out, __LINE__);
  f.want(count == 0, __LINE__);
  f.status(ggas_wait_until_some(flags, r.flags, ggas_eq, r.number, indices, &count, 0), ggas_ok, __LINE__);
  f.want(count == r.many && indices[0] == r.first, __LINE__);
  f.status(ggas_wait_until_all(flags, r.flags, ggas_ne, r.number, 0), ggas_timed_out, __LINE__);
}

// One block. Its last thread sets the neighbour's flags, the others wait for their own.
__global__ void GGAS_LAUNCH_BOUNDS(96) wait_in_rounds(wait_args a) {
  found f;
  const unsigned me = detail::thread_rank(), threads = detail::thread_count();
  for (uint64_t i = 1; i <= a.rounds && f.all_good(); ++i) {
    const wait_round r(a.seed, i);
    const auto* const flags = bench::own<uint64_t>(a.flags);
    if (me == threads - 1) set_flags(a, r);
    if (me == 0) wait_alone(a, r, f);
    if (me / 32 == 1) {
      if (i % 2) {
        f.status(ggas_wait_until_warp(flags + r.first + r.many - 1, ggas_eq, i, a.timeout_ns), ggas_ok, __LINE__);
      } else {
        f.status(ggas_wait_until_all_warp(flags + r.first, r.many, ggas_eq, i, a.timeout_ns), ggas_ok, __LINE__);
      }
      f.want(data_is_there(a, r, r.first + me % 32, 32), __LINE__);
    }
    f.status(ggas_wait_until_all_block(flags + r.first, r.many, ggas_eq, i, a.timeout_ns), ggas_ok, __LINE__);
    f.want(data_is_there(a, r, r.first + me, threads), __LINE__);
    if (me == 0) find_nothing_more(a, r, f);
    f.status(ggas_barrier_block(a.timeout_ns), ggas_ok, __LINE__);
  }
  f.write(a.outcomes);
}

// What is refused, and what is waited for without success: flags are zero.
__global__ void GGAS_LAUNCH_BOUNDS(96) wait_for_nothing(wait_args a) {
  found f;
  const auto* const flags = bench::own<uint64_t>(a.flags);
  const uint64_t* const none = nullptr;
  const auto* const misaligned = reinterpret_cast<const uint64_t*>(bench::own<char>(a.flags + 4));
  const auto wrong = static_cast<ggas_cmp>(ggas_ge + 1);
  const uint64_t t = a.timeout_ns, v = 5;
  size_t index = 77, count = 88, indices[8] = {99};
  uint64_t seen = 66;
  const auto refused = [&](const uint64_t* p, size_t n, ggas_cmp cmp, int line) {
    f.status(ggas_wait_until_any(p, n, cmp, v, &index, t), ggas_bad_argument, line);
    f.status(ggas_wait_until_some(p, n, cmp, v, indices, &count, t), ggas_bad_argument, line);
    f.status(ggas_wait_until_all(p, n, cmp, v, t), ggas_bad_argument, line);
    f.status(ggas_wait_until_all_warp(p, n, cmp, v, t), ggas_bad_argument, line);
    f.status(ggas_wait_until_all_block(p, n, cmp, v, t), ggas_bad_argument, line);
    f.want(!ggas_test_any(p, n, cmp, v, &index) && !ggas_test_all(p, n, cmp, v), line);
    if (n == 0) return;
    f.status(ggas_wait_until(p, cmp, v, t), ggas_bad_argument, line);
    f.status(ggas_wait_until_warp(p, cmp, v, t), ggas_bad_argument, line);
    f.status(ggas_wait_until_block(p, cmp, v, t), ggas_bad_argument, line);
    f.status(ggas_signal_wait_until(p, cmp, v, &seen, t), ggas_bad_argument, line);
  };
  refused(none, 3, ggas_eq, __LINE__);
  refused(misaligned, 3, ggas_eq, __LINE__);
  refused(flags, 3, wrong, __LINE__);
  refused(flags, 0, ggas_eq, __LINE__);
  f.status(ggas_wait_until_any(flags, 3, ggas_eq, v, nullptr, t), ggas_bad_argument, __LINE__);
  f.status(ggas_wait_until_some(flags, 3, ggas_eq, v, nullptr, &count, t), ggas_bad_argument, __LINE__);
  f.status(ggas_wait_until_some(flags, 3, ggas_eq, v, indices, nullptr, t), ggas_bad_argument, __LINE__);
  f.want(index == 77 && count == 88 && indices[0] == 99 && seen == 66, __LINE__);
  for (const uint64_t brief : {uint64_t{0}, a.brief_ns}) {
    const auto timed_out = [&](auto wait, int line) {
      const uint64_t begin = bench::time_ns();
      f.status(wait(), ggas_timed_out, line);
      if (detail::thread_rank() == 0) f.want(bench::time_ns() - begin >= brief, line);
    };
    timed_out([&] { return ggas_wait_until_any(flags, 3, ggas_eq, v, &index, brief); }, __LINE__);
    timed_out([&] { return ggas_wait_until_some(flags, 3, ggas_eq, v, indices, &count, brief); }, __LINE__);
    timed_out([&] { return ggas_wait_until_all(flags, 3, ggas_eq, v, brief); }, __LINE__);
    timed_out([&] { return ggas_wait_until_all_warp(flags, 40, ggas_eq, v, brief); }, __LINE__);
    timed_out([&] { return ggas_wait_until_all_block(flags, 80, ggas_eq, v, brief); }, __LINE__);
    timed_out([&] { return ggas_wait_until_warp(flags, ggas_eq, v, brief); }, __LINE__);
    timed_out([&] { return ggas_wait_until_block(flags, ggas_eq, v, brief); }, __LINE__);
    timed_out([&] { return ggas_signal_wait_until(flags, ggas_eq, v, &seen, brief); }, __LINE__);
  }
  f.want(index == 77 && count == 0 && seen == 66, __LINE__);
  f.write(a.outcomes);
}

// Two blocks of a GPU, one informs the other: a fence of the GPU is enough.
__global__ void GGAS_LAUNCH_BOUNDS(96) tell_the_next_block(wait_args a) {
  found f;
  const unsigned me = detail::thread_rank(), threads = detail::thread_count();
  auto *const data = bench::own<uint64_t>(a.data), *const flags = bench::own<uint64_t>(a.flags);
  const bool tells = detail::block_rank() == 0;
  for (uint64_t r = 1; r <= a.rounds && f.all_good(); ++r) {
    if (tells) {
      ggas_store(data + me, bench::pattern(a.seed, r, me));
      __syncthreads();
      if (me == 0) {
        ggas_fence_gpu();
        ggas_store(flags, r);
      }
      f.status(ggas_wait_until_block(flags + 8, ggas_eq, r, a.timeout_ns), ggas_ok, __LINE__);
    } else {
      f.status(ggas_wait_until_block(flags, ggas_eq, r, a.timeout_ns), ggas_ok, __LINE__);
      const unsigned other = (me + static_cast<unsigned>(r)) % threads;
      f.want(ggas_load(data + other) == bench::pattern(a.seed, r, other), __LINE__);
      __syncthreads();
      if (me == 0) {
        ggas_fence_gpu();
        ggas_store(flags + 8, r);
      }
    }
  }
  f.write(a.outcomes);
}

// ---- host

template <class Machine>
void run_waits(Machine& m, uint64_t rounds) {
  const wait_args a{m.data(), m.data() + 8192, m.outcomes(), rounds, 7, m.timeout_ns(), m.brief_ns()};
  run_found(m, 1, 96, wait_in_rounds, a, "wait_in_rounds");
  run_found(m, 1, 70, wait_in_rounds, a, "wait_in_rounds, a short warp");
  run_found(m, 1, 70, wait_for_nothing, a, "wait_for_nothing");
  run_found(m, 2, 96, tell_the_next_block, a, "tell_the_next_block");
}

}  // namespace ggas::calls
