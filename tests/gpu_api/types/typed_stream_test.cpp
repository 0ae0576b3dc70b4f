// SPDX-License-Identifier: Apache-2.0
// Calls with datatypes on a stream: random datatypes compared with the plain list, every path, memory of the host,
// signals.
#include "tests/gpu_api/types/typed_stream_rig.hpp"

namespace ggas::types_test {
namespace {

INSTANTIATE_TEST_SUITE_P(Provider, TypedStream, testing::ValuesIn(typed_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(TypedStream, PacksAndUnpacksAnyRange) {
  cases make(21, simulated() ? 40 : 200);
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < rounds(); ++i) {
    const laid_out l = make.any();
    const ggas_type t = commit(l.items.type, l.how);
    const std::vector<int64_t> where = l.places();
    const uint64_t all = where.size(), first = make.make.below(2) ? make.make.below(all + 1) : 0;
    const bool rest = make.make.below(2) == 0;
    const uint64_t bytes = rest ? all - first : make.make.below(all - first + 1);
    const packed_range range{first, rest ? ggas_all_bytes : bytes};
    const int64_t skew = make.make.below(3) ? 64 : 61;
    const std::string what = "datatype " + std::to_string(i);
    fill(random);
    good_statuses();
    for (int n = 0; n < nodes(); ++n) {
      queued(pack_on_stream(*cluster_, n, at(n, packed_) + skew, at(n, items_) + l.middle, l.count, t, report(n), range,
                            any_shape(make, t)),
             what);
      queued(unpack_on_stream(*cluster_, n, at(n, target_) + l.middle, l.count, t, at(n, packed_) + skew, report(n),
                              range, any_shape(make, t)),
             what);
    }
    run();
    expect_ok(what);
    for (int n = 0; n < nodes(); ++n) {
      for (uint64_t b = 0; b < bytes; ++b) {
        const auto from = static_cast<size_t>(where[first + b]);
        was(n, 2)[static_cast<size_t>(skew) + b] = was(n, 1)[from] = was(n, 0)[from];
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    ASSERT_EQ(types_->free(t), "");
  }
}

TEST_P(TypedStream, PutsGetsAndSignalsFromLayoutToLayout) {
  cases make(22, simulated() ? 40 : 200);
  std::mt19937_64 random(8);
  uint64_t signals = 0;
  for (unsigned i = 0; i < rounds(); ++i) {
    const laid_out here = make.any(), there = make.other(here);
    const ggas_type th = commit(here.items.type, here.how), tt = commit(there.items.type, there.how);
    const auto kind = make.make.below(3);
    const std::string what = "datatype " + std::to_string(i) + ", kind " + std::to_string(kind);
    fill(random);
    good_statuses();
    for (int n = 0; n < nodes(); ++n) {
      const stream_shape shape = any_shape(make, th, &tt);
      const char* const from = at(n, items_) + here.middle;
      const global_ptr<char> to = place(right(n), target_, there.middle);
      if (kind == 0)
        queued(put_typed_on_stream(*cluster_, n, to, there.count, tt, from, here.count, th, report(n), shape), what);
      if (kind == 1)
        queued(get_typed_on_stream(*cluster_, n, at(n, target_) + there.middle, there.count, tt,
                                   place(right(n), items_, here.middle), here.count, th, report(n), shape),
               what);
      if (kind == 2)
        queued(put_signal_typed_on_stream(*cluster_, n, to, there.count, tt, from, here.count, th, {right(n), signal_},
                                          1, ggas_signal_add, report(n), shape),
               what);
    }
    run();
    expect_ok(what);
    signals += kind == 2;
    const std::vector<int64_t> sources = here.places(), targets = there.places();
    for (int n = 0; n < nodes(); ++n) {
      const int source = kind == 1 ? right(n) : left(n);
      for (size_t k = 0; k < sources.size(); ++k)
        was(n, 1)[static_cast<size_t>(targets[k])] = was(source, 0)[static_cast<size_t>(sources[k])];
      ASSERT_EQ(word(n, signal_), signals) << what;
    }
    ASSERT_NO_FATAL_FAILURE(expect_areas(what));
    ASSERT_EQ(types_->free(th), "");
    ASSERT_EQ(types_->free(tt), "");
  }
}

// Kernels store into pinned memory and load from it.
TEST_P(TypedStream, MemoryOfTheHostIsAnEnd) {
  const datatype face = datatype::vector(50, 2, 7, primitive::float64);
  const ggas_type t = commit(face);
  std::mt19937_64 random(9);
  fill(random);
  good_statuses();
  for (int n = 0; n < nodes(); ++n) {
    char* const host = reinterpret_cast<char*>(cluster_->host_memory(n).base);
    queued(pack_on_stream(*cluster_, n, host + 64, at(n, items_), 2, t, report(n)), "pack");
    queued(unpack_on_stream(*cluster_, n, at(n, target_), 2, t, host + 64, report(n)), "unpack");
  }
  run();
  expect_ok("memory of the host");
  for (int n = 0; n < nodes(); ++n)
    for (int64_t item = 0; item < 2; ++item)
      for (int64_t b = 0; b < 50; ++b)
        for (int64_t k = 0; k < 16; ++k) {
          const auto place = static_cast<size_t>(item * face.extent() + b * 56 + k);
          was(n, 1)[place] = was(n, 0)[place];
          const auto packed = static_cast<size_t>(64 + item * 800 + b * 16 + k);
          ASSERT_EQ(reinterpret_cast<char*>(cluster_->host_memory(n).base)[packed], was(n, 0)[place]);
        }
  expect_areas("memory of the host");
}

// Runs of other lengths and distances, one in 97 of them `longest`.
datatype runs_of_words(primitive word, int64_t count, int64_t longest) {
  const auto bytes = static_cast<int64_t>(datatype(word).size());
  std::vector<int64_t> lengths, places;
  int64_t at_byte = bytes == 1 ? 3 : 0;
  for (int64_t i = 0; i < count; ++i) {
    lengths.push_back(i % 97 == 5 ? longest : 1 + i * 7 % (41 / bytes));
    places.push_back(at_byte);
    at_byte += (lengths.back() + 1 + i % 5) * bytes;
  }
  return datatype::hindexed(lengths, places, word);
}

// Many items of few runs, lists of many runs of other lengths, some long: blocks put them together.
TEST_P(TypedStream, RunsOfAnyLengthArePutTogether) {
  const int64_t fields[] = {1, 2, 1}, apart[] = {0, 16, 40}, near[] = {0, 8, 16}, odd[] = {1, 20, 36};
  const datatype parts[] = {primitive::float64, primitive::int32, primitive::int8};
  const std::pair<datatype, uint64_t> all[] = {
      {datatype::resized(datatype::structure(fields, apart, parts), 0, 48), simulated() ? 40 : 1300},
      {datatype::resized(datatype::structure(fields, near, parts), 0, 24), simulated() ? 40 : 1300},
      {datatype::resized(datatype::structure(fields, odd, parts), 0, 52), simulated() ? 40 : 900},
      {runs_of_words(primitive::byte, 700, 900), 1},
      {runs_of_words(primitive::byte, 40, 900), 3},
      {runs_of_words(primitive::float64, 700, 110), 1},
      {runs_of_words(primitive::float64, 9, 3), simulated() ? 10 : 100},
      {runs_of_words(primitive::float32, 700, 300), 1},
      {runs_of_words(primitive::complex128, 300, 40), 1},
      {datatype::resized(datatype::contiguous(301, primitive::int8), 0, 305), 100}};
  std::mt19937_64 random(12);
  for (const auto& [type, count] : all) {
    const ggas_type t = commit(type);
    const ggas_type dense = commit(type, type_form::records);
    for (const int64_t skew : {64, 61}) {
      fill(random);
      good_statuses();
      for (int n = 0; n < nodes(); ++n) {
        queued(pack_on_stream(*cluster_, n, at(n, packed_) + skew, at(n, items_), count, t, report(n)), "pack");
        queued(unpack_on_stream(*cluster_, n, at(n, target_), count, t, at(n, packed_) + skew, report(n)), "unpack");
      }
      run();
      expect_ok("runs");
      for (int n = 0; n < nodes(); ++n) {
        std::string wanted(count * t.size, 0);
        const std::string items = was(n, 0);
        good_statuses();
        queued(pack_on_stream(*cluster_, n, at(n, items_), at(n, target_), count, dense, report(n), {},
                              {0, 0, ggas_auto, typed_path::records}),
               "records");
        run();
        ASSERT_EQ(std::memcmp(at(n, items_), at(n, packed_) + skew, wanted.size()), 0);
        std::memcpy(at(n, items_), items.data(), items.size());
        was(n, 2).replace(static_cast<size_t>(skew), wanted.size(), at(n, packed_) + skew, wanted.size());
      }
      // Gaps of the target are as they were, data as in the items.
      for (int n = 0; n < nodes(); ++n) {
        const std::string target(at(n, target_), area_bytes);
        uint64_t same = 0, moved = 0;
        for (size_t b = 0; b < target.size(); ++b) {
          same += target[b] == was(n, 1)[b];
          moved += target[b] == was(n, 0)[b];
          ASSERT_TRUE(target[b] == was(n, 1)[b] || target[b] == was(n, 0)[b]) << b;
        }
        ASSERT_GE(moved, count * t.size);
        was(n, 1) = target;
      }
      ASSERT_NO_FATAL_FAILURE(expect_areas("runs"));
    }
  }
}

// Put and fetched from layout to layout, compared with the walk of records: the same runs on both sides, small items
// with other gaps, parts of every width, addresses that are odd.
TEST_P(TypedStream, ItemsToItemsGoWithoutPackedData) {
  const int64_t fields[] = {1, 2, 1}, apart[] = {0, 16, 40}, near[] = {0, 8, 16}, odd[] = {1, 20, 36};
  const datatype parts[] = {primitive::float64, primitive::int32, primitive::int8};
  const datatype wide = datatype::resized(datatype::structure(fields, apart, parts), 0, 48),
                 narrow = datatype::resized(datatype::structure(fields, near, parts), 0, 24),
                 skewed = datatype::resized(datatype::structure(fields, odd, parts), -3, 52);
  const struct {
    datatype from, to;
    uint64_t count;
  } all[] = {{wide, wide, simulated() ? 5u : 1000u},
             {wide, narrow, simulated() ? 5u : 1000u},
             {narrow, skewed, simulated() ? 5u : 1000u},
             {narrow, narrow, simulated() ? 5u : 1000u},
             {runs_of_words(primitive::byte, 40, 900), runs_of_words(primitive::byte, 40, 900), 3},
             {runs_of_words(primitive::byte, 200, 30), runs_of_words(primitive::byte, 200, 30), 2},
             {runs_of_words(primitive::float64, 300, 110), runs_of_words(primitive::float64, 300, 110), 1},
             {runs_of_words(primitive::float32, 300, 60), runs_of_words(primitive::float32, 300, 60), 2},
             {runs_of_words(primitive::complex128, 200, 40), runs_of_words(primitive::complex128, 200, 40), 1}};
  std::mt19937_64 random(14);
  uint64_t signals = 0;
  // Through a NIC each run is a descriptor: a few items there.
  for (const auto& [from_type, to_type, count] : all) {
    if (simulated() && from_type.size() > 1000) continue;
    const ggas_type from = commit(from_type), to = from_type.extent() == to_type.extent() ? from : commit(to_type);
    for (const int64_t skew : {64, 61}) {
      if (simulated() && skew == 61) continue;
      const stream_shape walk{0, 0, ggas_auto, typed_path::records};
      fill(random);
      good_statuses();
      for (int n = 0; n < nodes(); ++n) {
        std::memcpy(at(n, packed_), at(n, target_), area_bytes);
        was(n, 2) = was(n, 1);
      }
      for (int n = 0; n < nodes(); ++n) {
        const char* const items = at(n, items_) + skew;
        const auto far = [&](uint64_t area) { return place(right(n), area, 64); };
        queued(put_signal_typed_on_stream(*cluster_, n, far(target_), count, to, items, count, from,
                                          {right(n), signal_}, 1, ggas_signal_add, report(n)),
               "put");
        queued(put_typed_on_stream(*cluster_, n, far(packed_), count, to, items, count, from, report(n), walk), "walk");
      }
      run();
      expect_ok("items to items");
      ++signals;
      for (int n = 0; n < nodes(); ++n) {
        ASSERT_EQ(word(n, signal_), signals);
        ASSERT_EQ(std::memcmp(at(n, target_), at(n, packed_), area_bytes), 0) << count << " items, skew " << skew;
        ASSERT_NE(std::memcmp(at(n, target_), was(n, 1).data(), area_bytes), 0);
        was(n, 2) = was(n, 1) = std::string(at(n, target_), area_bytes);
      }
      // Back to where they came from, over other data.
      for (int n = 0; n < nodes(); ++n) std::memset(at(n, items_) + skew, 0, count * from.size);
      const std::vector<std::string> zeroed = [&] {
        std::vector<std::string> v;
        for (int n = 0; n < nodes(); ++n) v.emplace_back(at(n, items_), area_bytes);
        return v;
      }();
      for (int n = 0; n < nodes(); ++n)
        queued(get_typed_on_stream(*cluster_, n, at(n, items_) + skew, count, from, place(right(n), target_, 64), count,
                                   to, report(n)),
               "get");
      run();
      expect_ok("back");
      for (int n = 0; n < nodes(); ++n) {
        const char* const now = at(n, items_);
        for (size_t b = 0; b < area_bytes; ++b)
          ASSERT_TRUE(now[b] == was(n, 0)[b] || now[b] == zeroed[static_cast<size_t>(n)][b]) << "byte " << b;
        was(n, 0) = std::string(now, area_bytes);
      }
      ASSERT_NO_FATAL_FAILURE(expect_areas("items to items"));
    }
    ASSERT_EQ(types_->free(from), "");
    if (to.generation != from.generation) ASSERT_EQ(types_->free(to), "");
  }
}

// Which puts are staged is a matter of their shorter runs and of the tuning.
TEST_P(TypedStream, StagedByTheLengthOfRuns) {
  const int64_t fields[] = {1, 2, 1}, apart[] = {0, 16, 40};
  const int64_t places[] = {0, 24, 100}, lengths[] = {8, 3, 1};
  const datatype parts[] = {primitive::float64, primitive::int32, primitive::int8};
  const ggas_type struct_48 = commit(datatype::resized(datatype::structure(fields, apart, parts), 0, 48)),
                  column = commit(datatype::vector(100, 1, 8, primitive::float64)),
                  rows = commit(datatype::vector(10, 10, 80, primitive::float64)),
                  dense = commit(datatype::contiguous(100, primitive::float64)),
                  equal = commit(datatype::hindexed_block(4, places, primitive::float64)),
                  mixed = commit(datatype::hindexed(lengths, places, primitive::int32)),
                  walked = commit(datatype::vector(100, 1, 8, primitive::float64), type_form::records);
  tuning t = tuning::usual();
  const auto staged = [&t](const ggas_type& to, const ggas_type& from, uint64_t count) {
    detail::typed_move m{"put", {nullptr, count, &to}, {nullptr, count, &from}};
    m.bytes = count * to.size;
    return detail::staged_is_faster(m, t);
  };
  EXPECT_FALSE(staged(column, column, 1 << 20));  // nothing was measured
  t.staged = {{1000, 2000, 3000, tuning::any}, 4000};
  EXPECT_TRUE(staged(column, column, 2));
  EXPECT_FALSE(staged(column, column, 1));  // 800 bytes
  EXPECT_TRUE(staged(column, rows, 2));
  EXPECT_TRUE(staged(rows, column, 2));
  EXPECT_TRUE(staged(column, dense, 2));
  EXPECT_FALSE(staged(dense, column, 2));  // one pack is all
  EXPECT_FALSE(staged(dense, dense, 1000));
  EXPECT_FALSE(staged(rows, rows, 1000));
  EXPECT_TRUE(staged(struct_48, struct_48, 236));  // 17 bytes each
  EXPECT_FALSE(staged(struct_48, struct_48, 235));
  EXPECT_TRUE(staged(equal, equal, 32));
  EXPECT_FALSE(staged(equal, equal, 31));
  EXPECT_TRUE(staged(mixed, mixed, 84));
  EXPECT_FALSE(staged(mixed, mixed, 83));
  EXPECT_TRUE(staged(mixed, column, 42));
  EXPECT_TRUE(staged(walked, walked, 2));
}

// Pieces of a staged put: together they are all of the data, and each begins where it may.
TEST_P(TypedStream, PiecesOfStagedPuts) {
  const int64_t fields[] = {1, 2, 1}, apart[] = {0, 16, 40};
  const datatype parts[] = {primitive::float64, primitive::int32, primitive::int8};
  const ggas_type items = commit(datatype::resized(datatype::structure(fields, apart, parts), 0, 48)),
                  column = commit(datatype::vector(1 << 21, 1, 8, primitive::float64)),
                  long_list = commit(runs_of_words(primitive::float64, 3000, 8000));
  const auto piece = [](const ggas_type& t, uint64_t count, unsigned unit) {
    detail::typed_move m{"put", {nullptr, count, &t}, {nullptr, count, &t}};
    m.bytes = count * t.size;
    return detail::staged_piece(m, unit);
  };
  EXPECT_EQ(piece(items, 100, 1), 1700u);                  // all
  EXPECT_EQ(piece(items, 1'000'000, 1) % (17 * 128), 0u);  // whole items, whole lines
  EXPECT_GE(piece(items, 1'000'000, 1), uint64_t{1} << 20);
  EXPECT_LT(piece(items, 1'000'000, 1), uint64_t{17'000'000} / 16 + 17 * 128);
  EXPECT_EQ(piece(column, 1, 8), uint64_t{1} << 20);
  EXPECT_EQ(piece(column, 100, 8), uint64_t{4} << 20);
  EXPECT_EQ(piece(long_list, 3, 8), 3 * long_list.size);  // items of another length than lines
  char memory = 0;
  uint64_t first = 17 * 128;
  const detail::side_items part = detail::piece_of({&memory, 1000, &items}, 1, first, 17 * 64);
  EXPECT_EQ(part.at - &memory, 48 * 128);
  EXPECT_EQ(part.count, 64u);
  EXPECT_EQ(first, 0u);
  first = 4096;
  EXPECT_EQ(detail::piece_of({&memory, 1, &column}, 8, first, 4096).at, &memory);
  EXPECT_EQ(first, 4096u);
}

}  // namespace
}  // namespace ggas::types_test
