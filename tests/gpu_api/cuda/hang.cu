// SPDX-License-Identifier: Apache-2.0
// Kernels that hang on GPUs: the cluster's report names the call and the member.
#include "rig.hpp"
#include "tests/gpu_api/hangs_run.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(rig, reports_name_call_and_culprit_of_every_hang) {
  GGAS_NEEDS_NODES(2);
  for (unsigned seed = 0; seed < rounds_of(hangs::seeds); ++seed) {
    const hangs::plan p = hangs::plan_of(seed, nodes(), at.base, second / 20);
    if (!hangs::happens_with(p.what, nodes())) continue;
    for (int n = 0; n < nodes(); ++n) write(n, at.base, std::vector<char>(65536));
    for (int n = 0; n < nodes(); ++n)
      ok(ggas::launch(machine(), n, hangs::blocks, hangs::threads, hangs::hang, p), "launch");
    run("hang");
    const auto found = machine().report();
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(hangs::fault_of(*found, p, nodes()), "") << "seed " << seed;
    EXPECT_EQ(text_of(machine().reset(30 * second)), "");
  }
}

TEST_F(rig, an_end_by_the_host_is_reported_too) {
  GGAS_NEEDS_NODES(2);
  const hangs::plan p{hangs::kind::nobody_barrier, 0, 1, at.base, GGAS_FOREVER};
  for (int n = 0; n < nodes(); ++n) ok(ggas::launch(machine(), n, 1, hangs::threads, hangs::hang, p), "launch");
  EXPECT_EQ(text_of(machine().abort()), "");
  run("hang");
  const auto found = machine().report();
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(hangs::fault_of(*found, p, nodes()), "");
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

}  // namespace
}  // namespace ggas::gpu_test
