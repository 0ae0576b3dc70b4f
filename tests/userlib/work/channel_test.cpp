// SPDX-License-Identifier: Apache-2.0
// Channels: data of GPUs from object to object, by every executor.
#include "ggas/channel.hpp"

#include <algorithm>
#include <numeric>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

// A ring of objects, one after the other on the nodes. Each sends its buffer to the next one, adds 1 to the received
// numbers, and so on, until each buffer has gone round.
struct station {
  static constexpr size_t words = 300;
  runtime& rt;
  dispatcher& work;
  gpu_memory own, fresh;
  gpu_channel out, in;
  size_t index, all, calls = 0, wrong = 0, rounds = 0;

  station(size_t i, runtime* r, dispatcher* w, const std::vector<gpu_memory>* memory,
          const std::vector<gpu_channel>* to_next)
      : rt(*r),
        work(*w),
        own((*memory)[2 * i]),
        fresh((*memory)[2 * i + 1]),
        out((*to_next)[i]),
        in((*to_next)[(i + to_next->size() - 1) % to_next->size()]),
        index(i),
        all(to_next->size()) {}
  void begin() { exchange({}); }
  void exchange(const std::vector<request>& after) {
    const auto came = [this, at = rt.here()](const result<size_t>& how) {
      wrong += !how || *how != words * 8 || rt.here() != at;
      if (++calls % 2 == 0) next();
    };
    wrong += !out.send({own, 0, words * 8}, came, after);
    wrong += !in.receive({fresh, 0, words * 8}, came);
  }
  // What comes changes while the request for it is not done: the next transfer is after it.
  void next() {
    std::swap(own, fresh);
    const request add(own.node(), 1, 32, add_to, kept<uint64_t>(own), words, uint64_t{1});
    wrong += !work.enqueue(add);
    if (++rounds < all) exchange({add});
  }
};

TEST_P(work, buffers_go_round_a_ring_of_objects) {
  if (blocking() || by_hand()) GTEST_SKIP() << "methods would wait for methods";
  constexpr size_t n = 6;
  std::vector<gpu_memory> memory;
  std::vector<gpu_channel> to_next;
  const auto node_of = [&](size_t i) { return static_cast<int>(i % n) % nodes(); };
  for (size_t i = 0; i < 2 * n; ++i) {
    const auto m = dispatcher_->allocate(node_of(i / 2), station::words * 8);
    ASSERT_TRUE(m) << text_of(m);
    memory.push_back(*m);
  }
  for (size_t i = 0; i < n; ++i) {
    std::vector<uint64_t> x(station::words, 1000 * i);
    enqueue(request(node_of(i), 1, 32, add_to, in(x).in_memory(memory[2 * i]), uint64_t{0}, uint64_t{0}));
    run();
    const auto c = gpu_channel::make(*dispatcher_, node_of(i), node_of(i + 1), {.blocks = 3, .threads = 32});
    ASSERT_TRUE(c) << text_of(c);
    to_next.push_back(*c);
  }
  const auto ring = rt_->make_array<station>(n, {}, rt_.get(), dispatcher_.get(), &memory, &to_next);
  ASSERT_TRUE(ring);
  ring->broadcast<&station::begin>();
  run();
  for (size_t i = 0; i < n; ++i) {
    const station& s = *ring->look_at(i);
    EXPECT_EQ(s.calls, 2 * n);
    EXPECT_EQ(s.wrong, 0u);
    std::vector<uint64_t> x(station::words);
    enqueue(request(node_of(i), 1, 32, add_to, out(x).in_memory(s.own), uint64_t{0}, uint64_t{0}));
    run();
    EXPECT_EQ(x, std::vector<uint64_t>(station::words, 1000 * i + n));
  }
}

