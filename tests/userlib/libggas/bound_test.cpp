// SPDX-License-Identifier: Apache-2.0
// Segments of the user's own memory: reached by system calls, or by the owner's helper where those are forbidden.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

// From now on this process may not copy to and from others, as in many containers.
bool forbid_copies_between_processes() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog all{sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}

class library_bound : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, library_bound, testing::Values(false, true),
                         [](const auto& i) -> std::string { return i.param ? "by_the_helper" : "by_system_calls"; });

TEST_P(library_bound, memory_of_the_user_is_written_read_and_notified) {
  run(3, [helper = GetParam()](const rank& r) -> std::string {
    MUST_HOLD(!helper || forbid_copies_between_processes());
    constexpr size_t n = 200'003;  // several pieces of a request
    std::vector<unsigned char> mine(2 * n + 1);
    unsigned char* const memory = mine.data() + 1;  // any address
    for (size_t i = 0; i < n; ++i) memory[i] = static_cast<unsigned char>(i * 3 + r.me);
    MUST(ggas_segment_use(r.p, 4, memory, 2 * n, GGAS_GROUP_ALL, timeout), GGAS_OK);
    const uint32_t right = (r.me + 1) % r.size, left = (r.me + r.size - 1) % r.size;
    uint64_t bytes = 0;
    MUST(ggas_segment_size(r.p, 4, right, &bytes), GGAS_OK);
    MUST_HOLD(bytes == 2 * n);
    for (uint32_t round = 1; round <= 20; ++round) {
      memory[0] = static_cast<unsigned char>(round);
      MUST(r.put(4, 0, right, n, n), GGAS_OK);
      MUST(r.notify(4, right, 1, round), GGAS_OK);
      uint32_t found, value;
      MUST(ggas_notification_waitsome(r.p, 4, 1, 1, &found, timeout), GGAS_OK);
      MUST(ggas_notification_reset(r.p, 4, 1, &value), GGAS_OK);
      MUST_HOLD(memory[n] == round && value == round);
      for (size_t i = 1; i < n; ++i) MUST_HOLD(memory[n + i] == static_cast<unsigned char>(i * 3 + left));
      MUST(r.barrier(), GGAS_OK);
    }
    MUST(r.get(4, n, right, 0, n), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    for (size_t i = 1; i < n; ++i) MUST_HOLD(memory[n + i] == static_cast<unsigned char>(i * 3 + right));
    MUST(r.put(4, 0, right, 2 * n - 7, 8), GGAS_ERR_RANGE);
    MUST(r.barrier(), GGAS_OK);
    MUST(ggas_segment_delete(r.p, 4), GGAS_OK);
    return "ok";
  });
}

// Atomics of all ranks and their threads, including the owner.
TEST_P(library_bound, atomics_work_on_it) {
  run(4, [helper = GetParam()](const rank& r) -> std::string {
    MUST_HOLD(!helper || forbid_copies_between_processes());
    alignas(8) uint64_t words[2] = {5, 0};
    MUST(ggas_segment_use(r.p, 0, words, sizeof words, GGAS_GROUP_ALL, timeout), GGAS_OK);
    std::atomic<bool> wrong{false};
    const auto count = [&] {
      for (int i = 0; i < 200; ++i) {
        if (ggas_segment_fetch_add(r.p, 0, 0, 0, 1, nullptr, timeout) != GGAS_OK) wrong = true;
      }
    };
    std::thread other(count);
    count();
    other.join();
    MUST_HOLD(!wrong);
    MUST(r.barrier(), GGAS_OK);
    MUST_HOLD(r.me || words[0] == 5 + 400u * r.size);
    uint64_t old = 9;
    MUST(ggas_segment_compare_swap(r.p, 0, 8, (r.me + 1) % r.size, 0, 7, &old, timeout), GGAS_OK);
    MUST_HOLD(old == 0);
    MUST(ggas_segment_compare_swap(r.p, 0, 8, (r.me + 1) % r.size, 0, 8, &old, timeout), GGAS_OK);
    MUST_HOLD(old == 7);
    MUST(r.barrier(), GGAS_OK);
    MUST_HOLD(words[1] == 7);
    MUST(ggas_segment_delete(r.p, 0), GGAS_OK);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
