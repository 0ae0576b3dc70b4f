// SPDX-License-Identifier: Apache-2.0
// MPI in kernels for one kind of rank: compiled for each of them, with GGAS_MPI_RANK.
#define GGAS_MPI_TIMEOUT_NS 60'000'000'000
#include "tests/gpu_api/messages_rig.hpp"
#include "tests/gpu_api/mpi_calls.cuh"

namespace ggas::test {
namespace {

constexpr ggas_rank_kind kind = detail::rank_kind_of<mpi::rank_group>;

struct mpi_target {
  target on;
  unsigned blocks, threads;
  int most = 9;  // elements of a rank in a collective
  std::string name() const { return on.name() + "x" + std::to_string(blocks) + "x" + std::to_string(threads); }
  friend void PrintTo(const mpi_target& t, std::ostream* os) { *os << t.name(); }
};
std::vector<mpi_target> mpi_targets() {
  constexpr unsigned threads = kind == ggas_rank_is_thread ? 6 : 64;
  std::vector<mpi_target> all{{{.nodes = 1}, 2, threads}, {{.nodes = 3}, 2, threads}};
  if (kind == ggas_rank_is_thread) all.push_back({{.nodes = 1}, 1, 40});
#ifdef GGAS_TEST_SIM
  const unsigned blocks = kind == ggas_rank_is_block ? 8 : 2;
  all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, blocks, threads, 3});
#endif
  return all;
}
class MpiInKernels : public testing::TestWithParam<mpi_target> {
 protected:
  void run(void (*kernel)(calls::mpi_args), uint64_t seed) {
    const mpi_target& t = GetParam();
    const message_config shape{.kind = kind, .blocks = t.blocks, .threads = t.threads, .stage_bytes = 128};
    const uint64_t ranks = uint64_t{t.blocks} * t.threads * static_cast<unsigned>(t.on.nodes),
                   scratch = calls::mpi_scratch(ranks, static_cast<uint64_t>(t.most));
    message_machine m(t.on, shape, scratch);
    EXPECT_EQ(m.space().use(m.world), "");
    const calls::mpi_args a{m.world, m.message_scratch(), m.outcomes(), scratch, seed, t.most};
    m.run_messages(m.world, kernel, a);
    calls::check_found(m, t.blocks * t.threads, "seed " + std::to_string(seed));
  }
};
INSTANTIATE_TEST_SUITE_P(On, MpiInKernels, testing::ValuesIn(mpi_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(MpiInKernels, MessagesRequestsAndWindows) { run(calls::mpi_calls, 1); }
TEST_P(MpiInKernels, GroupsAndCommunicators) { run(calls::mpi_communicators, 1); }
// More ranks than messages that may wait at one of them.
class MpiOfManyRanks : public MpiInKernels {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MpiOfManyRanks);
std::vector<mpi_target> many_ranks() {
  if (kind == ggas_rank_is_thread) return {{{.nodes = 2}, 2, 64}};
  return {};
}
INSTANTIATE_TEST_SUITE_P(On, MpiOfManyRanks, testing::ValuesIn(many_ranks()),
                         [](const auto& i) { return i.param.name(); });
TEST_P(MpiOfManyRanks, GroupsAndCommunicators) { run(calls::mpi_communicators, 1); }

TEST_P(MpiInKernels, CollectivesAreAsASerialModelSays) {
  for (uint64_t seed = 1; seed <= 3; ++seed) run(calls::mpi_collectives, seed);
}

}  // namespace
}  // namespace ggas::test
