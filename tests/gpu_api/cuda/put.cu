// SPDX-License-Identifier: Apache-2.0
// Put, get, signals and atomics on real GPUs.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

GGAS_DEVICE uint64_t wrong_bytes(const char* p, uint64_t bytes, uint64_t round) {
  uint64_t wrong = 0;
  for (uint64_t i = ggas::detail::thread_rank(); i < bytes; i += ggas::detail::thread_count())
    if (ggas_load(p + i) != static_cast<char>(pattern(round, 0, i))) ++wrong;
  return wrong;
}

// Node 0 puts `bytes` at odd places into node 1 with a signal behind it, node 1 gets them back.
__global__ void put_and_get(places at, uint64_t bytes, uint64_t shift, uint64_t round) {
  outcome out{0, 0, 0, ggas_ok};
  char* const from = own<char>(at.data + shift);
  uint64_t* const signal = ggas_pointer_of_node<uint64_t>(1, at.base);
  ggas_status s = ggas_ok;
  if (ggas_node() == 0) {
    char* const to = ggas_pointer_of_node<char>(1, at.copy + 2 * shift);
    s = ggas_put_signal_nbi_block(to, from, bytes, signal, round, ggas_signal_set, timeout_ns);
    if (s == ggas_ok) s = ggas_quiet_block();
  } else if (ggas_node() == 1) {
    s = ggas_wait_until_block(own<uint64_t>(at.base), ggas_eq, round, timeout_ns);
    out.errors += wrong_bytes(own<char>(at.copy + 2 * shift), bytes, round);
    __syncthreads();
    char* const back = own<char>(at.copy + (8 << 20));
    if (s == ggas_ok) s = ggas_get_block(back, ggas_pointer_of_node<char>(0, at.data + shift), bytes, timeout_ns);
    out.errors += wrong_bytes(back, bytes, round);
  }
  out.status = s;
  own<outcome>(at.outcomes)[ggas::detail::thread_rank()] = out;
}

TEST_F(rig, put_with_signal_and_get_of_odd_sizes_and_places) {
  GGAS_NEEDS_NODES(2);
  uint64_t round = 0;
  for (uint64_t bytes : {1u, 7u, 8u, 16u, 100u, 4096u, 65536u + 3, 1u << 20}) {
    for (uint64_t shift : {0u, 1u, 4u, 9u, 16u}) {
      ++round;
      std::vector<char> v(bytes);
      for (uint64_t i = 0; i < bytes; ++i) v[i] = static_cast<char>(pattern(round, 0, i));
      write(0, at.data + shift, v);
      write(1, at.copy + 2 * shift - 1, std::vector<char>(bytes + 2, 'x'));
      for (int n = 0; n < 2; ++n) start(n, 1, 256, put_and_get, at, bytes, shift, round);
      run("put_and_get");
      const auto what = std::to_string(bytes) + " bytes, shift " + std::to_string(shift);
      for (int n = 0; n < 2; ++n) check_outcomes(n, 256, what);
      EXPECT_EQ(read<char>(1, at.copy + 2 * shift - 1, 1)[0], 'x') << what;
      EXPECT_EQ(read<char>(1, at.copy + 2 * shift + bytes, 1)[0], 'x') << what;
    }
  }
}

__global__ void add_everywhere(places at, uint64_t each) {
  outcome out{0, 0, 0, ggas_ok};
  for (uint64_t i = 0; i < each; ++i) {
    for (int n = 0; n < ggas_nodes(); ++n) {
      uint64_t old = 0;
      const ggas_status s = ggas_fetch_add(ggas_pointer_of_node<uint64_t>(n, at.base), uint64_t{1}, &old, timeout_ns);
      if (s != ggas_ok) out.status = s;
    }
  }
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

TEST_F(rig, atomic_adds_of_all_threads_to_all_nodes) {
  constexpr unsigned blocks = 16, threads = 128;
  constexpr uint64_t each = 50;
  start_all(blocks, threads, add_everywhere, at, each);
  run("add_everywhere");
  check_all_outcomes(blocks * threads, "fetch_add");
  for (int n = 0; n < nodes(); ++n)
    EXPECT_EQ(read<uint64_t>(n, at.base, 1)[0], each * blocks * threads * static_cast<uint64_t>(nodes()));
}

}  // namespace
}  // namespace ggas::gpu_test
