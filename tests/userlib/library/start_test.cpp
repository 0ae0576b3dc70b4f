// SPDX-License-Identifier: Apache-2.0
// Start-up by modules: ranks meet over TCP, whoever else is at the door; what cannot work is told, and never hangs.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <random>
#include <thread>

#include "tests/userlib/library/rig.hpp"
#include "userlib/library/start/tcp.hpp"

namespace ggas::library_test {
namespace {

using namespace ggas::library::start;
using userlib::file;
using userlib::io;
using clock = std::chrono::steady_clock;

const std::string known = "000102030405060708090a0b0c0d0e0f", other = "f00102030405060708090a0b0c0d0e0f";

sockaddr_in loopback(unsigned port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(uint16_t(port));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

std::string free_port() {
  const file s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in a = loopback(0);
  socklen_t n = sizeof a;
  if (bind(s.fd(), reinterpret_cast<sockaddr*>(&a), n) != 0 ||
      getsockname(s.fd(), reinterpret_cast<sockaddr*>(&a), &n) != 0)
    std::abort();
  return std::to_string(ntohs(a.sin_port));
}

tcp_job job_of(int rank, int size, const std::string& port, const std::string& secret = known) {
  return {rank, size, "127.0.0.1", port, *userlib::secret::read(secret)};
}

deadline within(uint64_t ns) { return userlib::after(ns); }

// A connection to rank 0 as a stranger has it.
line knock(const std::string& port) {
  const sockaddr_in a = loopback(unsigned(std::stoi(port)));
  for (int i = 0; i < 2000; ++i) {
    file s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(s.fd(), reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0) return line(std::move(s));
    std::this_thread::sleep_for(milliseconds(2));
  }
  return {};
}

void send_raw(const line& to, const std::string& text) {
  send(to.socket().fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Joins, tells its rank, hears the others'.
std::string meet(const tcp_job& j, uint64_t timeout_ns) {
  auto b = tcp_blobs::join(j, within(timeout_ns));
  if (!b) return b.error();
  attempt<> done = (*b)->put("rank", std::to_string(j.rank));
  if (done) done = (*b)->fence(within(timeout_ns));
  for (int r = 0; done && r < j.size; ++r) {
    const auto told = (*b)->get(r, "rank", within(timeout_ns));
    if (!told) return told.error();
    if (*told != std::to_string(r)) return "rank " + std::to_string(r) + " says " + *told;
  }
  return done ? "ok" : done.error();
}

// Ranks as threads.
struct crew {
  explicit crew(size_t size) : said(size), threads(size) {}
  ~crew() { end(); }
  void start(const tcp_job& j, uint64_t timeout_ns = patience) {
    threads[size_t(j.rank)] = std::thread([=, this] { said[size_t(j.rank)] = meet(j, timeout_ns); });
  }
  void end() {
    for (std::thread& t : threads)
      if (t.joinable()) t.join();
  }
  std::vector<std::string> said;
  std::vector<std::thread> threads;
};

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' has no '" << part << "'";
}

TEST(library_start, ranks_meet_over_tcp) {
  for (const int size : {1, 2, 9}) {
    const std::string port = free_port();
    crew all{size_t(size)};
    for (int r = size; r-- > 0;) all.start(job_of(r, size, port));  // rank 0 comes last
    all.end();
    for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
  }
}

TEST(library_start, a_missing_rank_is_told_to_all) {
  const std::string port = free_port();
  crew all(3);
  const auto began = clock::now();
  for (const int r : {0, 1}) all.start(job_of(r, 3, port), 300 * ms);
  all.end();
  for (const int r : {0, 1}) EXPECT_TRUE(has(all.said[size_t(r)], "of 3 ranks rank 2 did not come in time"));
  EXPECT_LT(clock::now() - began, milliseconds(10'000));
}

TEST(library_start, a_missing_rank_0_is_told) {
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

TEST(library_start, a_rank_that_is_there_twice_is_told) {
  const std::string port = free_port();
  crew all(3);
  all.start(job_of(0, 3, port));
  all.start(job_of(1, 3, port));
  std::string again;
  // Either of the two with the number 1 may be the first.
  std::thread second([&] { again = meet(job_of(1, 3, port), patience); });
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
  EXPECT_TRUE(has(meet(job_of(1, 2, port, other), patience), "does not know the secret of the job"));
  all.start(job_of(1, 2, port));
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// Who listens in the place of rank 0, and says what a rank 0 would say or anything else.
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
    ASSERT_EQ(guest.receive(hello, within(patience)), io::ok);
    const handshake both{hello.bytes, userlib::nonce(), 1, 2};
    guest.send({kind, 0, 2, both.rank_0s + both.proof(*userlib::secret::read(other), true)}, within(patience));
    all.end();
    EXPECT_TRUE(has(all.said[1], "does not know the secret of the job"));
  }
}

// Silent, half a head, noise, a proof that was heard elsewhere; more of them than rank 0 listens to.
TEST(library_start, strangers_harm_nobody) {
  const std::string port = free_port();
  crew all(2);
  all.start(job_of(0, 2, port));
  std::mt19937 random(7);
  std::vector<line> strangers;
  for (size_t i = 0; i < 2 * tcp_blobs::most_strangers; ++i) {
    line l = knock(port);
    ASSERT_TRUE(l);
    std::string noise(random() % 300, 0);
    for (char& c : noise) c = static_cast<char>(random());
    if (i % 4 == 1) send_raw(l, noise);
    if (i % 4 == 2) send_raw(l, std::string("GGGT\0\0\1\0", 8));
    if (i % 4 == 3) {
      l.send({frame::kind::hello, 1, 2, userlib::nonce()}, within(patience));
      frame question;
      if (l.receive(question, within(patience)) == io::ok)
        l.send({frame::kind::proof, 1, 2, question.bytes.substr(nonce_bytes)}, within(patience));
    }
    strangers.push_back(std::move(l));
  }
  all.start(job_of(1, 2, port));
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// It is dropped within the time for a handshake, while the job still waits.
TEST(library_start, a_silent_stranger_is_dropped) {
  const std::string port = free_port();
  crew all(2);
  all.start(job_of(0, 2, port), 8000 * ms);
  line l = knock(port);
  ASSERT_TRUE(l);
  send_raw(l, "GG");
  frame none;
  const auto began = clock::now();
  EXPECT_EQ(l.receive(none, within(patience)), io::ended);
  EXPECT_LT(clock::now() - began, milliseconds(7000));
  all.start(job_of(1, 2, port), 8000 * ms);
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// ---------------------------------------------------------------------------------------------- noise

// A text with some of it changed, cut off or added.
std::string damaged(std::string text, std::mt19937& random) {
  for (unsigned k = 1 + random() % 3; k-- && !text.empty();) {
    if (random() % 3 == 0)
      text.resize(random() % (text.size() + 20));
    else
      text[random() % text.size()] = static_cast<char>(random());
  }
  return text;
}

// What a line sends, as bytes.
struct recorded {
  recorded() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    in = line(file(ends[0])), out = file(ends[1]);
  }
  std::string bytes_of(const frame& f) {
    in.send(f, within(patience));
    std::string text(1 << 16, 0);
    const ssize_t n = recv(out.fd(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(n > 0 ? size_t(n) : 0);
    return text;
  }
  line in;
  file out;
};

// Newcomers with damaged hellos and proofs; then the real one. Rank 0 lets in that one alone.
TEST(library_start, damaged_newcomers_do_not_get_in) {
  std::mt19937 random(3);
  const auto secret = *userlib::secret::read(known);
  const std::string port = free_port();
  crew all(2);
  all.start(job_of(0, 2, port));
  int questions = 0;
  for (int round = 0; round < 300; ++round) {
    const handshake mine{userlib::nonce(), "", 1, 2};
    const frame hello{frame::kind::hello, 1, 2, mine.newcomers};
    const bool first = round % 3 == 0;
    line l = knock(port);
    ASSERT_TRUE(l);
    send_raw(l, first ? damaged(recorded().bytes_of(hello), random) : recorded().bytes_of(hello));
    frame question;
    if (first || l.receive(question, within(patience)) != io::ok) continue;
    ++questions;
    const handshake both{mine.newcomers, question.bytes.substr(0, nonce_bytes), 1, 2};
    std::string proof = both.proof(secret, false);
    proof[random() % proof.size()] ^= static_cast<char>(1 << random() % 8);
    const std::string whole = recorded().bytes_of({frame::kind::proof, 1, 2, proof});
    send_raw(l, round % 2 ? whole : damaged(whole, random));
  }
  EXPECT_GT(questions, 100);
  all.start(job_of(1, 2, port));
  all.end();
  for (const std::string& s : all.said) EXPECT_EQ(s, "ok");
}

// A rank 0 that knows the secret and then says damaged things: the rank ends with a text, in time.
TEST(library_start, damaged_words_of_rank_0_end_in_a_text) {
  std::mt19937 random(5);
  const auto secret = *userlib::secret::read(known);
  int in = 0;
  for (int round = 0; round < 150; ++round) {
    const std::string port = free_port();
    const auto doors = listen_at("127.0.0.1", port);
    ASSERT_TRUE(doors) << doors.error();
    crew all(2);
    all.start(job_of(1, 2, port), 50 * ms);
    file s;
    for (int i = 0; !s && i < 5000; ++i, std::this_thread::sleep_for(milliseconds(1)))
      s = file(accept4((*doors)[0].fd(), nullptr, nullptr, SOCK_CLOEXEC));
    line guest(std::move(s));
    frame f;
    ASSERT_EQ(guest.receive(f, within(patience)), io::ok);
    const handshake both{f.bytes, userlib::nonce(), 1, 2};
    const frame question{frame::kind::challenge, 0, 2, both.rank_0s + both.proof(secret, true)};
    const unsigned where = random() % 3;
    recorded tape;
    const auto say = [&](const frame& what, unsigned step) {
      const std::string text = tape.bytes_of(what);
      send_raw(guest, step == where ? damaged(text, random) : text);
    };
    say(question, 0);
    tape.in.prove(secret, both.session(), true, 1 << 20);
    if (where > 0) {
      EXPECT_EQ(guest.receive(f, within(patience)), io::ok);
      EXPECT_EQ(f.type, frame::kind::proof);
    }
    say({frame::kind::welcome, 0, 2, ""}, 1);
    say({frame::kind::parts, 0, 2, std::string(8, 0)}, 2);
    guest = line();
    all.end();
    EXPECT_NE(all.said[1], "");
    in += all.said[1] == "ok";
  }
  EXPECT_EQ(in, 0);  // not even the undamaged words tell this rank's blobs
}

// Behind the handshake: a changed bit, a frame left out, sent again or sent back.
TEST(library_start, changed_frames_are_found) {
  const auto secret = *userlib::secret::read(known);
  for (const std::string what : {"good", "bit", "again", "left out", "back", "other session"}) {
    recorded tape;
    tape.in.prove(secret, what == "other session" ? "session 2" : "session", what != "back", 1000);
    const std::string first = tape.bytes_of({frame::kind::part, 1, 2, "one"});
    const std::string second = tape.bytes_of({frame::kind::part, 1, 2, "two"});
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    line to{file(ends[0])};
    const line from{file(ends[1])};
    to.prove(secret, "session", false, 1000);
    std::string bit = first;
    bit[line::head_bytes] ^= 1;
    send_raw(from, what == "bit" ? bit : what == "left out" ? second : first);
    frame f;
    const io one = to.receive(f, within(patience));
    if (what != "again" && what != "good") {
      EXPECT_EQ(one, io::garbage) << what;
      continue;
    }
    EXPECT_EQ(one, io::ok);
    send_raw(from, what == "again" ? first : second);
    EXPECT_EQ(to.receive(f, within(patience)), what == "again" ? io::garbage : io::ok);
  }
}

TEST(library_start, any_list_of_blobs_is_taken_or_refused) {
  std::mt19937 random(9);
  const std::string good = packed({{"computer", "here"}, {"job", std::string(300, 'x')}});
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::map<std::string, std::string> blobs;
    taken += unpacked(damaged(good, random), blobs);
    for (const auto& [name, bytes] : blobs) EXPECT_LE(name.size() + bytes.size(), good.size() + 60);
  }
  EXPECT_GT(taken, 100);
  EXPECT_LT(taken, 19'900);
}

// ---------------------------------------------------------------------------------------------- processes

// A rank of a job over TCP, with more variables ("NAME=value"), that meets the others in a barrier.
processes::body over_tcp(int size, const std::string& root, std::vector<std::string> more = {},
                         uint64_t timeout_ns = patience) {
  return [=](int rank, const voice& parent) {
    be(rank, size, "none");
    setenv("GGAS_BOOTSTRAP", "tcp", 1);
    setenv("GGAS_ROOT", root.c_str(), 1);
    unsetenv("GGAS_TRANSPORT");
    for (const std::string& m : more) setenv(m.substr(0, m.find('=')).c_str(), m.substr(m.find('=') + 1).c_str(), 1);
    ggas_process* p = nullptr;
    ggas_rc rc = ggas_process_start(&p, timeout_ns);
    if (rc == GGAS_OK) rc = ggas_group_barrier(p, GGAS_GROUP_ALL, timeout_ns);
    parent.say(rc == GGAS_OK ? "ok" : std::to_string(rc) + " " + ggas_error_text());
    ggas_process_stop(p);
  };
}

TEST(library_start, processes_start_by_tcp) {
  for (const int size : {1, 2, 4}) {
    processes all;
    all.start_all(size, over_tcp(size, "127.0.0.1:" + free_port()));
    for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, soon), "ok");
    for (int r = 0; r < size; ++r) EXPECT_EQ(all.ending(r, soon), "0");
  }
}

// No NIC leads to the other computer: all are told at the start, at once.
TEST(library_start, ranks_of_two_computers_are_told) {
  processes all;
  const std::string root = "127.0.0.1:" + free_port();
  for (const int r : {0, 1, 2}) all.start(r, over_tcp(3, root, {"GGAS_COMPUTER=number " + std::to_string(r / 2)}));
  for (const int r : {0, 1, 2}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "-13 start by 'tcp': no way to other computers: rank 2 is not where rank 0 is"));
    EXPECT_TRUE(has(text, "there is no NIC"));
  }
}

// With NICs it does not matter where they are; one that has none ends the start of all.
TEST(library_start, ranks_of_two_computers_without_nics_are_told) {
  processes all;
  const std::string root = "127.0.0.1:" + free_port();
  for (const int r : {0, 1}) {
    const std::string device = "GGAS_DEVICE=/dev/" + std::string(r ? "ggas_none" : "null");
    all.start(r, over_tcp(2, root, {"GGAS_COMPUTER=number " + std::to_string(r), "GGAS_TRANSPORT=hw", device}));
  }
  EXPECT_TRUE(has(all.next(0, soon), "-13 NIC '/dev/null': is no NIC of GGAS"));
  EXPECT_TRUE(has(all.next(1, soon), "-13 NIC '/dev/ggas_none': is not there"));
}

TEST(library_start, a_killed_rank_ends_the_start) {
  processes all;
  const std::string root = "127.0.0.1:" + free_port();
  for (const int r : {0, 1, 2}) all.start(r, over_tcp(4, root));
  std::this_thread::sleep_for(milliseconds(500));
  all.kill(2);
  for (const int r : {0, 1}) EXPECT_TRUE(has(all.next(r, soon), "ended while others were still missing"));
}

TEST(library_start, a_missing_rank_is_a_time_out) {
  processes all;
  all.start(0, over_tcp(2, "127.0.0.1:" + free_port(), {}, 200 * ms));
  EXPECT_TRUE(has(all.next(0, soon), "1 start by 'tcp': of 2 ranks rank 1 did not come in time"));
}

TEST(library_start, bad_settings_are_told) {
  struct row {
    std::string setting, text;
  };
  const std::string root = "': must be ADDRESS:PORT";
  for (const row& r :
       std::initializer_list<row>{{"GGAS_BOOTSTRAP=smoke", "GGAS_BOOTSTRAP = 'smoke': must be unix, tcp, mpi or pmix"},
                                  {"GGAS_BOOTSTRAP=../tcp", "must be unix, tcp, mpi or pmix"},
                                  {"GGAS_TRANSPORT=sim", "with GGAS_TRANSPORT = 'sim': must be shm or hw"},
                                  {"GGAS_ROOT=", root},
                                  {"GGAS_ROOT=127.0.0.1", root},
                                  {"GGAS_ROOT=:80", root},
                                  {"GGAS_ROOT=127.0.0.1:0", root},
                                  {"GGAS_ROOT=127.0.0.1:65536", root},
                                  {"GGAS_ROOT=127.0.0.1:8x", root},
                                  {"GGAS_ROOT=192.0.2.1:80", "rank 0 cannot listen at 192.0.2.1 port 80"},
                                  {"GGAS_SECRET=", "GGAS_SECRET: must be set to 32 hexadecimal digits"},
                                  {"GGAS_SECRET=12", "GGAS_SECRET: must be set to 32 hexadecimal digits"},
                                  {"GGAS_RANK=", "GGAS_RANK and GGAS_SIZE are not set"},
#ifdef GGAS_HAVE_START_PMIX
                                  {"GGAS_BOOTSTRAP=pmix", "PMIX_NAMESPACE is not set"},
#else
                                  {"GGAS_BOOTSTRAP=pmix", "module 'pmix'"},
#endif
#ifdef GGAS_HAVE_START_MPI
                                  {"GGAS_BOOTSTRAP=mpi", "MPI is not initialized"},
#else
                                  {"GGAS_BOOTSTRAP=mpi", "module 'mpi'"},
#endif
                                  {"GGAS_RANK=7", "GGAS_RANK = '7': must be a number from 0 to 1"}}) {
    processes all;
    all.start(0, over_tcp(2, "127.0.0.1:" + free_port(), {r.setting}));
    EXPECT_TRUE(has(all.next(0, soon), r.text)) << r.setting;
    EXPECT_EQ(all.ending(0, soon), "0");
  }
}

TEST(library_start, bad_arguments_are_told) {
  ggas_process* p = nullptr;
  int no_communicator = 0;
  EXPECT_EQ(ggas_process_start_by(nullptr, "unix", nullptr, 0), GGAS_ERR_ARGUMENT);
  EXPECT_EQ(ggas_process_start_by(&p, "smoke", nullptr, 0), GGAS_ERR_ARGUMENT);
  EXPECT_EQ(ggas_process_start_by(&p, "unix", &no_communicator, 0), GGAS_ERR_ARGUMENT);
  EXPECT_TRUE(has(ggas_error_text(), "communicator"));
  EXPECT_EQ(ggas_process_start_by(&p, "tcp", &no_communicator, second), GGAS_ERR_ARGUMENT);
  EXPECT_TRUE(has(ggas_error_text(), "communicator"));
}

}  // namespace
}  // namespace ggas::library_test
