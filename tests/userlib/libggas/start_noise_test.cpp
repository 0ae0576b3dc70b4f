// SPDX-License-Identifier: Apache-2.0
// Start-up over TCP with damaged, short, long, changed and replayed messages: it never hangs, and lets no one in.
#include <random>

#include "tests/userlib/libggas/start_rig.hpp"

namespace ggas::library_test {
namespace {

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
    in.send(f, within(timeout));
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
    if (first || l.receive(question, within(timeout)) != io::ok) continue;
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
    ASSERT_EQ(guest.receive(f, within(timeout)), io::ok);
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
      EXPECT_EQ(guest.receive(f, within(timeout)), io::ok);
      EXPECT_EQ(f.type, frame::kind::proof);
    }
    say({frame::kind::welcome, 0, 2, ""}, 1);
    say({frame::kind::parts, 0, 2, std::string(8, 0)}, 2);
    guest = line();
    all.end();
    EXPECT_NE(all.said[1], "");
    in += all.said[1] == "ok";
  }
  EXPECT_EQ(in, 0);  // not even the undamaged words report this rank's blobs
}

// After the handshake: a changed bit, a frame left out, sent again or sent back.
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
    const io one = to.receive(f, within(timeout));
    if (what != "again" && what != "good") {
      EXPECT_EQ(one, io::garbage) << what;
      continue;
    }
    EXPECT_EQ(one, io::ok);
    send_raw(from, what == "again" ? first : second);
    EXPECT_EQ(to.receive(f, within(timeout)), what == "again" ? io::garbage : io::ok);
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

}  // namespace
}  // namespace ggas::library_test
