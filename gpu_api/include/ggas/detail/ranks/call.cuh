// SPDX-License-Identifier: Apache-2.0
// A rank's part of a collective: begin and end, the words that it sends and waits for, and the order of its stores to
// other ranks. Rules: docs/ranks.md. Included by ranks.cuh.
#pragma once

#include "ggas/detail/collective/guard.cuh"
#include "ggas/detail/ranks/barrier.cuh"

namespace ggas::detail {

using rank_row = rank_layout::row;

// Memory of every rank, as ggas::ranked.
struct rank_place {
  uint64_t offset, step;
};

struct rank_call {
  ggas_ranks ranks;
  rank_layout at;
  int me, count;     // own rank, of so many
  unsigned mode;     // ggas_sync_mode
  uint64_t number;   // of the call, from 1
  uint64_t permute;  // number that a permute has

  GGAS_DEVICE bool enters(ggas_sync_mode in) const { return (mode & 3u) == in; }
  // Whether a rank is informed that its data are here: the barrier of ggas_out_all says so too.
  GGAS_DEVICE bool tells() const { return (mode & 12u) == ggas_out_mine; }
  GGAS_DEVICE bool leaves(ggas_sync_mode out) const { return (mode & 12u) == out; }
  GGAS_DEVICE bool is_here(int rank) const { return node_of_rank(ranks, rank) == ggas_node(); }
  GGAS_DEVICE uint64_t part(int rank) const {
    return ranks.place + at.part(static_cast<uint64_t>(block_in_node(ranks, rank)));
  }
  // What a rank has of another one.
  GGAS_DEVICE uint64_t* word(int owner, unsigned row, int of) const {
    return word_of(node_of_rank(ranks, owner), part(owner) + at.of_rank(row, static_cast<uint64_t>(of)));
  }
  GGAS_DEVICE uint64_t* own(unsigned row, int of) const { return word(me, row, of); }
  GGAS_DEVICE uint64_t* own_count(uint64_t which) const { return own_word(part(me) + which); }
  GGAS_DEVICE char* slot(int owner, int from, uint64_t message) const {
    return ggas_pointer_of_node<char>(node_of_rank(ranks, owner),
                                      part(owner) + at.slot(static_cast<uint64_t>(from), message));
  }
  GGAS_DEVICE char* memory(const rank_place& p, int rank) const {
    return ggas_pointer_of_node<char>(node_of_rank(ranks, rank),
                                      p.offset + static_cast<uint64_t>(block_in_node(ranks, rank)) * p.step);
  }
};

// ------------------------------------------------------------------------------------------------ words of others

// Called by a thread: its earlier accesses, and those of its group before a barrier, are visible to a reader that finds
// the value. Between ranks of one GPU an order of GPU scope is enough.
GGAS_DEVICE void release_to(const rank_call& c, int rank) {
  if (c.is_here(rank))
    fence_acq_rel_gpu();
  else
    fence_acq_rel_system();
}
GGAS_DEVICE void tell_rank(const rank_call& c, int rank, unsigned row, uint64_t value) {
  release_to(c, rank);
  store_relaxed(c.word(rank, row, c.me), value);
}
GGAS_DEVICE ggas_status await_rank(const rank_call& c, unsigned row, int from, uint64_t value, poll_deadline& end) {
  uint64_t seen;
  return await_word<meeting::barrier>(c.own(row, from), value, seen, end) ? ggas_ok : timed_out_for(from);
}

// By the whole block, of all ranks but the own one that `who` says.
template <class Who>
GGAS_DEVICE void tell_ranks(const rank_call& c, unsigned row, uint64_t value, Who who) {
  for (int rank = static_cast<int>(thread_rank()); rank < c.count; rank += static_cast<int>(thread_count()))
    if (rank != c.me && who(rank)) tell_rank(c, rank, row, value);
}
template <class Who>
GGAS_DEVICE ggas_status await_ranks(const rank_call& c, unsigned row, Who who, uint64_t value, poll_deadline& end) {
  ggas_status s = ggas_ok;
  for (int rank = static_cast<int>(thread_rank()); rank < c.count && s == ggas_ok;
       rank += static_cast<int>(thread_count()))
    if (rank != c.me && who(rank)) s = await_rank(c, row, rank, value, end);
  return s;
}

// The call is entered: who stores to this rank may begin.
template <class Who>
GGAS_DEVICE void enter_for(const rank_call& c, Who who) {
  if (c.enters(ggas_in_mine)) tell_ranks(c, rank_layout::entered, c.number, who);
}

// Whether a rank has, and what it did before is visible.
GGAS_DEVICE bool has_entered(const rank_call& c, int rank) {
  if (load_spin(c.own(rank_layout::entered, rank)) < c.number) return false;
  acquire_after_spin(c.own(rank_layout::entered, rank));
  return true;
}

// What the threads of the block found in waits.
GGAS_DEVICE ggas_status status_of_ranks(const rank_call& c, ggas_status mine) {
  return block_status(mine, waited_for::ranks, c.own_count(rank_layout::calls), c.number);
}

// Kernels of nvcc have the checked mode where they ask for it (guard.cuh).
GGAS_DEVICE bool ranks_checked() {
#if defined(__CUDACC__) && !defined(GGAS_CHECKED)
  return false;
#else
  return is_checked();
#endif
}

// Counts of the rank, in the checked mode: by one of its threads, or by several at once.
GGAS_DEVICE void count_by_thread(const rank_call& c, uint64_t which, uint64_t by) {
  if (ranks_checked()) add_gpu(c.own_count(which), by);
}
GGAS_DEVICE void count_in(const rank_call& c, uint64_t which, uint64_t by) {
  if (is_first_thread()) count_by_thread(c, which, by);
}

// ------------------------------------------------------------------------------------------------ stores to others

// The threads that store to a rank: a warp for short data, so that several ranks are served at the same time, else the
// whole block. Each lane of a warp, or of the block's first warp, handles one partner.
struct storing_warp {
  GGAS_DEVICE unsigned first() const { return thread_rank() / 32; }
  GGAS_DEVICE unsigned step() const { return (thread_count() + 31) / 32; }
  GGAS_DEVICE unsigned width() const { return lane_count(); }
  GGAS_DEVICE unsigned lane() const { return lane_rank(); }
  GGAS_DEVICE void sync() const { sync_lanes(); }
  GGAS_DEVICE unsigned lanes_that(bool say_so) const { return __ballot_sync(lane_mask(), say_so); }
  GGAS_DEVICE movers by() const { return {lane_rank(), lane_count()}; }
};
struct storing_block {
  GGAS_DEVICE unsigned first() const { return 0; }
  GGAS_DEVICE unsigned step() const { return 1; }
  GGAS_DEVICE unsigned width() const { return thread_count() < 32 ? thread_count() : 32; }
  GGAS_DEVICE unsigned lane() const { return thread_rank(); }
  GGAS_DEVICE void sync() const { __syncthreads(); }
  GGAS_DEVICE unsigned lanes_that(bool say_so) const {
    GGAS_SHARED(unsigned, shared);
    if (thread_rank() < 32) {
      const unsigned lanes = __ballot_sync(lane_mask(), say_so);
      if (thread_rank() == 0) shared = lanes;
    }
    __syncthreads();
    const unsigned all = shared;
    __syncthreads();
    return all;
  }
  GGAS_DEVICE movers by() const { return {thread_rank(), thread_count()}; }
};

// Stores to the partners target(0) ... target(count - 1); some may be no_rank. may(rank): the rank is ready for
// data. store(rank, movers) stores the data. When all ready ranks have their data, the lane of each rank calls
// done(rank); one fence serves all of them. Ranks that are not ready are polled again; each lane handles one rank at
// a time.
template <class By, class Target, class May, class Store, class Done>
GGAS_DEVICE ggas_status serve(const rank_call& c, const By& by, int count, Target target, May may, Store store,
                              Done done, poll_deadline& end) {
  const auto all = static_cast<unsigned>(count);
  GGAS_NO_UNROLL
  for (unsigned base = by.first(); base < all; base += by.width() * by.step()) {
    const auto partner = [&](unsigned k) {
      const unsigned i = base + k * by.step();
      return k < by.width() && i < all ? target(static_cast<int>(i)) : no_rank;
    };
    const int mine = partner(by.lane());
    unsigned pending = by.lanes_that(mine != no_rank && mine != c.me);
    while (pending != 0) {
      const bool waits = by.lane() < 32 && (pending >> by.lane() & 1) != 0;
      const unsigned ready = by.lanes_that(waits && may(mine));
      if (ready == 0) {
        if (by.lanes_that(by.lane() == 0 && end.over()) != 0)
          return timed_out_for(partner(static_cast<unsigned>(__ffs(pending)) - 1));
        continue;
      }
      for (unsigned left = ready; left != 0; left &= left - 1)
        store(partner(static_cast<unsigned>(__ffs(left)) - 1), by.by());
      by.sync();
      if (by.lane() < 32 && (ready >> by.lane() & 1) != 0) {
        done(mine);
        count_by_thread(c, rank_layout::messages, 1);
      }
      pending &= ~ready;
    }
  }
  return ggas_ok;
}

// Longer data of several ranks would keep a warp busy while the others have nothing to do.
constexpr size_t most_of_warp = 4096;
template <class Target, class May, class Store, class Done>
GGAS_DEVICE ggas_status serve_ranks(const rank_call& c, int count, size_t bytes, Target target, May may, Store store,
                                    Done done, poll_deadline& end) {
  return count > 1 && bytes <= most_of_warp ? serve(c, storing_warp{}, count, target, may, store, done, end)
                                            : serve(c, storing_block{}, count, target, may, store, done, end);
}

GGAS_DEVICE void copy_bytes(char* to, const char* from, size_t bytes, const movers& by) {
  if (to != from) move_part(reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from), bytes, by);
}

