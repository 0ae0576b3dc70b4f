// SPDX-License-Identifier: Apache-2.0
// Tagged puts on real GPUs: who sees the tags has the data, whatever their size and place, by every kind of group.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

using ggas::detail::thread_count;
using ggas::detail::thread_rank;

GGAS_DEVICE uint8_t byte_of(int node, uint64_t round, uint64_t i) {
  return static_cast<uint8_t>(pattern(static_cast<uint64_t>(node), round, i) >> 8);
}

// A ring: every node puts to the right and takes what came from the left, then lets it put again. Sizes from 1 byte to
// 20 KB at addresses that are multiples of 8, of 4 or of nothing.
__global__ void GGAS_LAUNCH_BOUNDS(256) tagged_ring(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_node(), nodes = ggas_nodes(), right = (me + 1) % nodes, left = (me + nodes - 1) % nodes;
  auto* const theirs = ggas_pointer_of_node<ggas_tagged>(right, at.copy);
  auto* const mine = own<ggas_tagged>(at.copy);
  auto* const ack = own<uint64_t>(at.base);
  for (uint64_t r = 1; r <= rounds && out.status == ggas_ok; ++r) {
    const uint64_t n = r % 7 == 0 ? 20000 + r % 9 : r % 5 == 0 ? 2048 : r % 3 == 0 ? 8 : 1 + r % 300;
    const uint64_t shift = r % 4 == 0 ? 3 : r % 4 == 1 ? 4 : 0;
    auto* const source = own<uint8_t>(at.data + shift);
    auto* const target = own<uint8_t>(at.data + 65536 + shift);
    for (uint64_t i = thread_rank(); i < n; i += thread_count()) source[i] = byte_of(me, r, i);
    __syncthreads();
    const auto tag = static_cast<uint32_t>(r);
    ggas_status s = ggas_ok, taken = ggas_ok;
    if (r % 3 == 0) {
      if (thread_rank() == 0) s = ggas_put_tagged(theirs, source, n, tag);
      if (thread_rank() == 64) taken = ggas_take_tagged(target, mine, n, tag, timeout_ns);
    } else if (r % 3 == 1) {
      if (thread_rank() / 32 == 1) s = ggas_put_tagged_warp(theirs, source, n, tag);
      if (thread_rank() / 32 == 2) taken = ggas_take_tagged_warp(target, mine, n, tag, timeout_ns);
    } else {
      s = ggas_put_tagged_block(theirs, source, n, tag);
      taken = ggas_take_tagged_block(target, mine, n, tag, timeout_ns);
    }
    out.status = detail::block_status(s == ggas_ok ? taken : s);
    for (uint64_t i = thread_rank(); i < n; i += thread_count()) out.errors += target[i] != byte_of(left, r, i);
    __syncthreads();
    if (thread_rank() == 0) ggas_store(ggas_pointer_of_node<uint64_t>(left, at.base), r);
    if (ggas_wait_until_block(ack, ggas_eq, r, timeout_ns) != ggas_ok) out.status = ggas_timed_out;
  }
  own<outcome>(at.outcomes)[thread_rank()] = out;
}

TEST_F(rig, tagged_data_goes_round) {
  start_all(1, 256, tagged_ring, at, uint64_t{3000});
  run("tagged_ring");
  check_all_outcomes(256, "tagged_ring");
}

}  // namespace
}  // namespace ggas::gpu_test
