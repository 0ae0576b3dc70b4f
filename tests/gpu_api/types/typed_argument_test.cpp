// SPDX-License-Identifier: Apache-2.0
// Device API: what calls with datatypes refuse, and that nothing has moved then; images that were overwritten.
#include "tests/gpu_api/types/typed_rig.hpp"

namespace ggas::types_test {
namespace {

GGAS_TYPED_SUITE(TypedArguments);

constexpr uint64_t limit = 1'000'000'000;

// A call that every form refuses, with nothing moved.
#define EXPECT_REFUSED(rig, text, name, ...)                                    \
  for (const form f : forms) {                                                  \
    (rig).everywhere(f, ggas_bad_argument, text, [=] {                          \
      char* const own = ggas_pointer_of_node(ggas_node());                      \
      char* const far = ggas_pointer_of_node((ggas_node() + 1) % ggas_nodes()); \
      static_cast<void>(own), static_cast<void>(far);                           \
      return GGAS_CALL_OF(name, f, __VA_ARGS__);                                \
    });                                                                         \
    (rig).expect_areas(text);                                                   \
    if (testing::Test::HasFatalFailure()) return;                               \
  }

TEST_P(TypedArguments, HandlesThatAreNoneAreRefused) {
  std::mt19937_64 random(seed());
  fill(random);
  const datatype d = datatype::vector(3, 1, 2, primitive::float64);
  const ggas_type good = commit(d), freed = commit(d), none{};
  const uint64_t size = segment_bytes(), from = items_, to = packed_;
  ASSERT_EQ(types_->free(freed), "");
  EXPECT_EQ(types_->free(freed), "free: a datatype that was freed before, or is another cluster's");
  EXPECT_EQ(types_->free(none), "free: a datatype that was not committed");
  const ggas_type again = commit(datatype::contiguous(3, primitive::float64));  // in the same place
  EXPECT_EQ(again.image, freed.image);
  type_space others(*memory_, writer_of(*cluster_));
  std::string why;
  ggas_type foreign = others.commit(d, why);
  EXPECT_EQ(types_->free(foreign), "free: a datatype that was freed before, or is another cluster's");
  foreign.image = good.image;
  ggas_type outside = good;
  outside.image = size - 8;
  for (const ggas_type& t : {none, freed, foreign, outside}) {
    EXPECT_REFUSED(*this, "pack", pack, own + to, own + from, 1, t);
    EXPECT_REFUSED(*this, "unpack", unpack, own + to, 1, t, own + from);
    EXPECT_REFUSED(*this, "put", put_typed, far + to, 1, good, own + from, 1, t, limit);
    EXPECT_REFUSED(*this, "get", get_typed, own + to, 1, t, far + from, 1, good, limit);
    if (simulated()) break;
  }
  datatype bad = datatype::contiguous(-1, d);
  const ggas_type refused = types_->commit(bad, why);
  EXPECT_EQ(why, "commit: contiguous: count = -1: must be 0 or more");
  EXPECT_EQ(refused.generation, 0u);
}

TEST_P(TypedArguments, WhatDoesNotFitIsRefused) {
  std::mt19937_64 random(seed());
  fill(random);
  const uint64_t size = segment_bytes(), from = items_, to = packed_;
  const ggas_type three = commit(datatype::contiguous(3, primitive::float64));
  const ggas_type apart = commit(datatype::vector(3, 1, 2, primitive::float64));
  const ggas_type ints = commit(datatype::contiguous(6, primitive::int32));
  const ggas_type wide = commit(datatype::resized(primitive::float64, 0, int64_t{1} << 40));
  const ggas_type before = commit(datatype::resized(primitive::float64, 0, -4096));
  EXPECT_REFUSED(*this, "ints for doubles", put_typed, far + to, 1, ints, own + from, 1, three, limit);
  EXPECT_REFUSED(*this, "more doubles", get_typed, own + to, 2, three, far + from, 1, apart, limit);
  EXPECT_REFUSED(*this, "count x extent", pack, own + to, own + from, ~uint64_t{0} / 8, wide);
  EXPECT_REFUSED(*this, "count x size", pack, own + to, own + from, ~uint64_t{0} / 8, three);
  EXPECT_REFUSED(*this, "wide items", pack, own + to, own + from, 2, wide);
  EXPECT_REFUSED(*this, "items before the segment", unpack, own + 8192, 4, before, own + from);
  EXPECT_REFUSED(*this, "range begins behind", pack, own + to, own + from, 1, three, 25, 0);
  EXPECT_REFUSED(*this, "range ends behind", unpack, own + to, 1, three, own + from, 20, 5);
  EXPECT_REFUSED(*this, "items across the end", pack, own + to, own + size - 39, 1, apart);
  EXPECT_REFUSED(*this, "packed across the end", pack, own + size - 23, own + from, 1, apart);
  EXPECT_REFUSED(*this, "remote across the end", put_typed, far + size - 39, 1, apart, own + from, 1, three, limit);
  EXPECT_REFUSED(*this, "null", get_typed, own + to, 1, apart, static_cast<char*>(nullptr), 1, three, limit);
}

TEST_P(TypedArguments, NothingIsNothingToMove) {
  std::mt19937_64 random(seed());
  fill(random);
  const ggas_type none = commit(datatype::contiguous(0, primitive::float64)), some = commit(primitive::float64);
  const uint64_t from = items_, to = packed_;
  for (const form f : forms) {
    everywhere(f, ggas_ok, "no items", [=] {
      char* const own = ggas_pointer_of_node(ggas_node());
      ggas_status s = GGAS_CALL_OF(pack, f, own + to, own + from, 0, some);
      if (s == ggas_ok) s = GGAS_CALL_OF(unpack, f, own + to, 7, none, own + from);
      if (s == ggas_ok) s = GGAS_CALL_OF(put_typed, f, own + to, 5, none, own + from, 0, some, limit);
      return s;
    });
    expect_areas("no items");
  }
}

TEST_P(TypedArguments, SignalsAreChecked) {
  std::mt19937_64 random(seed());
  fill(random);
  const ggas_type t = commit(datatype::contiguous(3, primitive::float64));
  const uint64_t from = items_, to = packed_, signal = signal_;
  for (const uint64_t skew : {uint64_t{4}, segment_bytes()}) {
    everywhere(form::block, ggas_bad_argument, "signal", [=] {
      char* const own = ggas_pointer_of_node(ggas_node());
      auto* const word = reinterpret_cast<uint64_t*>(own + (skew == 4 ? signal + 4 : skew));
      return ggas_put_signal_typed_block(own + to, 1, t, own + from, 1, t, word, 1, ggas_signal_set, limit);
    });
    everywhere(form::grid, ggas_bad_argument, "word of the blocks", [=] {
      char* const own = ggas_pointer_of_node(ggas_node());
      auto* const word = reinterpret_cast<uint64_t*>(own + signal);
      return ggas_put_signal_typed_grid(own + to, 1, t, own + from, 1, t, word, 1, ggas_signal_set,
                                        reinterpret_cast<uint64_t*>(own + skew), limit);
    });
  }
  expect_areas("signal");
}

// Kernels read images that are anything: they end, and nothing outside the bounds of the items has changed.
TEST_P(TypedArguments, OverwrittenImagesChangeNothingElse) {
  random_types make(seed() + 30);
  std::mt19937_64 random(seed());
  uint64_t refused = 0;
  for (uint64_t i = 0, n = simulated() ? 4 : rounds(60); i < n; ++i) {
    const both b = make.usable(2, 40);
    const int64_t middle = area_bytes / 2;
    if (b.list.true_lb() < -middle || b.list.true_ub() > middle) continue;
    const ggas_type t = commit(b.type, type_form::records);
    for (uint64_t hits = 1 + make.below(4); hits > 0; --hits) {
      const uint64_t w = t.image + detail::image_header_bytes + 8 * make.below(t.words);
      const uint64_t v = make.below(2) ? random() : make.below(64);
      for (int node = 0; node < nodes(); ++node) word(node, w) = v;
    }
    fill(random);
    const uint64_t from = items_ + static_cast<uint64_t>(middle), to = target_ + static_cast<uint64_t>(middle);
    const uint64_t packed = packed_, reported = status_;
    on_all({2}, {33}, [=] {
      char* const own = ggas_pointer_of_node(ggas_node());
      const ggas_status first = ggas_pack_grid(own + packed, own + from, 1, t);
      const ggas_status second = ggas_unpack_grid(own + to, 1, t, own + packed);
      if (detail::thread_rank() == 0)
        ggas_store(ggas_pointer_of_node<uint64_t>(ggas_node(), reported) + detail::block_rank(),
                   static_cast<uint64_t>(first | second));
    });
    run();
    refused += word(0, status_) != ggas_ok;
    for (int node = 0; node < nodes(); ++node) {
      std::memcpy(&was(node, 2)[0], at(node, packed_), t.size);
      std::memcpy(&was(node, 1)[static_cast<size_t>(middle + t.true_lb)], at(node, to) + t.true_lb,
                  static_cast<size_t>(t.true_ub - t.true_lb));
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas("seed " + std::to_string(seed()) + ", image " + std::to_string(i)));
    ASSERT_EQ(types_->free(t), "");
  }
  if (!simulated()) EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace ggas::types_test
