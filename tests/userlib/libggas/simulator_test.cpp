// SPDX-License-Identifier: Apache-2.0
// Ranks on simulated nodes that break the rules of their connection to the simulator: it ends theirs, and no other.
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"
#include "userlib/libggas/sim/protocol.hpp"

namespace ggas::library_test {
namespace {

using library::sim::request;
using library::sim::what;

// The socket to the simulator: the one of packets that this process has open.
int link_of_this_process() {
  for (int fd = 3; fd < 256; ++fd) {
    int type = 0;
    socklen_t bytes = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET) return fd;
  }
  return -1;
}

// Rank 1 sends something; its call after that fails, and rank 0 sees it lost and goes on.
void says(const void* data, size_t bytes) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  run(2, [&](const rank& r) -> std::string {
    MUST(r.create(0, 4096), GGAS_OK);
    if (r.me == 1) {
      MUST_HOLD(send(link_of_this_process(), data, bytes, MSG_NOSIGNAL) == ssize_t(bytes));
      uint64_t now = 0;
      MUST(ggas_process_time(r.p, &now), GGAS_ERR_SYSTEM);
      MUST(r.barrier(), GGAS_ERR_SYSTEM);
      return "ok";
    }
    MUST(r.barrier(), GGAS_ERR_PEER);
    std::vector<ggas_state> states(2);
    MUST(ggas_process_states(r.p, states.data(), 2), GGAS_OK);
    MUST_HOLD(states[1] == GGAS_STATE_LOST);
    uint64_t old = 7;
    MUST(ggas_segment_fetch_add(r.p, 0, 0, 0, 1, &old, timeout), GGAS_OK);
    MUST_HOLD(old == 0);
    return "ok";
  });
}

void says(request q) { says(&q, sizeof q); }
request asks(what kind) {
  request q{};
  q.kind = kind;
  return q;
}

TEST(library_simulator, a_message_of_another_size_ends_its_connection) { says("garbage", 7); }
TEST(library_simulator, a_longer_message_ends_its_connection) {
  const std::vector<char> much(20'000, 'x');
  says(much.data(), much.size());
}
TEST(library_simulator, an_unknown_request_ends_its_connection) { says(asks(what(77))); }
TEST(library_simulator, a_store_beside_its_pages_ends_its_connection) {
  request q = asks(what::store);
  q.offset = library::sim::doorbells_at(10);
  q.bytes = 8;
  says(q);
}
TEST(library_simulator, memory_behind_the_end_is_refused) {
  request q = asks(what::pause);
  q.ranges = 1;
  q.watched[0] = {UINT64_MAX - 3, 8};
  says(q);
}
TEST(library_simulator, more_than_fits_is_refused) {
  request q = asks(what::pay);
  q.looks = library::sim::looked_most + 1;
  says(q);
}

TEST(library_simulator, memory_bound_beside_its_own_is_refused) {
  request q = asks(what::bind);
  q.offset = UINT64_MAX - 4095;
  q.bytes = 8192;
  says(q);
}
TEST(library_simulator, memory_bound_within_a_page_is_refused) {
  request q = asks(what::bind);
  q.offset = 4096 * 1000 + 64;
  q.bytes = 8;
  says(q);
}
TEST(library_simulator, what_is_not_bound_cannot_be_unbound) {
  request q = asks(what::unbind);
  q.offset = 4096 * 1000;
  says(q);
}

// Pages of the program's own.
class own_pages {
 public:
  explicit own_pages(int protection) : at_(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~own_pages() { free(); }
  void free() { munmap(at_, bytes); }
  void* at() const { return at_; }
  static constexpr size_t bytes = 3 * 4096;

 private:
  void* at_;
};

TEST(library_simulator, memory_that_nics_may_not_write_is_no_segment) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  run(1, [](const rank& r) -> std::string {
    const own_pages constant(PROT_READ);
    MUST(ggas_segment_bind(r.p, 1, constant.at(), 8), GGAS_ERR_MEMORY);
    MUST_HOLD(std::strstr(ggas_error_text(), "to be read and written") != nullptr);
    own_pages gone(PROT_READ | PROT_WRITE);
    gone.free();
    MUST(ggas_segment_bind(r.p, 1, gone.at(), 8), GGAS_ERR_MEMORY);
    uint64_t word = 0;
    MUST(ggas_segment_bind(r.p, 1, &word, UINT64_MAX / 2), GGAS_ERR_MEMORY);  // more than there is
    return "ok";
  });
}

// Like a NIC that accesses a page that no longer exists: bytes are dropped, and everything continues.
TEST(library_simulator, memory_that_its_user_takes_away_harms_nobody) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  run(2, [](const rank& r) -> std::string {
    own_pages memory(PROT_READ | PROT_WRITE);
    MUST(ggas_segment_use(r.p, 2, memory.at(), own_pages::bytes, GGAS_GROUP_ALL, timeout), GGAS_OK);
    MUST(r.create(0, own_pages::bytes), GGAS_OK);
    if (r.me == 1) memory.free();
    MUST(r.barrier(), GGAS_OK);
    if (r.me == 0) {
      const ggas_part to = {0, 2, 0, 8, 8000}, from = {0, 2, 0, 8, 8000};
      MUST(ggas_queue_write(r.p, &to, 1, 0, timeout), GGAS_OK);
      MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
      r.memory<uint64_t>(0)[0] = 7;
      MUST(ggas_queue_read(r.p, &from, 1, 0, timeout), GGAS_OK);
      MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
      MUST_HOLD(r.memory<uint64_t>(0)[0] == 0);
    }
    MUST(r.barrier(), GGAS_OK);
    MUST(ggas_segment_delete(r.p, 2), GGAS_OK);
    return "ok";
  });
}

