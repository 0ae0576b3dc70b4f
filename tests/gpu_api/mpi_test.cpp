// SPDX-License-Identifier: Apache-2.0
// MPI in kernels for one kind of rank: compiled for each of them, with GGAS_MPI_RANK.
#define GGAS_MPI_TIMEOUT_NS 60'000'000'000
#include "gpu_api/types/node.hpp"
#include "tests/gpu_api/messages_rig.hpp"
#include "tests/gpu_api/mpi_calls.cuh"
#include "tests/gpu_api/mpi_types.cuh"
#include "tests/gpu_api/types/oracle.hpp"

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
TEST_P(MpiInKernels, DerivedTypes) { run(calls::mpi_types, 1); }

// ---- types made at random, and the list of all their elements

std::vector<types_test::both> random_list(uint64_t seed) {
  std::vector<types_test::both> all;
  types_test::random_types make(seed);
  for (int i = 0; i < 40; ++i) all.push_back(make.usable(3, 200));
  return all;
}
std::vector<types_test::both> types_of_test;

MPI_Datatype basic_of(primitive p, int& copies) {
  const uint64_t size = size_of(p);
  copies = p == primitive::complex64 || p == primitive::complex128 ? 2 : 1;
  switch (size / static_cast<uint64_t>(copies)) {
    case 1:
      return MPI_BYTE;
    case 2:
      return MPI_SHORT;
    case 4:
      return MPI_FLOAT;
    default:
      return MPI_DOUBLE;
  }
}
// By the calls of MPI; children are freed at once.
MPI_Datatype made_by_calls(const datatype& type) {
  using kind = datatype::node::kind;
  const datatype::node& n = type.made_of();
  MPI_Datatype t = MPI_DATATYPE_NULL;
  if (n.what == kind::primitive) {
    int copies = 1;
    const MPI_Datatype basic = basic_of(n.element, copies);
    EXPECT_EQ(MPI_Type_contiguous(copies, basic, &t), MPI_SUCCESS);
    return t;
  }
  const auto ints = [](const std::vector<int64_t>& v) { return std::vector<int>(v.begin(), v.end()); };
  const std::vector<int> lengths = ints(n.blocklengths);
  const std::vector<MPI_Aint> places(n.displacements.begin(), n.displacements.end());
  std::vector<MPI_Datatype> parts;
  for (const datatype& c : n.children) parts.push_back(made_by_calls(c));
  const int count = static_cast<int>(n.count), length = static_cast<int>(n.blocklength);
  switch (n.what) {
    case kind::contiguous:
      EXPECT_EQ(MPI_Type_contiguous(count, parts[0], &t), MPI_SUCCESS);
      break;
    case kind::vector:
      EXPECT_EQ(MPI_Type_create_hvector(count, length, n.stride, parts[0], &t), MPI_SUCCESS);
      break;
    case kind::indexed_block:
      EXPECT_EQ(MPI_Type_create_hindexed_block(count, length, places.data(), parts[0], &t), MPI_SUCCESS);
      break;
    case kind::indexed:
      EXPECT_EQ(MPI_Type_create_hindexed(count, lengths.data(), places.data(), parts[0], &t), MPI_SUCCESS);
      break;
    case kind::structure:
      EXPECT_EQ(MPI_Type_create_struct(count, lengths.data(), places.data(), parts.data(), &t), MPI_SUCCESS);
      break;
    case kind::subarray:
      EXPECT_EQ(MPI_Type_create_subarray(static_cast<int>(n.sizes.size()), ints(n.sizes).data(),
                                         ints(n.subsizes).data(), ints(n.starts).data(), MPI_ORDER_C, parts[0], &t),
                MPI_SUCCESS);
      break;
    case kind::resized:
      EXPECT_EQ(MPI_Type_create_resized(parts[0], n.lb, n.ub - n.lb, &t), MPI_SUCCESS);
      break;
    default:
      EXPECT_EQ(MPI_Type_dup(parts[0], &t), MPI_SUCCESS);
      break;
  }
  for (MPI_Datatype part : parts) EXPECT_EQ(MPI_Type_free(&part), MPI_SUCCESS);
  return t;
}

// Two elements of a type: their bytes in the order of the list, and back.
void check_type(const types_test::both& b) {
  MPI_Datatype t = made_by_calls(b.type);
  int size = 0;
  MPI_Aint lb = 0, extent = 0;
  EXPECT_EQ(MPI_Type_commit(&t), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_size(t, &size), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_get_extent(t, &lb, &extent), MPI_SUCCESS);
  EXPECT_EQ(static_cast<uint64_t>(size), b.list.size());
  EXPECT_EQ(lb, b.list.lb());
  EXPECT_EQ(extent, b.list.extent());
  EXPECT_EQ(MPI_Type_get_true_extent(t, &lb, &extent), MPI_SUCCESS);
  EXPECT_EQ(lb, b.list.true_lb());
  EXPECT_EQ(extent, b.list.true_ub() - b.list.true_lb());

  const std::vector<int64_t> places = b.list.places(2);
  const auto [low, high] = std::ranges::minmax(places);
  const auto bytes = static_cast<int64_t>(places.size());
  char* const items = mpi::new_memory<char>(high - low + 1);
  char* const packed = mpi::new_memory<char>(bytes);
  const mpi::rank_group g;
  for (int64_t i = 0; i <= high - low && g.leads(); ++i) items[i] = static_cast<char>(i * 7);
  int position = 0;
  EXPECT_EQ(MPI_Pack(items - low, 2, t, packed, size * 2, &position, MPI_COMM_WORLD), MPI_SUCCESS);
  for (int64_t i = 0; i < bytes; ++i)
    ASSERT_EQ(packed[i], static_cast<char>((places[static_cast<size_t>(i)] - low) * 7)) << i;
  g.sync();
  for (int64_t i = 0; i <= high - low && g.leads(); ++i) items[i] = 0;
  position = 0;
  EXPECT_EQ(MPI_Unpack(packed, size * 2, &position, items - low, 2, t, MPI_COMM_WORLD), MPI_SUCCESS);
  std::vector<bool> written(static_cast<size_t>(high - low + 1));
  for (const int64_t p : places) written[static_cast<size_t>(p - low)] = true;
  for (int64_t i = 0; i <= high - low; ++i)
    ASSERT_EQ(items[i], written[static_cast<size_t>(i)] ? static_cast<char>(i * 7) : 0) << i;
  mpi::free_memory(items);
  mpi::free_memory(packed);
  EXPECT_EQ(MPI_Type_free(&t), MPI_SUCCESS);
}
__global__ void random_types(calls::mpi_args a) {
  calls::found f;
  f.want(MPI_Init(static_cast<void*>(nullptr)) == MPI_SUCCESS, __LINE__);
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (const types_test::both& b : types_of_test)
    if (me == 0 && !testing::Test::HasFatalFailure()) check_type(b);
  f.want(MPI_Finalize() == MPI_SUCCESS, __LINE__);
  f.write(a.outcomes);
}
TEST_P(MpiInKernels, TypesMadeAtRandom) {
  if (GetParam().on.provider != "shm" || GetParam().on.nodes != 1) GTEST_SKIP() << "one node shows all of it";
  types_of_test = random_list(types_test::seed());
  run(random_types, 1);
}

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
