// SPDX-License-Identifier: Apache-2.0
// Group calls on real GPUs: what one lane does for its warp is before what the others send next, also if it comes late.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

enum class way : int { value, swap, notification, ways };

GGAS_DEVICE ggas_status send(way what, uint64_t* value, uint64_t number) {
  switch (what) {
    case way::value:
      return ggas_put_value_nbi_warp(value, number, timeout_ns);
    case way::swap:
      return ggas_atomic_fetch_warp(ggas_atomic_swap, value, number, uint64_t{0}, static_cast<uint64_t*>(nullptr),
                                    timeout_ns);
    default:
      return ggas_put_value_notify_warp(value, number, number, 0, timeout_ns);
  }
}

// A ring of warps. The last lane, which is in time, informs the right neighbour in the call; what the left one has
// sent must be here when it reports.
__global__ void behind_the_leader(places at, way what, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const int right = (ggas_node() + 1) % ggas_nodes();
  const unsigned lane = detail::lane_rank();
  constexpr uint64_t flag = 4096, back = 8192;
  auto* const value = ggas_pointer_of_node<uint64_t>(right, at.base);
  const auto keep = [&](ggas_status s) {
    if (out.status == ggas_ok) out.status = s;
  };
  for (uint64_t r = 1; r <= rounds && __all_sync(0xffffffffu, out.status == ggas_ok); ++r) {
    if (lane == 0)
      for (uint64_t i = 0; i < r % 8; ++i) ggas_load(value);
    keep(send(what, value, r));
    if (lane == 31) ggas_store(ggas_pointer_of_node<uint64_t>(right, at.base + flag), r, ggas_release);
    keep(ggas_wait_until_warp(own<uint64_t>(at.base + flag), ggas_eq, r, timeout_ns));
    out.errors += ggas_load(own<uint64_t>(at.base)) != r;
    ggas_notification note{};
    if (what == way::notification) keep(ggas_notification_wait_warp(&note, timeout_ns, ggas_queue_of(0)));
    out.errors += what == way::notification && note.cookie != r;
    __syncwarp();
    if (lane == 0) {
      const int left = (ggas_node() + ggas_nodes() - 1) % ggas_nodes();
      ggas_store(ggas_pointer_of_node<uint64_t>(left, at.base + back), r, ggas_release);
    }
    keep(ggas_wait_until_warp(own<uint64_t>(at.base + back), ggas_eq, r, timeout_ns));
  }
  own<outcome>(at.outcomes)[lane] = out;
}

TEST_F(rig, a_late_leader_is_waited_for) {
  for (int w = 0; w < static_cast<int>(way::ways); ++w) {
    const std::string what = "behind_the_leader, way " + std::to_string(w);
    SetUp();
    start_all(1, 32, behind_the_leader, at, static_cast<way>(w), uint64_t{20000});
    run(what);
    check_all_outcomes(32, what);
  }
}

// Groups of one, two and three blocks in turns, that are at work at the same time: each puts its part to the next node,
// meets with its group on all nodes, and looks at what has come. After a barrier of all nodes that has no fence its
// part may be written again.
__global__ void GGAS_LAUNCH_BOUNDS(256) some_blocks(places at, uint64_t rounds) {
  outcome out{0, 0, 0, ggas_ok};
  const unsigned six = blockIdx.x / 6 * 6, place = blockIdx.x % 6, kind = place == 0 ? 0 : place < 3 ? 1 : 2;
  const unsigned number = blockIdx.x / 6 * 3 + kind;
  const blocks group{six + kind * (kind + 1) / 2, kind + 1, own<uint64_t>(at.base) + number, number};
  const uint64_t words = 1000 + 100 * number, part = uint64_t{number} * 65536;
  const int nodes = ggas_nodes(), next = (ggas_node() + 1) % nodes, last = (ggas_node() + nodes - 1) % nodes;
  auto* const mine = own<uint64_t>(at.data + part);
  auto* const come = own<uint64_t>(at.copy + part);
  const auto keep = [&](ggas_status s) {
    if (out.status == ggas_ok) out.status = s;
  };
  for (uint64_t r = 1; r <= rounds && __syncthreads_and(out.status == ggas_ok); ++r) {
    for (uint64_t i = group.rank(); i < words; i += group.size()) mine[i] = pattern(ggas_node(), r, part + i);
    keep(ggas_barrier(group, timeout_ns, ggas_team_strided(1, ggas_node(), 1, 1)));
    keep(ggas_put_nbi(group, global_ptr<uint64_t>(next, at.copy + part), mine, words, timeout_ns));
    keep(ggas_barrier(group, timeout_ns));
    for (uint64_t i = group.rank(); i < words; i += group.size())
      out.errors += ggas_load(come + i) != pattern(last, r, part + i);
    keep(ggas_sync(group, timeout_ns));
  }
  own<outcome>(at.outcomes)[blockIdx.x * blockDim.x + threadIdx.x] = out;
}

TEST_F(rig, groups_of_some_blocks_work_at_the_same_time) {
  start_all(36, 256, some_blocks, at, uint64_t{rounds_of(1000)});
  run("some_blocks");
  check_all_outcomes(36 * 256, "some_blocks");
}

}  // namespace
}  // namespace ggas::gpu_test