// For a call that stores to its partners' destinations. If the mode requires it, the call stores to a partner only once
// that partner has entered. A partner that waits for its data is notified after them.
template <class Target, class To, class From>
GGAS_DEVICE ggas_status store_to_ranks(const rank_call& c, int count, size_t bytes, bool tells, Target target, To to,
                                       From from, poll_deadline& end) {
  const bool waits = c.enters(ggas_in_mine);
  return serve_ranks(
      c, count, bytes, target, [&](int rank) { return !waits || has_entered(c, rank); },
      [&](int rank, const movers& by) { copy_bytes(to(rank), from(rank), bytes, by); },
      [&](int rank) {
        if (tells) tell_rank(c, rank, rank_layout::arrived, c.number);
      },
      end);
}

// ------------------------------------------------------------------------------------------------ agreement

// How a rank calls: its terms, and of a permute to whom it sends.
struct rank_terms {
  call_terms call;
  uint64_t to;
};
GGAS_DEVICE unsigned term_row(uint64_t turn, unsigned i) {
  return rank_layout::terms + static_cast<unsigned>(turn % 2) * rank_layout::term_rows + i;
}
GGAS_DEVICE uint64_t* term_of(const rank_call& c, int owner, uint64_t turn, unsigned i, int of) {
  return c.word(owner, term_row(turn, i), of);
}
// The word of a permute's target: the rank or, if there is no such rank, no_target; above it the number of the
// agreement, if ranks agree on nothing else.
constexpr uint64_t no_target = 0xffff, agreement_step = no_target + 1;
static_assert(rank_layout::most_ranks <= no_target);
GGAS_DEVICE uint64_t target_or_none(const rank_call& c, int to) {
  return to >= 0 && to < c.count ? static_cast<uint64_t>(to) : no_target;
}
GGAS_DEVICE uint64_t* target_of(const rank_call& c, int owner, uint64_t turn, int of) {
  return term_of(c, owner, turn, 3, of);
}
GGAS_DEVICE void store_rank_terms(const rank_call& c, int owner, uint64_t turn, const rank_terms& t) {
  store_relaxed(term_of(c, owner, turn, 0, c.me), t.call.n);
  store_relaxed(term_of(c, owner, turn, 1, c.me), t.call.how);
  store_relaxed(term_of(c, owner, turn, 2, c.me), t.call.team);
  store_relaxed(target_of(c, owner, turn, c.me), t.to);
}
GGAS_DEVICE rank_terms load_rank_terms(const rank_call& c, uint64_t turn, int of) {
  return {{load_relaxed(term_of(c, c.me, turn, 0, of)), load_relaxed(term_of(c, c.me, turn, 1, of)),
           load_relaxed(term_of(c, c.me, turn, 2, of))},
          load_relaxed(target_of(c, c.me, turn, of))};
}

