// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce: arguments, choice of the method, forms. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce_short.cuh"
#include "ggas/detail/collective/by_nic.cuh"
#include "ggas/detail/collective/exchange.cuh"

namespace ggas::detail {

// n elements of the own segment, n > 0. Without branches: short calls are looked at, too.
template <class T>
GGAS_DEVICE bool vector_good(const T* v, size_t n) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "reductions are on elements of 1, 2, 4 or 8 bytes");
  const context& c = device_context();
  const uint64_t offset = reinterpret_cast<uint64_t>(v) - reinterpret_cast<uint64_t>(c.local);
  return (reinterpret_cast<uintptr_t>(v) % sizeof(T) == 0) & (n <= c.segment_bytes / sizeof(T)) &
         (offset <= c.segment_bytes - n * sizeof(T));
}

constexpr int direct_members = 64;

// Peers' memory is memory.
GGAS_DEVICE bool direct_possible(const ggas_team& team) { return !nic_page() && team.size <= direct_members; }
// Blocks share the vector and inform each other where it is.
GGAS_DEVICE bool over_memory(ggas_method m) { return m == ggas_direct || m == ggas_push || m == ggas_read; }

// Whether a method can do it.
GGAS_DEVICE bool method_good(ggas_method m, bool all, unsigned blocks, const ggas_team& team) {
  switch (m) {
    case ggas_by_gather:
      return team.id == 0 && blocks == 1;
    case ggas_by_all_gather:
      return all && team.id == 0 && blocks == 1;
    case ggas_two_shot:
      return all;
    case ggas_direct:
      return direct_possible(team);
    case ggas_push:
      return direct_possible(team) && all;
    case ggas_read:
      return team.size <= direct_members;
    case ggas_one_shot:
    case ggas_tree:
      return true;
    default:
      return false;
  }
}
// With few blocks the exchanges of a push are not hidden.
constexpr unsigned blocks_that_push = 64;
GGAS_DEVICE bool push_pays(const tuning::limits& limits, uint64_t bytes, unsigned blocks) {
  return bytes > limits.direct && (blocks == 1 || blocks >= blocks_that_push);
}

GGAS_DEVICE const tuning::limits& limits_of(unsigned blocks) {
  return blocks == 1 ? device_context().tuned.block : device_context().tuned.grid;
}
GGAS_DEVICE ggas_method choose(uint64_t bytes, bool all, unsigned blocks, const ggas_team& team) {
  const tuning::limits& limits = limits_of(blocks);
  if (bytes <= limits.one_shot) return ggas_one_shot;
  if (!direct_possible(team) || (bytes <= limits.two_shot && all)) return all ? ggas_two_shot : ggas_one_shot;
  return all && push_pays(limits, bytes, blocks) ? ggas_push : ggas_direct;
}
GGAS_DEVICE bool goes_one_shot(uint64_t bytes, ggas_method method, unsigned blocks) {
  return method == ggas_one_shot || (method == ggas_auto && bytes <= limits_of(blocks).one_shot);
}

template <class T>
GGAS_DEVICE bool arguments_good(const piece<T>& p, const ggas_team& team) {
  const bool call =
      ggas_team_good(team) && operation_good<T>(p.op) && (p.root == everybody || (p.root >= 0 && p.root < team.size));
  return call &&
         (p.n == 0 || (vector_good(p.src, p.n) && (!p.goes_to(ggas_team_rank(team)) || vector_good(p.dst, p.n))));
}

// The part of each of `blocks` blocks in a method that moves lines of 1 or more elements. Parts are whole sectors of
// 128 bytes. It divides only if necessary.
template <class T>
GGAS_DEVICE size_t part_elements(size_t n, unsigned blocks) {
  constexpr size_t grain = 128 / sizeof(T);
  if (blocks == 1) return n;
  const bool power = (blocks & (blocks - 1)) == 0;
  const size_t each = (power ? (n - 1) >> log2_up(blocks) : (n - 1) / blocks) + 1;
  return (each + grain - 1) / grain * grain;
}
template <class T>
GGAS_DEVICE piece<T> part_of_block(const piece<T>& p, size_t each, unsigned b) {
  const size_t first = each * b < p.n ? each * b : p.n;
  return p.part(first, p.n - first < each ? p.n - first : each);
}

// Whether the vector fits the slots of a bundle: the same at every member.
template <class T>
GGAS_DEVICE bool fits_bundle(size_t n) {
  const size_t lines = lines_of<T>(n), room = channel::lines();
  return lines <= room ||
         (slots_hold_rows() && lines <= size_t{usable_channels(most_bundled)} << log2_down(channel::lines()));
}

// Whatever is not short; and a one_shot over a bundle of channels, by a block that is alone.
template <class T>
GGAS_APART ggas_status reduce_long(piece<T> p, ggas_method method, unsigned block, unsigned blocks, ggas_team team,
                                   uint64_t timeout_ns);
template <class T>
GGAS_APART ggas_status reduce_by_bundle(piece<T> p, ggas_team team, uint64_t timeout_ns);

// A short call is made here and now; the rest of them is not inline.
template <class T>
GGAS_DEVICE ggas_status reduce_by(const piece<T>& p, ggas_method method, unsigned block, unsigned blocks,
                                  const ggas_team& team, uint64_t timeout_ns) {
  if constexpr (nic_possible) {
    if (goes_by_nic(p, method, team))
      return arguments_good(p, team) ? reduce_by_nic(p, block, timeout_ns) : ggas_bad_argument;
  }
  const unsigned used = usable_channels(blocks);
  const size_t each = part_elements<T>(p.n, used);
  if (p.n > 0 && arguments_good(p, team) && goes_one_shot(p.n * sizeof(T), method, blocks)) {
    if (fits_threads<members_inline, T>(team, each)) {
      const piece<T> part = part_of_block(p, each, block);
      if (block >= used || part.n == 0) return ggas_ok;
      bool done;
      const ggas_status s = one_shot_short<members_inline>(team, block, part, timeout_ns, done);
      if (done) return s;
    } else if (blocks == 1 && fits_bundle<T>(p.n)) {
      return reduce_by_bundle(p, team, timeout_ns);
    }
  }
  return reduce_long(p, method, block, blocks, team, timeout_ns);
}

// For kernels of one method: no other is in them, unless they are linked with the library.
#ifdef GGAS_LINKED
template <ggas_method Method, class T>
GGAS_DEVICE ggas_status reduce_only_by(const piece<T>& p, unsigned block, unsigned blocks, const ggas_team& team,
                                       uint64_t timeout_ns) {
  return reduce_by(p, Method, block, blocks, team, timeout_ns);
}
#endif

}  // namespace ggas::detail
