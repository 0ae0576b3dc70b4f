// SPDX-License-Identifier: Apache-2.0
// Messages on a stream: to streams and kernels of other nodes and of the same one; what is refused, and time-outs.
#include "ggas/message_on_stream.cuh"
#include "tests/gpu_api/message_on_stream_run.hpp"
#include "tests/gpu_api/messages_rig.hpp"

namespace ggas::test {
namespace {

constexpr unsigned threads = 32;
constexpr size_t shorts = 4, longs = 777;  // floats; all threads of a launch move the long ones

struct stream_target {
  target on;
  // Long messages are one record; else they go from memory to memory, or in pieces.
  bool one_record = false;
  std::string name() const { return on.name() + (one_record ? "record" : ""); }
  friend void PrintTo(const stream_target& t, std::ostream* os) { *os << t.name(); }
  message_config config() const {
    message_config c{.kind = ggas_rank_is_block, .blocks = 2, .threads = threads};
    if (one_record) c.lines = 1024, c.short_bytes = 4096;
    return c;
  }
};
std::vector<stream_target> stream_targets() {
  std::vector<stream_target> all;
  for (const bool one_record : {false, true}) {
    all.push_back({{.nodes = 1}, one_record});
    all.push_back({{.nodes = 3}, one_record});
    all.push_back({{.nodes = 2, .threads = true}, one_record});
#ifdef GGAS_TEST_SIM
    all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, one_record});
#endif
  }
  return all;
}

// Two ranks a node: kernels are the first, streams the second one.
class MessagesOnStream : public testing::TestWithParam<stream_target> {
 protected:
  void SetUp() override {
    m_ = std::make_unique<message_machine>(GetParam().on, GetParam().config(), 16384);
    for (int n = 0; n < nodes(); ++n) {
      *status(n) = 0;
      queued(begin_messages_on_stream(on(), n, world(), report(n)));
    }
    run();
  }
  int nodes() const { return m_->nodes(); }
  cluster& on() { return m_->on(); }
  const ggas_messages& world() const { return m_->world; }
  static int kernel_of(int node) { return 2 * node; }
  static int stream_of(int node) { return 2 * node + 1; }
  template <class T>
  T* at(int node, uint64_t offset) {
    return reinterpret_cast<T*>(on().segment(node) + m_->message_scratch() + offset);
  }
  uint64_t* status(int node) { return at<uint64_t>(node, 0); }
  ggas_message* got(int node) { return at<ggas_message>(node, 64); }
  float* out(int node) { return at<float>(node, 256); }
  float* in(int node) { return at<float>(node, 8192); }
  stream_report report(int node) { return {m_->timeout_ns(), status(node)}; }
  static float value(int node, size_t i) { return static_cast<float>(1000 * node) + static_cast<float>(i); }
  void fill() {
    for (int n = 0; n < nodes(); ++n)
      for (size_t i = 0; i < longs; ++i) out(n)[i] = value(n, i), in(n)[i] = -1;
  }
  static void queued(const result<>& r) { ASSERT_TRUE(r) << r.error().text; }
  void run() {
    const auto r = on().run(4 * m_->timeout_ns());
    ASSERT_TRUE(r) << r.error().text;
    for (int n = 0; n < nodes(); ++n) EXPECT_EQ(*status(n), ggas_ok) << "node " << n;
  }
  void expect_data(int node, int from, size_t n) {
    for (size_t i = 0; i < longs; ++i) ASSERT_EQ(in(node)[i], i < n ? value(from, i) : -1) << node << ", " << i;
  }
  std::unique_ptr<message_machine> m_;
};
INSTANTIATE_TEST_SUITE_P(On, MessagesOnStream, testing::ValuesIn(stream_targets()),
                         [](const auto& i) { return i.param.name(); });

// Again and again without a new beginning, as a graph does. A long send that is no record waits for its receiver.
TEST_P(MessagesOnStream, GoRoundAllNodes) {
  const size_t n_most = GetParam().one_record ? longs : shorts;
  for (int round = 0; round < 3; ++round) {
    const size_t sent = round == 1 ? n_most : shorts;
    fill();
    for (int n = 0; n < nodes(); ++n) {
      const int next = (n + 1) % nodes();
      queued(send_on_stream(on(), n, world(), stream_of(n), out(n), sent, stream_of(next), round, report(n)));
      queued(recv_on_stream(on(), n, world(), stream_of(n), in(n), n_most, ggas_any_source, round, got(n), report(n)));
    }
    run();
    for (int n = 0; n < nodes(); ++n) {
      const int before = (n + nodes() - 1) % nodes();
      expect_data(n, before, sent);
      EXPECT_EQ(got(n)->source, stream_of(before));
      EXPECT_EQ(got(n)->bytes, sent * sizeof(float));
    }
  }
}

