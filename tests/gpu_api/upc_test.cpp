// SPDX-License-Identifier: Apache-2.0
// UPC in kernels: the distribution of iterations, accesses through pointers of every block size, copies between any
// threads, refused calls, and the allocators.
#include <cstring>

#include "ggas/upc_memory.hpp"
#include "ggas/upc_reduce.cuh"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

using namespace upc;

class Upc : public api_test {
 public:
  void SetUp() override {
    api_test::SetUp();
    heap_ = heap::create(heap_of(*cluster_), why_);
    ASSERT_TRUE(heap_) << why_;
    memory_ = std::make_unique<memory>(*heap_, nodes());
  }
  template <class T, uint64_t B = 1>
  shared_array<T, B> array(uint64_t elements) {
    const auto a = memory_->array<T, B>(elements, why_);
    EXPECT_NE(a.at, 0u) << why_;
    for (int n = 0; n < nodes(); ++n) std::memset(cluster_->segment(n) + a.at, 0, a.bytes(elements, threads()));
    return a;
  }
  template <class T, uint64_t B>
  T host_value(const shared_array<T, B>& a, uint64_t i) {
    T v{};
    EXPECT_TRUE(cluster_->read(static_cast<int>((a + i).thread()), (a + i).offset(), &v, sizeof v));
    return v;
  }
  uint64_t threads() const { return static_cast<uint64_t>(nodes()); }

  // Each iteration once, by the thread it belongs to; begin and end anywhere.
  template <uint64_t B>
  void check_forall(uint64_t begin, uint64_t end) {
    const auto a = array<uint64_t, B>(end + 3), by_number = array<uint64_t, B>(end + 3),
               by_pointer = array<uint64_t, B>(end + 3);
    on_all(2, 33, [=] {
      const auto mark = [](const shared_array<uint64_t, B>& in) { return [=](uint64_t i) { in[i] += MYTHREAD + 1; }; };
      forall(begin, end, a, mark(a));
      forall(begin, end, mark(by_number));
      forall(
          begin, end, [=](uint64_t i) { return a + i; }, mark(by_pointer));
    });
    run();
    for (uint64_t i = 0; i < end + 3; ++i) {
      const bool in = i >= begin && i < end;
      ASSERT_EQ(host_value(a, i), in ? a.thread_of(i) + 1 : 0) << "block " << B << ", " << i;
      ASSERT_EQ(host_value(by_pointer, i), in ? a.thread_of(i) + 1 : 0) << "block " << B << ", " << i;
      ASSERT_EQ(host_value(by_number, i), in ? i % threads() + 1 : 0) << "block " << B << ", " << i;
    }
    for (const auto& used : {a, by_number, by_pointer}) EXPECT_EQ(memory_->free(shared_void(0, 0, used.at)), "");
  }

  // Thread 0 walks over an array that all have filled, and writes what it finds through a pointer of another block.
  template <uint64_t B>
  void check_walk() {
    const uint64_t n = 29;
    const auto a = array<int, B>(n);
    const auto back = array<int, 3>(n);
    on_all(1, 1, [=, this] {
      forall(0, n, a, [=](uint64_t i) { a[i] = static_cast<int>(7 * i); });
      EXPECT_EQ(upc_barrier(enough()), ggas_ok);
      if (MYTHREAD != 0) return;
      auto to = back + (n - 1);
      for (auto p = a + 0, end = a + n; p < end; ++p) {
        EXPECT_EQ(*p, 7 * (p - (a + 0)));
        *to = *p;
        to = to - 1;
      }
    });
    run();
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(host_value(back, i), static_cast<int>(7 * (n - 1 - i))) << B;
  }

