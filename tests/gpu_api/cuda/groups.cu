// SPDX-License-Identifier: Apache-2.0
// Every call of a group by every group on GPUs, the lanes of the others elsewhere.
#include "rig.hpp"
#include "tests/gpu_api/groups_run.hpp"

namespace ggas::gpu_test {
namespace {

using namespace ggas::groups;

class group_calls : public rig {
 public:
  using rig::nodes, rig::read;

  template <class G>
  void make_all() {
    for (unsigned who = 0; who < actings; ++who) {
      const args a{at.data, static_cast<acting>(who), timeout_ns};
      SetUp();
      for (int n = 0; n < nodes(); ++n) write(n, a.source(), source_of(n));
      for (int n = 0; n < nodes(); ++n) ok(ggas::launch(machine(), n, 1, threads, make_calls<G>, a), "launch");
      run("make_calls, acting " + std::to_string(who));
      SCOPED_TRACE("acting " + std::to_string(who));
      for (int n = 0; n < nodes(); ++n) check_node(*this, a, n, in_block<G>::groups);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_F(group_calls, by_threads) { make_all<thread>(); }
TEST_F(group_calls, by_tiles_of_2) { make_all<tile<2>>(); }
TEST_F(group_calls, by_tiles_of_4) { make_all<tile<4>>(); }
TEST_F(group_calls, by_tiles_of_8) { make_all<tile<8>>(); }
TEST_F(group_calls, by_tiles_of_16) { make_all<tile<16>>(); }
TEST_F(group_calls, by_warps) { make_all<warp>(); }
TEST_F(group_calls, by_some_warps) { make_all<warps>(); }
TEST_F(group_calls, by_blocks) { make_all<block>(); }

}  // namespace
}  // namespace ggas::gpu_test
