// SPDX-License-Identifier: Apache-2.0
// Relocalization of memory that lies anywhere, through dynamic and static buffers: bytes, messages, copies, memory.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>

#include "tests/gpu_api/ranks_rig.hpp"

namespace ggas::test::ranks_schemes_test {
namespace {

constexpr unsigned char untouched = 0x5a;
constexpr uint64_t kb = 1024, short_buffer = 8 * kb;
constexpr rank_kind relocations[] = {rank_kind::broadcast, rank_kind::scatter,  rank_kind::gather,
                                     rank_kind::allgather, rank_kind::alltoall, rank_kind::permute};

struct scheme_target {
  rank_target on;
  ggas_scheme scheme;
  std::string name() const { return on.name() + (scheme == ggas_static ? "static" : "dynamic"); }
  friend void PrintTo(const scheme_target& t, std::ostream* os) { *os << t.name(); }
};

// Ranks with buffers, and memory of the processor for each of them, outside of every segment.
class buffered_ranks {
 public:
  static constexpr size_t guard = 64;
  using bytes = std::vector<uint8_t>;

  buffered_ranks(const rank_target& t, ggas_scheme scheme, uint64_t buffer, bool counts = false) : target_(t) {
    cluster_config cfg = t.on.config();
    const auto ranks = static_cast<uint64_t>(t.ranks());
    cfg.segment_bytes = (t.blocks * (std::max(buffer, short_buffer) + ranks * 512 + 4096) + (1 << 20)) / 4096 * 4096;
    if (counts) setenv("GGAS_CHECKED", "1", 1);
    auto c = make_cluster(t.on, cfg);
    unsetenv("GGAS_CHECKED");
    EXPECT_TRUE(c) << c.error().text;
    cluster_ = std::move(*c);
    std::string why;
    heap_ = heap::create(heap_of(*cluster_), why);
    EXPECT_TRUE(heap_) << why;
    space_ = std::make_unique<rank_space>(*cluster_, *heap_);
    ranks_ = space_->make(
        {.blocks = t.blocks, .slot_bytes = 64, .credits = 1, .scheme = scheme, .buffer_bytes = buffer}, why);
    EXPECT_EQ(why, "");
    src.resize(ranks);
    dst.resize(ranks);
    counts_.resize(ranks);
  }

  int count() const { return target_.ranks(); }
  const ggas_ranks& ranks() const { return ranks_; }
  uint64_t enough() const { return target_.on.enough_ns(); }
  void run(unsigned threads, const std::function<void()>& kernel) {
    for (int n = 0; n < target_.on.nodes; ++n) ASSERT_TRUE(cluster_->launch(n, target_.blocks, threads, kernel));
    const auto r = cluster_->run(4 * enough());
    ASSERT_TRUE(r) << r.error().text;
  }

  void prepare(const rank_plan<uint8_t>& p, unsigned round) {
    for (int rank = 0; rank < count(); ++rank) {
      const auto r = static_cast<size_t>(rank);
      src[r].resize(source_elements(p, count()));
      for (size_t i = 0; i < src[r].size(); ++i) src[r][i] = element<uint8_t>(round, rank, i);
      dst[r].assign(target_elements(p, count()) + 2 * guard, untouched);
    }
  }
  ggas_status call(const rank_plan<uint8_t>& p) {
    const auto me = static_cast<size_t>(ggas_rank(ranks_));
    uint8_t* const to = dst[me].data() + guard;
    const uint8_t* const from = src[me].data();
    switch (p.kind) {
      case rank_kind::broadcast:
        return ggas_broadcast(ranks_, to, from, p.n, p.root, enough(), p.mode);
      case rank_kind::scatter:
        return ggas_scatter(ranks_, to, from, p.n, p.root, enough(), p.mode);
      case rank_kind::gather:
        return ggas_gather(ranks_, to, from, p.n, p.root, enough(), p.mode);
      case rank_kind::allgather:
        return ggas_allgather(ranks_, to, from, p.n, enough(), p.mode);
      case rank_kind::alltoall:
        return ggas_alltoall(ranks_, to, from, p.n, enough(), p.mode);
      default:
        return ggas_permute(ranks_, to, from, p.n, p.target(static_cast<int>(me), count()), enough(), p.mode);
    }
  }
  std::string compare(const rank_plan<uint8_t>& p, unsigned round) const {
    for (int rank = 0; rank < count(); ++rank) {
      const bytes& got = dst[static_cast<size_t>(rank)];
      bytes want(got.size(), untouched);
      for (size_t i = 0; i + 2 * guard < want.size(); ++i) expected(p, count(), round, rank, i, want[guard + i]);
      if (got != want)
        return "rank " + std::to_string(rank) + ", byte " +
               std::to_string(std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin());
    }
    return {};
  }
  // The call by all ranks, as the serial model says it; what each counted meanwhile.
  std::vector<ggas_rank_counts> play(const rank_plan<uint8_t>& p, unsigned round, unsigned threads = 64) {
    prepare(p, round);
    std::atomic<unsigned> failed = 0;
    run(threads, [&] {
      failed += call(p) != ggas_ok;
      if (threadIdx.x == 0) counts_[static_cast<size_t>(ggas_rank(ranks_))] = ggas_counts(ranks_);
    });
    const std::string what = "kind " + std::to_string(static_cast<int>(p.kind)) + ", n " + std::to_string(p.n) +
                             ", root " + std::to_string(p.root) + ", mode " + std::to_string(p.mode);
    EXPECT_EQ(failed, 0u) << what;
    EXPECT_EQ(compare(p, round), "") << what;
    return counts_;
  }

