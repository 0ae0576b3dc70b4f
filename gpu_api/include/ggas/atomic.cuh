// SPDX-License-Identifier: Apache-2.0
// Remote atomics. Included by ggas.cuh; what GGAS_FORM makes: rma.cuh.
#pragma once

#include "ggas/detail/one_sided/amo.cuh"
#include "ggas/detail/sync/forms.cuh"

// ---- atomics on 4- and 8-byte integers, float and double of any node, the own one included. Words of floating point
// take add, min, max, swap and cas (of bits); behind a NIC all but the last two are a loop of cas, a way to and fro
// each turn, and complete when the call returns. Through a queue they are exact among themselves; plain accesses and
// the GPU's own atomics to the same word are not ordered with them. Relaxed. Fetching calls return when *old is there,
// a way to and fro; after a time-out the outcome is unknown. The others are posted as nbi.
// The operation is done once for the group. *old is there for every thread of a warp or a tile; of a block or several
// warps for those of the first warp.
GGAS_FORMS(ggas_atomic_fetch,
           (ggas_atomic what, P remote, ggas::element_at<P> operand, ggas::element_at<P> compare,
            ggas::element_at<P>* old, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           fetch_atomic(group, what, address_of(remote), operand, compare, old, timeout_ns, q))
GGAS_FORM(ggas_atomic_post, thread,
          (ggas_atomic what, P remote, ggas::element_at<P> operand, ggas::element_at<P> compare, uint64_t timeout_ns,
           const ggas_queue& q = ggas_queue::of_block()),
          post_atomic(what, address_of(remote), operand, compare, timeout_ns, q))
GGAS_FORM(ggas_fetch_add, thread,
          (P remote, ggas::element_at<P> value, ggas::element_at<P>* old, uint64_t timeout_ns,
           const ggas_queue& q = ggas_queue::of_block()),
          fetch_atomic(group, ggas_atomic_add, address_of(remote), value, ggas::element_at<P>{}, old, timeout_ns, q))
GGAS_FORM(ggas_fetch_swap, thread,
          (P remote, ggas::element_at<P> value, ggas::element_at<P>* old, uint64_t timeout_ns,
           const ggas_queue& q = ggas_queue::of_block()),
          fetch_atomic(group, ggas_atomic_swap, address_of(remote), value, ggas::element_at<P>{}, old, timeout_ns, q))
GGAS_FORM(ggas_compare_swap, thread,
          (P remote, ggas::element_at<P> compare, ggas::element_at<P> value, ggas::element_at<P>* old,
           uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
          fetch_atomic(group, ggas_atomic_cas, address_of(remote), value, compare, old, timeout_ns, q))
GGAS_FORM(ggas_add, thread,
          (P remote, ggas::element_at<P> value, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
          post_atomic(ggas_atomic_add, address_of(remote), value, ggas::element_at<P>{}, timeout_ns, q))
