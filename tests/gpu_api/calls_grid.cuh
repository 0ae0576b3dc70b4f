// SPDX-License-Identifier: Apache-2.0
// broadcast, allgather and alltoall by all blocks of a grid, in rounds with random kinds, lengths, places, roots and
// teams. One source for the host engine, the simulator and GPUs; for one translation unit.
#pragma once

#include "tests/gpu_api/calls_found_run.hpp"

namespace ggas::calls {

struct grid_args {
  uint64_t from, to;  // offsets of room for vectors
  uint64_t words;     // of 8 bytes in each of them
  uint64_t outcomes;
  uint64_t rounds, seed, timeout_ns;
};
constexpr uint64_t untouched = 0x5555aaaa5555aaaa;

// A round, the same on every member. The own vectors begin a few words after the start of their area, at a different
// offset on every node.
struct grid_round {
  uint64_t number, n;
  unsigned what;  // 0: broadcast, 1: allgather, 2: alltoall
  int root;
  ggas_team team;
  uint64_t *from, *to;

  GGAS_DEVICE grid_round(const grid_args& a, uint64_t r) : number(r) {
    const uint64_t dice = bench::pattern(a.seed, 0, r);
    const auto below = [dice](unsigned shift, uint64_t most) { return (dice >> shift) % most; };
    team = team_of(static_cast<unsigned>(below(2, 4)));
    what = static_cast<unsigned>(below(4, 3));
    root = static_cast<int>(below(8, static_cast<uint64_t>(team.size)));
    // The most that all nodes together have room for, whatever the team: n is the same everywhere.
    const uint64_t most = a.words / static_cast<uint64_t>(ggas_nodes()) - 8;
    n = 1 + below(16, (most >> below(40, 10)) + 1);
    const auto me = static_cast<unsigned>(ggas_node());
    from = bench::own<uint64_t>(a.from) + 1 + bench::pattern(a.seed, 1, r + 100 * me) % 5;
    to = bench::own<uint64_t>(a.to) + 1 + bench::pattern(a.seed, 2, r + 100 * me) % 5;
  }
  // All nodes, those of even and of odd number, pairs, the node alone.
  GGAS_DEVICE static ggas_team team_of(unsigned which) {
    const int me = ggas_node(), odd = me % 2, first = me / 2 * 2;
    if (which == 1) return ggas_team_strided(1, odd, 2, (ggas_nodes() - odd + 1) / 2);
    if (which == 2) return ggas_team_strided(2, first, 1, first + 1 < ggas_nodes() ? 2 : 1);
    if (which == 3) return ggas_team_strided(3, me, 1, 1);
    return ggas_world();
  }
  GGAS_DEVICE uint64_t words_in() const { return what == 2 ? n * static_cast<uint64_t>(team.size) : n; }
  GGAS_DEVICE uint64_t words_out() const { return what == 0 ? n : n * static_cast<uint64_t>(team.size); }
  // Word i of what a node gives.
  GGAS_DEVICE uint64_t given(int node, uint64_t i) const {
    return bench::pattern(number, static_cast<uint64_t>(node), i);
  }
  GGAS_DEVICE uint64_t taken(uint64_t i) const {
    const auto member = static_cast<int>(i / n);
    if (what == 0) return given(ggas_team_node(team, root), i);
    const uint64_t part = what == 2 ? static_cast<uint64_t>(ggas_team_rank(team)) * n : 0;
    return given(ggas_team_node(team, member), part + i % n);
  }
};

GGAS_DEVICE ggas_status exchange(const grid_round& r, uint64_t timeout_ns) {
  if (r.what == 0) return ggas_broadcast_grid(r.to, r.from, r.n, r.root, timeout_ns, r.team);
  if (r.what == 1) return ggas_allgather(ggas::grid{}, r.to, r.from, r.n, timeout_ns, r.team);
  return ggas_alltoall_grid(r.to, r.from, r.n, timeout_ns, r.team);
}

// Makes one argument of the round wrong, by all members alike.
GGAS_DEVICE void spoil(grid_round& r, unsigned how) {
  if (how == 0) r.to = nullptr;
  if (how == 1) r.to = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(r.to) + 4);
  if (how == 2) r.team = ggas_team{0, 1, 0, 1};
  if (how == 3) r.team.id = 4;
  if (how == 4) r.n = ~uint64_t{0} / 4;
  if (how == 5) r.what = 0;
  if (how == 5) r.root = r.number % 2 ? -1 : r.team.size;
}

GGAS_DEVICE void check_team(const ggas_team& team, found& f) {
  f.want(ggas_team_good(team), __LINE__);
  f.want(ggas_team_node(team, ggas_team_rank(team)) == ggas_node(), __LINE__);
  int members = 0;
  for (int k = 0; k < ggas_nodes(); ++k) {
    const int rank = ggas_team_rank_of(team, k);
    members += rank >= 0;
    f.want(rank < team.size && (rank < 0 || ggas_team_node(team, rank) == k), __LINE__);
  }
  f.want(members == team.size, __LINE__);
}

// All blocks of the grid, all resident.
__global__ void GGAS_LAUNCH_BOUNDS(128) exchange_in_rounds(grid_args a) {
  found f;
  const uint64_t me = bench::global_thread(), all = bench::global_threads();
  ggas_status s = ggas_ok;
  for (uint64_t i = 1; i <= a.rounds && s == ggas_ok; ++i) {
    grid_round r(a, i);
    check_team(r.team, f);
    for (uint64_t w = me; w < r.words_in(); w += all) r.from[w] = r.given(ggas_node(), w);
    for (uint64_t w = me; w < r.words_out() + 2; w += all) r.to[static_cast<ptrdiff_t>(w) - 1] = untouched;
    s = ggas_barrier_grid(a.timeout_ns);  // what a grid form reads is complete before a block calls it
    if (i % 4 == 0) {
      grid_round bad = r;
      spoil(bad, static_cast<unsigned>(i / 4 % 6));
      f.status(exchange(bad, a.timeout_ns), ggas_bad_argument, __LINE__);
    }
    if (s == ggas_ok) s = exchange(r, a.timeout_ns);
    if (s == ggas_ok) s = ggas_barrier_grid(a.timeout_ns);
    for (uint64_t w = me; w < r.words_out() + 2; w += all) {
      const bool inside = w > 0 && w <= r.words_out();
      f.want(ggas_load(r.to + static_cast<ptrdiff_t>(w) - 1) == (inside ? r.taken(w - 1) : untouched), __LINE__);
    }
    if (s == ggas_ok) s = ggas_sync_grid(a.timeout_ns);
  }
  f.status(s, ggas_ok, __LINE__);
  f.write(a.outcomes);
}

// ---- host

template <class Machine>
void run_grids(Machine& m, unsigned blocks, unsigned threads, uint64_t words, uint64_t rounds) {
  const grid_args a{m.data(), m.data() + 8 * words + 128, words, m.outcomes(), rounds, 5, m.timeout_ns()};
  run_found(m, blocks, threads, exchange_in_rounds, a, std::to_string(blocks) + " blocks, exchange_in_rounds");
}

}  // namespace ggas::calls
