// SPDX-License-Identifier: Apache-2.0
// permute: every member sends a part to one member and receives one. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/exchange.cuh"

namespace ggas::detail {

// In units. `place`: of dst in the own segment, bytes.
template <class U>
struct permutation {
  U* dst;
  const U* src;
  size_t n;
  int to;
  uint64_t place;
};

// The first line to every member: the target of this one, and the address of its destination. If the target does not
// exist all members find out.
struct permute_header {
  uint64_t line;
  static constexpr uint64_t nobody = 0xffff;
  GGAS_DEVICE static permute_header of(const ggas_team& t, int to, uint64_t place) {
    return {place << 16 | (to >= 0 && to < t.size ? static_cast<uint64_t>(to) : nobody)};
  }
  GGAS_DEVICE int to() const { return static_cast<int>(line & nobody); }
  GGAS_DEVICE uint64_t place() const { return line >> 16; }
};

// A member's header, after it has arrived. It stays until two more exchanges have ended.
GGAS_DEVICE permute_header header_here(const channel& c, permute_header own, int member) {
  return member == c.rank ? own : permute_header{tagged_data(load_relaxed(c.inbox(member)))};
}

// When all headers are here: whether each member is the target of one, and of whom this one is.
GGAS_DEVICE bool find_source(const channel& c, permute_header own, int& source) {
  GGAS_SHARED(int, found);
  bool good = true;
  for (int member = static_cast<int>(thread_rank()); member < c.team.size; member += static_cast<int>(thread_count())) {
    int times = 0;
    for (int from = 0; from < c.team.size; ++from) {
      if (header_here(c, own, from).to() != member) continue;
      ++times;
      if (member == c.rank) found = from;
    }
    good = good && times == 1;
  }
  good = !__syncthreads_or(!good);
  source = found;
  return good;
}

// After the headers in the same slots; where they do not fit, straight into the destination, and a second exchange.
template <class U>
GGAS_DEVICE ggas_status permute_on(channel& c, const permutation<U>& p, const slice& mine, bool& good,
                                   poll_deadline& end) {
  const size_t units = mine.units();
  const size_t all = (units + units_per_line<U> - 1) / units_per_line<U> + 1;
  const unsigned lines = all <= channel::lines() ? static_cast<unsigned>(all) : 1, me = thread_rank();
  const permute_header own = permute_header::of(c.team, p.to, p.place);
  const bool sends = own.to() < c.team.size && own.to() != c.rank;
  const U* const from = p.src + mine.begin;
  U* const to = p.dst + mine.begin;
  for (unsigned i = me + 1; i < lines && sends; i += thread_count())
    send_line(c, c.outbox(p.to) + i, load_line(from, i - 1, units));
  for (int hop = 1 + static_cast<int>(me); hop < c.team.size; hop += static_cast<int>(thread_count()))
    send_line(c, c.outbox(member_behind(c, hop)), own.line);
  refresh_slots(c, [&](int member) { return member == p.to ? lines : 1; });
  look_for_failure(c);
  ggas_status s = hear_all(
      c, [&](int member, uint64_t) { acquire_line(c.inbox(member)); }, end);
  if (__syncthreads_or(s != ggas_ok)) return failed_somewhere(s);
  int source = 0;
  good = find_source(c, own, source);
  if (!good) return ggas_ok;
  const bool in_slots = all <= channel::lines();
  if (source == c.rank) {
    move_part(to, from, units);
  } else if (in_slots) {
    for (unsigned i = me + 1; i < lines; i += thread_count()) {
      uint64_t data;
      if (!take_line(c, c.inbox(source) + i, data, end)) return no_line(c, c.inbox(source) + i);
      store_line(to, i - 1, units, data);
    }
  }
  if (in_slots) return ggas_ok;
  if (sends) {
    const int node = ggas_team_node(c.team, p.to);
    move_part(ggas_pointer_of_node<U>(node, header_here(c, own, p.to).place()) + mine.begin, from, units);
  }
  if (!next_exchange(c, s)) return s;
  return finish_stores(
      c, [] {}, end);
}

// All members refuse, or none does; the channel goes on.
template <class U>
GGAS_DEVICE_FUNCTION ggas_status run_permute(channel c, permutation<U> p, channel_call<U> call, uint64_t timeout_ns) {
  bool good = true;
  const ggas_status s =
      run_on(c, timeout_ns, [&](channel& at, poll_deadline& end) { return permute_on(at, p, call.mine, good, end); });
  return s == ggas_ok && !good ? ggas_bad_argument : s;
}

template <class T>
GGAS_DEVICE ggas_status permute_parts(T* dst, const T* src, size_t n, int to, const ggas_team& team, unsigned block,
                                      unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team)) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  using U = unit_of<T>;
  permutation<U> p{reinterpret_cast<U*>(dst), reinterpret_cast<const U*>(src), n * (sizeof(T) / sizeof(U)), to, 0};
  uint64_t source;
  const bool good = n <= ggas_segment_bytes() / sizeof(T) && elements_good(src) && elements_good(dst) &&
                    own_place(src, n * sizeof(T), source) && own_place(dst, n * sizeof(T), p.place);
  if (!good) return ggas_bad_argument;
  const channel_call<U> call(block, blocks, p.n);
  if (call.mine.units() == 0) return ggas_ok;
  return run_permute(find_channel(team, call.block), p, call, timeout_ns);
}

}  // namespace ggas::detail
