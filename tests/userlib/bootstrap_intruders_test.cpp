// SPDX-License-Identifier: Apache-2.0
// Who is not of the job, or says what no member would: noise, other users, mangled messages, no room for them.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <thread>

#include "tests/userlib/bootstrap_rig.hpp"

namespace ggas::userlib {
namespace {

using namespace test_rig;

struct address {
  explicit address(const job& j) {
    const std::string name = "ggas." + std::to_string(getuid()) + "." + j.name;
    at.sun_family = AF_UNIX;
    name.copy(at.sun_path + 1, sizeof at.sun_path - 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }
  sockaddr_un at{};
  socklen_t length;
};

file new_socket() { return file(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

file connect_to(const address& a) {
  for (int i = 0; i < 1000; ++i) {
    file s = new_socket();
    if (connect(s.fd(), a.get(), a.length) == 0) return s;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return {};
}

// In the place of rank 0.
file listen_at(const address& a) {
  file s = new_socket();
  return bind(s.fd(), a.get(), a.length) == 0 && ::listen(s.fd(), 8) == 0 ? std::move(s) : file();
}

deadline in_time() { return std::chrono::steady_clock::now() + soon; }

processes::body who_meets(int size, uint64_t timeout_ns = 8000 * ms) {
  return member(size, timeout_ns, [](bootstrap& b) { return reported(b.meet("here")); });
}

// Unauthenticated peers send nothing, noise of any length, noise after the right first letters, or leave; the job still
// starts.
TEST(bootstrap_intruders, noise_at_the_door_harms_nobody) {
  processes all;
  all.start(0, who_meets(2));
  std::mt19937 random(11);
  std::vector<file> intruders;
  for (int i = 0; i < 200; ++i) {
    file s = connect_to(address(job_of(1, 2)));
    ASSERT_TRUE(s) << "rank 0 is not there any more";
    std::string noise(random() % 300, 0);
    for (char& c : noise) c = static_cast<char>(random());
    if (i % 3 == 0 && noise.size() > 6) std::memcpy(noise.data(), "GGAS\1\0", 6);
    if (i % 7) ::send(s.fd(), noise.data(), noise.size(), MSG_NOSIGNAL);
    if (i % 2) intruders.push_back(std::move(s));
  }
  all.start(1, who_meets(2));
  expect_each(all, 2);
}

// Someone who has said hello properly, and then noise: that breaks the job, with a text.
TEST(bootstrap_intruders, noise_of_a_member_is_reported) {
  processes all;
  all.start(0, who_meets(2));
  const file s = connect_to(address(job_of(1, 2)));
  ASSERT_TRUE(s);
  ASSERT_EQ(send(s, {.type = message::kind::hello, .rank = 1, .size = 2}, -1, in_time()), io::ok);
  EXPECT_EQ(all.next(0, soon), "joined");
  ::send(s.fd(), "noise", 5, MSG_NOSIGNAL);
  EXPECT_TRUE(has(all.next(0, soon), "sent an invalid message"));
}

// ---------------------------------------------------------------------------------------------- other users

constexpr uid_t nobody = 65534;

// Does something as another user and says "done".
processes::body as_nobody(std::function<file(const address&)> then) {
  const address a(job_of(0, 2));
  return [=](int, const voice& parent) {
    if (setuid(nobody) != 0) return parent.say("cannot become another user");
    const file s = then(a);
    parent.say(s ? "done" : "failed");
    std::this_thread::sleep_for(soon);
  };
}

TEST(bootstrap_intruders, other_users_are_turned_away) {
  if (getuid() != 0) GTEST_SKIP() << "only root becomes another user";
  processes all, other;
  all.start(0, who_meets(2));
  other.start(0, as_nobody([](const address& a) {
                file s = connect_to(a);
                send(s, {.type = message::kind::hello, .rank = 1, .size = 2}, -1, in_time());
                return s;
              }));
  EXPECT_EQ(other.next(0, soon), "done");
  all.start(1, who_meets(2));
  expect_each(all, 2);
}

TEST(bootstrap_intruders, a_name_that_another_user_has_is_reported_to_all) {
  if (getuid() != 0) GTEST_SKIP() << "only root becomes another user";
  processes all, other;
  other.start(0, as_nobody(listen_at));
  ASSERT_EQ(other.next(0, soon), "done");
  all.start_all(2, who_meets(2));
  const std::string who = "process " + std::to_string(other.pid(0)) + " of user 65534";
  EXPECT_TRUE(has(all.next(0, soon), "has a rank 0 already: " + who));
  EXPECT_TRUE(has(all.next(1, soon), who + " listens there"));
}

// ---------------------------------------------------------------------------------------------- no room

// File descriptors that this process may still open.
void leave_room_for(int descriptors) {
  const file next = file::copy_of(0);
  const auto most = static_cast<rlim_t>(next.fd() + descriptors);
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) std::abort();
}

TEST(bootstrap_intruders, rank_0_without_room_for_sockets_says_so) {
  processes all;
  const auto meet = who_meets(3, 1000 * ms);
  all.start(0, [=](int rank, const voice& parent) {
    leave_room_for(2);  // to listen, and one other
    meet(rank, parent);
  });
  for (int r : {1, 2}) all.start(r, meet);
  EXPECT_EQ(all.next(0, soon), "socket of the job: Too many open files");
  for (int r : {1, 2}) EXPECT_TRUE(has(all.next(r, soon), "rank 0"));
}

TEST(bootstrap_intruders, a_member_without_room_for_what_is_passed_on_says_so) {
  for (const int victim : {0, 1}) {
    processes all;
    const auto pass_on = member(2, 8000 * ms, [=](bootstrap& b) {
      if (b.rank() == victim) leave_room_for(0);
      return reported(b.gather("handles", "", 0));
    });
    all.start_all(2, pass_on);
    for (int r : {0, 1}) EXPECT_EQ(all.next(r, soon), "joined");
    const std::string text = all.next(victim, soon);
    EXPECT_TRUE(has(text, "rank " + std::to_string(victim) + " has no room for another file descriptor")) << text;
    EXPECT_EQ(all.ending(1 - victim, soon), "0");  // its gather may have been over before
  }
}

// The kernel lets no more descriptors of a user be under way than one process may open: the others wait at the door.
TEST(bootstrap_intruders, more_handles_than_may_be_under_way) {
  if (getuid() != 0) GTEST_SKIP() << "only root becomes another user";
  constexpr int rooms = 4, each = 8;  // messages that wait in a socket: less than the kernel holds
  std::vector<std::pair<file, file>> all(rooms);
  for (auto& [in, out] : all) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    in = file(ends[0]), out = file(ends[1]);
  }
  processes both;
  both.start(0, [&](int, const voice& parent) {
    if (setuid(nobody) != 0) return parent.say("cannot become another user");
    leave_room_for(0);
    const auto hand_over = [&](deadline until) {
      for (const auto& [in, out] : all)
        for (int i = 0; i < each; ++i)
          if (const io sent = send(out, {}, out.fd(), until); sent != io::ok) return sent;
      return io::ok;
    };
    const io at_once = hand_over(std::chrono::steady_clock::now());
    parent.say(at_once == io::timed_out ? "no room" : "sent at once");
    parent.say(hand_over(in_time()) == io::ok ? "ok" : "not sent");
  });
  EXPECT_EQ(both.next(0, soon), "no room");
  both.start(1, [&](int, const voice&) {
    for (message m;; std::this_thread::sleep_for(milliseconds(1)))
      for (const auto& [in, out] : all) receive(in, m, std::chrono::steady_clock::now());
  });
  EXPECT_EQ(both.next(0, soon), "ok");
}

TEST(bootstrap_intruders, a_wait_for_ever_is_one) {
  processes all;
  all.start(1, who_meets(2, ~uint64_t{0}));
  std::this_thread::sleep_for(milliseconds(100));
  all.start(0, who_meets(2, ~uint64_t{0}));
  expect_each(all, 2);
}

// ---------------------------------------------------------------------------------------------- mangled messages

std::string bytes_of(const message& m) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) std::abort();
  const file from(ends[0]), to(ends[1]);
  EXPECT_EQ(send(from, m, -1, in_time()), io::ok);
  std::string bytes(2 * message::most_bytes, 0);
  bytes.resize(static_cast<size_t>(recv(to.fd(), bytes.data(), bytes.size(), 0)));
  return bytes;
}

// Sends bytes as they are, with copies of the socket itself as descriptors.
void send_raw(const file& to, std::string text, unsigned handles) {
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  iovec part{text.data(), text.size()};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  if (handles) {
    m.msg_control = control;
    m.msg_controllen = CMSG_SPACE(handles * sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(handles * sizeof(int));
    const std::vector<int> all(handles, to.fd());
    std::memcpy(CMSG_DATA(head), all.data(), handles * sizeof(int));
  }
  sendmsg(to.fd(), &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// An empty message ends nothing that it brought along: its descriptors are closed.
TEST(bootstrap_intruders, descriptors_of_an_empty_message_are_closed) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const file from(ends[0]), to(ends[1]);
  const size_t before = open_files();
  send_raw(from, "", 2);
  message m;
  EXPECT_EQ(receive(to, m, in_time()), io::garbage);
  EXPECT_EQ(open_files(), before);
}

// What a member might say next, whole or mangled, with up to 6 file descriptors.
class mangler {
 public:
  explicit mangler(unsigned seed) : random_(seed) {}
  unsigned next(unsigned n) { return static_cast<unsigned>(random_() % n); }

  void say_something(const file& to) {
    std::string text = bytes_of({.type = static_cast<message::kind>(next(4)),
                                 .rank = static_cast<int>(next(3)),
                                 .size = 2 + static_cast<int>(next(8) == 0),
                                 .round = next(3),
                                 .what = next(4) ? "here" : "elsewhere",
                                 .bytes = std::string(next(6) ? 0 : next(message::most_bytes + 1), 'x')});
    for (unsigned k = next(3); k-- && !text.empty();) {
      if (next(3) == 0)
        text.resize(next(static_cast<unsigned>(text.size()) + 20));
      else
        text[next(static_cast<unsigned>(text.size()))] = static_cast<char>(random_());
    }
    send_raw(to, text, next(4) ? 0 : next(7));
  }

 private:
  std::mt19937 random_;
};

// A member joins and meets while `other` plays the other rank. It ends, well or with a text, and keeps nothing open.
template <class Other>
void mangled(int rank, Other other) {
  const size_t before = open_files();
  unsigned good = 0, bad = 0;
  std::string last;  // text of a failure
  for (unsigned seed = 0; seed < 300; ++seed) {
    const job j{rank, 2, job_of(0, 2).name + "." + std::to_string(seed), 5000 * ms};
    mangler m(seed);
    const address a(j);
    file door = rank == 0 ? file() : listen_at(a);
    std::thread intruder([&] { other(m, a, door); });
    std::string wrong;
    if (const auto b = bootstrap::join(j); !b)
      wrong = b.error();
    else if (const auto met = (*b)->meet("here"); !met)
      wrong = met.error();
    intruder.join();
    EXPECT_FALSE(has(wrong, "within")) << "seed " << seed << ": " << wrong;
    ++(wrong.empty() ? good : bad);
    if (!wrong.empty()) last = wrong;
  }
  EXPECT_EQ(open_files(), before);
  EXPECT_GT(good, 0u) << last;
  EXPECT_GT(bad, 50u) << last;
}

TEST(bootstrap_intruders, mangled_messages_of_a_member_end_in_a_text) {
  mangled(0, [](mangler& m, const address& a, const file&) {
    const file s = connect_to(a);
    send(s, {.type = message::kind::hello, .rank = 1, .size = 2}, -1, in_time());
    message answer;
    receive(s, answer, in_time());
    if (m.next(4) == 0) {  // a proper member stays until it has the parts of both
      send(s, {.type = message::kind::part, .rank = 1, .size = 2, .round = 1, .what = "here"}, -1, in_time());
      for (int r = 0; r < 2; ++r) receive(s, answer, in_time());
      return;
    }
    m.say_something(s);
    if (m.next(2)) receive(s, answer, in_time());
  });
}

TEST(bootstrap_intruders, mangled_messages_of_rank_0_end_in_a_text) {
  mangled(1, [](mangler& m, const address&, const file& door) {
    const file s(accept(door.fd(), nullptr, nullptr));
    message hello;
    receive(s, hello, in_time());
    if (m.next(3)) send(s, {.type = message::kind::welcome, .size = 2}, -1, in_time());
    const bool proper = m.next(4) == 0;
    for (int r = 0; r < 2; ++r) {
      if (proper || m.next(2))
        send(s, {.type = message::kind::part, .rank = r, .size = 2, .round = 1, .what = "here"}, -1, in_time());
      else
        m.say_something(s);
    }
  });
}

}  // namespace
}  // namespace ggas::userlib
