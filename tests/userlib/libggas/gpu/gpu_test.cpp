// SPDX-License-Identifier: Apache-2.0
// Segments of GPUs: in CI with the host SIMT engine, in the program that nvcc links with the GPUs of this computer.
#include <algorithm>
#include <random>
#include <thread>

#include "tests/userlib/libggas/gpu/gpu_rig.hpp"

namespace ggas::library_test {
namespace {

TEST_F(library_gpu, a_new_segment_is_zero_and_of_a_size_of_its_own) {
  run(3, [](const rank& r) -> std::string {
    const uint64_t bytes = 100'000 * (r.me + 1);
    OPEN(bytes);
    for (int round = 0; round < 3; ++round) {
      if (const std::string why = fetch(r, 0, 0, bytes); !why.empty()) return why;
      MUST_HOLD(std::all_of(r.memory<uint8_t>(1), r.memory<uint8_t>(1) + bytes, [](uint8_t b) { return b == 0; }));
      fill(r.memory<uint8_t>(1), bytes, 5);
      const ggas_part p = part(1, 0, 0, 0, bytes);
      MUST(ggas_queue_write(r.p, &p, r.me, 0, timeout), GGAS_OK);
      MUST(ggas_segment_delete(r.p, 0), GGAS_OK);
      MUST(ggas_gpu_segment_create(r.p, 0, bytes, GGAS_GROUP_ALL, timeout), GGAS_OK);
    }
    uint64_t there = 0;
    MUST(ggas_segment_size(r.p, 0, (r.me + 1) % 3, &there), GGAS_OK);
    MUST_HOLD(there == 100'000 * ((r.me + 1) % 3 + 1));
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_F(library_gpu, bytes_go_between_all_memories_of_all_ranks) {
  run(3, [](const rank& r) -> std::string {
    constexpr size_t n = 300'001;
    OPEN(2 * n);
    const uint32_t right = (r.me + 1) % r.size, left = (r.me + r.size - 1) % r.size;
    for (const bool from_gpu : {false, true}) {
      for (const bool to_gpu : {false, true}) {
        fill(r.memory<uint8_t>(1), n, r.me);
        const ggas_part up = part(1, 0, 0, 0, n);  // to the own GPU
        MUST(ggas_queue_write(r.p, &up, r.me, 0, timeout), GGAS_OK);
        const ggas_part p = part(from_gpu ? 0 : 1, 0, to_gpu ? 0 : 1, n, n);
        MUST(ggas_queue_write(r.p, &p, right, 0, timeout), GGAS_OK);
        MUST(r.notify(0, right, 7, 3), GGAS_OK);
        uint32_t found, value;
        MUST(ggas_notification_waitsome(r.p, 0, 7, 1, &found, timeout), GGAS_OK);
        MUST(ggas_notification_reset(r.p, 0, 7, &value), GGAS_OK);
        MUST_HOLD(value == 3);
        if (to_gpu)
          if (const std::string why = fetch(r, 0, n, n); !why.empty()) return why;
        MUST_HOLD(is_filled(r.memory<uint8_t>(1) + (to_gpu ? 0 : n), n, left));
        MUST(r.barrier(), GGAS_OK);
        const ggas_part back = part(1, n, 0, 0, n);  // the first half of the right one's GPU
        MUST(ggas_queue_read(r.p, &back, right, 0, timeout), GGAS_OK);
        MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
        MUST_HOLD(is_filled(r.memory<uint8_t>(1) + n, n, right));
        MUST(r.barrier(), GGAS_OK);
      }
    }
    const ggas_part beyond = part(1, 0, 0, 2 * n - 7, 8);
    MUST(ggas_queue_write(r.p, &beyond, right, 0, timeout), GGAS_ERR_RANGE);
    MUST(r.barrier(), GGAS_OK);  // none has left while others still use its segments
    return "ok";
  });
}

TEST_F(library_gpu, all_ways_of_a_write_bring_the_same_bytes) {
  run(2, [](const rank& r) -> std::string {
    constexpr size_t n = 1 << 20;
    OPEN(2 * n);
    const uint32_t other = 1 - r.me;
    std::mt19937 random(17 + r.me);
    fill(r.memory<uint8_t>(1), n, r.me);
    const ggas_part up = part(1, 0, 0, 0, n);
    MUST(ggas_queue_write(r.p, &up, r.me, 0, timeout), GGAS_OK);
    for (int round = 0; round < 12; ++round) {
      const uint64_t bytes = 1 + random() % n, chunk = 4096u << random() % 6;
      const auto way = static_cast<ggas_gpu_way>(round % 3);
      MUST(ggas_gpu_set_limits(r.p, 200'000, chunk), GGAS_OK);
      const ggas_part p = part(0, 0, 0, n, bytes);
      MUST(ggas_gpu_write(r.p, &p, other, 1, way, timeout), GGAS_OK);
      const uint32_t reported = static_cast<uint32_t>(bytes);
      MUST(ggas_queue_notify(r.p, 0, other, 0, reported, 1, timeout), GGAS_OK);
      uint32_t found, theirs;
      MUST(ggas_notification_waitsome(r.p, 0, 0, 1, &found, timeout), GGAS_OK);
      MUST(ggas_notification_reset(r.p, 0, 0, &theirs), GGAS_OK);
      const ggas_part down = part(1, n, 0, n, theirs);
      MUST(ggas_queue_read(r.p, &down, r.me, 0, timeout), GGAS_OK);
      MUST_HOLD(is_filled(r.memory<uint8_t>(1) + n, theirs, other));
      MUST(r.barrier(), GGAS_OK);
    }
    return "ok";
  });
}

TEST_F(library_gpu, the_tuner_stores_limits_that_can_be_loaded) {
  run(2, [](const rank& r) -> std::string {
    OPEN(1 << 20);
    char path[] = "/tmp/ggas-limits-XXXXXX";
    const int fd = mkstemp(path);
    MUST_HOLD(fd >= 0);
    close(fd);
    MUST(ggas_gpu_tune(r.p, 0, 1 - r.me, path), GGAS_OK);
    uint64_t threshold = 0, chunk = 0, again = 0, chunk_again = 0;
    MUST(ggas_gpu_limits(r.p, &threshold, &chunk), GGAS_OK);
    MUST_HOLD(chunk >= 4096 && threshold >= 4096);
    MUST(ggas_gpu_set_limits(r.p, 1, 4096), GGAS_OK);
    MUST(ggas_gpu_load_limits(r.p, path), GGAS_OK);
    MUST(ggas_gpu_limits(r.p, &again, &chunk_again), GGAS_OK);
    MUST_HOLD(again == threshold && chunk_again == chunk);
    MUST_HOLD(truncate(path, 3) == 0);
    MUST(ggas_gpu_load_limits(r.p, path), GGAS_ERR_ARGUMENT);
    unlink(path);
    MUST(ggas_gpu_load_limits(r.p, path), GGAS_ERR_SYSTEM);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_F(library_gpu, atomics_of_all_ranks_and_threads_count_right) {
  run(3, [](const rank& r) -> std::string {
    OPEN(4096);
    std::atomic<bool> wrong{false};
    const auto count = [&] {
      for (int i = 0; i < 100; ++i)
        if (ggas_segment_fetch_add(r.p, 0, 8, 1, 1, nullptr, timeout) != GGAS_OK) wrong = true;
    };
    std::thread other(count);
    count();
    other.join();
    MUST_HOLD(!wrong);
    MUST(r.barrier(), GGAS_OK);
    uint64_t old = 0;
    MUST(ggas_segment_fetch_add(r.p, 0, 8, 1, 0, &old, timeout), GGAS_OK);
    MUST_HOLD(old == 200u * r.size);
    MUST(r.barrier(), GGAS_OK);
    MUST(ggas_segment_compare_swap(r.p, 0, 16, 0, 0, r.me + 1, &old, timeout), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    uint64_t winner = 0;
    MUST(ggas_segment_fetch_add(r.p, 0, 16, 0, 0, &winner, timeout), GGAS_OK);
    MUST_HOLD(winner >= 1 && winner <= r.size && (old == 0) == (winner == r.me + 1));
    MUST(r.barrier(), GGAS_OK);  // none has left while others still use its segments
    return "ok";
  });
}

TEST_F(library_gpu, messages_and_reductions_take_memory_of_gpus) {
  run(3, [](const rank& r) -> std::string {
    constexpr size_t n = 20'000;
    OPEN(n * sizeof(double) * 2);
    auto* const numbers = r.memory<double>(1);
    for (size_t i = 0; i < n; ++i) numbers[i] = double(i) + r.me;
    const ggas_part up = part(1, 0, 0, 0, n * sizeof(double));
    MUST(ggas_queue_write(r.p, &up, r.me, 0, timeout), GGAS_OK);
    auto* const gpu = r.memory<double>(0);
    MUST(ggas_group_allreduce(r.p, gpu, gpu + n, n, GGAS_ELEMENT_DOUBLE, GGAS_OP_SUM, GGAS_GROUP_ALL, timeout),
         GGAS_OK);
    if (const std::string why = fetch(r, 0, n * sizeof(double), n * sizeof(double)); !why.empty()) return why;
    for (size_t i = 0; i < n; ++i) MUST_HOLD(numbers[i] == 3 * double(i) + 3);
    MUST(ggas_passive_send(r.p, 0, n * sizeof(double), (r.me + 1) % r.size, 800, timeout), GGAS_OK);
    uint32_t from = 9;
    MUST(ggas_passive_receive(r.p, 0, 0, &from, 800, timeout), GGAS_OK);
    if (const std::string why = fetch(r, 0, 0, 800); !why.empty()) return why;
    for (size_t i = 0; i < 100; ++i) MUST_HOLD(numbers[i] == 3 * double(i) + 3);
    return "ok";
  });
}

// A reduction that timed out goes on with what the vector held when it began.
TEST_F(library_gpu, a_reduction_of_gpus_is_resumed) {
  run(2, [](const rank& r) -> std::string {
    OPEN(4096);
    auto* const gpu = r.memory<uint64_t>(0);
    r.memory<uint64_t>(1)[0] = r.me + 1;
    const ggas_part up = part(1, 0, 0, 0, 8);
    MUST(ggas_queue_write(r.p, &up, r.me, 0, timeout), GGAS_OK);
    const auto sum = [&](uint64_t ns) {
      return ggas_group_allreduce(r.p, gpu, gpu, 1, GGAS_ELEMENT_UINT64, GGAS_OP_SUM, GGAS_GROUP_ALL, ns);
    };
    if (r.me == 0) {
      MUST(sum(GGAS_TEST), GGAS_TIMEOUT);
      MUST(r.barrier(), GGAS_ERR_STATE);
      MUST(r.notify(1, 1, 0, 1), GGAS_OK);
    } else {
      uint32_t found;
      MUST(ggas_notification_waitsome(r.p, 1, 0, 1, &found, timeout), GGAS_OK);
    }
    MUST(sum(timeout), GGAS_OK);
    if (const std::string why = fetch(r, 0, 0, 8); !why.empty()) return why;
    MUST_HOLD(r.memory<uint64_t>(1)[0] == 3);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_F(library_gpu, wrong_arguments_are_reported) {
  run(2, [](const rank& r) -> std::string {
    uint64_t word = 0, chunk = 0;
    char byte = 0;
    context c{};
    MUST(ggas_gpu_open(r.p, "../simt", -1, gpu_bytes, timeout), GGAS_ERR_SYSTEM);
    MUST(ggas_gpu_open(r.p, "nosuch", -1, gpu_bytes, timeout), GGAS_ERR_SYSTEM);
    MUST(ggas_gpu_open(r.p, nullptr, -1, gpu_bytes, timeout), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_open(r.p, module_name(), -2, gpu_bytes, timeout), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_open(r.p, module_name(), -1, 4096, timeout), GGAS_ERR_SIZE);
    MUST(ggas_gpu_segment_allocate(r.p, 0, 4096), GGAS_ERR_STATE);
    MUST(ggas_gpu_segment_bind(r.p, 0, &byte, 1), GGAS_ERR_STATE);
    MUST(ggas_gpu_context(r.p, &c, sizeof c), GGAS_ERR_STATE);
    OPEN(4096);
    MUST(ggas_gpu_open(r.p, module_name(), -1, gpu_bytes, timeout), GGAS_ERR_STATE);
    MUST(ggas_gpu_context(r.p, &c, sizeof c - 1), GGAS_ERR_SIZE);
    MUST(ggas_gpu_context(r.p, nullptr, sizeof c), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_segment_allocate(r.p, 256, 4096), GGAS_ERR_SEGMENT);
    MUST(ggas_gpu_segment_allocate(r.p, 0, 4096), GGAS_ERR_STATE);
    MUST(ggas_gpu_segment_allocate(r.p, 3, 0), GGAS_ERR_SIZE);
    MUST(ggas_gpu_segment_allocate(r.p, 3, gpu_bytes), GGAS_ERR_MEMORY);
    MUST(ggas_gpu_segment_bind(r.p, 3, nullptr, 8), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_segment_place(r.p, 1, r.me, &word), GGAS_ERR_SEGMENT);
    MUST(ggas_gpu_segment_place(r.p, 0, 2, &word), GGAS_ERR_RANK);
    MUST(ggas_gpu_segment_slots(r.p, 9, 0, nullptr), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_set_limits(r.p, 0, 4095), GGAS_ERR_SIZE);
    MUST(ggas_gpu_limits(r.p, &word, nullptr), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_limits(r.p, &word, &chunk), GGAS_OK);
    const ggas_part p = part(0, 0, 0, 0, 8), beyond = part(0, 0, 0, 4090, 8);
    MUST(ggas_gpu_write(r.p, &p, 2, 0, GGAS_GPU_DIRECT, timeout), GGAS_ERR_RANK);
    MUST(ggas_gpu_write(r.p, &p, 0, 64, GGAS_GPU_DIRECT, timeout), GGAS_ERR_QUEUE);
    MUST(ggas_gpu_write(r.p, &p, 0, 0, static_cast<ggas_gpu_way>(3), timeout), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_write(r.p, nullptr, 0, 0, GGAS_GPU_DIRECT, timeout), GGAS_ERR_ARGUMENT);
    MUST(ggas_gpu_write(r.p, &beyond, 0, 0, GGAS_GPU_STAGED, timeout), GGAS_ERR_RANGE);
    MUST(ggas_gpu_tune(r.p, 0, 2, nullptr), GGAS_ERR_RANK);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