// Later messages of the sender are put aside while the stream waits for another tag, and one that does not fit is lost.
TEST_P(MessagesOnStream, WaitForTheirTurn) {
  if (nodes() == 1 || !GetParam().one_record) GTEST_SKIP() << "the sends must not wait";
  fill();
  const auto send = [&](size_t n, int tag) {
    queued(send_on_stream(on(), 0, world(), stream_of(0), out(0), n, stream_of(1), tag, report(0)));
  };
  const auto receive = [&](size_t most, int tag, const stream_report& to) {
    queued(recv_on_stream(on(), 1, world(), stream_of(1), in(1), most, stream_of(0), tag, got(1), to));
  };
  send(longs, 1);
  send(longs, 2);
  send(shorts, 3);
  receive(longs, 3, report(1));
  run();
  expect_data(1, 0, shorts);
  fill();
  status(1)[1] = ggas_ok;
  receive(longs - 1, 1, {m_->timeout_ns(), status(1) + 1});
  const auto r = on().run(4 * m_->timeout_ns());
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(status(1)[1], ggas_bad_argument);
  EXPECT_EQ(got(1)->bytes, longs * sizeof(float));
  expect_data(1, 0, 0);
  receive(longs, 2, report(1));
  run();
  expect_data(1, 0, longs);
}

// The sender dies within a record: the receive ends in time, and so does the next one.
TEST_P(MessagesOnStream, ARecordThatDoesNotEnd) {
  if (nodes() == 1 || !GetParam().one_record) GTEST_SKIP() << "no such record";
  fill();
  const ggas_messages w = world();
  const int to = stream_of(1);
  queued(on().launch(0, 1, 1, [=] {
    const detail::message_rank r(w);
    detail::line_claim c(detail::rank_view(r), to);
    ASSERT_EQ(c.claim(detail::lines_of_record(4 * longs), 1), 1u);
    const detail::claimed_lines at(r.ring_of(to), r.node_of(to), c.end - detail::lines_of_record(4 * longs));
    at.put_head(detail::record_short, r.me(), 4 * longs, detail::envelope(7, 0));
    at.put(2, 0);
  }));
  run();
  stream_report brief = report(1);
  brief.timeout_ns = m_->brief_ns();
  for (int i = 0; i < 2; ++i)
    queued(recv_on_stream(on(), 1, world(), stream_of(1), in(1), longs, kernel_of(0), 7, got(1), brief));
  const auto r = on().run(m_->timeout_ns());
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(*status(1), ggas_timed_out);
}

// A stream sends to the kernel of the next node, which answers: long and short, both ways.
TEST_P(MessagesOnStream, MeetThoseOfKernels) {
  if (nodes() == 1) GTEST_SKIP() << "a stream cannot wait for a kernel after it";
  for (const size_t n : {shorts, longs}) {
    fill();
    queued(send_on_stream(on(), 0, world(), stream_of(0), out(0), n, kernel_of(1), 5, report(0)));
    queued(recv_on_stream(on(), 0, world(), stream_of(0), in(0), n, kernel_of(1), 6, got(0), report(0)));
    float *const data = in(1), *const answer = out(1);
    const ggas_messages w = world();
    const uint64_t timeout = m_->timeout_ns();
    queued(on().launch(1, 1, threads, [=] {
      const ggas::block g;
      EXPECT_EQ(ggas_recv(g, w, data, n, stream_of(0), 5, static_cast<ggas_message*>(nullptr), timeout), ggas_ok);
      EXPECT_EQ(ggas_send(g, w, answer, n, stream_of(0), 6, timeout), ggas_ok);
    }));
    run();
    expect_data(1, 0, n);
    expect_data(0, 1, n);
  }
}

TEST_P(MessagesOnStream, WithoutSenderEndInTimeAndOthersDoNotWait) {
  stream_report brief = report(0);
  brief.timeout_ns = m_->brief_ns();
  fill();
  queued(recv_on_stream(on(), 0, world(), stream_of(0), in(0), shorts, ggas_any_source, 9, got(0), brief));
  queued(recv_on_stream(on(), 0, world(), stream_of(0), in(0), shorts, ggas_any_source, 9, got(0), report(0)));
  const auto r = on().run(m_->timeout_ns());
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(*status(0), ggas_timed_out);
  EXPECT_EQ(got(0)->source, ggas_any_source);
  expect_data(0, 0, 0);
}

