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

// A ring of warps. The last lane, which is in time, tells the right neighbour behind the call; what the left one has
// sent must be here when it tells.
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

}  // namespace
}  // namespace ggas::gpu_test
