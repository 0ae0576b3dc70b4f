// SPDX-License-Identifier: Apache-2.0
// Tagged puts: the fastest transfer for up to some 16 KB. Every 8 bytes travel with a tag in a line of 16 bytes, and
// the receiver waits for the tag in every line: no fence and no signal. The caller chooses tags: not 0, and not the tag
// that the line has from before (count up). Lines are overwritten, not queued: put new ones after the last were taken.
// A line is a ggas_tagged; its contents belong to the library. Included by rma.cuh.
#pragma once

#include "ggas/detail/one_sided/tagged.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Stores `n` elements of `local` into lines at `remote`, each line with `tag`. `local` may be overwritten on return.
/// Order: tags order only these data, nothing else. Posted on return; uses no queue.
/// Cost: one hop, twice the bytes of the data.
/// Errors: ggas_bad_argument, also for tag 0.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_tagged(const G& group, ggas::place_for<ggas_tagged> remote, P local, size_t n,
                                        uint32_t tag) {
  using namespace ggas::detail;
  return put_tagged(group, remote.address, address_of(local), n, tag);
}
/// ggas_put_tagged() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_tagged(ggas::place_for<ggas_tagged> remote, P local, size_t n, uint32_t tag) {
  return ggas_put_tagged(ggas::thread{}, remote, local, n, tag);
}
/// ggas_put_tagged() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_tagged_warp(ggas::place_for<ggas_tagged> remote, P local, size_t n, uint32_t tag) {
  return ggas_put_tagged(ggas::warp{}, remote, local, n, tag);
}
/// ggas_put_tagged() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_tagged_block(ggas::place_for<ggas_tagged> remote, P local, size_t n, uint32_t tag) {
  return ggas_put_tagged(ggas::block{}, remote, local, n, tag);
}

/// Waits until `n` elements with `tag` are in `lines` of the own node, and writes them to `local`, which may be
/// shared memory.
/// Order: the group sees the data on return, and the lines may be put again.
/// Cost: polls of local memory.
/// Errors: ggas_bad_argument, ggas_timed_out (some elements may have been written), ggas_aborted.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_take_tagged(const G& group, P local, ggas::place_for<const ggas_tagged> lines, size_t n,
                                         uint32_t tag, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_take_tagged, group,
            if (group.leads()) record_lines(this_call, s, timeout_ns, lines.address,
                                            ggas_tagged_lines(n * sizeof(ggas::element_at<P>)), tag),
            take_tagged(group, address_of(local), lines.address, n, tag, timeout_ns));
}
/// ggas_take_tagged() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_take_tagged(P local, ggas::place_for<const ggas_tagged> lines, size_t n, uint32_t tag,
                                         uint64_t timeout_ns) {
  return ggas_take_tagged(ggas::thread{}, local, lines, n, tag, timeout_ns);
}
/// ggas_take_tagged() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_take_tagged_warp(P local, ggas::place_for<const ggas_tagged> lines, size_t n, uint32_t tag,
                                              uint64_t timeout_ns) {
  return ggas_take_tagged(ggas::warp{}, local, lines, n, tag, timeout_ns);
}
/// ggas_take_tagged() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_take_tagged_block(P local, ggas::place_for<const ggas_tagged> lines, size_t n,
                                               uint32_t tag, uint64_t timeout_ns) {
  return ggas_take_tagged(ggas::block{}, local, lines, n, tag, timeout_ns);
}