// Whether each rank is the target of exactly one rank. It is if the number of different targets equals the number of
// ranks. Called by the whole block, which checks some targets at a time.
GGAS_DEVICE bool is_permutation(const rank_call& c, uint64_t turn) {
  constexpr int at_once = 256;
  GGAS_SHARED_ARRAY(char, marks, at_once);
  const int first = static_cast<int>(thread_rank()), step = static_cast<int>(thread_count());
  bool good = true;
  for (int base = 0; base < c.count; base += at_once) {
    for (int i = first; i < at_once; i += step) marks[i] = base + i >= c.count;
    __syncthreads();
    for (int rank = first; rank < c.count; rank += step) {
      const uint64_t to = (load_relaxed(target_of(c, c.me, turn, rank)) & no_target) - static_cast<uint64_t>(base);
      if (to < at_once) marks[to] = 1;
    }
    __syncthreads();
    for (int i = first; i < at_once; i += step) good = good && marks[i] != 0;
    __syncthreads();
  }
  return good;
}

// Every rank sends the parameters of its call to every other one, and all pass a barrier. So either all ranks refuse or
// none does, and the next call works. The words of two calls, used in turn, suffice: a rank that writes the words of
// agreement t has completed t - 1 together with all the others, and these had then read the words of t - 2.
GGAS_DEVICE_FUNCTION ggas_status agree_as_ranks(rank_call c, rank_terms mine, bool permutes, uint64_t timeout_ns) {
  const uint64_t turn = load_own(c.own_count(rank_layout::agreements)) + 1;
  const int first = static_cast<int>(thread_rank()), step = static_cast<int>(thread_count());
  for (int rank = first; rank < c.count; rank += step) store_rank_terms(c, rank, turn, mine);
  if (const ggas_status s = meet_ranks<meeting::barrier>(c.ranks, timeout_ns); s != ggas_ok) return s;
  bool good = true;
  for (int rank = first; rank < c.count && good; rank += step) {
    const call_terms other = load_rank_terms(c, turn, rank).call;
    good = !differ(mine.call, other);
    if (!good) record_difference(mine.call, other, rank);
  }
  if (permutes) good = is_permutation(c, turn) && good;
  const bool all = !__syncthreads_or(!good);
  if (is_first_thread()) store_own(c.own_count(rank_layout::agreements), turn);
  __syncthreads();
  return all && (mine.call.team & call_terms::refuses) == 0 ? ggas_ok : ggas_bad_argument;
}

