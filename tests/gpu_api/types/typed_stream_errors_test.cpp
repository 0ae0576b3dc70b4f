// SPDX-License-Identifier: Apache-2.0
// Calls with datatypes on a stream: no data, wrong arguments, and what a datatype's image is worth when it was freed or
// damaged.
#include "tests/gpu_api/types/typed_stream_rig.hpp"

namespace ggas::types_test {
namespace {

// A signal alone, where there are no data.
TEST_P(TypedStream, NoDataIsASignal) {
  const ggas_type t = commit(datatype::contiguous(3, primitive::int32));
  good_statuses();
  for (int n = 0; n < nodes(); ++n)
    queued(put_signal_typed_on_stream(*cluster_, n, place(right(n), target_), 0, t, at(n, items_), 0, t,
                                      {right(n), signal_}, 7, ggas_signal_set, report(n)),
           "signal");
  run();
  expect_ok("signal");
  for (int n = 0; n < nodes(); ++n) EXPECT_EQ(word(n, signal_), 7u);
}

// Each with the text that names argument and rule; nothing has moved.
TEST_P(TypedStream, WhatIsWrongIsReportedAtOnce) {
  const datatype five = datatype::vector(5, 2, 3, primitive::float64);
  const ggas_type t = commit(five), freed = commit(five), floats = commit(datatype::contiguous(20, primitive::float32));
  const ggas_type wide = commit(datatype::resized(five, 0, int64_t{1} << 60));
  const ggas_type ints = commit(datatype::contiguous(10, primitive::int64));
  ASSERT_EQ(types_->free(freed), "");
  auto other = make_cluster(GetParam(), GetParam().config());
  ASSERT_TRUE(other);
  std::string why;
  const auto other_memory = heap::create(heap_of(**other), why);
  type_space others(*other_memory, writer_of(**other));
  const ggas_type foreign = others.commit(five, why);
  std::mt19937_64 random(10);
  fill(random);
  auto& c = *cluster_;
  char *const items = at(0, items_), *const packed = at(0, packed_);
  const stream_report r = report(0);
  const global_ptr<char> there = place(0, target_);
  const auto reported = [](const result<>& got, const std::string& rule) {
    ASSERT_FALSE(got) << rule;
    EXPECT_EQ(got.error().code, errc::bad_argument) << rule;
    EXPECT_NE(got.error().text.find(rule), std::string::npos) << got.error().text;
    EXPECT_NE(got.error().text.find("_on_stream on node "), std::string::npos) << got.error().text;
  };
  reported(pack_on_stream(c, 0, packed, items, 1, {}, r), "type: a datatype that was not committed");
  reported(pack_on_stream(c, 0, packed, items, 1, freed, r), "type: a datatype that was freed before");
  reported(unpack_on_stream(c, 0, items, 1, foreign, packed, r), "type: a datatype that is another cluster's");
  reported(pack_on_stream(c, 0, packed, items, uint64_t{1} << 60, wide, r), "items are more than 64 bits");
  reported(pack_on_stream(c, 0, packed, items, 2, t, r, {0, 161}), "range: it ends behind the 160 bytes");
  reported(pack_on_stream(c, 0, packed, items, 2, t, r, {161}), "range: it ends behind the 160 bytes");
  reported(pack_on_stream(c, 0, packed, items, uint64_t{1} << 20, t, r), "items: data outside");
  reported(pack_on_stream(c, 0, nullptr, items, 2, t, r), "packed data: data outside");
  reported(pack_on_stream(c, nodes(), packed, items, 1, t, r), "not a node of this process");
  reported(pack_on_stream(c, 0, packed, items, 1, t, r, {}, {0, 0, ggas_auto, typed_path::runs}), "shape: this path");
  reported(pack_on_stream(c, 0, packed, items, 1, t, r, {}, {0, 0, ggas_auto, typed_path::engine}), "shape: this");
  reported(put_typed_on_stream(c, 0, there, 1, t, items, 1, t, r, {0, 0, ggas_auto, typed_path::staged}),
           "shape: this");
  reported(put_typed_on_stream(c, 0, there, 1, t, items, 1, floats, r), "signatures differ");
  reported(put_typed_on_stream(c, 0, there, 1, t, items, 1, ints, r), "signatures differ");
  reported(put_typed_on_stream(c, 0, there, 2, t, items, 1, t, r), "signatures differ");
  reported(put_typed_on_stream(c, 0, place(nodes(), target_), 1, t, items, 1, t, r), "remote: node");
  reported(put_typed_on_stream(c, 0, place(0, segment_bytes() - 8), 1, t, items, 1, t, r), "remote: data outside");
  reported(get_typed_on_stream(c, 0, items, 1, freed, there, 1, t, r), "local type: a datatype that was freed");
  reported(get_typed_on_stream(c, 0, nullptr, 1, t, there, 1, t, r), "local: data outside");
  reported(put_signal_typed_on_stream(c, 0, there, 1, t, items, 1, t, {0, signal_ + 4}, 1, ggas_signal_set, r),
           "signal: no word");
  reported(put_signal_typed_on_stream(c, 0, there, 1, t, items, 1, t, {0, segment_bytes()}, 1, ggas_signal_set, r),
           "signal: no word");
  reported(
      put_signal_typed_on_stream(c, 0, there, 1, t, items, 1, t, {0, signal_}, 1, static_cast<ggas_signal_op>(9), r),
      "op: neither");
  if (nodes() > 1)
    reported(put_signal_typed_on_stream(c, 0, there, 1, t, items, 1, t, {1, signal_}, 1, ggas_signal_set, r),
             "signal: not on the node");
  run();
  expect_areas("refused");
}

// What kernels read of a datatype is written once, when it is committed.
TEST_P(TypedStream, AThousandPacksOneUpload) {
  const int64_t places[] = {0, 24, 100, 148};
  const int64_t lengths[] = {8, 3, 5, 1};
  const uint64_t before = types_->uploads();
  const ggas_type t = commit(datatype::hindexed(lengths, places, primitive::int32));
  std::mt19937_64 random(13);
  fill(random);
  good_statuses();
  const int packs = simulated() ? 10 : GetParam().threads ? 50 : 1000;
  for (int i = 0; i < packs; ++i) {
    queued(pack_on_stream(*cluster_, 0, at(0, target_) + 4096, at(0, items_) + 4096, 1, t, report(0)), "pack");
    if (i % 100 == 99) run();
  }
  run();
  expect_ok("packs");
  EXPECT_EQ(types_->uploads(), before + 1);
  uint64_t packed = 0;
  for (size_t b = 0; b < 4; ++b)
    for (size_t i = 0; i < static_cast<size_t>(lengths[b]) * 4; ++i)
      was(0, 1)[4096 + packed++] = at(0, items_)[4096 + places[b] + static_cast<int64_t>(i)];
  ASSERT_NO_FATAL_FAILURE(expect_areas("packs"));
}

// Freed when the call is queued already, as of a graph that is launched again: nothing moves, and no signal goes.
TEST_P(TypedStream, WhatIsFreedBehindTheCallIsReported) {
  const int64_t places[] = {0, 24, 100, 148};
  const int64_t lengths[] = {8, 3, 5, 1};
  const datatype equal = datatype::hindexed_block(2, places, primitive::int32),
                 mixed = datatype::hindexed(lengths, places, primitive::int32),
                 dense = datatype::contiguous(17, primitive::int32);
  std::mt19937_64 random(12);
  for (const datatype& d : {equal, mixed}) {
    const uint64_t count = d.size() == 32 ? 17 : 8;  // as many numbers as eight items of `dense`
    for (const int way : {0, 1, 2}) {
      const ggas_type t = commit(d), packed = commit(dense);
      fill(random);
      good_statuses();
      const uint64_t signal_before = word(0, signal_);
      const bool from = way != 1, to = way != 0;
      for (int n = 0; n < nodes(); ++n)
        queued(put_signal_typed_on_stream(*cluster_, n, place(right(n), target_, 4096), to ? count : 8, to ? t : packed,
                                          at(n, items_) + 4096, from ? count : 8, from ? t : packed,
                                          {right(n), signal_}, 1, ggas_signal_add, report(n)),
               "to be freed");
      ASSERT_EQ(types_->free(t), "");
      run();
      for (int n = 0; n < nodes(); ++n) {
        EXPECT_EQ(word(n, status_), ggas_bad_argument) << way;
        EXPECT_EQ(word(n, signal_), signal_before);
      }
      ASSERT_NO_FATAL_FAILURE(expect_areas("freed"));
      ASSERT_EQ(types_->free(packed), "");
    }
  }
}

// An image that was overwritten is not trusted: nothing outside the data of the handle is written, and no signal is
// sent. The test does not use a list of few unequal runs, because it would be in the handle.
TEST_P(TypedStream, ADamagedImageIsReported) {
  const int64_t places[] = {0, 40, 100, 148, 160, 172, 188, 204};
  const int64_t lengths[] = {8, 3, 5, 1, 1, 2, 2, 4};
  const ggas_type equal = commit(datatype::hindexed_block(2, places, primitive::int32)),
                  mixed = commit(datatype::hindexed(lengths, places, primitive::int32));
  std::mt19937_64 random(11);
  for (const ggas_type& t : {equal, mixed}) {
    fill(random);
    good_statuses();
    const uint64_t signal_before = word(0, signal_);
    for (uint64_t w = 0; w < t.words; ++w)
      for (int n = 0; n < nodes(); ++n) word(n, t.image + detail::image_header_bytes + 8 * w) = random();
    for (int n = 0; n < nodes(); ++n)
      queued(put_signal_typed_on_stream(*cluster_, n, place(right(n), target_, 4096), 1, t, at(n, items_) + 4096, 1, t,
                                        {right(n), signal_}, 1, ggas_signal_add, report(n)),
             "damaged");
    run();
    for (int n = 0; n < nodes(); ++n) {
      EXPECT_EQ(word(n, status_), ggas_bad_argument);
      EXPECT_EQ(word(n, signal_), signal_before);
      const auto inside = static_cast<size_t>(t.true_ub - t.true_lb);
      for (size_t b = 0; b < inside; ++b) was(n, 1)[4096 + b] = at(n, target_)[4096 + b];
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas("damaged"));
  }
}

}  // namespace
}  // namespace ggas::types_test
