// SPDX-License-Identifier: Apache-2.0
// A receive of MPI in a kernel that waits too long is in the report of hangs. Alone in its program, for its time-out.
#define GGAS_MPI_TIMEOUT_NS 50'000'000
#include "ggas/mpi.cuh"
#include "ggas/report.hpp"
#include "tests/gpu_api/messages_rig.hpp"

namespace ggas::test {
namespace {

TEST(MpiReport, NamesRankSourceAndTagAndOthersGoOn) {
  message_machine m({.nodes = 2}, {.kind = ggas_rank_is_thread, .blocks = 1, .threads = 4}, 64);
  EXPECT_EQ(m.space().use(m.world), "");
  m.run([] {
    MPI_Init(static_cast<void*>(nullptr));
    int me = 0, v = 0;
    MPI_Status s;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 6) {
      EXPECT_EQ(MPI_Recv(&v, 1, MPI_INT, 3, 42, MPI_COMM_WORLD, &s), MPI_ERR_TIMEOUT);
      EXPECT_EQ(s.MPI_ERROR, MPI_ERR_TIMEOUT);
    } else if (me < 2) {
      EXPECT_EQ(MPI_Sendrecv(&me, 1, MPI_INT, 1 - me, 1, &v, 1, MPI_INT, 1 - me, 1, MPI_COMM_WORLD, &s), MPI_SUCCESS);
      EXPECT_EQ(v, 1 - me);
    }
  });
  const std::string text = m.on().report()->text();
  EXPECT_NE(
      text.find("node 1, block 0, thread 2: ggas_recv timed out: rank 6 waits for a message from rank 3 with tag 42"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace ggas::test