// The same for the targets of a permute alone. A word has the number of its agreement, so a rank that has all words
// knows that all ranks have entered: no barrier is needed.
GGAS_DEVICE ggas_status agree_on_targets(const rank_call& c, int to, uint64_t timeout_ns) {
  const uint64_t turn = load_own(c.own_count(rank_layout::agreements)) + 1, least = turn * agreement_step;
  const uint64_t mine = least + target_or_none(c, to);
  const unsigned row = term_row(turn, 3);
  const auto every = [](int) { return true; };
  ggas_status s = c.ranks.nodes.size > 1 && nic_page() && is_first_thread() ? settle_stores() : ggas_ok;
  __syncthreads();
  tell_ranks(c, row, mine, every);
  if (is_first_thread()) store_relaxed(c.own(row, c.me), mine);
  poll_deadline end(timeout_ns);
  if (s == ggas_ok) s = await_ranks(c, row, every, least, end);
  if (s = status_of_ranks(c, s); s != ggas_ok) return s;
  const bool all = !__syncthreads_or(!is_permutation(c, turn));
  if (is_first_thread()) store_own(c.own_count(rank_layout::agreements), turn);
  __syncthreads();
  return all ? ggas_ok : ggas_bad_argument;
}

// ------------------------------------------------------------------------------------------------ calls