TEST_P(MessagesOnStream, AreRefusedAtOnce) {
  const auto refused = [](const result<>& r, const std::string& part) {
    ASSERT_FALSE(r);
    EXPECT_NE(r.error().text.find(part), std::string::npos) << r.error().text;
  };
  ggas_messages warps = world();
  warps.kind = ggas_rank_is_warp;
  const int all = 2 * nodes();
  refused(send_on_stream(on(), 0, warps, 1, out(0), 1, 0, 0, report(0)), "ranks must be blocks");
  refused(send_on_stream(on(), 0, world(), all, out(0), 1, 0, 0, report(0)), "is none of node 0");
  refused(send_on_stream(on(), 0, world(), 1, out(0), 1, all, 0, report(0)), "must be a rank below");
  refused(send_on_stream(on(), 0, world(), 1, out(0), 1, 0, -1, report(0)), "a tag of 0 or more");
  refused(recv_on_stream(on(), 0, world(), 1, static_cast<float*>(nullptr), 1, 0, 0, nullptr, report(0)), "a buffer");
}

// ---- every size, by graphs

// Up to how many bytes messages are one record.
struct sizes_target {
  target on;
  unsigned short_bytes;
  std::string name() const { return on.name() + "records" + std::to_string(short_bytes); }
  friend void PrintTo(const sizes_target& t, std::ostream* os) { *os << t.name(); }
};
std::vector<sizes_target> sizes_targets() {
  std::vector<sizes_target> all;
  for (const unsigned short_bytes : {64u, 1u << 18}) {
    all.push_back({{.nodes = 1}, short_bytes});
    all.push_back({{.nodes = 2}, short_bytes});
    all.push_back({{.nodes = 2, .threads = true}, short_bytes});
  }
#ifdef GGAS_TEST_SIM
  for (const unsigned short_bytes : {64u, 1u << 12})
    all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, short_bytes});
#endif
  return all;
}

class StreamMessages : public testing::TestWithParam<sizes_target> {
 public:
  cluster& on() { return m_->on(); }
  int nodes() const { return m_->nodes(); }
  uint64_t timeout_ns() const { return m_->timeout_ns(); }
  uint64_t brief_ns() const { return m_->brief_ns(); }
  void write(int node, uint64_t offset, const std::vector<uint8_t>& v) { m_->write(node, offset, v); }
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) { return m_->read(node, offset, n); }
  void run(const char* what) {
    const auto r = on().run(4 * timeout_ns());
    ASSERT_TRUE(r) << what << ": " << r.error().text;
  }
  graph make_graph(const stream& s, const std::function<result<>()>& queue) {
    const auto g = on().make_graph(s, queue);
    EXPECT_TRUE(g) << g.error().text;
    return *g;
  }

 protected:
  using streams = calls::messages_of_streams<StreamMessages>;
  void SetUp() override {
    const unsigned s = GetParam().short_bytes;
    message_config c{.kind = ggas_rank_is_block, .blocks = 2, .threads = threads, .short_bytes = s, .waiting = 4};
    if (s > 64) c.lines = s / 2;
    m_ = std::make_unique<message_machine>(GetParam().on, c, streams::room(most()));
    std::vector<stream> receivers;
    for (int n = 0; n < nodes(); ++n) receivers.push_back(*on().make_stream(n));
    messages_ = std::make_unique<streams>(*this, m_->world, m_->message_scratch(), receivers);
  }
  // Of a message; simulated ones take long.
  uint64_t most() const { return GetParam().on.simulated() ? 1 << 12 : 1 << 20; }
  std::unique_ptr<message_machine> m_;
  std::unique_ptr<streams> messages_;
};
INSTANTIATE_TEST_SUITE_P(On, StreamMessages, testing::ValuesIn(sizes_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(StreamMessages, OfEverySize) {
  unsigned number = 0;
  for (const uint64_t bytes : calls::stream_sizes)
    if (bytes <= most()) messages_->exchange(bytes, number % 4, number % 2 == 1, 3), ++number;
}
TEST_P(StreamMessages, TooLongOnesAreLost) {
  for (const uint64_t bytes : {64u, 100u, 2049u, 1u << 18})
    if (bytes <= most()) messages_->too_long(bytes, 3);
}
TEST_P(StreamMessages, WithoutPartnerEndInTime) {
  for (const uint64_t bytes : {0u, 100u, 3000u, 1u << 18})
    if (bytes <= most()) messages_->without_partner(bytes);
}

}  // namespace
}  // namespace ggas::test
