// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce: arguments, choice of the method, forms. Included by collective.cuh.
#pragma once

#include "ggas/detail/allreduce_push.cuh"
#include "ggas/detail/allreduce_tree.cuh"
#include "ggas/detail/gather.cuh"

namespace ggas::detail {

template <class T>
GGAS_DEVICE bool vector_good(const T* v, bool needed) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "reductions are on elements of 1, 2, 4 or 8 bytes");
  return !needed || (v && reinterpret_cast<uintptr_t>(v) % sizeof(T) == 0);
}

template <class T>
GGAS_DEVICE bool in_own_segment(const T* v, size_t n) {
  const context& c = device_context();
  const uint64_t offset = reinterpret_cast<uint64_t>(v) - reinterpret_cast<uint64_t>(c.local);
  return n == 0 || (n <= c.segment_bytes / sizeof(T) && offset <= c.segment_bytes - n * sizeof(T));
}

// Peers' memory is memory.
GGAS_DEVICE bool direct_possible(const ggas_team& team) {
  return device_context().quiet == nullptr && team.size <= direct_members;
}
// Blocks share the vector and tell each other where it is.
GGAS_DEVICE bool over_memory(ggas_method m) { return m == ggas_direct || m == ggas_push || m == ggas_read; }

// Whether a method can do it.
template <class T>
GGAS_DEVICE bool method_good(ggas_method m, const piece<T>& p, unsigned blocks, const ggas_team& team) {
  const bool all = p.root == everybody;
  switch (m) {
    case ggas_gather:
      return team.id == 0 && blocks == 1;
    case ggas_all_gather:
      return all && team.id == 0 && blocks == 1;
    case ggas_two_shot:
      return all;
    case ggas_direct:
    case ggas_push:
      return direct_possible(team) && (all || m == ggas_direct) && in_own_segment(p.src, p.n) &&
             (!p.goes_to(ggas_team_rank(team)) || in_own_segment(p.dst, p.n));
    case ggas_read:
      return team.size <= direct_members && in_own_segment(p.src, p.n);
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

GGAS_DEVICE ggas_method choose(uint64_t bytes, bool all, unsigned blocks, const ggas_team& team) {
  const tuning& t = device_context().tuned;
  const tuning::limits& limits = blocks == 1 ? t.block : t.grid;
  if (bytes <= limits.one_shot) return ggas_one_shot;
  if (!direct_possible(team) || (bytes <= limits.two_shot && all)) return all ? ggas_two_shot : ggas_one_shot;
  return all && push_pays(limits, bytes, blocks) ? ggas_push : ggas_direct;
}

// The part of block b of `blocks` in a method that moves lines: whole sectors of 128 bytes.
template <class T>
GGAS_DEVICE piece<T> part_of_block(const piece<T>& p, unsigned b, unsigned blocks) {
  constexpr size_t grain = 128 / sizeof(T);
  if (blocks == 1) return p;  // without a division
  const size_t each = ((p.n + blocks - 1) / blocks + grain - 1) / grain * grain;
  const size_t first = each * b < p.n ? each * b : p.n;
  return p.part(first, p.n - first < each ? p.n - first : each);
}

// By block `block` of `blocks`; p is its part of the vector, or the whole one if blocks share it.
template <class T>
GGAS_DEVICE ggas_status reduce_on_channel(const piece<T>& p, ggas_method method, unsigned block, unsigned blocks,
                                          const ggas_team& team, uint64_t timeout_ns) {
  channel c = open_channel(team, block);
  if (c.failed) return close_channel(c, ggas_peer_error);
  patience end(timeout_ns);
  if (method == ggas_direct) return close_channel(c, direct(c, p, block, blocks, end));
  if (method == ggas_two_shot) return close_channel(c, two_shot(c, p, end));
  return can_spread(team, p) ? one_shot_spread(c, p, end) : close_channel(c, one_shot(c, p, end));
}

// The methods that take long, or are for comparison. Not inline, so that their needs of registers and of memory are not
// those of the others: one copy for all calls of a program.
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_otherwise(piece<T> p, ggas_method method, unsigned block, unsigned blocks,
                                                  ggas_team team, uint64_t timeout_ns) {
  if (method == ggas_gather || method == ggas_all_gather) return by_flags(p, method, timeout_ns);
  channel c = open_channel(team, block);
  if (c.failed) return close_channel(c, ggas_peer_error);
  patience end(timeout_ns);
  if (method == ggas_tree) return close_channel(c, tree(c, p, end));
  return close_channel(c, push_or_read(c, p, method == ggas_push, block, blocks, end));
}

// Arguments are checked by all callers alike, so that all or none of a good team refuse.
template <class T>
GGAS_DEVICE ggas_status reduce_by(const piece<T>& p, ggas_method method, unsigned block, unsigned blocks,
                                  const ggas_team& team, uint64_t timeout_ns) {
  const bool all = p.root == everybody, target = p.goes_to(ggas_team_rank(team));
  if (!ggas_team_good(team) || static_cast<unsigned>(p.op) > ggas_prod ||
      (!all && (p.root < 0 || p.root >= team.size)) || !vector_good(p.src, p.n > 0) ||
      !vector_good(p.dst, p.n > 0 && target))
    return ggas_bad_argument;
  if (method == ggas_auto) method = choose(p.n * sizeof(T), all, blocks, team);
  if (!method_good(method, p, blocks, team)) return ggas_bad_argument;
  if (p.n == 0) return ggas_ok;
  const unsigned used = usable_channels(blocks);
  if (block >= used) return ggas_ok;
  const piece<T> part = over_memory(method) ? p : part_of_block(p, block, used);
  if (part.n == 0) return ggas_ok;
  const bool usual = method == ggas_one_shot || method == ggas_two_shot || method == ggas_direct;
  return usual ? reduce_on_channel(part, method, block, used, team, timeout_ns)
               : reduce_otherwise(part, method, block, used, team, timeout_ns);
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_allreduce_block(T* dst, const T* src, size_t n, ggas_op op, ggas_method method,
                                             uint64_t timeout_ns, const ggas_team& team) {
  using namespace ggas::detail;
  return reduce_by(piece<T>{dst, src, n, op, everybody}, method, 0, 1, team, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_allreduce(T* dst, const T* src, size_t n, ggas_op op, ggas_method method,
                                       uint64_t timeout_ns, const ggas_team& team) {
  using namespace ggas::detail;
  return reduce_by(piece<T>{dst, src, n, op, everybody}, method, block_rank(), block_count(), team, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_reduce_block(T* dst, const T* src, size_t n, ggas_op op, int root, ggas_method method,
                                          uint64_t timeout_ns, const ggas_team& team) {
  using namespace ggas::detail;
  if (root < 0) return ggas_bad_argument;
  return reduce_by(piece<T>{dst, src, n, op, root}, method, 0, 1, team, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_reduce(T* dst, const T* src, size_t n, ggas_op op, int root, ggas_method method,
                                    uint64_t timeout_ns, const ggas_team& team) {
  using namespace ggas::detail;
  if (root < 0) return ggas_bad_argument;
  return reduce_by(piece<T>{dst, src, n, op, root}, method, block_rank(), block_count(), team, timeout_ns);
}
