// SPDX-License-Identifier: Apache-2.0
// Waiting for flags in local memory. A time-out of 0 tests once. Included by ggas.cuh; rules of all calls: rma.cuh.
#pragma once

#include "ggas/detail/sync/forms.cuh"
#include "ggas/detail/sync/wait_many.cuh"

/// Waits until `*flag cmp value` for a flag in local memory, an integer or float of 1 to 8 bytes.
/// Order: an acquire: the group's accesses after a successful wait see what the writer of the flag ordered before it.
/// Cost: one thread of the group polls.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until(const G& group, P flag, ggas_cmp cmp, ggas::element_at<P> value,
                                        uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until, group,
            if (group.leads()) record_flag(this_call, s, timeout_ns, address_of(flag), cmp, value),
            wait_for_flag(group, address_of(flag), cmp, value, timeout_ns));
}
/// ggas_wait_until() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until(P flag, ggas_cmp cmp, ggas::element_at<P> value, uint64_t timeout_ns) {
  return ggas_wait_until(ggas::thread{}, flag, cmp, value, timeout_ns);
}
/// ggas_wait_until() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_warp(P flag, ggas_cmp cmp, ggas::element_at<P> value, uint64_t timeout_ns) {
  return ggas_wait_until(ggas::warp{}, flag, cmp, value, timeout_ns);
}
/// ggas_wait_until() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_block(P flag, ggas_cmp cmp, ggas::element_at<P> value, uint64_t timeout_ns) {
  return ggas_wait_until(ggas::block{}, flag, cmp, value, timeout_ns);
}

/// Waits until the condition holds for one of `n` flags, by one thread; `*index` gets the first for which it was found
/// to hold.
/// Order: an acquire of that flag.
/// Cost: polls all flags in turn.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_any(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value, size_t* index,
                                            uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until_any, ggas::thread{},
            record_open(this_call, s, timeout_ns, address_of(flags), n, no_mask{}, cmp, value),
            wait_any(address_of(flags), n, no_mask{}, cmp, value, index, timeout_ns));
}

/// ggas_wait_until_any() without the flags i whose ignore[i] is not 0; a null mask leaves out none. If all are left
/// out it returns ggas_ok at once, with index `n`.
/// Order: an acquire of that flag.
/// Cost: polls all flags in turn.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_any(P flags, size_t n, const int* ignore, ggas_cmp cmp,
                                            ggas::element_at<P> value, size_t* index, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until_any, ggas::thread{},
            record_open(this_call, s, timeout_ns, address_of(flags), n, flag_mask{ignore}, cmp, value),
            wait_any(address_of(flags), n, flag_mask{ignore}, cmp, value, index, timeout_ns));
}

/// Waits until the condition holds for at least one of `n` flags, by one thread; `indices`, with room for `n`, gets the
/// indices of all flags for which it holds, and `*count` gets their number.
/// Order: an acquire of those flags.
/// Cost: polls all flags in turn.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_some(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value,
                                             size_t* indices, size_t* count, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until_some, ggas::thread{},
            record_open(this_call, s, timeout_ns, address_of(flags), n, no_mask{}, cmp, value),
            wait_some(address_of(flags), n, no_mask{}, cmp, value, indices, count, timeout_ns));
}

/// ggas_wait_until_some() without the flags i whose ignore[i] is not 0; a null mask leaves out none. If all are left
/// out it returns ggas_ok at once, with count 0.
/// Order: an acquire of those flags.
/// Cost: polls all flags in turn.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_some(P flags, size_t n, const int* ignore, ggas_cmp cmp,
                                             ggas::element_at<P> value, size_t* indices, size_t* count,
                                             uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until_some, ggas::thread{},
            record_open(this_call, s, timeout_ns, address_of(flags), n, flag_mask{ignore}, cmp, value),
            wait_some(address_of(flags), n, flag_mask{ignore}, cmp, value, indices, count, timeout_ns));
}

/// Waits until the condition holds for all of `n` flags.
/// Order: an acquire of all flags.
/// Cost: one thread of the group polls the flags for which it does not hold yet.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all(const G& group, P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value,
                                            uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until_all, group,
            if (group.leads()) record_open(this_call, s, timeout_ns, address_of(flags), n, no_mask{}, cmp, value),
            wait_all(group, address_of(flags), n, no_mask{}, cmp, value, timeout_ns));
}
/// ggas_wait_until_all() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value,
                                            uint64_t timeout_ns) {
  return ggas_wait_until_all(ggas::thread{}, flags, n, cmp, value, timeout_ns);
}
/// ggas_wait_until_all() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all_warp(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value,
                                                 uint64_t timeout_ns) {
  return ggas_wait_until_all(ggas::warp{}, flags, n, cmp, value, timeout_ns);
}
/// ggas_wait_until_all() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all_block(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value,
                                                  uint64_t timeout_ns) {
  return ggas_wait_until_all(ggas::block{}, flags, n, cmp, value, timeout_ns);
}

/// ggas_wait_until_all() without the flags i whose ignore[i] is not 0; a null mask leaves out none.
/// Order: an acquire of all flags.
/// Cost: one thread of the group polls those that do not hold yet.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all(const G& group, P flags, size_t n, const int* ignore, ggas_cmp cmp,
                                            ggas::element_at<P> value, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait_until_all, group,
            if (group.leads())
                record_open(this_call, s, timeout_ns, address_of(flags), n, flag_mask{ignore}, cmp, value),
            wait_all(group, address_of(flags), n, flag_mask{ignore}, cmp, value, timeout_ns));
}
/// ggas_wait_until_all() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all(P flags, size_t n, const int* ignore, ggas_cmp cmp,
                                            ggas::element_at<P> value, uint64_t timeout_ns) {
  return ggas_wait_until_all(ggas::thread{}, flags, n, ignore, cmp, value, timeout_ns);
}
/// ggas_wait_until_all() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all_warp(P flags, size_t n, const int* ignore, ggas_cmp cmp,
                                                 ggas::element_at<P> value, uint64_t timeout_ns) {
  return ggas_wait_until_all(ggas::warp{}, flags, n, ignore, cmp, value, timeout_ns);
}
/// ggas_wait_until_all() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_wait_until_all_block(P flags, size_t n, const int* ignore, ggas_cmp cmp,
                                                  ggas::element_at<P> value, uint64_t timeout_ns) {
  return ggas_wait_until_all(ggas::block{}, flags, n, ignore, cmp, value, timeout_ns);
}

/// Whether one of `n` flags holds: ggas_wait_until_any() with time-out 0. An acquire if true.
template <ggas::detail::a_place P>
GGAS_DEVICE bool ggas_test_any(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value, size_t* index) {
  return ggas_wait_until_any(flags, n, cmp, value, index, 0) == ggas_ok;
}
/// Whether all of `n` flags hold: ggas_wait_until_all() with time-out 0. An acquire if true.
template <ggas::detail::a_place P>
GGAS_DEVICE bool ggas_test_all(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value) {
  return ggas_wait_until_all(flags, n, cmp, value, 0) == ggas_ok;
}
