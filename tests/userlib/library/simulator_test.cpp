// SPDX-License-Identifier: Apache-2.0
// Ranks on simulated nodes that break the rules of their connection to the simulator: it ends theirs, and no other.
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "tests/userlib/library/rig.hpp"
#include "userlib/library/sim/protocol.hpp"

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
    MUST(ggas_segment_fetch_add(r.p, 0, 0, 0, 1, &old, patience), GGAS_OK);
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

TEST(library_simulator, memory_of_the_user_is_refused) {
  if (!simulated()) GTEST_SKIP() << "needs ranks on simulated nodes (GGAS_TRANSPORT=sim)";
  run(1, [](const rank& r) -> std::string {
    uint64_t word = 0;
    MUST(ggas_segment_bind(r.p, 1, &word, 8), GGAS_ERR_MEMORY);
    MUST_HOLD(std::strstr(ggas_error_text(), "simulated") != nullptr);
    return "ok";
  });
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
