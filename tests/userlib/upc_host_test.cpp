// SPDX-License-Identifier: Apache-2.0
// UPC programs of the processor: accesses, copies, forall, the split barrier, collectives and reductions, channels, and
// what is refused. shm, and sim with the model and the RTL of the NIC.
#include "ggas/upc_host.hpp"

#include <cstring>

#include "ggas/upc_memory.hpp"
#include "tests/userlib/host_rig.hpp"

namespace ggas::test {
namespace {

using namespace upc;

struct upc_target {
  std::string provider;
  int nodes;
  std::string nic = "rtl";
  std::string name() const { return provider + std::to_string(nodes) + (provider == "sim" ? nic : ""); }
  friend void PrintTo(const upc_target& t, std::ostream* os) { *os << t.name(); }
};
std::vector<upc_target> upc_targets() {
  std::vector<upc_target> all = {{"shm", 1}, {"shm", 2}, {"shm", 5}};
#ifdef GGAS_HAVE_SIM
  all.insert(all.end(), {{"sim", 1, "model"}, {"sim", 3, "model"}, {"sim", 2}});
#endif
  return all;
}

class UpcHost : public testing::TestWithParam<upc_target> {
 public:
  void SetUp() override {
    cluster_config cfg;
    cfg.nodes = GetParam().nodes;
    cfg.nic = GetParam().nic;
    cluster_ = make(GetParam().provider, cfg, true);
    heap_ = heap::create(heap_of(*cluster_), why_);
    ASSERT_TRUE(heap_) << why_;
    memory_ = std::make_unique<memory>(*heap_, cfg.nodes);
    program_ = program::create(*cluster_, *heap_, why_, {.timeout_ns = limit()});
    ASSERT_TRUE(program_) << why_;
  }
  uint64_t threads() const { return static_cast<uint64_t>(GetParam().nodes); }
  bool simulated() const { return GetParam().provider == "sim"; }
  uint64_t limit() const { return simulated() ? 20 * ms : 20 * second; }
  template <class T, uint64_t B = 1>
  shared_array<T, B> array(uint64_t elements) {
    const auto a = memory_->array<T, B>(elements, why_);
    EXPECT_NE(a.at, 0u) << why_;
    for (int n = 0; n < GetParam().nodes; ++n)
      std::memset(cluster_->segment(n) + a.at, 0, a.bytes(elements, threads()));
    return a;
  }
  template <class T>
  T at(const shared_const_void& p) {
    T v{};
    EXPECT_TRUE(cluster_->read(static_cast<int>(p.thread()), p.offset(), &v, sizeof v));
    return v;
  }
  std::string run(std::function<void(thread&)> body) {
    EXPECT_TRUE(program_->launch(std::move(body)));
    const auto ran = cluster_->run(10 * limit());
    return ran ? "" : ran.error().text;
  }

