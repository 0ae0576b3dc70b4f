// SPDX-License-Identifier: Apache-2.0
// MPI in kernels on real GPUs, for the kind of rank that GGAS_MPI_RANK names.
#include "tests/gpu_api/messages_run.hpp"
#include "tests/gpu_api/mpi_types.cuh"

#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

constexpr ggas_rank_kind kind = detail::rank_kind_of<mpi::rank_group>;
constexpr int most = 9;

class mpi_rig : public rig {
 public:
  // The ranks of four GPUs take more memory in kernels than CUDA's 8 MB. To be said before any kernel runs.
  static void SetUpTestSuite() {
    for (int n = 0; n < nodes(); ++n) {
      ok(cudaSetDevice(machine().device(n)), "device");
      ok(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64u << 20), "heap of kernels");
    }
  }
  using rig::nodes;
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) { return rig::read<uint8_t>(node, offset, n); }
  uint64_t outcomes() const { return at.outcomes; }

 protected:
  // The handle lies before rings and state, and MPI_Init() finds it there.
  void go(unsigned blocks, unsigned threads, void (*kernel)(calls::mpi_args), uint64_t seed) {
    SetUp();
    ggas_messages m{{{0, 1, nodes(), 0}, blocks, 0, at.copy, 16, 1}, kind, threads, 0, 6, 64, 64, 8, 256};
    m.place = at.copy + (detail::layout_of(m.blocks).bytes() + 63) / 64 * 64;
    const auto ranks = static_cast<uint64_t>(detail::rank_count(m));
    const calls::mpi_args a{m, at.data, at.outcomes, calls::mpi_scratch(ranks, most), seed, most};
    for (int n = 0; n < nodes(); ++n) {
      rig::write(n, at.base, std::vector<ggas_messages>{m});
      rig::write(n, layout::messages, std::vector<uint64_t>{at.base});
      ok(launch_grid(machine(), n, blocks, threads, kernel, a), "launch");
    }
    run("MPI");
    calls::check_found(*this, blocks * threads, "seed " + std::to_string(seed));
  }
};

TEST_F(mpi_rig, messages_requests_and_windows) {
  go(2, 64, calls::mpi_calls, 1);
  go(2, 64, calls::mpi_types, 1);
  go(2, 64, calls::mpi_communicators, 1);
  if (kind == ggas_rank_is_block) go(64, 96, calls::mpi_calls, 2);
}
TEST_F(mpi_rig, collectives_are_as_a_serial_model_says) {
  for (uint64_t seed = 1; seed <= 10; ++seed) go(2, 64, calls::mpi_collectives, seed);
}

}  // namespace
}  // namespace ggas::gpu_test