// A call as it is checked: what it is, whether its places are good, and of a permute to whom it sends.
struct rank_facts {
  call_terms terms;
  bool permutes;
  int to;
  bool good;
};

GGAS_DEVICE bool rank_place_good(const ggas_ranks& r, const rank_place& p, uint64_t bytes, unsigned element) {
  const uint64_t last = r.blocks - 1;
  const bool fits = bytes <= ggas_segment_bytes() && p.step <= ggas_segment_bytes() && fits_segment(p.offset, bytes) &&
                    last * p.step <= ggas_segment_bytes() - bytes - p.offset;
  return fits && p.offset % element == 0 && p.step % element == 0;
}
// The same check for places of which every rank has its own.
GGAS_DEVICE bool rank_places_good(const ggas_ranks& r, const rank_place& p, uint64_t bytes, unsigned element) {
  return rank_place_good(r, p, bytes, element) && (r.blocks == 1 || p.step >= bytes);
}

GGAS_DEVICE rank_call open_call(const ggas_ranks& r, unsigned mode) {
  rank_call c{r, layout_of(r), own_rank(r), rank_count(r), mode, 0, 0};
  c.number = load_own(c.own_count(rank_layout::calls)) + 1;
  c.permute = load_own(c.own_count(rank_layout::permutes)) + 1;
  return c;
}

// What comes before the data: all ranks, where the mode or a check wants them.
GGAS_DEVICE ggas_status begin_call(const rank_call& c, const rank_facts& f, uint64_t timeout_ns) {
  const ggas_status s = block_status(load_relaxed(own_word(layout::broken)) != 0 ? ggas_broken : ggas_ok);
  if (s != ggas_ok) return s;
  if (ranks_checked()) {
    rank_terms mine{f.terms, target_or_none(c, f.to)};
    mine.call.how |= (uint64_t{c.mode} | call_terms::of_ranks) << 24 | uint64_t{c.ranks.blocks} << 48;
    mine.call.team = static_cast<uint64_t>(c.ranks.nodes.first) | static_cast<uint64_t>(c.ranks.nodes.stride) << 16 |
                     static_cast<uint64_t>(c.ranks.nodes.size - 1) << 32 | (f.good ? 0 : call_terms::refuses);
    return agree_as_ranks(c, mine, f.permutes, timeout_ns);
  }
  if (!c.enters(ggas_in_all)) return ggas_ok;
  return f.permutes ? agree_on_targets(c, f.to, timeout_ns) : meet_ranks<meeting::barrier>(c.ranks, timeout_ns);
}

// good(): whether the arguments are valid, for valid ranks. `body(call, poll_deadline)` moves the data and returns the
// thread's status. A call that consists of several calls continues the numbers of `call`, as all ranks do.
template <class Good, class Body>
GGAS_DEVICE ggas_status run_ranks(const ggas_ranks& r, unsigned mode, rank_facts f, uint64_t timeout_ns, Good good,
                                  Body body) {
  if (!ranks_good(r) || (mode & 3u) == 3u || mode >= 12u) return ggas_bad_argument;
  f.good = good();
  if (!f.good && !ranks_checked()) return ggas_bad_argument;
  rank_call c = open_call(r, mode);
  const taken_place here(c.own_count(0), rank_layout::line);
  if (here.refused()) return refused_for(waited_for::free_place, call_of(f.terms), 0);
  ggas_status s = begin_call(c, f, timeout_ns);
  if (s == ggas_bad_argument) return s;
  if (s == ggas_ok) {
    poll_deadline end(timeout_ns);
    s = status_of_ranks(c, body(c, end));
  }
  if (s == ggas_ok && c.leaves(ggas_out_all)) s = meet_ranks<meeting::barrier>(r, timeout_ns);
  if (thread_rank() == 0) {
    if (s == ggas_ok) {
      store_own(c.own_count(rank_layout::calls), c.number);
      if (f.permutes) store_own(c.own_count(rank_layout::permutes), c.permute);
    } else {
      break_node();
    }
  }
  __syncthreads();
  return s;
}

}  // namespace ggas::detail
