// SPDX-License-Identifier: Apache-2.0
// Memory of the program's own on a GPU, and kernels that work on segments.
#include <cstdio>

#include "tests/userlib/libggas/gpu/gpu_rig.hpp"

namespace ggas::library_test {
namespace {

TEST_F(library_gpu, memory_of_the_user_on_a_gpu_is_a_segment) {
  run(2, [](const rank& r) -> std::string {
    constexpr size_t n = 150'001;
    OPEN(2 * n);
    context c{};
    MUST(ggas_gpu_context(r.p, &c, sizeof c), GGAS_OK);
    void* const mine = own_memory(c, 2 * n + 16);
    MUST_HOLD(mine);
    MUST(ggas_gpu_segment_use(r.p, 2, mine, 2 * n, GGAS_GROUP_ALL, timeout), GGAS_OK);
    void* at = nullptr;
    MUST(ggas_segment_pointer(r.p, 2, &at), GGAS_OK);
    MUST_HOLD(at == mine);
    for (uint32_t from = 0; from < 3; ++from) {  // an allocated segment, the host's, the user's
      fill(r.memory<uint8_t>(1), n, r.me + from);
      const ggas_part up = part(1, 0, from, 0, n);
      if (from != 1) MUST(ggas_queue_write(r.p, &up, r.me, 0, timeout), GGAS_OK);
      const ggas_part p = part(from, 0, 2, n, n);
      MUST(ggas_queue_write(r.p, &p, 1 - r.me, 0, timeout), GGAS_OK);
      MUST(r.barrier(), GGAS_OK);
      if (const std::string why = fetch(r, 2, n, n); !why.empty()) return why;
      MUST_HOLD(is_filled(r.memory<uint8_t>(1), n, 1 - r.me + from));
      const ggas_part get = part(0, n, 2, n, n);  // what the other one has got, to a GPU here
      MUST(ggas_queue_read(r.p, &get, 1 - r.me, 0, timeout), GGAS_OK);
      if (const std::string why = fetch(r, 0, n, n); !why.empty()) return why;
      MUST_HOLD(is_filled(r.memory<uint8_t>(1), n, r.me + from));
      MUST(r.barrier(), GGAS_OK);
    }
    MUST(ggas_segment_compare_swap(r.p, 2, 8, 1 - r.me, 0, 7, nullptr, timeout), GGAS_OK);
    MUST(ggas_segment_fetch_add(r.p, 2, 8, 1 - r.me, 5, nullptr, timeout), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    uint64_t offset;
    MUST(ggas_gpu_segment_place(r.p, 2, r.me, &offset), GGAS_ERR_SEGMENT);
    MUST(ggas_segment_delete(r.p, 2), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    free_own_memory(mine);
    return "ok";
  });
}

// Round a ring: a kernel works on what has come into the GPU, the host sends on what the kernel has made of it.
TEST_F(library_gpu, a_kernel_works_on_what_arrived) {
  run(3, [](const rank& r) -> std::string {
    constexpr uint64_t n = 700, bytes = n * sizeof(uint64_t);
    OPEN(bytes);
    context c{};
    MUST(ggas_gpu_context(r.p, &c, sizeof c), GGAS_OK);
    doubling d{0, n};
    MUST(ggas_gpu_segment_place(r.p, 0, r.me, &d.first), GGAS_OK);
    auto* const words = r.memory<uint64_t>(1);
    for (uint64_t i = 0; i < n; ++i) words[i] = i;
    const ggas_part up = part(1, 0, 0, 0, bytes), on = part(0, 0, 0, 0, bytes);
    if (r.me == 0) {
      MUST(ggas_queue_write(r.p, &up, 1, 0, timeout), GGAS_OK);
      MUST(r.notify(0, 1, 2, 1), GGAS_OK);
    }
    uint32_t found, value;
    MUST(ggas_notification_waitsome(r.p, 0, 2, 1, &found, timeout), GGAS_OK);
    MUST(ggas_notification_reset(r.p, 0, 2, &value), GGAS_OK);
    const std::string why = run_doubling(c, d);
    MUST_HOLD(why.empty() || (std::fprintf(stderr, "%s\n", why.c_str()), false));
    if (r.me != 0) {
      MUST(ggas_gpu_write(r.p, &on, (r.me + 1) % 3, 0, GGAS_GPU_STAGED, timeout), GGAS_OK);
      MUST(r.notify(0, (r.me + 1) % 3, 2, 1), GGAS_OK);
    }
    if (const std::string reported = fetch(r, 0, 0, bytes); !reported.empty()) return reported;
    const uint64_t times = uint64_t{2} << (r.me + 2) % 3;  // of ranks 1, 2, 0 in this order
    for (uint64_t i = 0; i < n; ++i) MUST_HOLD(words[i] == times * i + times - 1);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

// The host of rank 0 and a kernel of rank 1 talk through segments and slots.
TEST_F(library_gpu, kernel_and_host_talk_through_a_segment) {
  run(2, [](const rank& r) -> std::string {
    constexpr uint32_t rounds = 300;
    OPEN(4096);
    context c{};
    MUST(ggas_gpu_context(r.p, &c, sizeof c), GGAS_OK);
    MUST_HOLD(c.node == static_cast<int>(r.me) && c.nodes == 2);
    if (r.me == 1) {
      talk t{0, 0, 0, nullptr, nullptr, rounds};
      MUST(ggas_gpu_segment_place(r.p, 0, 1, &t.here), GGAS_OK);
      MUST(ggas_gpu_segment_place(r.p, 0, 0, &t.there), GGAS_OK);
      MUST(ggas_gpu_segment_slots(r.p, 0, 1, &t.slot_here), GGAS_OK);
      MUST(ggas_gpu_segment_slots(r.p, 0, 0, &t.slot_there), GGAS_OK);
      t.slot_there += 4;
      const std::string why = run_answer(c, t);
      MUST_HOLD(why.empty() || (std::fprintf(stderr, "%s\n", why.c_str()), false));
      if (const std::string reported = fetch(r, 0, 8, 8); !reported.empty()) return reported;
      MUST_HOLD(r.memory<uint64_t>(1)[0] == 1);  // ggas_ok + 1
      return "ok";
    }
    for (uint32_t round = 1; round <= rounds; ++round) {
      r.memory<uint64_t>(1)[1] = 1000 + round;
      const ggas_part p = part(1, 8, 0, 0, 8);
      MUST(ggas_queue_write(r.p, &p, 1, 0, timeout), GGAS_OK);
      MUST(r.notify(0, 1, 0, round), GGAS_OK);
      uint32_t found, value;
      MUST(ggas_notification_waitsome(r.p, 0, 4, 1, &found, timeout), GGAS_OK);
      MUST(ggas_notification_reset(r.p, 0, 4, &value), GGAS_OK);
      MUST_HOLD(value == round);
      if (const std::string why = fetch(r, 0, 0, 8); !why.empty()) return why;
      MUST_HOLD(r.memory<uint64_t>(1)[0] == 2 * (1000 + round) + 1);
    }
    return "ok";
  });
}

// One context call hands the memory of all ranks to kernels: stores, barriers, collectives of the device library.
TEST_F(library_gpu, kernels_of_all_ranks_meet) {
  run(3, [](const rank& r) -> std::string {
    OPEN(4096);
    context c{};
    MUST(ggas_gpu_context(r.p, &c, sizeof c), GGAS_OK);
    uint64_t word = 0;
    MUST(ggas_gpu_segment_place(r.p, 0, r.me, &word), GGAS_OK);  // the same on all: all have opened the same
    for (int round = 0; round < 3; ++round) {
      MUST(r.barrier(), GGAS_OK);
      const std::string why = run_meeting(c, {word, word + 64});
      MUST_HOLD(why.empty() || (std::fprintf(stderr, "%s\n", why.c_str()), false));
      if (const std::string reported = fetch(r, 0, 0, 128); !reported.empty()) return reported;
      const auto* const words = r.memory<uint64_t>(1);
      MUST_HOLD(words[9] == 1);  // ggas_ok + 1
      MUST_HOLD(words[0] == 100 + (r.me + 2) % 3 && words[8] == 303);
    }
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
