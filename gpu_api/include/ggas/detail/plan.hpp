// SPDX-License-Identifier: Apache-2.0
// Plans of collectives: for each step the rank to send to and the part to send. Plans are only numbers, so kernels and
// the host library use the same ones. `size` ranks, 1 or more. A step of a rank is a plan_step; part i of a vector is
// that of rank i. Figures of each plan: docs/ranks.md. Host and device.
#pragma once

#include "ggas/detail/platform/call.hpp"

namespace ggas::detail {

constexpr int no_rank = -1;

// What a rank does in a step: it sends to one rank and receives from one; no_rank: not in this step.
struct plan_step {
  int to, from;
};
// Parts first, first + 1, ... of as many as there are ranks, modulo their number.
struct plan_parts {
  int first, count;
};

// The least number of doublings of 1 that reach `size`.
GGAS_LAYOUT_FN int doublings(int size) {
  int n = 0;
  while ((int64_t{1} << n) < size) ++n;
  return n;
}
// rank + distance, modulo the number of ranks; -size <= distance < size.
GGAS_LAYOUT_FN int rank_after(int rank, int distance, int size) {
  const int r = rank + distance;
  return r >= size ? r - size : r < 0 ? r + size : r;
}

// The root sends to one rank after the other, or each of them to the root: size - 1 messages of the root.
struct linear_plan {
  int size, root;
  GGAS_LAYOUT_FN int steps() const { return size - 1; }
  // Partner of the root in that step. The root is the only partner of each other rank.
  GGAS_LAYOUT_FN int partner(int step) const { return rank_after(root, step + 1, size); }
  GGAS_LAYOUT_FN plan_step from_root(int rank, int step) const {
    if (rank == root) return {partner(step), no_rank};
    return {no_rank, rank == partner(step) ? root : no_rank};
  }
  GGAS_LAYOUT_FN plan_step to_root(int rank, int step) const {
    const plan_step s = from_root(rank, step);
    return {s.from, s.to};
  }
};

// A tree from the root, with the largest subtree first. The root sends ceil(log2 size) messages; all members together
// send size - 1. A scatter uses the same tree: a message carries the parts of the subtree below its receiver.
struct binomial_plan {
  int size, root;
  GGAS_LAYOUT_FN int steps() const { return doublings(size); }
  GGAS_LAYOUT_FN plan_step at(int rank, int step) const {
    const int v = relative(rank), d = distance(step);
    if (v % (2 * d) == 0) return {v + d < size ? absolute(v + d) : no_rank, no_rank};
    return {no_rank, v % (2 * d) == d ? absolute(v - d) : no_rank};
  }
  // The step in which a rank receives; that of the root is -1, so each sends in the steps after its own.
  GGAS_LAYOUT_FN int receives_in(int rank) const {
    const int v = relative(rank);
    for (int step = 0; step < steps(); ++step)
      if (v % (2 * distance(step)) == distance(step)) return step;
    return -1;
  }
  // What a message to `rank` carries of a scatter: its own part and those of its subtree, in the order from the root.
  GGAS_LAYOUT_FN plan_parts parts_below(int rank) const {
    const int v = relative(rank), step = receives_in(rank), most = step < 0 ? size : distance(step);
    return {rank, v + most <= size ? most : size - v};
  }

 private:
  GGAS_LAYOUT_FN int distance(int step) const { return 1 << (steps() - 1 - step); }
  GGAS_LAYOUT_FN int relative(int rank) const { return rank_after(rank, -root, size); }
  GGAS_LAYOUT_FN int absolute(int v) const { return rank_after(v, root, size); }
};

// Each part goes once around: size - 1 messages of each rank, all of them to the next one.
struct ring_plan {
  int size;
  GGAS_LAYOUT_FN int steps() const { return size - 1; }
  GGAS_LAYOUT_FN plan_step at(int rank, int) const {
    return {rank_after(rank, size > 1, size), rank_after(rank, -1, size)};
  }
  // The part that a rank sends in a step: its own, then what it received in the step before.
  GGAS_LAYOUT_FN int part(int rank, int step) const { return rank_after(rank, -step, size); }
};

// Every pair of ranks meets in one step and exchanges. Where the size is no power of two some ranks pause in a step.
struct xor_plan {
  int size;
  GGAS_LAYOUT_FN int steps() const { return (1 << doublings(size)) - 1; }
  GGAS_LAYOUT_FN int partner(int rank, int step) const {
    const int other = rank ^ (step + 1);
    return other < size ? other : no_rank;
  }
  GGAS_LAYOUT_FN plan_step at(int rank, int step) const { return {partner(rank, step), partner(rank, step)}; }
};

// A barrier: after ceil(log2 size) steps every rank has received, directly or not, of every other one.
struct dissemination_plan {
  int size;
  GGAS_LAYOUT_FN int steps() const { return doublings(size); }
  GGAS_LAYOUT_FN plan_step at(int rank, int step) const {
    return {rank_after(rank, 1 << step, size), rank_after(rank, -(1 << step), size)};
  }
};

}  // namespace ggas::detail