// Pieces at any place and of any length, 0 too; the bytes around them stay.
TEST_P(work, channels_move_pieces_and_nothing_around_them) {
  const int to = nodes() - 1;
  const auto a = dispatcher_->allocate(0, 8000), b = dispatcher_->allocate(to, 8000);
  ASSERT_TRUE(a && b);
  const auto c = gpu_channel::make(*dispatcher_, 0, to, {.threads = 32});
  ASSERT_TRUE(c);
  std::vector<std::byte> x(8000), y(8000), expected;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::byte>(i * 7 + 1);
  const auto settle = [&](request r) {
    enqueue(r);
    run();
  };
  for (const auto& [from, at, n] :
       {std::tuple(0, 0, 0), {0, 0, 8000}, {3, 5, 1}, {1, 0, 127}, {8, 16, 4000}, {7, 9, 5001}, {7999, 0, 1}}) {
    std::ranges::fill(y, std::byte{0xee});
    expected = y;
    std::copy_n(x.begin() + from, n, expected.begin() + at);
    settle(request(0, 1, 32, flip, in(x).in_memory(*a), uint64_t{0}));
    settle(request(to, 1, 32, flip, in(y).in_memory(*b), uint64_t{0}));
    std::vector<size_t> came;
    const auto note = [&](const result<size_t>& how) { came.push_back(how ? *how : 1'000'000); };
    ASSERT_TRUE(c->receive({*b, static_cast<size_t>(at), static_cast<size_t>(n)}, note));
    ASSERT_TRUE(c->send({*a, static_cast<size_t>(from), static_cast<size_t>(n)}, note));
    run();
    EXPECT_EQ(came, std::vector<size_t>(2, static_cast<size_t>(n)));
    settle(request(to, 1, 32, flip, out(y).in_memory(*b), uint64_t{0}));
    EXPECT_EQ(y, expected) << n;
  }
}

TEST_P(work, channels_name_what_is_wrong) {
  if (blocking()) GTEST_SKIP() << "would wait for what is not enqueued yet";
  const int to = nodes() - 1;
  EXPECT_NE(text_of(gpu_channel::make(*dispatcher_, 0, nodes())).find("nodes are 0 ... "), std::string::npos);
  EXPECT_EQ(text_of(gpu_channel::make(*dispatcher_, 0, 0, {.blocks = 0})),
            "channel: 0 blocks of 128 threads: must be 1 or more, and at most 1,024 threads");
  const auto c = gpu_channel::make(*dispatcher_, 0, to, {.threads = 32});
  const auto m = dispatcher_->allocate(0, 100), at_end = dispatcher_->allocate(to, 100);
  ASSERT_TRUE(c && m && at_end);
  const std::string name = "channel from node 0 to " + std::to_string(to) + ", ";
  EXPECT_EQ(text_of(c->send({{}, 0, 0}, {})), name + "send: its memory of the GPU was freed, or never allocated");
  EXPECT_EQ(text_of(c->send({*m, 90, 11}, {})), name + "send: bytes 90 ... 101 of memory of 100");
  if (to != 0) {
    EXPECT_EQ(text_of(c->receive({*m, 0, 1}, {})), name + "receive: memory of node 0");
  }
  std::vector<std::string> ends;
  const auto note = [&](const result<size_t>& how) { ends.push_back(text_of(how)); };
  ASSERT_TRUE(c->send({*m, 0, 50}, note));
  ASSERT_TRUE(c->receive({*at_end, 0, 49}, note));
  run();
  EXPECT_EQ(ends, std::vector<std::string>(
                      2, "channel from node 0 to " + std::to_string(to) + ": 50 bytes sent, but 49 bytes of room"));
  // A request before it that fails.
  ends.clear();
  request bad(0, 1, 32, add_to, both(std::vector<uint64_t>((size_t{32} << 20) / 8)), uint64_t{1}, uint64_t{1});
  ASSERT_TRUE(c->send({*m, 0, 50}, note, {bad}));
  ASSERT_TRUE(c->receive({*at_end, 0, 50}, note));
  enqueue(bad);
  run();
  ASSERT_EQ(ends.size(), 2u);
  for (const auto& text : ends) EXPECT_NE(text.find("as one before it failed"), std::string::npos) << text;
}

}  // namespace
}  // namespace ggas::test
