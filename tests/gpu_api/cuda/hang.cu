// SPDX-License-Identifier: Apache-2.0
// Kernels that hang on GPUs: the cluster's report names the call and the member.
#include "rig.hpp"
#include "tests/gpu_api/hangs_run.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(rig, reports_name_call_and_member_of_every_hang) {
  GGAS_NEEDS_NODES(2);
  std::string why;
  for (unsigned seed = 0; seed < rounds_of(hangs::seeds); ++seed) {
    const hangs::plan p = hangs::plan_of(seed, nodes(), at.base, second / 20);
    for (int n = 0; n < nodes(); ++n) write(n, at.base, std::vector<char>(65536));
    for (int n = 0; n < nodes(); ++n)
      ok(ggas::launch(machine(), n, hangs::blocks, hangs::threads, hangs::hang, p), "launch");
    run("hang");
    EXPECT_EQ(hangs::fault_of(machine().report(why), p, nodes()), "") << "seed " << seed;
    EXPECT_EQ(why, "");
    EXPECT_EQ(machine().reset(), "");
  }
}

TEST_F(rig, an_end_by_the_host_is_reported_too) {
  GGAS_NEEDS_NODES(2);
  const hangs::plan p{hangs::kind::dead_process, 0, 0, 1, at.base, GGAS_FOREVER};
  for (int n = 0; n < nodes(); ++n) ok(ggas::launch(machine(), n, 1, hangs::threads, hangs::hang, p), "launch");
  EXPECT_EQ(machine().abort(), "");
  run("hang");
  std::string why;
  const hang_report r = machine().report(why);
  EXPECT_EQ(hangs::fault_of(r, p, nodes()), "");
  EXPECT_EQ(why, "");
  EXPECT_EQ(machine().reset(), "");
}

}  // namespace
}  // namespace ggas::gpu_test
