// SPDX-License-Identifier: Apache-2.0
// Calls in which one member differs from the others: on every provider that kernels can run on.
#pragma once

#include "ggas/ggas.cuh"

namespace ggas::differ {

// What is different.
enum class kind : int {
  length,
  call,
  root,
  operation,
  method,
  element,
  direct_length,
  parts,
  pointer,
  rooted_length,
  exchange_length,
  nothing,
};
constexpr int kinds = 12;

struct plan {
  kind what;
  int culprit;       // rank
  uint64_t base;     // offset of 1 MiB for the call
  uint64_t timeout;  // ns
};

struct vectors {
  float *src, *dst;
};
GGAS_DEVICE vectors vectors_of(const plan& p) {
  return {ggas_pointer_of_node<float>(ggas_node(), p.base),
          ggas_pointer_of_node<float>(ggas_node(), p.base + 512 * 1024)};
}

// What the member of that rank calls, by one block.
[[maybe_unused]] GGAS_DEVICE_FUNCTION ggas_status call_of_block(plan p) {
  const bool other = ggas_node() == p.culprit;
  const auto [src, dst] = vectors_of(p);
  const uint64_t t = p.timeout;
  switch (p.what) {
    case kind::call:
      return other ? ggas_alltoall_block(dst, src, 300, t) : ggas_allgather_block(dst, src, 300, t);
    case kind::root:
      return ggas_reduce_block(dst, src, 300, ggas_sum, other ? 1 : 0, ggas_auto, t);
    case kind::method:
      return ggas_allreduce_block(dst, src, 300, ggas_sum, other ? ggas_one_shot : ggas_two_shot, t);
    case kind::element:
      return other ? ggas_allreduce_block(reinterpret_cast<int*>(dst), reinterpret_cast<int*>(src), 300, ggas_sum,
                                          ggas_one_shot, t)
                   : ggas_allreduce_block(dst, src, 300, ggas_sum, ggas_one_shot, t);
    case kind::direct_length:
      return ggas_allreduce_block(dst, src, size_t{other ? 8000u : 6000u}, ggas_sum, ggas_read, t);
    case kind::pointer:
      return ggas_broadcast_block(other ? dst + ggas_segment_bytes() : dst, src, 300, 0, t);
    case kind::rooted_length:
      return ggas_scatter_block(dst, src, size_t{other ? 200u : 300u}, 0, t);
    case kind::exchange_length:
      return ggas_broadcast_block(dst, src, size_t{other ? 300u : 200u}, 0, t);
    default:
      return ggas_broken;
  }
}
// By blocks or grids.
template <class G>
GGAS_APART ggas_status call(const G& group, const plan& p) {
  const bool other = ggas_node() == p.culprit;
  const auto [src, dst] = vectors_of(p);
  const uint64_t t = p.timeout;
  switch (p.what) {
    case kind::length:
      return ggas_allgather(group, dst, src, size_t{other ? 4000u : 3000u}, t);
    case kind::operation:
      return ggas_allreduce(group, dst, src, 300, other ? ggas_max : ggas_sum, ggas_auto, t);
    case kind::parts:
      return ggas_reducescatter(group, dst, src, size_t{other ? 4u : 3u}, ggas_sum, t);
    case kind::nothing:
      return ggas_allreduce(group, dst, src, 300, ggas_sum, ggas_auto, t);
    default:
      if constexpr (detail::has_several_blocks<G>) return ggas_broken;
      return call_of_block(p);
  }
}

// Words that the report has of a difference, of the others and of the culprit.
struct words {
  const char *usual, *different;
};
inline words words_of(kind k) {
  switch (k) {
    case kind::length:
      return {"ggas_allgather(n 3000", "ggas_allgather(n 4000"};
    case kind::call:
      return {"ggas_allgather(n 300", "ggas_alltoall(n 300"};
    case kind::root:
      return {"root 0", "root 1"};
    case kind::operation:
      return {"ggas_sum", "ggas_max"};
    case kind::method:
      return {"ggas_two_shot", "ggas_one_shot"};
    case kind::element:
      return {"4 bytes of floating point", "4 bytes with sign"};
    case kind::direct_length:
      return {"ggas_allreduce(n 6000", "ggas_allreduce(n 8000"};
    case kind::parts:
      return {"ggas_reducescatter(n 3,", "ggas_reducescatter(n 4,"};
    case kind::pointer:
      return {"ggas_broadcast(n 300", "refused for its own pointers"};
    case kind::rooted_length:
      return {"ggas_scatter(n 300", "ggas_scatter(n 200"};
    case kind::exchange_length:
      return {"ggas_broadcast(n 200", "ggas_broadcast(n 300"};
    case kind::nothing:
      break;
  }
  return {"", ""};
}

}  // namespace ggas::differ
