// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce: the methods that are not short. Included by long.cuh.
#pragma once

#include "ggas/detail/collective/allreduce_bundle.cuh"
#include "ggas/detail/collective/allreduce_lines.cuh"
#include "ggas/detail/collective/allreduce_push.cuh"
#include "ggas/detail/collective/allreduce_tree.cuh"
#include "ggas/detail/collective/gather.cuh"

namespace ggas::detail {

// ---- the methods, one copy of each for all calls of a program: the registers and memory of one do not affect the
// others. Block `block` of `blocks` blocks calls them; p is its part of the vector, or the whole vector if blocks share
// it.

// The channel is closed by `run(channel, poll_deadline)`.
template <class Run>
GGAS_DEVICE ggas_status between_open_and_close(const ggas_team& team, unsigned block, uint64_t timeout_ns, Run run) {
  channel c = open_channel(team, block);
  poll_deadline end(timeout_ns);
  return close_channel(c, c.failed ? ggas_broken : run(c, end));
}

template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_flags(piece<T> p, ggas_method method, uint64_t timeout_ns) {
  return by_flags(p, method, timeout_ns);
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_in_lines(piece<T> p, bool two, unsigned block, ggas_team team,
                                                 uint64_t timeout_ns) {
  return between_open_and_close(team, block, timeout_ns, [&](channel& c, poll_deadline& end) {
    return two ? two_shot(c, p, end) : one_shot(c, p, end);
  });
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_push_or_read(piece<T> p, bool push, unsigned block, unsigned blocks,
                                                        ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(team, block, timeout_ns, [&](channel& c, poll_deadline& end) {
    return push_or_read(c, p, push, block, blocks, end);
  });
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status reduce_by_tree(piece<T> p, unsigned block, ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(team, block, timeout_ns,
                                [&](channel& c, poll_deadline& end) { return tree(c, p, end); });
}

// A one_shot over a bundle of channels, by a block that is alone.
template <class T>
GGAS_APART ggas_status reduce_by_bundle(piece<T> p, ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(team, 0, timeout_ns,
                                [&](channel& c, poll_deadline& end) { return one_shot_bundled<false>(c, p, end); });
}
// For vectors that are not short.
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

// A short one_shot of up to 8 members, if it is one; not done: nothing was sent.
template <class T>
GGAS_DEVICE ggas_status reduce_short(const piece<T>& p, unsigned block, unsigned blocks, const ggas_team& team,
                                     uint64_t timeout_ns, bool& done) {
  const unsigned used = usable_channels(blocks);
  const size_t each = part_elements<T>(p.n, used);
  done = fits_threads<members_at_once, T>(team, each);
  if (!done) return ggas_ok;
  const piece<T> part = part_of_block(p, each, block);
  if (block >= used || part.n == 0) return ggas_ok;
  return one_shot_short<members_at_once>(team, block, part, timeout_ns, done);
}

// All calls that are not short. All callers make the same checks of arguments, so either all members of a valid team
// refuse or none does. The method `direct` is called here and not one call deeper, because the registers that a
// function saves for its caller are loaded again after the fence.
template <class T>
GGAS_APART ggas_status reduce_long(piece<T> p, ggas_method method, unsigned block, unsigned blocks, ggas_team team,
                                   uint64_t timeout_ns) {
  if (!arguments_good(p, team)) return ggas_bad_argument;
  // What the caller has no code for.
  if (members_inline < members_at_once && p.n > 0 && goes_one_shot(p.n * sizeof(T), method, blocks)) {
    bool done;
    const ggas_status s = reduce_short(p, block, blocks, team, timeout_ns, done);
    if (done) return s;
  }
  if (method == ggas_auto) method = choose(p.n * sizeof(T), p.root == everybody, blocks, team);
  if (!method_good(method, p.root == everybody, blocks, team)) return ggas_bad_argument;
  if (p.n == 0) return ggas_ok;
  const unsigned used = usable_channels(blocks);
  if (block >= used) return ggas_ok;
  if (method == ggas_by_gather || method == ggas_by_all_gather) return reduce_by_flags(p, method, timeout_ns);
  if (method == ggas_direct) {
    return between_open_and_close(team, block, timeout_ns,
                                  [&](channel& c, poll_deadline& end) { return direct(c, p, block, used, end); });
  }
  if (over_memory(method)) return reduce_by_push_or_read(p, method == ggas_push, block, used, team, timeout_ns);
  const piece<T> part = part_of_block(p, part_elements<T>(p.n, used), block);
  if (part.n == 0) return ggas_ok;
  if (method == ggas_tree) return reduce_by_tree(part, block, team, timeout_ns);
  return reduce_in_lines(part, method == ggas_two_shot, block, team, timeout_ns);
}

// For kernels of one method: no other is in them, as what is not executed costs, too (docs/collectives.md).
template <class T>
GGAS_DEVICE ggas_status reduce_only_by_one_shot(const piece<T>& p, unsigned block, unsigned blocks,
                                                const ggas_team& team, uint64_t timeout_ns) {
  if (p.n > 0 && arguments_good(p, team)) {
    bool done;
    const ggas_status s = reduce_short(p, block, blocks, team, timeout_ns, done);
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
    return between_open_and_close(team, block, timeout_ns, [&](channel& c, poll_deadline& end) {
      return Method == ggas_push ? push_or_read(c, p, true, block, used, end) : direct(c, p, block, used, end);
    });
  }
}

}  // namespace ggas::detail
