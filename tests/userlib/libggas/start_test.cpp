// SPDX-License-Identifier: Apache-2.0
// Start-up over TCP: ranks meet, whichever other peer connects.
#include <poll.h>

#include <random>

#include "tests/userlib/libggas/start_rig.hpp"

namespace ggas::library_test {
namespace {

TEST(library_start, ranks_meet_over_tcp) {
  for (const int size : {1, 2, 9}) {
    const std::string port = free_port();
    crew all{size_t(size)};
    for (int r = size; r-- > 0;) all.start(job_of(r, size, port));  // rank 0 comes last
    all.end();
    for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
  }
}

TEST(library_start, a_missing_rank_is_reported_to_all) {
  const std::string port = free_port();
  crew all(3);
  const auto began = clock::now();
  for (const int r : {0, 1}) all.start(job_of(r, 3, port), 300 * ms);
  all.end();
  for (const int r : {0, 1}) EXPECT_TRUE(has(all.said[size_t(r)], "of 3 ranks rank 2 did not arrive in time"));
  EXPECT_LT(clock::now() - began, milliseconds(10'000));
}

TEST(library_start, a_missing_rank_0_is_reported) {
  EXPECT_TRUE(has(meet(job_of(1, 2, free_port()), 100 * ms), "Connection refused"));
}

TEST(library_start, who_counts_other_ranks_breaks_the_start_with_a_text) {
  const std::string port = free_port();
  crew all(3);
  all.start(job_of(0, 3, port));
  all.start(job_of(1, 4, port));
  all.end();
  for (const int r : {0, 1})
    EXPECT_TRUE(has(all.said[size_t(r)], "rank 1 says that the job has 4 ranks, rank 0 says 3"));
}

TEST(library_start, a_rank_that_is_there_twice_is_reported) {
  const std::string port = free_port();
  crew all(3);
  all.start(job_of(0, 3, port));
  all.start(job_of(1, 3, port));
  std::string again;
  // Either of the two with the number 1 may be the first.
  std::thread second([&] { again = meet(job_of(1, 3, port), timeout); });
  std::this_thread::sleep_for(milliseconds(100));
  all.start(job_of(2, 3, port));
  second.join();
  all.end();
  const bool first = all.said[1] == "ok";
  EXPECT_TRUE(has(first ? again : all.said[1], "rank 1 is in the job already"));
  for (const std::string& s : {all.said[0], all.said[2], first ? all.said[1] : again}) EXPECT_EQ(s, "ok");
}

TEST(library_start, another_secret_leads_nowhere) {
  const std::string port = free_port();
  crew all(2);
  all.start(job_of(0, 2, port));
  EXPECT_TRUE(has(meet(job_of(1, 2, port, other), timeout), "does not know the secret of the job"));
  all.start(job_of(1, 2, port));
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// A process that listens in place of rank 0, and sends the words of a rank 0 or anything else.
TEST(library_start, a_squatter_is_found_out) {
  for (const auto kind : {frame::kind::challenge, frame::kind::welcome, frame::kind::parts, frame::kind::stop}) {
    const std::string port = free_port();
    const auto doors = listen_at("127.0.0.1", port);
    ASSERT_TRUE(doors) << doors.error();
    crew all(2);
    all.start(job_of(1, 2, port));
    file s;
    for (int i = 0; !s && i < 5000; ++i, std::this_thread::sleep_for(milliseconds(1)))
      s = file(accept4((*doors)[0].fd(), nullptr, nullptr, SOCK_CLOEXEC));
    line guest(std::move(s));
    frame hello;
    ASSERT_EQ(guest.receive(hello, within(timeout)), io::ok);
    const handshake both{hello.bytes, userlib::nonce(), 1, 2};
    guest.send({kind, 0, 2, both.rank_0s + both.proof(*userlib::secret::read(other), true)}, within(timeout));
    all.end();
    EXPECT_TRUE(has(all.said[1], "does not know the secret of the job"));
  }
}

// Silent, half a head, noise, a proof that was received elsewhere; more of them than rank 0 listens to.
TEST(library_start, unauthenticated_peers_do_no_harm) {
  const std::string port = free_port();
  crew all(2);
  all.start(job_of(0, 2, port));
  std::mt19937 random(7);
  std::vector<line> peers;
  for (size_t i = 0; i < 2 * tcp_blobs::most_newcomers; ++i) {
    line l = knock(port);
    ASSERT_TRUE(l);
    std::string noise(random() % 300, 0);
    for (char& c : noise) c = static_cast<char>(random());
    if (i % 4 == 1) send_raw(l, noise);
    if (i % 4 == 2) send_raw(l, std::string("GGGT\0\0\1\0", 8));
    if (i % 4 == 3) {
      l.send({frame::kind::hello, 1, 2, userlib::nonce()}, within(timeout));
      frame question;
      if (l.receive(question, within(timeout)) == io::ok)
        l.send({frame::kind::proof, 1, 2, question.bytes.substr(nonce_bytes)}, within(timeout));
    }
    peers.push_back(std::move(l));
  }
  all.start(job_of(1, 2, port));
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// It is dropped within the time for a handshake, while the job still waits.
TEST(library_start, a_silent_peer_is_dropped) {
  const std::string port = free_port();
  crew all(2);
  all.start(job_of(0, 2, port), 8000 * ms);
  line l = knock(port);
  ASSERT_TRUE(l);
  send_raw(l, "GG");
  frame none;
  const auto began = clock::now();
  EXPECT_EQ(l.receive(none, within(timeout)), io::ended);
  EXPECT_LT(clock::now() - began, milliseconds(7000));
  all.start(job_of(1, 2, port), 8000 * ms);
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// The next connection that comes to the door.
file next_at(const file& door) {
  pollfd one{door.fd(), POLLIN, 0};
  poll(&one, 1, 20'000);
  return file(accept4(door.fd(), nullptr, nullptr, SOCK_CLOEXEC));
}

// In place of rank 0: drops rank 1 after its proof, as if it had come too late.
void drop_after_the_proof(const file& door) {
  line guest(next_at(door));
  frame hello, proof;
  ASSERT_EQ(guest.receive(hello, within(timeout)), io::ok);
  const handshake both{hello.bytes, userlib::nonce(), 1, 2};
  guest.send({frame::kind::challenge, 0, 2, both.rank_0s + both.proof(*userlib::secret::read(known), true)},
             within(timeout));
  ASSERT_EQ(guest.receive(proof, within(timeout)), io::ok);
  ASSERT_EQ(proof.type, frame::kind::proof);
}

// Bytes from each to the other until one has ended.
void pass_on(const file& a, const file& b) {
  const file* const ends[] = {&a, &b};
  pollfd both[] = {{a.fd(), POLLIN, 0}, {b.fd(), POLLIN, 0}};
  char bytes[4096];
  while (poll(both, 2, 20'000) > 0)
    for (size_t i : {0, 1}) {
      if (!both[i].revents) continue;
      const ssize_t n = recv(both[i].fd, bytes, sizeof bytes, 0);
      if (n <= 0 || send(ends[1 - i]->fd(), bytes, size_t(n), MSG_NOSIGNAL) != n) return;
    }
}

TEST(library_start, who_was_dropped_after_the_proof_comes_again) {
  const std::string outside = free_port(), inside = free_port();
  const auto doors = listen_at("127.0.0.1", outside);
  ASSERT_TRUE(doors) << doors.error();
  crew all(2);
  all.start(job_of(0, 2, inside));
  all.start(job_of(1, 2, outside));
  drop_after_the_proof((*doors)[0]);
  const file again = next_at((*doors)[0]);
  ASSERT_TRUE(again);
  pass_on(again, knock(inside).socket());
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

TEST(library_start, who_was_dropped_and_is_refused_says_that_rank_0_ended) {
  const std::string port = free_port();
  auto doors = listen_at("127.0.0.1", port);
  ASSERT_TRUE(doors) << doors.error();
  crew all(2);
  const auto began = clock::now();
  all.start(job_of(1, 2, port), 60'000 * ms);
  drop_after_the_proof((*doors)[0]);
  doors->clear();
  all.end();
  EXPECT_TRUE(has(all.said[1], "rank 0 ended while the job began"));
  EXPECT_LT(clock::now() - began, milliseconds(30'000));
}

}  // namespace
}  // namespace ggas::library_test
