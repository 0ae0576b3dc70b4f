// SPDX-License-Identifier: Apache-2.0
// Compiled for the host engine and by nvcc.
#include "tests/userlib/work/kernels.hpp"

#include <cstddef>
#include <stdexcept>

#include "ggas/channels.hpp"
#include "ggas/workers.hpp"

namespace ggas::test {

static GGAS_DEVICE ggas_status mix_all(const work_block& b, uint32_t* rw, uint32_t* ro, uint32_t* wo, uint64_t n) {
  for (uint64_t i = b.x * blockDim.x + threadIdx.x; i < n; i += b.nx * blockDim.x) {
    rw[i] = 3 * rw[i] + ro[i];
    wo[i] = rw[i] ^ ro[i];
    ro[i] = 0;
  }
  return ggas_ok;
}
GGAS_DEFINE_WORK(mix, mix_all);

static GGAS_DEVICE ggas_status note_shape_of(const work_block& b, uint32_t* found, uint64_t shared) {
  GGAS_DYNAMIC_SHARED(unsigned char, bytes);
  for (uint64_t i = threadIdx.x; i < shared; i += blockDim.x) bytes[i] = static_cast<unsigned char>(i);
  __syncthreads();
  if (b.x != 0 || threadIdx.x != 0 || threadIdx.y != 0) return ggas_ok;
  uint32_t right = 0;
  for (uint64_t i = 0; i < shared; ++i) right += bytes[i] == static_cast<unsigned char>(i);
  const uint32_t all[] = {b.nx, b.ny, b.nz, blockDim.x, blockDim.y, blockDim.z, right};
  for (int i = 0; i < 7; ++i) found[i] = all[i];
  return ggas_ok;
}
GGAS_DEFINE_WORK(note_shape, note_shape_of);

static GGAS_DEVICE ggas_status add_to_all(const work_block&, uint64_t* x, uint64_t n, uint64_t what) {
  for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) x[i] += what;
  return ggas_ok;
}
GGAS_DEFINE_WORK(add_to, add_to_all);

static GGAS_DEVICE ggas_status look_at(const work_block&, uint64_t* out, const uint64_t* x) {
  if (threadIdx.x == 0) out[0] = x[0];
  return ggas_ok;
}
GGAS_DEFINE_WORK(look, look_at);

static GGAS_DEVICE ggas_status wait_for_pinned(const work_block&, const uint64_t* word, uint64_t least) {
  for (int i = 0; i < 20'000'000 && ggas_load(word) < least; ++i) __nanosleep(1000);
  return ggas_ok;
}
GGAS_DEFINE_WORK(wait_word, wait_for_pinned);

static GGAS_DEVICE ggas_status end_late_in_one(const work_block& b, const uint64_t* word, uint64_t least, uint64_t* x) {
  if (threadIdx.x == 0) x[b.x] = 1;
  return b.x == b.nx - 1 ? wait_for_pinned(b, word, least) : ggas_ok;
}
GGAS_DEFINE_WORK(end_late, end_late_in_one);

static GGAS_DEVICE ggas_status random_step_by_block(const work_block&, const uint32_t* a, uint64_t na, uint32_t* b,
                                                    uint64_t nb, uint32_t* c, uint64_t nc, uint64_t* sum, uint32_t k) {
  for (uint64_t i = threadIdx.x; i < nb; i += blockDim.x) b[i] = 5 * b[i] + (na ? a[i % na] : 0) + k;
  __syncthreads();
  for (uint64_t i = threadIdx.x; i < nc; i += blockDim.x) c[i] = static_cast<uint32_t>(k ^ i) + (nb ? b[i % nb] : 0);
  __syncthreads();
  if (threadIdx.x != 0) return ggas_ok;
  uint64_t all = 0;
  for (uint64_t i = 0; i < nb; ++i) all += b[i];
  for (uint64_t i = 0; i < nc; ++i) all += c[i];
  *sum = all;
  return ggas_ok;
}
GGAS_DEFINE_WORK(random_step, random_step_by_block);

static GGAS_DEVICE ggas_status count_one_block(const work_block& b, uint64_t* virtual_blocks, uint64_t* real_blocks) {
  if (threadIdx.x != 0) return ggas_ok;
  virtual_blocks[(b.z * b.ny + b.y) * b.nx + b.x] += 1;
  real_blocks[blockIdx.x] += 1;
  return ggas_ok;
}
GGAS_DEFINE_WORK(count_blocks, count_one_block);

static GGAS_DEVICE ggas_status fail_in_one(const work_block& b, int status) {
  return b.x == b.nx - 1 && threadIdx.x == 0 ? static_cast<ggas_status>(status) : ggas_ok;
}
GGAS_DEFINE_WORK(fail_with, fail_in_one);

