// SPDX-License-Identifier: Apache-2.0
// Jobs with a secret: who does not know it neither joins nor takes the place of rank 0, even where it knows the name.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <thread>

#include "tests/userlib/bootstrap_rig.hpp"

namespace ggas::userlib {
namespace {

using namespace test_rig;

const std::string known = "000102030405060708090a0b0c0d0e0f", other = "f00102030405060708090a0b0c0d0e0f";

processes::body with(const std::string& secret, int size, uint64_t timeout_ns = 8000 * ms) {
  job_of(0, size);  // the name is of the parent
  return [=](int rank, const voice& parent) {
    job j = job_of(rank, size, timeout_ns);
    j.secret = secret;
    auto b = bootstrap::join(j);
    parent.say(b ? "joined" : b.error());
    if (b) parent.say(reported((*b)->meet("here")));
  };
}

// The name of a job whose secret an unauthenticated peer does not know, as the system shows it to every member.
std::string name_of(const job& j) {
  std::string name = "ggas." + std::to_string(getuid()) + "." + j.name;
  for (const unsigned char c : secret::read(known)->proof("name " + j.name)) name += "0123456789abcdef"[c / 16];
  return name;
}

struct door {
  explicit door(const job& j) : socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    const std::string name = name_of(j);
    at.sun_family = AF_UNIX;
    name.copy(at.sun_path + 1, sizeof at.sun_path - 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }
  bool knock() {
    for (int i = 0; i < 2000; ++i) {
      if (connect(socket.fd(), get(), length) == 0) return true;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return false;
  }
  sockaddr_un at{};
  socklen_t length = 0;
  file socket;
};

deadline in_time() { return std::chrono::steady_clock::now() + soon; }

TEST(bootstrap_secret, the_proof_is_siphash) {
  std::string words;
  for (char c = 0; c < 15; ++c) words += c;
  const auto s = secret::read("07060504030201000f0e0d0c0b0a0908");  // the two words of the key of the paper
  ASSERT_TRUE(s);
  EXPECT_EQ(s->proof(words), std::string("\xe5\x45\xbe\x49\x61\xca\x29\xa1", 8));
}

TEST(bootstrap_secret, is_32_hexadecimal_digits) {
  EXPECT_FALSE(secret::read("12"));
  EXPECT_FALSE(secret::read("x00102030405060708090a0b0c0d0e0f"));
  EXPECT_FALSE(*secret::read(""));
  job j{.rank = 0, .size = 1, .name = "j", .secret = "12"};
  EXPECT_EQ(bootstrap::join(j).error(), "secret of the job: must have 32 hexadecimal digits");
}

TEST(bootstrap_secret, who_knows_it_joins) {
  for (const int size : {1, 2, 8}) {
    processes all;
    all.start_all(size, with(known, size));
    expect_each(all, size);
  }
}

TEST(bootstrap_secret, who_has_another_or_none_does_not_find_the_job) {
  processes all;
  all.start(0, with(known, 2));
  all.start(2, with(other, 3, 300 * ms));
  all.start(3, with("", 4, 300 * ms));
  EXPECT_TRUE(has(all.next(2, soon), "was not there"));
  EXPECT_TRUE(has(all.next(3, soon), "was not there"));
  all.start(1, with(known, 2));
  expect_each(all, 2);
}

// An unauthenticated peer that has read the name: its hello is answered by a challenge, and a wrong proof closes the
// connection.
TEST(bootstrap_secret, the_name_alone_does_not_open_the_door) {
  processes all;
  all.start(0, with(known, 2));
  for (int i = 0; i < 20; ++i) {
    door d(job_of(1, 2));
    ASSERT_TRUE(d.knock());
    message m{.type = message::kind::hello, .rank = 1, .size = 2, .bytes = nonce()};
    ASSERT_EQ(send(d.socket, m, -1, in_time()), io::ok);
    ASSERT_EQ(receive(d.socket, m, in_time()), io::ok);
    ASSERT_EQ(m.type, message::kind::challenge);
    const std::string asked = m.bytes.substr(0, 16) + "1 2";
    const std::string guess = i % 2 ? secret::read(other)->proof("newcomer " + asked) : m.bytes.substr(16);
    m = {.type = message::kind::proof, .size = 2, .bytes = guess};
    ASSERT_EQ(send(d.socket, m, -1, in_time()), io::ok);
    EXPECT_EQ(receive(d.socket, m, in_time()), io::ended);
  }
  all.start(1, with(known, 2));
  expect_each(all, 2);
}

// An unauthenticated peer in the place of rank 0 is found out, whatever it says.
TEST(bootstrap_secret, a_squatter_is_found_out) {
  for (const auto kind : {message::kind::welcome, message::kind::challenge, message::kind::part}) {
    door d(job_of(0, 2));
    ASSERT_EQ(bind(d.socket.fd(), d.get(), d.length), 0);
    ASSERT_EQ(listen(d.socket.fd(), 8), 0);
    processes all;
    all.start(1, with(known, 2));
    const file guest(accept4(d.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    message m;
    ASSERT_EQ(receive(guest, m, in_time()), io::ok);
    EXPECT_FALSE(has(m.bytes, known));
    const std::string mine = nonce();
    const message lie{.type = kind, .size = 2, .bytes = mine + secret::read(other)->proof("rank 0 " + m.bytes + mine)};
    ASSERT_EQ(send(guest, lie, -1, in_time()), io::ok);
    EXPECT_TRUE(has(all.next(1, soon), "does not know the secret of the job"));
  }
}

}  // namespace
}  // namespace ggas::userlib