// The bytes next to a segment that ends within a page are not its.
TEST(library_simulator, memory_beside_that_of_the_user_stays_as_it_is) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  run(2, [](const rank& r) -> std::string {
    std::vector<unsigned char> memory(5000, 9);
    MUST(ggas_segment_use(r.p, 1, memory.data() + 100, 4700, GGAS_GROUP_ALL, timeout), GGAS_OK);
    MUST(r.create(0, 8192), GGAS_OK);
    std::memset(r.memory(0), 3, 8192);
    const ggas_part all = {0, 1, 0, 0, 4700}, more = {0, 1, 0, 0, 4701};
    MUST(ggas_queue_write(r.p, &all, 1 - r.me, 0, timeout), GGAS_OK);
    MUST(ggas_queue_write(r.p, &more, 1 - r.me, 0, timeout), GGAS_ERR_RANGE);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    for (size_t i = 0; i < memory.size(); ++i) MUST_HOLD(memory[i] == (i < 100 || i >= 4800 ? 9 : 3));
    return "ok";
  });
}

// Seconds without a sign of life of the simulator, for ranks that start from now on.
class silence {
 public:
  explicit silence(const char* s) { setenv("GGAS_SIMULATOR_SILENCE", s, 1); }
  ~silence() { unsetenv("GGAS_SIMULATOR_SILENCE"); }
};

TEST(library_simulator, one_that_stands_still_is_an_error) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  const silence at_most("4");
  run(2, [](const rank& r) -> std::string {
    MUST(r.barrier(), GGAS_OK);
    if (r.me == 0) ::kill(simulator::last, SIGSTOP);
    ggas_rc rc = GGAS_OK;
    while (rc == GGAS_OK) rc = r.barrier();
    MUST_HOLD(rc == GGAS_ERR_SYSTEM && std::strstr(ggas_error_text(), "has done nothing for 4 s") != nullptr);
    uint64_t now = 0;
    MUST(ggas_process_time(r.p, &now), GGAS_ERR_SYSTEM);  // an answer that comes later is none to this
    return "ok";
  });
}

TEST(library_simulator, one_that_waits_for_a_busy_rank_lives) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  const silence at_most("4");
  run(2, [](const rank& r) -> std::string {
    MUST(r.barrier(), GGAS_OK);
    if (r.me == 0) std::this_thread::sleep_for(milliseconds(7000));
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST(library_simulator, a_silence_that_is_none_is_reported) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  for (const char* wrong : {"", "0", "-1", "5s", "1000001"}) {
    const silence at_most(wrong);
    setenv("GGAS_RANK", "0", 1), setenv("GGAS_SIZE", "1", 1), setenv("GGAS_JOB", "none", 1);
    ggas_process* p = nullptr;
    EXPECT_EQ(ggas_process_start(&p, ms), GGAS_ERR_ARGUMENT) << wrong;
    EXPECT_NE(std::strstr(ggas_error_text(), "GGAS_SIMULATOR_SILENCE"), nullptr);
    for (const char* name : {"GGAS_RANK", "GGAS_SIZE", "GGAS_JOB"}) unsetenv(name);
  }
}

// Time is simulated: a wait of 5 s takes them, and no longer on any clock.
TEST(library_simulator, time_outs_are_in_simulated_time) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  run(2, [](const rank& r) -> std::string {
    MUST(r.create(0, 4096), GGAS_OK);
    uint64_t begin = 0, end = 0;
    uint32_t found = 0;
    MUST(ggas_process_time(r.p, &begin), GGAS_OK);
    MUST(ggas_notification_waitsome(r.p, 0, 0, 1, &found, 5 * second), GGAS_TIMEOUT);
    MUST(ggas_process_time(r.p, &end), GGAS_OK);
    MUST_HOLD(end - begin >= 5 * second && end - begin < 5 * second + ms);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