  std::vector<bytes> src, dst;

 private:
  rank_target target_;
  std::unique_ptr<cluster> cluster_;
  std::unique_ptr<heap> heap_;
  std::unique_ptr<rank_space> space_;
  ggas_ranks ranks_{};
  std::vector<ggas_rank_counts> counts_;
};

std::vector<scheme_target> scheme_targets() {
  std::vector<rank_target> all;
  for (const int nodes : {1, 2, 3, 5, 6, 16}) all.push_back({{.nodes = nodes}, 1});
  all.push_back({{.nodes = 1}, 7});
  all.push_back({{.nodes = 4}, 4});
#ifdef GGAS_TEST_SIM
  all.push_back({{.provider = "sim", .nodes = 2, .label = "model", .nic = "model"}, 3});
#endif
  std::vector<scheme_target> with;
  for (const rank_target& t : all)
    for (const ggas_scheme s : {ggas_dynamic, ggas_static}) with.push_back({t, s});
  return with;
}

class Schemes : public testing::TestWithParam<scheme_target> {};
INSTANTIATE_TEST_SUITE_P(On, Schemes, testing::ValuesIn(scheme_targets()),
                         [](const auto& i) { return i.param.name(); });

// All kinds and nine pairs of modes; sizes of parts near one packet and near several packets.
TEST_P(Schemes, EveryByteIsAsTheSerialModelSays) {
  const bool simulated = GetParam().on.on.simulated();
  const auto ranks = static_cast<uint64_t>(GetParam().on.ranks());
  const bool dynamic = GetParam().scheme == ggas_dynamic;
  std::vector<size_t> sizes = {1, 7, 8, 127, 128, 129};
  if (!simulated) sizes.insert(sizes.end(), {1024, 4095, 4097});
  if (!dynamic && !simulated) sizes.push_back(short_buffer + 1);
  if (!dynamic && !simulated && ranks < 8)
    sizes.insert(sizes.end(), {short_buffer - 1, short_buffer, 3 * short_buffer + 3});
  buffered_ranks on(GetParam().on, GetParam().scheme, dynamic ? 4097 * ranks : short_buffer);
  std::mt19937 rng(static_cast<unsigned>(ranks));
  unsigned round = 0;
  for (const rank_kind kind : relocations)
    for (unsigned mode = 0; mode < 9; ++mode) {
      const size_t n = sizes[(round * 5 + mode) % sizes.size()];
      const int root = static_cast<int>(rng() % ranks);
      const unsigned threads = std::array{1u, 32u, 40u, 96u}[rng() % 4];
      on.play({kind, n, root, static_cast<unsigned>(rng() % 64), ggas_max, mode_of(mode)}, ++round, threads);
    }
}

// Straight and through buffers by turns, back to back, nothing between them.
TEST_P(Schemes, CallsFollowEachOther) {
  const auto ranks = static_cast<uint64_t>(GetParam().on.ranks());
  buffered_ranks on(GetParam().on, GetParam().scheme, short_buffer * 2 * ranks);
  std::atomic<unsigned> failed = 0, wrong = 0;
  on.prepare({rank_kind::alltoall, 400, 0, 0}, 1);
  std::vector<std::vector<uint8_t>> out(ranks, std::vector<uint8_t>(400 * ranks));
  const unsigned calls = GetParam().on.on.simulated() ? 6 : rounds(60);
  on.run(32, [&] {
    const int me = ggas_rank(on.ranks());
    for (unsigned round = 0; round < calls; ++round) {
      const rank_plan<uint8_t> p{relocations[(round * 7 + 3) % 6],
                                 1 + round * 37 % 400,
                                 static_cast<int>(round % ranks),
                                 round,
                                 ggas_max,
                                 mode_of(round * 5 % 9)};
      for (size_t i = threadIdx.x; i < source_elements(p, on.count()); i += blockDim.x)
        on.src[static_cast<size_t>(me)][i] = element<uint8_t>(round, me, i);
      failed += on.call(p) != ggas_ok;
      for (size_t i = threadIdx.x; i < target_elements(p, on.count()); i += blockDim.x) {
        uint8_t v = 0;
        if (expected(p, on.count(), round, me, i, v))
          wrong += on.dst[static_cast<size_t>(me)][buffered_ranks::guard + i] != v;
      }
    }
  });
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong, 0u);
}

// ------------------------------------------------------------------------------------------------ counts

uint64_t messages(const std::vector<ggas_rank_counts>& counts) {
  uint64_t all = 0;
  for (const auto& c : counts) all += c.messages;
  return all;
}

TEST(SchemeCounts, ScatterChangesFromTheTreeToPushes) {
  for (const auto& [n, of_root, copies] : {std::tuple{1024u, 4u, 15u}, std::tuple{1025u, 15u, 15u}}) {
    buffered_ranks on({{.nodes = 4}, 4}, ggas_static, short_buffer, true);
    const auto counts = on.play({rank_kind::scatter, n, 5, 0}, 1);
    EXPECT_EQ(counts[5].messages, of_root) << n;
    EXPECT_EQ(messages(counts), 15u) << n;
    uint64_t taken = 0;
    for (const auto& c : counts) taken += c.copies;
    EXPECT_EQ(taken, copies) << n;
  }
}

TEST(SchemeCounts, MessagesAreThoseOfThePlans) {
  for (const int ranks : {2, 3, 5, 6, 7, 12, 16}) {
    const auto t = static_cast<uint64_t>(ranks), steps = static_cast<uint64_t>(detail::doublings(ranks));
    const rank_target on{{.nodes = 1}, static_cast<unsigned>(ranks)};
    const size_t packets = 4, n = 3 * short_buffer + 3;
    const auto of = [&](rank_kind kind) {
      buffered_ranks r(on, ggas_static, short_buffer, true);
      return r.play({kind, n, 1, 2}, 1);
    };
    const auto broadcast = of(rank_kind::broadcast);
    EXPECT_EQ(broadcast[1].messages, packets * steps) << ranks;
    EXPECT_EQ(messages(broadcast), packets * (t - 1)) << ranks;
    for (const auto& c : of(rank_kind::allgather)) EXPECT_EQ(c.messages, packets * (t - 1)) << ranks;
    for (const auto& c : of(rank_kind::alltoall)) EXPECT_EQ(c.messages, packets * (t - 1)) << ranks;
    const auto gather = of(rank_kind::gather);
    EXPECT_EQ(messages(gather), packets * (t - 1)) << ranks;
    EXPECT_EQ(gather[1].messages, 0u) << ranks;
    EXPECT_EQ(gather[1].copies, packets * (t - 1)) << ranks;
  }
}

TEST(SchemeCounts, ADynamicBufferHoldsTheCallAndNoMore) {
  constexpr size_t n = 300;
  constexpr uint64_t t = 6;
  for (const auto& [kind, peak] : {std::tuple{rank_kind::broadcast, n}, std::tuple{rank_kind::scatter, n * t / 2},
                                   std::tuple{rank_kind::gather, n * t}, std::tuple{rank_kind::allgather, n * t},
                                   std::tuple{rank_kind::alltoall, n * t}, std::tuple{rank_kind::permute, n}}) {
    buffered_ranks on({{.nodes = 2}, 3}, ggas_dynamic, n * t, true);
    const auto counts = on.play({kind, n, 1, 2}, 1);
    uint64_t most = 0;
    for (const auto& c : counts) most = std::max(most, c.peak);
    EXPECT_EQ(most, peak) << static_cast<int>(kind);
  }
}

// ------------------------------------------------------------------------------------------------ refused

TEST(SchemeErrors, WhatDoesNotFitIsRefusedAndNothingIsStored) {
  buffered_ranks on({{.nodes = 2}, 2}, ggas_dynamic, 256);
  const rank_plan<uint8_t> p{rank_kind::allgather, 65, 0, 0};
  on.prepare(p, 1);
  std::atomic<unsigned> refused = 0;
  on.run(32, [&] {
    const auto me = static_cast<size_t>(ggas_rank(on.ranks()));
    uint8_t* const to = on.dst[me].data();
    refused += on.call(p) == ggas_bad_argument;  // 260 bytes of 256
    refused += ggas_allgather(on.ranks(), to, to + 1, 8, on.enough()) == ggas_bad_argument;
    refused += ggas_allgather(on.ranks(), to, static_cast<uint8_t*>(nullptr), 8, on.enough()) == ggas_bad_argument;
    refused += ggas_allgather(on.ranks(), to, on.src[me].data(), 0, on.enough()) == ggas_bad_argument;
    refused += ggas_allgather(on.ranks(), to, on.src[me].data(), ~size_t{0}, on.enough()) == ggas_bad_argument;
    refused += ggas_broadcast(on.ranks(), to, on.src[me].data(), 8, 4, on.enough()) == ggas_bad_argument;
  });
  EXPECT_EQ(refused, 6u * 4 * 32);
  for (const auto& d : on.dst) EXPECT_TRUE(std::all_of(d.begin(), d.end(), [](uint8_t v) { return v == untouched; }));
  on.play({rank_kind::allgather, 64, 0, 0}, 2);
}

TEST(SchemeErrors, RanksWithoutBuffersHaveNone) {
  buffered_ranks on({{.nodes = 2}, 1}, ggas_dynamic, 0);
  on.prepare({rank_kind::permute, 8, 0, 0}, 1);
  on.run(1, [&] { EXPECT_EQ(on.call({rank_kind::permute, 8, 0, 0}), ggas_bad_argument); });
}

TEST(SchemeShapes, StaticBuffersHave8To64KbAndTheirCap) {
  const rank_target t{{.nodes = 2}, 1};
  auto c = make_cluster(t.on, t.on.config());
  ASSERT_TRUE(c);
  std::string why;
  auto memory = heap::create(heap_of(**c), why);
  ASSERT_TRUE(memory) << why;
  rank_space space(**c, *memory);
  const auto length = [&](uint64_t asked, uint64_t cap = rank_shape{}.most_buffer) {
    const ggas_ranks r =
        space.make({.slot_bytes = 64, .scheme = ggas_static, .buffer_bytes = asked, .most_buffer = cap}, why);
    EXPECT_EQ(why, "");
    EXPECT_EQ(space.free(r), "");
    return r.buffer_bytes;
  };
  EXPECT_EQ(length(1), 8 * kb);
  EXPECT_EQ(length(8 * kb), 8 * kb);
  EXPECT_EQ(length(8 * kb + 1), 8 * kb + 64);
  EXPECT_EQ(length(1 << 20), 64 * kb);
  EXPECT_EQ(length(1 << 20, 16 * kb), 16 * kb);
  EXPECT_EQ(length(1, 4 * kb), 8 * kb);
  (void)space.make({.scheme = ggas_static}, why);
  EXPECT_NE(why.find("static buffers of 0 bytes"), std::string::npos) << why;
}

// ------------------------------------------------------------------------------------------------ settings

class with_environment {
 public:
  using variables = std::initializer_list<std::pair<const char*, const char*>>;
  explicit with_environment(variables all) {
    for (const auto& [name, value] : all) {
      setenv(name, value, 1);
      names_.emplace_back(name);
    }
  }
  ~with_environment() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  with_environment(const with_environment&) = delete;
  with_environment& operator=(const with_environment&) = delete;