static GGAS_DEVICE ggas_status meet_and_look(const work_block& b, uint64_t* words, uint64_t times, uint64_t* wrong) {
  constexpr uint64_t second = 1'000'000'000;
  const ggas_team here = ggas_team_strided(1, ggas_node(), 1, 1);
  const unsigned me = b.group.block(), all = b.group.count;
  for (uint64_t t = 1; t <= times; ++t) {
    if (threadIdx.x == 0) ggas_store(words + me, t);
    ggas_status s = ggas_barrier(b.group, 10 * second, here);
    if (s == ggas_ok && threadIdx.x == 0) wrong[me] += ggas_load(words + (me + 1) % all) != t;
    if (s == ggas_ok) s = ggas_barrier(b.group, 10 * second, here);
    if (s != ggas_ok) return s;
  }
  return ggas_ok;
}
GGAS_DEFINE_WORK(meet_often, meet_and_look);

static GGAS_DEVICE ggas_status ring_the_others(const work_block&, ggas_workers to, int function, uint64_t at,
                                               uint64_t done, uint64_t times, uint64_t* wrong) {
  constexpr uint64_t second = 1'000'000'000;
  if (threadIdx.x != 0) return ggas_ok;
  const int next = (ggas_node() + 1) % ggas_nodes();
  auto* const word = ggas_pointer_of_node<uint64_t>(ggas_node(), done);
  ggas_store(word, uint64_t{0});
  for (uint64_t t = 1; t <= times; ++t) {
    ggas_status s = ggas_enqueue_work(to, next, static_cast<uint32_t>(function), 1, word, t, 100 * second, at);
    if (s == ggas_ok) s = ggas_wait_work(word, t, 100 * second);
    if (s != ggas_ok) return s;
    *wrong += ggas_load(ggas_pointer_of_node<uint64_t>(next, at)) != t;
  }
  *wrong += ggas_enqueue_work(to, ggas_nodes(), 0, 1, word, times + 1, second, at) != ggas_bad_argument;
  *wrong += ggas_enqueue_work(ggas_workers{}, next, 0, 1, word, times + 1, second, at) != ggas_bad_argument;
  *wrong += ggas_enqueue_work(to, next, 0, 1, wrong + (uint64_t{1} << 50), times + 1, second, at) != ggas_bad_argument;
  *wrong += ggas_enqueue_work(to, next, 1000, 1, word, times + 1, second, at) != ggas_ok;  // no such function
  *wrong += ggas_wait_work(word, times + 1, 100 * second) != ggas_bad_argument;
  return ggas_ok;
}
GGAS_DEFINE_WORK(ring_others, ring_the_others);

static GGAS_DEVICE ggas_status add_one_at(const work_block&, uint64_t at) {
  auto* const word = ggas_pointer_of_node<uint64_t>(ggas_node(), at);
  if (threadIdx.x == 0) ggas_store(word, ggas_load(word) + 1);
  return ggas_ok;
}
GGAS_DEFINE_WORK(add_one, add_one_at);
GGAS_DEFINE_WORK(not_in_the_table, add_one_at);

static GGAS_DEVICE ggas_status note_own_multiprocessor(const work_block& b, uint32_t* ids) {
  uint32_t id = 0;
#ifdef __CUDACC__
  asm("mov.u32 %0, %%smid;" : "=r"(id));
#endif
  if (threadIdx.x == 0) ids[b.x] = id;
  return ggas_ok;
}
GGAS_DEFINE_WORK(note_multiprocessor, note_own_multiprocessor);

static GGAS_DEVICE ggas_status flip_bytes(const work_block& b, std::byte* x, uint64_t n) {
  for (uint64_t i = b.x * blockDim.x + threadIdx.x; i < n; i += b.nx * blockDim.x)
    reinterpret_cast<uint8_t*>(x)[i] ^= 1;
  return ggas_ok;
}
GGAS_DEFINE_WORK(flip, flip_bytes);

static GGAS_DEVICE ggas_status break_it(const work_block&, int) {
#ifdef __CUDACC__
  __trap();
#else
  throw std::runtime_error("the GPU is broken");
#endif
  return ggas_ok;
}
GGAS_DEFINE_WORK(break_gpu, break_it);

GGAS_DEFINE_WORKERS(test_work, mix_work, note_shape_work, add_to_work, look_work, wait_word_work, end_late_work,
                    random_step_work, count_blocks_work, fail_with_work, meet_often_work, ring_others_work,
                    add_one_work, flip_work, break_gpu_work, channel_move_work, note_multiprocessor_work);

}  // namespace ggas::test
