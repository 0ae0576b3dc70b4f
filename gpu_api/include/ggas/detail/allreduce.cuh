// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce: arguments, choice of the method, forms. Included by collective.cuh.
#pragma once

#include "ggas/detail/allreduce_bundle.cuh"
#include "ggas/detail/allreduce_lines.cuh"
#include "ggas/detail/allreduce_push.cuh"
#include "ggas/detail/allreduce_tree.cuh"
#include "ggas/detail/gather.cuh"

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

// Peers' memory is memory.
GGAS_DEVICE bool direct_possible(const ggas_team& team) { return !nic_page() && team.size <= direct_members; }
// Blocks share the vector and tell each other where it is.
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

// The part of each of `blocks` in a method that moves lines, of 1 or more elements: whole sectors of 128 bytes. Divides
// only if it must.
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

// ---- the methods, one copy of each for all calls of a program: what one keeps in registers and in memory is no affair
// of the others. By block `block` of `blocks`; p is its part of the vector, or the whole one if blocks share it.

// The channel is closed by run(channel, patience).
template <class Run>
GGAS_DEVICE ggas_status between_open_and_close(const ggas_team& team, unsigned block, uint64_t timeout_ns, Run run) {
  channel c = open_channel(team, block);
  patience end(timeout_ns);
  return close_channel(c, c.failed ? ggas_broken : run(c, end));
}

template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_flags(piece<T> p, ggas_method method, uint64_t timeout_ns) {
  return by_flags(p, method, timeout_ns);
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_in_lines(piece<T> p, bool two, unsigned block, ggas_team team,
                                                 uint64_t timeout_ns) {
  return between_open_and_close(team, block, timeout_ns, [&](channel& c, patience& end) {
    return two ? two_shot(c, p, end) : one_shot(c, p, end);
  });
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_push_or_read(piece<T> p, bool push, unsigned block, unsigned blocks,
                                                        ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(
      team, block, timeout_ns, [&](channel& c, patience& end) { return push_or_read(c, p, push, block, blocks, end); });
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_tree(piece<T> p, unsigned block, ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(team, block, timeout_ns, [&](channel& c, patience& end) { return tree(c, p, end); });
}

// A one_shot over a bundle of channels, by a block that is alone.
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_bundle(piece<T> p, ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(team, 0, timeout_ns,
                                [&](channel& c, patience& end) { return one_shot_bundled(c, p, end); });
}
// One that is not short.
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_one_shot(piece<T> p, unsigned block, unsigned blocks, ggas_team team,
                                                    uint64_t timeout_ns) {
  if (!arguments_good(p, team)) return ggas_bad_argument;
  if (p.n == 0) return ggas_ok;
  if (blocks == 1 && fits_bundle<T>(p.n)) return reduce_by_bundle(p, team, timeout_ns);
  const unsigned used = usable_channels(blocks);
  const piece<T> part = part_of_block(p, part_elements<T>(p.n, used), block);
  return block >= used || part.n == 0 ? ggas_ok : reduce_in_lines(part, false, block, team, timeout_ns);
}

// Whatever is not short. Arguments are checked by all callers alike, so that all or none of a good team refuse. Direct
// is here and not a call further: what a function keeps in memory for its caller is fetched anew behind the fence.
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_long(piece<T> p, ggas_method method, unsigned block, unsigned blocks,
                                             ggas_team team, uint64_t timeout_ns) {
  if (!arguments_good(p, team)) return ggas_bad_argument;
  if (method == ggas_auto) method = choose(p.n * sizeof(T), p.root == everybody, blocks, team);
  if (!method_good(method, p.root == everybody, blocks, team)) return ggas_bad_argument;
  if (p.n == 0) return ggas_ok;
  const unsigned used = usable_channels(blocks);
  if (block >= used) return ggas_ok;
  if (method == ggas_by_gather || method == ggas_by_all_gather) return reduce_by_flags(p, method, timeout_ns);
  if (method == ggas_direct) {
    return between_open_and_close(team, block, timeout_ns,
                                  [&](channel& c, patience& end) { return direct(c, p, block, used, end); });
  }
  if (over_memory(method)) return reduce_by_push_or_read(p, method == ggas_push, block, used, team, timeout_ns);
  const piece<T> part = part_of_block(p, part_elements<T>(p.n, used), block);
  if (part.n == 0) return ggas_ok;
  if (method == ggas_tree) return reduce_by_tree(part, block, team, timeout_ns);
  return reduce_in_lines(part, method == ggas_two_shot, block, team, timeout_ns);
}

// A short call is made here and now; the rest of them is not inline.
template <class T>
GGAS_DEVICE ggas_status reduce_by(const piece<T>& p, ggas_method method, unsigned block, unsigned blocks,
                                  const ggas_team& team, uint64_t timeout_ns) {
  const unsigned used = usable_channels(blocks);
  const size_t each = part_elements<T>(p.n, used);
  if (p.n > 0 && arguments_good(p, team) && goes_one_shot(p.n * sizeof(T), method, blocks)) {
    if (fits_threads<T>(team, each)) {
      const piece<T> part = part_of_block(p, each, block);
      if (block >= used || part.n == 0) return ggas_ok;
      bool done;
      const ggas_status s = one_shot_short(team, block, part, timeout_ns, done);
      if (done) return s;
    } else if (blocks == 1 && fits_bundle<T>(p.n)) {
      return reduce_by_bundle(p, team, timeout_ns);
    }
  }
  return reduce_long(p, method, block, blocks, team, timeout_ns);
}

// For kernels of one method: no other is in them, as what is not executed costs, too (docs/collectives.md).
template <class T>
GGAS_DEVICE ggas_status reduce_only_by_one_shot(const piece<T>& p, unsigned block, unsigned blocks,
                                                const ggas_team& team, uint64_t timeout_ns) {
  const unsigned used = usable_channels(blocks);
  const size_t each = part_elements<T>(p.n, used);
  if (p.n > 0 && arguments_good(p, team) && fits_threads<T>(team, each)) {
    const piece<T> part = part_of_block(p, each, block);
    if (block >= used || part.n == 0) return ggas_ok;
    bool done;
    const ggas_status s = one_shot_short(team, block, part, timeout_ns, done);
    if (done) return s;
  }
  return reduce_by_one_shot(p, block, blocks, team, timeout_ns);
}
template <ggas_method Method, class T>
GGAS_DEVICE ggas_status reduce_only_by(const piece<T>& p, unsigned block, unsigned blocks, const ggas_team& team,
                                       uint64_t timeout_ns) {
  static_assert(Method == ggas_one_shot || Method == ggas_direct || Method == ggas_push);
  if constexpr (Method == ggas_one_shot) {
    return reduce_only_by_one_shot(p, block, blocks, team, timeout_ns);
  } else {
    if (!arguments_good(p, team) || !method_good(Method, p.root == everybody, blocks, team)) return ggas_bad_argument;
    const unsigned used = usable_channels(blocks);
    if (p.n == 0 || block >= used) return ggas_ok;
    return between_open_and_close(team, block, timeout_ns, [&](channel& c, patience& end) {
      return Method == ggas_push ? push_or_read(c, p, true, block, used, end) : direct(c, p, block, used, end);
    });
  }
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