 private:
  std::vector<std::string> names_;
};

// The rules of the original. The scheme is dynamic if the size is not set, 0 or less. From 1 byte on it is static, with
// at least 8 KB and a limit that can be set.
TEST(SchemeSettings, EachCombinationGivesItsScheme) {
  const rank_target t{{.nodes = 2}, 1};
  auto c = make_cluster(t.on, t.on.config());
  ASSERT_TRUE(c);
  std::string why;
  auto memory = heap::create(heap_of(**c), why);
  ASSERT_TRUE(memory) << why;
  rank_space space(**c, *memory);
  const uint64_t used = memory->statistics().used;
  struct {
    const char *buffer, *most;
    ggas_scheme scheme;
    uint64_t bytes;
  } const rows[] = {{"", "", ggas_dynamic, 4096},
                    {"0", "", ggas_dynamic, 4096},
                    {"-5", "", ggas_dynamic, 4096},
                    {"1", "", ggas_static, 8 * kb},
                    {"9000", "", ggas_static, 9024},
                    {"1000000", "", ggas_static, 64 * kb},
                    {"70000", "100000", ggas_static, 70016},
                    {"70000", "16384", ggas_static, 16 * kb}};
  for (const auto& row : rows) {
    const with_environment set{{{"GGAS_RANK_BUFFER", row.buffer}, {"GGAS_RANK_BUFFER_MOST", row.most}}};
    const auto shape = settled({.slot_bytes = 64, .buffer_bytes = 4096}, why);
    ASSERT_TRUE(shape) << why;
    const ggas_ranks r = space.make(*shape, why);
    EXPECT_EQ(why, "");
    EXPECT_EQ(r.scheme, row.scheme) << row.buffer;
    EXPECT_EQ(r.buffer_bytes, row.bytes) << row.buffer;
    EXPECT_GE(memory->statistics().used, used + row.bytes);
    EXPECT_EQ(space.free(r), "");
    EXPECT_EQ(memory->statistics().used, used);  // all is given back
  }
  for (const auto& [name, value] : {std::pair{"GGAS_RANK_BUFFER", "8k"}, std::pair{"GGAS_RANK_BUFFER_MOST", "0"},
                                    std::pair{"GGAS_RANK_NATIVE_BARRIER", "-1"}}) {
    const with_environment set{{{name, value}}};
    EXPECT_FALSE(settled({}, why));
    EXPECT_NE(why.find(name), std::string::npos) << why;
  }
  (void)space.make({.native_barrier = 100000}, why);
  EXPECT_NE(why.find("native barrier 100000"), std::string::npos) << why;
}

// Nodes meet by the barrier of blocks, and the words of the ranks' own one are not touched.
TEST(SchemeSettings, TheNativeBarrierOnRequest) {
  for (const char* const index : {"", "2"}) {
    const with_environment set{{{"GGAS_RANK_NATIVE_BARRIER", index}}};
    const rank_target t{{.nodes = 3}, 2};
    auto c = make_cluster(t.on, t.on.config());
    ASSERT_TRUE(c);
    std::string why;
    auto memory = heap::create(heap_of(**c), why);
    rank_space space(**c, *memory);
    const auto shape = settled({.blocks = 2, .slot_bytes = 64}, why);
    ASSERT_TRUE(shape) << why;
    const ggas_ranks r = space.make(*shape, why);
    const ranked<uint64_t> words{*memory->allocate(256, why), 64};
    std::atomic<unsigned> wrong = 0;
    for (int n = 0; n < 3; ++n) {
      ASSERT_TRUE((*c)->launch(n, 2, 32, [&] {
        const int me = ggas_rank(r), all = ggas_rank_count(r);
        for (uint64_t round = 1; round <= 10; ++round) {
          if (threadIdx.x == 0) ggas_store(ggas_pointer_of_rank(r, (me + 1) % all, words), round);
          wrong += ggas_barrier(r, t.on.enough_ns()) != ggas_ok;
          wrong += ggas_load(ggas_pointer_of_rank(r, me, words)) != round;
          wrong += ggas_barrier(r, t.on.enough_ns()) != ggas_ok;
        }
      }));
    }
    const auto ran = (*c)->run(4 * t.on.enough_ns());
    ASSERT_TRUE(ran) << ran.error().text;
    EXPECT_EQ(wrong, 0u);
    uint64_t own = 0;
    ASSERT_TRUE((*c)->read(0, r.place + rank_layout::meetings, &own, sizeof own));
    EXPECT_EQ(own, *index ? 0u : 20u);
  }
}

// ------------------------------------------------------------------------------------------------ straight

// Data in the segment are not copied. With modes of none the source stores the data. With other modes the ranks of
// its node load them, and one rank of each other node gets a message.
TEST(StraightCounts, RanksOfANodeReadWhatOneOfThemHas) {
  const auto all = ggas_in_all | ggas_out_all, mine = ggas_in_mine | ggas_out_mine, none = ggas_in_none | ggas_out_none;
  struct {
    rank_kind kind;
    ggas_sync_mode mode;
    uint64_t of_root, of_all;  // of 3 nodes x 4 ranks
  } const rows[] = {{rank_kind::broadcast, all, 2, 2},   {rank_kind::broadcast, mine, 2, 2},
                    {rank_kind::broadcast, none, 5, 11}, {rank_kind::scatter, all, 8, 8},
                    {rank_kind::scatter, mine, 8, 8},    {rank_kind::scatter, none, 11, 11}};
  for (const auto& row : rows) {
    setenv("GGAS_CHECKED", "1", 1);
    rank_cluster on({{.nodes = 3}, 4}, 4096);
    unsetenv("GGAS_CHECKED");
    std::vector<ggas_rank_counts> counts(12);
    std::atomic<unsigned> failed = 0;
    on.run(64, [&] {
      const rank_plan<char> p{row.kind, 100, 5, 0, ggas_max, row.mode};
      failed += call_of_rank(on.ranks, p, on.dst, on.src, on.enough()) != ggas_ok;
      failed += ggas_barrier(on.ranks, on.enough()) != ggas_ok;
      if (threadIdx.x == 0) counts[static_cast<size_t>(ggas_rank(on.ranks))] = ggas_counts(on.ranks);
    });
    EXPECT_EQ(failed, 0u);
    EXPECT_EQ(counts[5].messages, row.of_root) << static_cast<int>(row.kind) << " " << row.mode;
    EXPECT_EQ(messages(counts), row.of_all) << static_cast<int>(row.kind) << " " << row.mode;
    for (const auto& c : counts) EXPECT_EQ(c.copies, 0u);
  }
}

// Each half that is `all` is one barrier; other halves are none. So if a call ends with none and the next one begins
// with none, there is no barrier between the two.
TEST(StraightCounts, AHalfThatIsAllIsOneBarrier) {
  struct {
    ggas_sync_mode first, second;
    uint64_t barriers;
  } const rows[] = {{ggas_in_all | ggas_out_all, ggas_in_all | ggas_out_all, 4},
                    {ggas_in_all | ggas_out_none, ggas_in_none | ggas_out_all, 2},
                    {ggas_in_all | ggas_out_mine, ggas_in_mine | ggas_out_mine, 1},
                    {ggas_in_none | ggas_out_none, ggas_in_none | ggas_out_all, 1}};
  for (const auto& row : rows) {
    rank_cluster on({{.nodes = 3}, 2}, 4096);
    const ranked<char> dst{on.dst.offset + 2048, on.dst.step}, src{on.src.offset + 2048, on.src.step};
    on.fill(std::byte{7});
    std::memset(on.memory(on.src, 1), 9, 40);
    std::atomic<unsigned> failed = 0, wrong = 0;
    on.run(32, [&] {
      char* const mine = ggas_pointer_of_rank(on.ranks, ggas_rank(on.ranks), on.dst);
      failed += ggas_broadcast(on.ranks, on.dst, on.src, 40, 1, on.enough(), row.first) != ggas_ok;
      failed += ggas_allgather(on.ranks, dst, src, 40, on.enough(), row.second) != ggas_ok;
      for (unsigned i = threadIdx.x; i < 40; i += blockDim.x) wrong += ggas_load(mine + i) != 9;
    });
    EXPECT_EQ(failed + wrong, 0u);
    uint64_t met = 0;
    ASSERT_TRUE(on.on().read(0, on.ranks.place + rank_layout::meetings, &met, sizeof met));
    EXPECT_EQ(met, row.barriers) << row.first << " " << row.second;
  }
}

}  // namespace
}  // namespace ggas::test::ranks_schemes_test