  std::string why_;
  std::unique_ptr<cluster> cluster_;
  std::unique_ptr<heap> heap_;
  std::unique_ptr<memory> memory_;
  std::unique_ptr<program> program_;
};
INSTANTIATE_TEST_SUITE_P(On, UpcHost, testing::ValuesIn(upc_targets()), [](const auto& i) { return i.param.name(); });

TEST_P(UpcHost, EachIterationOnceByItsThread) {
  const uint64_t n = 23;
  const auto a = array<int, 4>(n), b = array<int, 4>(n), c = array<int, 4>(n);
  EXPECT_EQ(run([=](thread& t) {
              const int me = static_cast<int>(t.mythread()) + 1;
              t.forall(2, n, a, [&](uint64_t i) { t[a + i] += me; });
              t.forall(2, n, [&](uint64_t i) { t[b + i] += me; });
              t.forall(
                  2, n, [&](uint64_t i) { return c + i; }, [&](uint64_t i) { t[c + i] += me; });
            }),
            "");
  for (uint64_t i = 0; i < n; ++i) {
    EXPECT_EQ(at<int>(a + i), i < 2 ? 0 : static_cast<int>(a.thread_of(i)) + 1) << i;
    EXPECT_EQ(at<int>(b + i), i < 2 ? 0 : static_cast<int>(i % threads()) + 1) << i;
    EXPECT_EQ(at<int>(c + i), i < 2 ? 0 : static_cast<int>(c.thread_of(i)) + 1) << i;
  }
}

TEST_P(UpcHost, PointersWalkAndAssign) {
  const uint64_t n = 17;
  const auto a = array<short, 3>(n);
  const auto back = array<short, 2>(n);
  EXPECT_EQ(run([=](thread& t) {
              t.forall(0, n, a, [&](uint64_t i) { t[a + i] = static_cast<short>(5 * i); });
              t.barrier();
              if (t.mythread() != t.threads() - 1) return;
              auto to = back + (n - 1);
              for (auto p = a + 0; t.minus(p, a + 0) < static_cast<int64_t>(n); p = t.plus(p, 1), to = t.plus(to, -1))
                t[to] = t[p];
            }),
            "");
  for (uint64_t i = 0; i < n; ++i) EXPECT_EQ(at<short>(back + i), static_cast<short>(5 * (n - 1 - i))) << i;
}

// Any length and alignment, more than a piece of the pinned memory.
TEST_P(UpcHost, CopiesBetweenAnyThreads) {
  const uint64_t room = 80 << 10, n = simulated() ? 40001 : 70001;
  const auto from = memory_->all_alloc(threads(), room, why_), to = memory_->all_alloc(threads(), room, why_);
  ASSERT_TRUE(from && to) << why_;
  const auto byte = [](uint64_t t, uint64_t i) { return static_cast<unsigned char>(t * 37 + i * 5 + i / 256); };
  for (uint64_t t = 0; t < threads(); ++t)
    for (uint64_t i = 0; i < room; ++i)
      cluster_->segment(static_cast<int>(t))[from.offset() + i] = static_cast<std::byte>(byte(t, i));
  EXPECT_EQ(run([=](thread& t) {
              const uint64_t next = (t.mythread() + 1) % t.threads();
              t.memcpy(shared_void(t.mythread(), 0, to.offset() + 3), shared_void(next, 0, from.offset() + 1), n);
              std::vector<unsigned char> mine(100);
              t.memget(mine.data(), shared_void(next, 0, from.offset() + 7), mine.size());
              t.barrier();
              t.memput(shared_void(next, 0, to.offset() + room - 200), mine.data(), mine.size());
              t.memset(shared_void(next, 0, to.offset() + room - 64), 0x5a, 9);
            }),
            "");
  for (uint64_t t = 0; t < threads(); ++t) {
    const auto* const got = cluster_->segment(static_cast<int>(t)) + to.offset();
    for (uint64_t i = 0; i < n; ++i)
      ASSERT_EQ(got[3 + i], static_cast<std::byte>(byte((t + 1) % threads(), i + 1))) << i;
    for (uint64_t i = 0; i < 100; ++i) ASSERT_EQ(got[room - 200 + i], static_cast<std::byte>(byte(t, i + 7))) << i;
    for (uint64_t i = 0; i < 9; ++i) ASSERT_EQ(got[room - 64 + i], std::byte{0x5a});
  }
}

// What others wrote before they notified is there after the wait; launches go on counting.
TEST_P(UpcHost, NotifyAndWaitAreABarrier) {
  const auto a = array<uint64_t>(threads());
  for (uint64_t launch = 0; launch < 2; ++launch)
    EXPECT_EQ(run([=](thread& t) {
                const uint64_t me = t.mythread(), all = t.threads();
                for (uint64_t round = 1; round <= 5; ++round) {
                  t[a + (me + 1) % all] = launch * 1000 + round * 100 + me;
                  t.notify();
                  t.wait();
                  const uint64_t got = t[a + me], want = launch * 1000 + round * 100 + (me + all - 1) % all;
                  if (got != want) throw failure(std::to_string(got) + " is not " + std::to_string(want));
                  t.barrier();
                }
              }),
              "");
  EXPECT_EQ(program_->counts(0).barriers, 11u);  // one at the end
}

TEST_P(UpcHost, CollectivesMoveWhatTheLanguageSays) {
  const uint64_t all = threads(), last = all - 1, n = 77, part = all * n;
  const auto source = memory_->all_alloc(all, part, why_), target = memory_->all_alloc(all, 6 * part, why_);
  ASSERT_TRUE(source && target) << why_;
  const auto perm = array<int>(all);
  const auto byte = [](uint64_t t, uint64_t i) { return static_cast<std::byte>(t * 41 + i * 3); };
  for (uint64_t t = 0; t < all; ++t) {
    for (uint64_t i = 0; i < part; ++i) cluster_->segment(static_cast<int>(t))[source.offset() + i] = byte(t, i);
    const int to = static_cast<int>((t + all / 2) % all);
    EXPECT_TRUE(cluster_->write(static_cast<int>(t), perm.at, &to, sizeof to));
  }
  for (const auto mode : {ggas_in_all | ggas_out_all, ggas_in_mine | ggas_out_mine, ggas_in_none | ggas_out_none}) {
    for (uint64_t t = 0; t < all; ++t)
      std::memset(cluster_->segment(static_cast<int>(t)) + target.offset(), 0, 6 * part);
    EXPECT_EQ(run([=](thread& t) {
                const auto to = [=](uint64_t k) { return shared_void(0, 0, target.offset() + k * part); };
                const shared_void rooted(last, 0, source.offset());
                t.all_broadcast(to(0), rooted, n, mode);
                t.all_scatter(to(1), rooted, n, mode);
                t.all_gather(shared_void(last, 0, to(2).offset()), source, n, mode);
                t.all_gather_all(to(3), source, n, mode);
                t.all_exchange(to(4), source, n, mode);
                t.all_permute(to(5), source, perm + 0, n, mode);
              }),
              "");
    EXPECT_EQ(program_->counts(0).barriers, (mode & ggas_in_none) ? 1u : 13u);
    for (uint64_t t = 0; t < all; ++t) {
      const auto* const got = cluster_->segment(static_cast<int>(t)) + target.offset();
      for (uint64_t i = 0; i < part; ++i) {
        const uint64_t k = i / n, in = i % n, from = (t + all - all / 2) % all;
        ASSERT_EQ(got[i], i < n ? byte(last, i) : std::byte{}) << "broadcast";
        ASSERT_EQ(got[part + i], i < n ? byte(last, t * n + i) : std::byte{}) << "scatter";
        ASSERT_EQ(got[2 * part + i], t == last ? byte(k, in) : std::byte{}) << "gather";
        ASSERT_EQ(got[3 * part + i], byte(k, in)) << "gather_all";
        ASSERT_EQ(got[4 * part + i], byte(k, t * n + in)) << "exchange";
        ASSERT_EQ(got[5 * part + i], i < n ? byte(from, i) : std::byte{}) << "permute";
      }
    }
  }
}

// One element and all prefixes, as a loop over the elements has them.
template <class T, class Reduce, class Prefix>
void check_reduction(UpcHost& on, upc_op_t op, uint64_t block, uint64_t first, Reduce reduce, Prefix prefix,
                     T (*func)(T, T) = nullptr) {
  const uint64_t threads = on.threads(), n = 13, side = block == 0 ? n : block;
  const auto room = [&] {
    return on.memory_->all_alloc(threads * (n / side / threads + 2), side * sizeof(T), on.why_);
  };
  const shared_void src_at = room(), dst_at = room(), sum_at = room();
  ASSERT_TRUE(src_at && dst_at && sum_at) << on.why_;
  const shared_void src(first, 0, src_at.offset()), dst(first, 0, dst_at.offset()),
      sum(threads - 1, 0, sum_at.offset());
  std::vector<T> want(n);
  for (uint64_t i = 0; i < n; ++i) {
    const T v = static_cast<T>(static_cast<T>(i * 7 % 11) + static_cast<T>(1) / static_cast<T>(2));
    const auto p = element_place(src, block, i, sizeof(T), threads);
    EXPECT_TRUE(on.cluster_->write(static_cast<int>(p.thread()), p.offset(), &v, sizeof v));
    want[i] = i == 0 ? v : upc::detail::apply(op, want[i - 1], v, func);
  }
  EXPECT_EQ(on.run([=](thread& t) {
    reduce(t, sum, src, op, n, block, func, ggas_in_all);
    prefix(t, dst, src, op, n, block, func, ggas_in_all);
  }),
            "");
  EXPECT_EQ(on.at<T>(sum), want[n - 1]) << "op " << op << ", block " << block << ", from " << first;
  for (uint64_t i = 0; i < n; ++i)
    ASSERT_EQ(on.at<T>(element_place(dst, block, i, sizeof(T), threads)), want[i])
        << i << ", op " << op << ", block " << block;
  for (const shared_void& p : {src_at, dst_at, sum_at}) EXPECT_EQ(on.memory_->free(p), "");
}

TEST_P(UpcHost, ReductionsFollowTheOrderOfElements) {
  const auto reduce = [](auto&&... a) { upc_all_reduceI(a...); };
  const auto prefix = [](auto&&... a) { upc_all_prefix_reduceI(a...); };
  for (const uint64_t block : {0, 1, 3, 50})
    for (const uint64_t first : {uint64_t{0}, threads() - 1})
      check_reduction<int>(*this, UPC_ADD, block, first, reduce, prefix);
  for (unsigned op = UPC_ADD; op <= UPC_MAX; ++op)
    check_reduction<int>(*this, static_cast<upc_op_t>(op), 3, 0, reduce, prefix);
  check_reduction<int>(*this, UPC_NONCOMM_FUNC, 2, 0, reduce, prefix, [](int a, int) { return a; });
}

TEST_P(UpcHost, EveryTypeHasItsReductions) {
  const auto check = [this]<class T>(T, auto reduce, auto prefix) {
    check_reduction<T>(*this, UPC_ADD, 2, 0, reduce, prefix);
  };
  check((signed char)0, upc_all_reduceC, upc_all_prefix_reduceC);
  check((unsigned char)0, upc_all_reduceUC, upc_all_prefix_reduceUC);
  check((short)0, upc_all_reduceS, upc_all_prefix_reduceS);
  check((unsigned short)0, upc_all_reduceUS, upc_all_prefix_reduceUS);
  check(0u, upc_all_reduceUI, upc_all_prefix_reduceUI);
  check(0l, upc_all_reduceL, upc_all_prefix_reduceL);
  check(0ul, upc_all_reduceUL, upc_all_prefix_reduceUL);
  check(0.0f, upc_all_reduceF, upc_all_prefix_reduceF);
  check(0.0, upc_all_reduceD, upc_all_prefix_reduceD);
  check(0.0l, upc_all_reduceLD, upc_all_prefix_reduceLD);
}

TEST_P(UpcHost, BadCallsEndTheProgramAndAreNamed) {
  const uint64_t all = threads();
  const shared_void good(0, 0, array<double, 4>(8).at);
  const auto error = [&](auto body) { return run([=](thread& t) { body(t); }); };
  EXPECT_TRUE(has(error([=](thread& t) { t.memset(shared_void(all, 0, 0), 0, 1); }), "not in a segment"));
  EXPECT_TRUE(has(error([=](thread& t) { t.memset(shared_void(0, 0, 1 << 20), 0, 1); }), "not in a segment"));
  EXPECT_TRUE(has(error([=](thread& t) { t.all_broadcast(good, good, 0); }), "upc_all_broadcast"));
  EXPECT_TRUE(has(error([=](thread& t) { t.all_scatter(shared_void(1, 0, 4096), good, 8); }), "upc_all_scatter"));
  EXPECT_TRUE(has(error([=](thread& t) { upc_all_reduceD(t, good, good, UPC_AND, 4, 4); }), "upc_all_reduce"));
  EXPECT_TRUE(has(error([=](thread& t) { upc_all_reduceD(t, good, good, UPC_FUNC, 4, 4); }), "upc_all_reduce"));
  const shared_void inside = shared_ptr<double, 4>(0, 1, good.offset() + 8);
  EXPECT_TRUE(has(error([=](thread& t) { t.all_gather(good, inside, 8); }), "upc_all_gather"));
  EXPECT_TRUE(has(error([=](thread& t) { upc_all_reduceD(t, good, inside, UPC_ADD, 4, 4); }), "phases"));
  EXPECT_TRUE(has(error([=](thread& t) { t.wait(); }), "without upc_notify"));
}

TEST_P(UpcHost, AThreadThatStaysAwayIsATimeOut) {
  program_.reset();
  program_ = program::create(*cluster_, *heap_, why_, {.timeout_ns = simulated() ? ms / 2 : 200 * ms});
  ASSERT_TRUE(program_) << why_;
  if (threads() == 1) return;
  EXPECT_TRUE(has(run([](thread& t) {
                    if (t.mythread() != 0) t.barrier();
                  }),
                  "did not come in time"));
}

#ifdef GGAS_HAVE_SIM
// Data and words have a context of the NIC each program; one that is in use is passed over.
TEST(UpcChannels, TheNextFreeOneIsTaken) {
  cluster_config cfg;
  cfg.queues.host_count = 3;
  const auto c = make("sim", cfg);
  std::string why;
  const auto memory = heap::create(heap_of(*c), why);
  const auto first = program::create(*c, *memory, why), second = program::create(*c, *memory, why);
  ASSERT_TRUE(first && second) << why;
  EXPECT_EQ(first->channel(), 0u);
  EXPECT_EQ(second->channel(), 1u);
  {
    const auto third = program::create(*c, *memory, why, {.channel = 1});
    ASSERT_TRUE(third) << why;
    EXPECT_EQ(third->channel(), 2u);
    EXPECT_FALSE(program::create(*c, *memory, why, {.channel = 1}));
    EXPECT_TRUE(has(why, "upc: channel 1: none of 3 channels is free")) << why;
  }
  EXPECT_TRUE(program::create(*c, *memory, why, {.channel = 2})) << why;
  EXPECT_FALSE(program::create(*c, *memory, why, {.channel = 3}));
  // Both at once, each with its own.
  unsigned got = 0;
  const shared_array<uint64_t> a = upc::memory(*memory, 2).array<uint64_t>(4, why);
  for (unsigned k = 0; k < 2; ++k)
    EXPECT_TRUE((k ? second : first)->launch([&, k](thread& t) {
      t[a + (2 * k + 1 - t.mythread())] = 10 * k + t.mythread();
      t.barrier();
      got += t[a + (2 * k + t.mythread())] == 10 * k + 1 - t.mythread();
    }));
  ASSERT_TRUE(c->run(50 * ms));
  EXPECT_EQ(got, 4u);
  EXPECT_EQ(first->counts(0).puts, 3u);  // a value, words of two barriers
}
#endif

}  // namespace
}  // namespace ggas::test