  std::string why_;
  std::unique_ptr<heap> heap_;
  std::unique_ptr<memory> memory_;
};
INSTANTIATE_TEST_SUITE_P(Provider, Upc, testing::ValuesIn(both_nic_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Upc, ForallGivesEachIterationToItsThread) {
  for (const auto& [begin, end] : {std::pair<uint64_t, uint64_t>{0, 0}, {0, 100}, {7, 31}, {5, 6}}) {
    check_forall<0>(begin, end);
    check_forall<1>(begin, end);
    check_forall<4>(begin, end);
    check_forall<5>(begin, end);
  }
}

TEST_P(Upc, PointersWalkOverBlocks) {
  check_walk<0>();
  check_walk<1>();
  check_walk<4>();
}

// Bytes of any alignment between any two threads, by one CUDA thread, a warp and a block.
TEST_P(Upc, CopiesBetweenAnyThreads) {
  constexpr uint64_t room = 256, n = 77;
  const auto a = array<unsigned char, room>(room * threads()), b = array<unsigned char, room>(room * threads());
  on_all(1, 64, [=, this] {
    forall(0, a.elements, a, [=](uint64_t i) { a[i] = static_cast<unsigned char>(i * 31 >> 3); });
    EXPECT_EQ(upc_barrier(enough()), ggas_ok);
    const uint64_t me = MYTHREAD, all = THREADS;
    for (uint64_t from = 0; from < all && me == 0; ++from) {
      const uint64_t to = (from + all / 2) % all;
      const auto source = a + (from * room + 3), target = b + (to * room + from % 9);
      if (from % 2) {
        EXPECT_EQ(upc_memcpy(block{}, target, source, n, enough()), ggas_ok);
      } else if (threadIdx.x < 32) {
        EXPECT_EQ(upc_memcpy(warp{}, target, source, n, enough()), ggas_ok);
      }
    }
    EXPECT_EQ(upc_barrier(enough()), ggas_ok);
    // Its own part comes back from the next thread, over the private copy that a put has left.
    const auto mine = a + me * room, next = a + (me + 1) % all * room;
    if (threadIdx.x == 0) {
      EXPECT_EQ(upc_memget(local(b + (me * room + 128)), next, 32, enough()), ggas_ok);
      EXPECT_EQ(upc_memput(b + ((me + 1) % all * room + 192), local(mine), 32, enough()), ggas_ok);
      EXPECT_EQ(upc_memset(b + ((me + 1) % all * room + 224), 0x5a, 9), ggas_ok);
      EXPECT_EQ(upc_memcpy(b + me * room, mine, 0, 0), ggas_ok);
      EXPECT_EQ(upc_memset(shared_void(all, 0, 4096), 0, 1), ggas_bad_argument);
      EXPECT_EQ(upc_memput(shared_void(me, 0, ggas_segment_bytes() - 4), local(mine), 8, enough()), ggas_bad_argument);
    }
    EXPECT_EQ(upc_barrier(enough()), ggas_ok);
  });
  run();
  const auto byte = [](uint64_t i) { return static_cast<unsigned char>(i * 31 >> 3); };
  for (uint64_t t = 0; t < threads(); ++t) {
    const uint64_t from = (t + threads() - threads() / 2) % threads(), left = (t + threads() - 1) % threads();
    for (uint64_t i = 0; i < room; ++i) {
      const uint64_t copied = i - from % 9;
      const int want = copied < n            ? byte(from * room + 3 + copied)
                       : i >= 128 && i < 160 ? byte((t + 1) % threads() * room + i - 128)
                       : i >= 192 && i < 224 ? byte(left * room + i - 192)
                       : i >= 224 && i < 233 ? 0x5a
                                             : 0;
      ASSERT_EQ(host_value(b, t * room + i), want) << "thread " << t << ", byte " << i;
    }
  }
}

// Stores of others before their notify are visible after the wait; the wait does not wait for accesses that a thread
// makes between the two.
TEST_P(Upc, NotifyAndWaitAreABarrier) {
  const auto a = array<uint64_t>(threads());
  on_all(1, 32, [=, this] {
    for (uint64_t round = 1; round <= 5; ++round) {
      if (threadIdx.x == 0) a[(MYTHREAD + 1) % THREADS] = round * 100 + MYTHREAD;
      auto notified = upc_notify();
      EXPECT_EQ(upc_wait(notified, enough()), ggas_ok);
      const uint64_t left = (MYTHREAD + THREADS - 1) % THREADS;
      EXPECT_EQ(a[MYTHREAD], round * 100 + left);
      EXPECT_EQ(upc_fence(), ggas_ok);
      EXPECT_EQ(upc_barrier(enough()), ggas_ok);
    }
  });
  run();
}

// The six collectives in all modes, of words and of odd bytes; a barrier lies between two of them, because modes other
// than all give the next call no guarantee.
TEST_P(Upc, CollectivesMoveWhatTheLanguageSays) {
  const uint64_t all = threads(), last = all - 1;
  for (const uint64_t n : {uint64_t{1}, uint64_t{24}, uint64_t{77}}) {
    const uint64_t part = all * n;
    const auto source = memory_->all_alloc(all, part, why_), target = memory_->all_alloc(6 * all, part, why_);
    ASSERT_TRUE(source && target) << why_;
    const auto perm = array<int>(all);
    for (uint64_t t = 0; t < all; ++t) {
      auto* const from = cluster_->segment(static_cast<int>(t)) + source.offset();
      for (uint64_t i = 0; i < part; ++i) from[i] = static_cast<std::byte>(t * 41 + i * 3);
      std::memset(cluster_->segment(static_cast<int>(t)) + target.offset(), 0, 6 * part);
      const int to = static_cast<int>((t + all / 2) % all);
      std::memcpy(cluster_->segment(static_cast<int>(t)) + perm.at, &to, sizeof to);
    }
    on_all(1, 64, [=, this] {
      for (const auto mode : {ggas_in_all | ggas_out_all, ggas_in_mine | ggas_out_all, ggas_in_none | ggas_out_mine}) {
        const auto to = [=](uint64_t k) { return shared_void(0, 0, target.offset() + k * part); };
        const shared_void rooted(last, 0, source.offset());
        EXPECT_EQ(upc_all_broadcast(to(0), rooted, n, enough(), mode), ggas_ok);
        EXPECT_EQ(upc_all_scatter(to(1), rooted, n, enough(), mode), ggas_ok);
        EXPECT_EQ(upc_all_gather(shared_void(last, 0, to(2).offset()), source, n, enough(), mode), ggas_ok);
        EXPECT_EQ(upc_all_gather_all(to(3), source, n, enough(), mode), ggas_ok);
        EXPECT_EQ(upc_all_exchange(to(4), source, n, enough(), mode), ggas_ok);
        EXPECT_EQ(upc_all_permute(to(5), source, perm + 0, n, enough(), mode), ggas_ok);
        EXPECT_EQ(upc_barrier(enough()), ggas_ok);
      }
      EXPECT_EQ(upc_all_broadcast(target, source, 0, enough()), ggas_bad_argument);
      EXPECT_EQ(upc_all_gather_all(shared_void(1, 0, 8), source, n, enough()), ggas_bad_argument);
      const shared_void inside = shared_ptr<char, 8>(0, 1, source.offset());
      EXPECT_EQ(upc_all_gather_all(target, inside, n, enough()), ggas_bad_argument);
    });
    run();
    const auto byte = [](uint64_t t, uint64_t i) { return static_cast<std::byte>(t * 41 + i * 3); };
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
    for (const auto& p : {source, target, shared_void(0, 0, perm.at)}) EXPECT_EQ(memory_->free(p), "");
  }
}

// Checks the sum and all prefixes of n elements in blocks, from a thread on, against a loop over the elements.
template <class T, class Call, class F>
void check_reduction(Upc& on, upc_op_t op, uint64_t n, uint64_t block, uint64_t first, F func, Call call) {
  const uint64_t threads = on.threads(), side = block == 0 ? n : block, rows = n / side / threads + 2;
  const auto memory_of = [&](uint64_t count) {
    const shared_void at = on.memory_->all_alloc(threads * rows, count * side * sizeof(T), on.why_);
    EXPECT_TRUE(at) << on.why_;
    return at;
  };
  const shared_void src_at = memory_of(1), dst_at = memory_of(1), sum_at = memory_of(1);
  const shared_void src(first, 0, src_at.offset()), dst(first, 0, dst_at.offset()),
      sum(threads - 1, 0, sum_at.offset());
  const auto host_at = [&](const shared_void& p) {
    return reinterpret_cast<T*>(on.cluster_->segment(static_cast<int>(p.thread())) + p.offset());
  };
  std::vector<T> want(n);
  for (uint64_t i = 0; i < n; ++i) {
    const T v = static_cast<T>(static_cast<T>(i * 7 % 11) + static_cast<T>(1) / static_cast<T>(2));
    *host_at(element_place(src, block, i, sizeof(T), threads)) = v;
    want[i] = i == 0 ? v : upc::detail::apply(op, want[i - 1], v, func);
  }
  on.on_all(1, 40, [&, src, dst, sum] { call(sum, dst, src, op, n, block, func); });
  on.run();
  // The sum of blocks in a row: floats of this size are exact.
  EXPECT_EQ(*host_at(sum), want[n - 1]) << "op " << op << ", block " << block << ", from " << first;
  for (uint64_t i = 0; i < n; ++i)
    ASSERT_EQ(*host_at(element_place(dst, block, i, sizeof(T), threads)), want[i])
        << i << ", op " << op << ", block " << block << ", from " << first;
  for (const shared_void& p : {src_at, dst_at, sum_at}) EXPECT_EQ(on.memory_->free(p), "");
}

TEST_P(Upc, ReductionsFollowTheOrderOfElements) {
  const auto call = [this](auto sum, auto dst, auto src, upc_op_t op, uint64_t n, uint64_t block, auto func) {
    EXPECT_EQ(upc_all_reduce<int>(sum, src, op, n, block, func, enough()), ggas_ok);
    EXPECT_EQ(upc_all_prefix_reduce<int>(dst, src, op, n, block, func, enough(), ggas_in_mine | ggas_out_all), ggas_ok);
  };
  const auto left = [](int a, int) { return a; };  // associative, not commutative
  for (const uint64_t block : {0, 1, 3, 50})
    for (const uint64_t first : {uint64_t{0}, threads() - 1}) {
      check_reduction<int>(*this, UPC_ADD, 37, block, first, nullptr, call);
      check_reduction<int>(*this, UPC_NONCOMM_FUNC, 12, block, first, left, call);
    }
  if (!simulated())
    for (unsigned op = UPC_ADD; op <= UPC_MAX; ++op)
      check_reduction<int>(*this, static_cast<upc_op_t>(op), 23, 3, 0, nullptr, call);
}

TEST_P(Upc, EveryTypeHasItsReductions) {
  const auto none = nullptr;
  const auto check = [&]<class T>(T, auto reduce, auto prefix) {
    check_reduction<T>(*this, UPC_ADD, 13, 2, 0, none,
                       [&](auto sum, auto dst, auto src, auto op, auto n, auto block, auto f) {
                         EXPECT_EQ(reduce(sum, src, op, n, block, f), ggas_ok);
                         EXPECT_EQ(prefix(dst, src, op, n, block, f), ggas_ok);
                       });
  };
  const uint64_t t = enough();
  check((signed char)0, [=](auto... a) { return upc_all_reduceC(a..., t); },
        [=](auto... a) { return upc_all_prefix_reduceC(a..., t); });
  check((unsigned char)0, [=](auto... a) { return upc_all_reduceUC(a..., t); },
        [=](auto... a) { return upc_all_prefix_reduceUC(a..., t); });
  check((short)0, [=](auto... a) { return upc_all_reduceS(a..., t); },
        [=](auto... a) { return upc_all_prefix_reduceS(a..., t); });
  check((unsigned short)0, [=](auto... a) { return upc_all_reduceUS(a..., t); },
        [=](auto... a) { return upc_all_prefix_reduceUS(a..., t); });
  check(
      0, [=](auto... a) { return upc_all_reduceI(a..., t); },
      [=](auto... a) { return upc_all_prefix_reduceI(a..., t); });
  check(
      0u, [=](auto... a) { return upc_all_reduceUI(a..., t); },
      [=](auto... a) { return upc_all_prefix_reduceUI(a..., t); });
  check(
      0l, [=](auto... a) { return upc_all_reduceL(a..., t); },
      [=](auto... a) { return upc_all_prefix_reduceL(a..., t); });
  check(
      0ul, [=](auto... a) { return upc_all_reduceUL(a..., t); },
      [=](auto... a) { return upc_all_prefix_reduceUL(a..., t); });
  check(
      0.0f, [=](auto... a) { return upc_all_reduceF(a..., t); },
      [=](auto... a) { return upc_all_prefix_reduceF(a..., t); });
  check(
      0.0, [=](auto... a) { return upc_all_reduceD(a..., t); },
      [=](auto... a) { return upc_all_prefix_reduceD(a..., t); });
}

TEST_P(Upc, BadReductionsAreRefused) {
  const auto a = array<double, 4>(8);
  on_all(1, 8, [=, this] {
    const shared_void at(0, 0, a.at);
    const auto none = nullptr;
    const auto reduce = [&](const shared_void& dst, const shared_void& src, upc_op_t op, uint64_t n, uint64_t block) {
      return upc_all_reduceD(dst, src, op, n, block, none, enough());
    };
    EXPECT_EQ(reduce(at, at, UPC_XOR, 4, 4), ggas_bad_argument);  // bits of a float
    EXPECT_EQ(reduce(at, at, UPC_FUNC, 4, 4), ggas_bad_argument);
    EXPECT_EQ(reduce(at, at, UPC_ADD, 0, 4), ggas_bad_argument);
    EXPECT_EQ(reduce(at, at, UPC_ADD, ~uint64_t{0}, 0), ggas_bad_argument);
    EXPECT_EQ(reduce(at, at, UPC_ADD, ~uint64_t{0}, 1), ggas_bad_argument);
    EXPECT_EQ(reduce(at, shared_void(THREADS, 0, a.at), UPC_ADD, 4, 4), ggas_bad_argument);
    EXPECT_EQ(reduce(shared_void(0, 0, a.at + 4), at, UPC_ADD, 4, 4), ggas_bad_argument);
    EXPECT_EQ(upc_all_prefix_reduceD(shared_void(THREADS - 1, 0, a.at), at, UPC_ADD, 4, 4, none, enough()),
              THREADS == 1 ? ggas_ok : ggas_bad_argument);
  });
  run();
}

TEST_P(Upc, AllocatorsGiveAndRefuse) {
  std::string why;
  const uint64_t used = heap_->statistics().used;
  const shared_void all = memory_->all_alloc(3 * threads() + 1, 100, why), one = memory_->alloc(nodes() - 1, 40, why);
  ASSERT_TRUE(all) << why;
  ASSERT_TRUE(one) << why;
  EXPECT_EQ(all.thread(), 0u);
  EXPECT_EQ(one.thread(), threads() - 1);
  EXPECT_GE(heap_->allocated().at(all.offset()), 400u);  // four blocks of thread 0
  EXPECT_EQ(memory_->free(one), "");
  EXPECT_NE(memory_->free(one), "");
  EXPECT_EQ(memory_->free(all), "");
  EXPECT_EQ(memory_->free({}), "");
  EXPECT_EQ(heap_->statistics().used, used);
  EXPECT_FALSE(memory_->alloc(nodes(), 8, why));
  EXPECT_EQ(why, "alloc: thread " + std::to_string(nodes()) + ": must be 0 ... " + std::to_string(nodes() - 1));
  EXPECT_FALSE(memory_->global_alloc(0, 8, why));
  EXPECT_FALSE(memory_->all_alloc(~uint64_t{0}, ~uint64_t{0}, why));
  EXPECT_FALSE(memory_->all_alloc(1, uint64_t{1} << 40, why));
  EXPECT_EQ((memory_->array<double, 4>(~uint64_t{0}, why).at), 0u);
  EXPECT_EQ(heap_->statistics().used, used);
}

}  // namespace
}  // namespace ggas::test
