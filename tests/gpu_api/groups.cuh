// SPDX-License-Identifier: Apache-2.0
// Calls by groups of a block whose lanes have diverged: some groups make a call while the lanes of all others are in a
// different loop until it has returned, or all make it, each with a different length. One source for the host engine
// and GPUs; the host computes the expected memory itself (groups_run.hpp).
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::groups {

enum class call : unsigned {
  put,
  put_nbi,
  put_value,
  put_value_nbi,
  iput,
  iput_nbi,
  put_signal,
  put_signal_nbi,
  put_tagged,
  put_notify,
  put_value_notify,
  notify,
  atomic_fetch,
  get,
  get_nbi,
  iget,
  iget_nbi,
  wait_until,
  wait_until_all,
  wait_until_all_masked,
};
constexpr unsigned calls = 20;

// Which groups of the block make a call.
enum class acting : unsigned { first, last, odd, all };
constexpr unsigned actings = 4;

constexpr unsigned threads = 96;
constexpr uint64_t area_bytes = 16384;  // what the groups of a block share: the source, and the target of each call

// Offsets in the user memory of every node.
struct args {
  uint64_t base;
  acting who;
  uint64_t timeout_ns;

  GGAS_HOST_DEVICE uint64_t source() const { return base; }
  GGAS_HOST_DEVICE uint64_t target(unsigned call) const { return base + (1 + uint64_t{call}) * area_bytes; }
  GGAS_HOST_DEVICE uint64_t taken() const { return target(calls); }  // out of the lines of put_tagged
  // A word of each group: what others write for call `c`, and that the group has made it.
  GGAS_HOST_DEVICE uint64_t word(unsigned c, unsigned group) const {
    return target(calls + 1) + (uint64_t{c} * threads + group) * 8;
  }
  GGAS_HOST_DEVICE uint64_t made(unsigned c, unsigned group) const { return word(calls + c, group); }
  GGAS_HOST_DEVICE uint64_t outcomes() const { return word(2 * calls, 0); }
  GGAS_HOST_DEVICE uint64_t end() const { return outcomes() + threads * sizeof(bench::outcome); }
};

// The part of an area that a group of `groups` has, and how much of it a call moves, from where to where in it.
struct share {
  uint64_t begin, bytes, from, to;
  GGAS_HOST_DEVICE share(unsigned c, unsigned group, unsigned groups) {
    const uint64_t part = area_bytes / groups / 16 * 16;
    begin = group * part;
    bytes = part - 40 - bench::pattern(5, c, group) % (part / 2);
    from = 0x3580 >> 4 * ((c + group) % 4) & 15;
    to = 0x8053 >> 4 * (group % 4) & 15;
  }
  GGAS_HOST_DEVICE uint64_t elements() const { return bytes / 12; }  // of 4 bytes, on one side every third
};
GGAS_HOST_DEVICE constexpr uint8_t source_byte(int node, uint64_t at) {
  return static_cast<uint8_t>(bench::pattern(static_cast<uint64_t>(node), 2, at));  // odd: never 0
}
GGAS_HOST_DEVICE constexpr uint64_t value_of(int node, unsigned c, unsigned group) {
  return bench::pattern(static_cast<uint64_t>(node), c, group);
}

// The groups of one kind in a block of `threads` threads.
template <class G>
struct in_block;
template <>
struct in_block<thread> {
  static constexpr unsigned groups = threads;
  GGAS_DEVICE static unsigned number() { return detail::thread_rank(); }
  GGAS_DEVICE static thread own() { return {}; }
};
template <unsigned Lanes>
struct in_block<tile<Lanes>> {
  static constexpr unsigned groups = threads / Lanes;
  GGAS_DEVICE static unsigned number() { return detail::thread_rank() / Lanes; }
  GGAS_DEVICE static tile<Lanes> own() { return {}; }
};
template <>
struct in_block<warp> {
  static constexpr unsigned groups = threads / 32;
  GGAS_DEVICE static unsigned number() { return detail::thread_rank() / 32; }
  GGAS_DEVICE static warp own() { return {}; }
};
template <>
struct in_block<warps> {
  static constexpr unsigned groups = 2;
  GGAS_DEVICE static unsigned number() { return detail::thread_rank() < 64 ? 0 : 1; }
  GGAS_DEVICE static warps own() { return number() == 0 ? warps{1, 0, 2} : warps{15, 2, 1}; }
};
template <>
struct in_block<block> {
  static constexpr unsigned groups = 1;
  GGAS_DEVICE static unsigned number() { return 0; }
  GGAS_DEVICE static block own() { return {}; }
};

GGAS_HOST_DEVICE constexpr bool acts(acting who, unsigned group, unsigned groups) {
  switch (who) {
    case acting::first:
      return group == 0;
    case acting::last:
      return group + 1 == groups;
    case acting::odd:
      return group % 2 == 1 || groups == 1;
    case acting::all:
      return true;
  }
  return false;
}

// One call, and what must come of the same one of the left neighbour's group of that number.
template <class G>
struct actor {
  const G& g;
  const args& a;
  unsigned group;
  uint64_t errors = 0;

  GGAS_DEVICE int right() const { return (ggas_node() + 1) % ggas_nodes(); }
  template <class T>
  GGAS_DEVICE T* there(uint64_t offset) const {
    return ggas_global_pointer<T>(right(), offset);
  }
  // The next record of queue 0, for the group's leader.
  GGAS_DEVICE ggas_status take_note(ggas_status s) {
    ggas_notification note{};
    if (s == ggas_ok && g.rank() == 0) s = ggas_notification_wait(&note, a.timeout_ns, ggas_queue_of(0));
    errors += note.cookie >= in_block<G>::groups;
    return g.join(s);
  }
  GGAS_DEVICE ggas_status add_once(unsigned c) {
    uint64_t old = 0;
    const ggas_status s =
        ggas_atomic_fetch(g, ggas_atomic_add, there<uint64_t>(a.word(c, group)), 3, 0, &old, a.timeout_ns);
    errors += g.rank() == 0 && old != 0;
    return s;
  }
  GGAS_DEVICE ggas_status wait(call what, unsigned c, const share& s) {
    const uint64_t t = a.timeout_ns;
    const auto* const source = bench::own<uint32_t>(a.source() + s.begin);
    auto* const word = bench::own<uint64_t>(a.word(c, group));
    const auto* const flags = bench::own<uint32_t>(a.target(c) + s.begin);
    const ggas_status sent = what == call::wait_until
                                 ? ggas_put_value(g, there<uint64_t>(a.word(c, group)), 5, t)
                                 : ggas_put(g, there<uint32_t>(a.target(c) + s.begin), source, s.bytes / 4, t);
    if (sent != ggas_ok) return sent;
    if (what == call::wait_until) return ggas_wait_until(g, word, ggas_eq, 5, t);
    if (what == call::wait_until_all) return ggas_wait_until_all(g, flags, s.bytes / 4, ggas_ne, 0, t);
    return ggas_wait_until_all(g, flags, s.bytes / 4, static_cast<const int*>(nullptr), ggas_ne, 0, t);
  }

  GGAS_DEVICE ggas_status make(call what) {
    const auto c = static_cast<unsigned>(what);
    const share s(c, group, in_block<G>::groups);
    const uint64_t t = a.timeout_ns, value = value_of(ggas_node(), c, group);
    const auto* const from = bench::own<uint8_t>(a.source() + s.begin + s.from);
    auto* const to = there<uint8_t>(a.target(c) + s.begin + s.to);
    const auto* const from_there = there<uint8_t>(a.source() + s.begin + s.from);
    auto* const here = bench::own<uint8_t>(a.target(c) + s.begin + s.to);
    auto* const number_to = there<uint64_t>(a.target(c) + s.begin);
    auto* const word = there<uint64_t>(a.word(c, group));
    // Elements of 4 bytes.
    const auto* const items = bench::own<uint32_t>(a.source() + s.begin);
    auto* const items_there = there<uint32_t>(a.target(c) + s.begin);
    switch (what) {
      case call::put:
        return ggas_put(g, to, from, s.bytes, t);
      case call::put_nbi:
        return ggas_put_nbi(g, to, from, s.bytes, t);
      case call::put_value:
        return ggas_put_value(g, number_to, value, t);
      case call::put_value_nbi:
        return ggas_put_value_nbi(g, number_to, value, t);
      case call::iput:
        return ggas_iput(g, items_there, items, 3, 1, s.elements(), t);
      case call::iput_nbi:
        return ggas_iput_nbi(g, items_there, items, 3, 1, s.elements(), t);
      case call::put_signal:
        return ggas_put_signal(g, to, from, s.bytes, word, 1, ggas_signal_set, t);
      case call::put_signal_nbi:
        return ggas_put_signal_nbi(g, to, from, s.bytes, word, 1, ggas_signal_add, t);
      case call::put_tagged: {
        const ggas_status sent = ggas_put_tagged(g, there<ggas_tagged>(a.target(c) + s.begin), from, s.bytes / 2, 7);
        if (sent != ggas_ok) return sent;
        return ggas_take_tagged(g, bench::own<uint8_t>(a.taken() + s.begin + s.to),
                                bench::own<ggas_tagged>(a.target(c) + s.begin), s.bytes / 2, 7, t);
      }
      case call::put_notify:
        return take_note(ggas_put_notify(g, to, from, s.bytes, group, 0, t));
      case call::put_value_notify:
        return take_note(ggas_put_value_notify(g, number_to, value, group, 0, t));
      case call::notify:
        return take_note(ggas_notify(g, right(), group, 0, t));
      case call::atomic_fetch:
        return add_once(c);
      case call::get:
        return ggas_get(g, here, from_there, s.bytes, t);
      case call::get_nbi:
        return ggas_get_nbi(g, here, from_there, s.bytes, t);
      case call::iget:
        return ggas_iget(g, bench::own<uint32_t>(a.target(c) + s.begin), there<uint32_t>(a.source() + s.begin), 1, 3,
                         s.elements(), t);
      case call::iget_nbi:
        return ggas_iget_nbi(g, bench::own<uint32_t>(a.target(c) + s.begin), there<uint32_t>(a.source() + s.begin), 1,
                             3, s.elements(), t);
      case call::wait_until:
      case call::wait_until_all:
      case call::wait_until_all_masked:
        return wait(what, c, s);
    }
    return ggas_bad_argument;
  }
};

// In a loop of the thread's own, until all groups that act have made call c.
GGAS_DEVICE ggas_status see_made(const args& a, unsigned c, unsigned groups) {
  for (unsigned k = 0; k < groups; ++k) {
    if (!acts(a.who, k, groups)) continue;
    const ggas_status s = ggas_wait_until(bench::own<uint64_t>(a.made(c, k)), ggas_eq, 1, a.timeout_ns);
    if (s != ggas_ok) return s;
  }
  return ggas_ok;
}

// All calls, one after the other. begin_ns of an outcome is the last call that was made. Threads that time out end, so
// that those which wait for their lanes continue.
template <class G>
__global__ void GGAS_LAUNCH_BOUNDS(threads) make_calls(args a) {
  bench::outcome out{0, 0, 0, ggas_ok};
  const unsigned groups = in_block<G>::groups, number = in_block<G>::number();
  const G g = in_block<G>::own();
  actor<G> me{g, a, number};
  for (unsigned c = 0; c < calls && out.status == ggas_ok; ++c) {
    out.begin_ns = c;
    if (acts(a.who, number, groups)) {
      out.status = me.make(static_cast<call>(c));
      if (g.rank() == 0) ggas_store(bench::own<uint64_t>(a.made(c, number)), 1);
    } else {
      out.status = see_made(a, c, groups);
    }
  }
  out.errors = me.errors;
  if (out.status == ggas_ok) out.status = ggas_quiet(ggas_default_queue(), a.timeout_ns);
  bench::own<bench::outcome>(a.outcomes())[detail::thread_rank()] = out;
}

}  // namespace ggas::groups
