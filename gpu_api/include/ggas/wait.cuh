// SPDX-License-Identifier: Apache-2.0
// Waiting for flags. Included by ggas.cuh; what GGAS_FORMS makes: rma.cuh.
#pragma once

#include "ggas/detail/sync/forms.cuh"
#include "ggas/detail/sync/wait_many.cuh"

// ---- waiting for a flag in local memory. The comparison is `*flag cmp value`; integers and floats of 1 ... 8 bytes.
// One thread of the group polls; accesses after a successful wait see what the writer of the flag ordered before it. A
// time-out of 0 tests once.
GGAS_WAITING_FORMS(ggas_wait_until, (P flag, ggas_cmp cmp, ggas::element_at<P> value, uint64_t timeout_ns),
                   record_flag(this_call, s, timeout_ns, address_of(flag), cmp, value),
                   wait_for_flag(group, address_of(flag), cmp, value, timeout_ns))
// Flags of an array. any: `index` gets the first found that holds; some: `indices` (room for n) and `count` get all
// that hold, at least one; all: every one. Tests are waits with time-out 0. With a mask flag i is left out where
// ignore[i] is not 0; where all are, the call returns ggas_ok at once, with index n and count 0. A null mask leaves out
// none.
GGAS_WAITING_FORM(ggas_wait_until_any, thread,
                  (P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value, size_t* index, uint64_t timeout_ns),
                  record_open(this_call, s, timeout_ns, address_of(flags), n, no_mask{}, cmp, value),
                  wait_any(address_of(flags), n, no_mask{}, cmp, value, index, timeout_ns))
GGAS_WAITING_FORM(ggas_wait_until_any, thread,
                  (P flags, size_t n, const int* ignore, ggas_cmp cmp, ggas::element_at<P> value, size_t* index,
                   uint64_t timeout_ns),
                  record_open(this_call, s, timeout_ns, address_of(flags), n, flag_mask{ignore}, cmp, value),
                  wait_any(address_of(flags), n, flag_mask{ignore}, cmp, value, index, timeout_ns))
GGAS_WAITING_FORM(ggas_wait_until_some, thread,
                  (P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value, size_t* indices, size_t* count,
                   uint64_t timeout_ns),
                  record_open(this_call, s, timeout_ns, address_of(flags), n, no_mask{}, cmp, value),
                  wait_some(address_of(flags), n, no_mask{}, cmp, value, indices, count, timeout_ns))
GGAS_WAITING_FORM(ggas_wait_until_some, thread,
                  (P flags, size_t n, const int* ignore, ggas_cmp cmp, ggas::element_at<P> value, size_t* indices,
                   size_t* count, uint64_t timeout_ns),
                  record_open(this_call, s, timeout_ns, address_of(flags), n, flag_mask{ignore}, cmp, value),
                  wait_some(address_of(flags), n, flag_mask{ignore}, cmp, value, indices, count, timeout_ns))
GGAS_WAITING_FORMS(ggas_wait_until_all,
                   (P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value, uint64_t timeout_ns),
                   record_open(this_call, s, timeout_ns, address_of(flags), n, no_mask{}, cmp, value),
                   wait_all(group, address_of(flags), n, no_mask{}, cmp, value, timeout_ns))
GGAS_WAITING_FORMS(ggas_wait_until_all,
                   (P flags, size_t n, const int* ignore, ggas_cmp cmp, ggas::element_at<P> value, uint64_t timeout_ns),
                   record_open(this_call, s, timeout_ns, address_of(flags), n, flag_mask{ignore}, cmp, value),
                   wait_all(group, address_of(flags), n, flag_mask{ignore}, cmp, value, timeout_ns))
template <ggas::detail::a_place P>
GGAS_DEVICE bool ggas_test_any(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value, size_t* index) {
  return ggas_wait_until_any(flags, n, cmp, value, index, 0) == ggas_ok;
}
template <ggas::detail::a_place P>
GGAS_DEVICE bool ggas_test_all(P flags, size_t n, ggas_cmp cmp, ggas::element_at<P> value) {
  return ggas_wait_until_all(flags, n, cmp, value, 0) == ggas_ok;
}
