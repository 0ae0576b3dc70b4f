// SPDX-License-Identifier: Apache-2.0
// What kernels read of a datatype: boxes and records against the plain list, decoded back, and damaged at random.
#include <gtest/gtest.h>

#include "ggas/detail/type/type_walk.cuh"
#include "gpu_api/types/encode.hpp"
#include "gpu_api/types/node.hpp"
#include "tests/gpu_api/types/oracle.hpp"

namespace ggas::types_test {
namespace {

using namespace detail;
using list = std::vector<int64_t>;
using kind = datatype::node::kind;

// Reads an image and notes how often, and whether only of it.
struct probe {
  const std::vector<uint64_t>* words;
  uint64_t* reads;
  bool* outside;
  uint64_t operator()(uint64_t i) const {
    ++*reads;
    if (i < words->size()) return (*words)[i];
    *outside = true;
    return 0;
  }
};

type_place find_in_item(const ggas_type& t, const probe& read, uint64_t at) {
  return t.records == 0 ? find_in_box(t, at) : find_by_image(t, read, at);
}

// Places of all bytes as kernels find them, each for itself; and no run goes on where the list does not.
void expect_places(const type_image& i, const std::vector<int64_t>& want) {
  uint64_t reads = 0;
  bool outside = false;
  ASSERT_EQ(i.handle.size, want.size());
  for (uint64_t at = 0; at < want.size(); ++at) {
    const type_place p = find_in_item(i.handle, probe{&i.words, &reads, &outside}, at);
    ASSERT_EQ(p.offset, want[at]) << "byte " << at;
    ASSERT_GT(p.left, 0u);
    ASSERT_LE(p.left, want.size() - at);
    for (uint64_t k = 0; k < p.left; ++k) ASSERT_EQ(want[at + k], p.offset + static_cast<int64_t>(k));
    ASSERT_TRUE(at % i.handle.unit != 0 || (p.left % i.handle.unit == 0 && p.offset % i.handle.unit == 0));
  }
  ASSERT_FALSE(outside);
}

TEST(type_image, random_datatypes_are_found_byte_by_byte) {
  random_types make(seed() + 10);
  uint64_t boxes = 0, lists = 0;
  for (uint64_t i = 0, n = rounds(1500); i < n; ++i) {
    const both b = make.next(1 + static_cast<int>(make.below(4)));
    SCOPED_TRACE("seed " + std::to_string(seed()) + ", datatype " + std::to_string(i));
    if (b.list.entries.size() > 3000) continue;
    const std::vector<int64_t> want = b.list.places();
    const type_image short_form = image_of(b.type), long_form = image_of(b.type, type_form::records);
    ASSERT_NO_FATAL_FAILURE(expect_places(short_form, want));
    ASSERT_NO_FATAL_FAILURE(expect_places(long_form, want));
    boxes += short_form.handle.records == 0;
    lists += short_form.handle.records > 0;
  }
  EXPECT_GT(boxes, 0u);
  EXPECT_GT(lists, 0u);
}

// Too many runs for one list: the canonical form stays nested.
TEST(type_image, long_lists_stay_nested) {
  const list lengths{1, 2, 1}, places{0, 8, 20};
  const datatype children[] = {primitive::float64, primitive::int32, primitive::int8};
  const datatype cell = datatype::structure(lengths, places, children);
  const list far{0, 100'000, -300'000}, counts{2000, 2001, 1};
  const datatype t = datatype::hindexed(counts, far, cell);
  flat one, all;
  one.add(flat(primitive::float64), 0);
  one.add_block(flat(primitive::int32), 8, 2);
  one.add(flat(primitive::int8), 20);
  for (size_t i = 0; i < far.size(); ++i) all.add_block(one, far[i], counts[i]);
  const type_image i = image_of(t);
  EXPECT_EQ(i.handle.records, 2u);
  EXPECT_LT(i.words.size(), 100u);
  expect_places(i, all.places());
}

// Structs of structs that share their children: as many records as there are datatypes, not as there are paths to them.
TEST(type_image, shared_children_are_one) {
  const list lengths{1, 1}, leaf_places{0, 12};
  const datatype leaf_children[] = {primitive::float64, primitive::int8};
  datatype one = datatype::structure(lengths, leaf_places, leaf_children), other = datatype::dup(one);
  flat f;
  f.add(flat(primitive::float64), 0);
  f.add(flat(primitive::int8), 12);
  std::vector<int64_t> want = f.places();
  constexpr int depth = 40, checked = 12;
  for (int i = 0; i < depth; ++i) {
    const int64_t step = one.extent() + 8;
    const list places{0, step};
    const datatype children[] = {one, other};
    const datatype next = datatype::structure(lengths, places, children);
    other = datatype::structure(lengths, places, std::array{other, one});  // the same bytes
    one = next;
    if (i >= checked) continue;
    const size_t n = want.size();
    for (size_t k = 0; k < n; ++k) want.push_back(want[k] + step);
    if (i == checked - 1) ASSERT_NO_FATAL_FAILURE(expect_places(image_of(one), want));
    if (i == checked - 1) ASSERT_NO_FATAL_FAILURE(expect_places(image_of(one, type_form::records), want));
  }
  ASSERT_TRUE(one.good());
  EXPECT_LE(image_of(one, type_form::records).handle.records, 2u * depth + 2);
  EXPECT_LE(image_of(one).handle.records, 4u * depth);
}

// ---- the literature's records

TEST(type_image, vector_of_vectors_has_two_records_and_nothing_aside) {
  const datatype v1 = datatype::vector(4, 1, 2, primitive::float64), v2 = datatype::vector(6, 1, 4, v1);
  const encoded_type e = encode(v2);
  ASSERT_EQ(e.records.size(), 2 * record_words);
  EXPECT_TRUE(e.lookaside.empty());
  const uint64_t want[2][7] = {
      {static_cast<uint64_t>(record_kind::vector), 6, 32, 56, 4, 224, 1},
      {static_cast<uint64_t>(record_kind::vector) | rec_leaf | static_cast<uint64_t>(primitive::float64) << 8, 4, 8, 8,
       1, 16, 1}};
  for (uint64_t r = 0; r < 2; ++r)
    for (uint64_t w = 0; w < 7; ++w) EXPECT_EQ(e.records[r * record_words + w], want[r][w]) << r << " " << w;
  const type_image i = image_of(v2, type_form::records);
  uint64_t reads = 0;
  bool outside = false;
  EXPECT_EQ(find_in_item(i.handle, probe{&i.words, &reads, &outside}, 32).offset, 224);  // element 4
}

TEST(type_image, lists_lie_aside) {
  const auto of_blocks = [](int64_t n) {
    list lengths(static_cast<size_t>(n), 1), places;
    for (int64_t i = 0; i < n; ++i) places.push_back(i * i);
    return encode(datatype::indexed(lengths, places, primitive::int32));
  };
  const encoded_type few = of_blocks(10), many = of_blocks(1'000'000);
  EXPECT_EQ(few.records.size(), many.records.size());
  for (uint64_t w = rec_count + 1; w < record_words; ++w) EXPECT_EQ(few.records[w], many.records[w]);
  EXPECT_EQ(few.lookaside.size(), 21u);
  EXPECT_EQ(many.lookaside.size(), 2'000'001u);
}

// A datatype's tree without bounds and primitives, as text; and the same of its records.
std::string tree_of(const datatype& t) {
  const auto& n = t.made_of();
  if (n.what == kind::resized || n.what == kind::dup) return tree_of(n.children[0]);
  if (n.what == kind::primitive) return "p" + std::to_string(static_cast<int>(n.element));
  std::string text = "(" + std::to_string(static_cast<int>(n.what)) + " " + std::to_string(n.size);
  if (n.what != kind::structure) return text + tree_of(n.children[0]) + ")";
  for (size_t i = 0; i < n.children.size(); ++i)
    if (n.blocklengths[i] > 0 && n.children[i].size() > 0)
      text += "@" + std::to_string(n.displacements[i]) + tree_of(n.children[i]);
  return text + ")";
}
std::string decoded(const encoded_type& e, uint64_t record, uint64_t size, uint64_t& records) {
  constexpr kind kinds[] = {kind::contiguous, kind::vector,    kind::indexed_block,
                            kind::indexed,    kind::structure, kind::subarray};
  const uint64_t* const r = &e.records[record * record_words];
  const kind what = kinds[r[rec_bits] & 0xf];
  const uint64_t n = r[rec_count], look = r[rec_look];
  std::string text = "(" + std::to_string(static_cast<int>(what)) + " " + std::to_string(size);
  ++records;
  if (what != kind::structure) {
    const bool leaf = r[rec_bits] & rec_leaf;
    return text + (leaf ? "p" + std::to_string(r[rec_bits] >> 8) : decoded(e, record + 1, r[rec_size], records)) + ")";
  }
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t child = e.lookaside[look + 4 * n + 1 + i], bytes = e.lookaside[look + 2 * n + 1 + i];
    if (e.lookaside[look + i] == e.lookaside[look + i + 1]) continue;
    text += "@" + std::to_string(static_cast<int64_t>(e.lookaside[look + n + 1 + i]));
    text += child == no_record ? "p" : decoded(e, child, bytes, records);
  }
  return text + ")";
}

TEST(type_image, records_decode_to_the_datatype) {
  random_types make(seed() + 11);
  for (uint64_t i = 0, n = rounds(1000); i < n; ++i) {
    const both b = make.next(1 + static_cast<int>(make.below(4)));
    std::string want = tree_of(b.type);
    if (b.type.size() == 0 || want[0] == 'p') continue;
    const encoded_type e = encode(b.type);
    uint64_t records = 0;
    std::string got = decoded(e, 0, b.type.size(), records);
    // In a struct primitives are reported by their size alone.
    const auto without_names = [](std::string s) {
      for (size_t at = s.find("@"); at != std::string::npos; at = s.find("@", at + 1)) {
        size_t k = at + 1;
        while (k < s.size() && (isdigit(s[k]) || s[k] == '-')) ++k;
        while (k < s.size() && s[k] == 'p' && k + 1 < s.size() && isdigit(s[k + 1])) s.erase(k + 1, 1);
      }
      return s;
    };
    ASSERT_EQ(without_names(got), without_names(want));
    ASSERT_GE(records * record_words, e.records.size());  // those of several children are one
  }
}

TEST(type_image, struct_children_are_named_not_guessed) {
  const datatype a = datatype::vector(3, 1, 2, primitive::float64), b = datatype::vector(2, 2, 5, primitive::int32);
  const list lengths{2, 3}, places{0, 400};
  const datatype children[] = {a, b};
  type_image i = image_of(datatype::structure(lengths, places, children), type_form::records);
  uint64_t reads = 0;
  bool outside = false;
  const auto last = [&] { return find_in_item(i.handle, probe{&i.words, &reads, &outside}, i.handle.size - 4).offset; };
  const int64_t right = last();
  uint64_t& named = i.words[3 * record_words + 2 * 4 + 1 + 1];  // the second child's record
  ASSERT_EQ(named, 2u);
  named = 1;
  EXPECT_NE(last(), right);
}

TEST(type_image, a_search_takes_log_n_steps) {
  for (const int64_t n : {2, 10, 1000, 100'000}) {
    list lengths, places;
    for (int64_t i = 0; i < n; ++i) {
      lengths.push_back(i % 3 == 1 ? 0 : 2);  // also blocks of length 0
      places.push_back(i * i + i);
    }
    const type_image i = image_of(datatype::hindexed(lengths, places, primitive::byte), type_form::records);
    const auto steps = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(n - 1)));
    bool outside = false;
    for (uint64_t at = 0; at < i.handle.size; at += 1 + i.handle.size / 97) {
      uint64_t reads = 0;
      find_in_item(i.handle, probe{&i.words, &reads, &outside}, at);
      ASSERT_LE(reads, steps + 1 + 7 + 2);  // of the record 5, of the block found 3, and one to spare
    }
  }
}

TEST(type_image, deep_chains_and_wide_structs) {
  datatype chain = primitive::int16;
  flat f(primitive::int16);
  for (int i = 0; i < 17; ++i) {
    flat next;
    const int64_t step = f.extent() + 2 + i;
    for (int64_t k = 0; k < (i < 6 ? 2 : 1); ++k) next.add(f, k * step);
    chain = datatype::hvector(i < 6 ? 2 : 1, 1, step, chain);
    f = next;
  }
  expect_places(image_of(chain, type_form::records), f.places());
  expect_places(image_of(chain), f.places());
  const size_t n = 100'000;
  list lengths(n, 1), places;
  std::vector<datatype> children;
  for (size_t i = 0; i < n; ++i) {
    const primitive p = i % 2 ? primitive::int32 : primitive::float64;
    places.push_back(static_cast<int64_t>(i) * 24 + (i % 7 == 0 ? 8 : 0));
    children.push_back(p);
  }
  const type_image w = image_of(datatype::structure(lengths, places, children));
  uint64_t reads = 0;
  bool outside = false;
  const type_place p = find_in_item(w.handle, probe{&w.words, &reads, &outside}, 12 * 40'000 + 8);
  EXPECT_EQ(p.offset, places[80'001]);
  EXPECT_FALSE(outside);
}

TEST(type_image, what_is_a_box_needs_no_image) {
  const datatype d = primitive::float64;
  const list sizes{64, 64, 64}, parts{64, 64, 1}, starts{0, 0, 63};
  const type_image face = image_of(datatype::subarray(sizes, parts, starts, array_order::c, d));
  EXPECT_EQ(face.handle.records, 0u);
  EXPECT_EQ(face.handle.dimensions, 1u);  // all rows are as far apart
  EXPECT_EQ(face.handle.run, 8u);
  EXPECT_EQ(face.handle.box[0].count, 64u * 64);
  EXPECT_TRUE(face.words.empty());
  const list even{0, 4, 8, 12}, two(4, 2);
  EXPECT_EQ(image_of(datatype::indexed(two, even, d)).handle.dimensions, 1u);  // a vector written as a list
  EXPECT_EQ(image_of(datatype::contiguous(7, datatype::contiguous(9, d))).handle.run, 504u);
  EXPECT_EQ(image_of(datatype::contiguous(7, d)).handle.unit, 8u);
  EXPECT_EQ(image_of(datatype::contiguous(8, d)).handle.unit, 16u);
}

// Any word of an image is anything: no read out of it, no place out of the bounds, and an end.
TEST(type_image, damaged_images_lead_nowhere_else) {
  random_types make(seed() + 12);
  uint64_t refused = 0;
  for (uint64_t i = 0, n = rounds(3000); i < n;) {
    const both b = make.usable(1 + static_cast<int>(make.below(4)), 500);
    const type_image good = image_of(b.type, type_form::records);
    for (int k = 0; k < 20 && i < n; ++k, ++i) {
      type_image bad = good;
      for (uint64_t hits = 1 + make.below(4); hits > 0; --hits) {
        uint64_t& w = bad.words[make.below(bad.words.size())];
        const uint64_t values[] = {make.below(2 * bad.words.size()), w ^ uint64_t{1} << make.below(64),
                                   ~uint64_t{0} >> make.below(64)};
        w = values[make.below(3)];
      }
      bool outside = false;
      for (int look = 0; look < 20; ++look) {
        uint64_t reads = 0;
        const type_place p = find_in_item(bad.handle, probe{&bad.words, &reads, &outside}, make.below(b.type.size()));
        ASSERT_FALSE(outside) << "seed " << seed() << ", image " << i;
        ASSERT_LT(reads, 200u * (1 + bad.handle.records));
        refused += p.left == 0;
        if (p.left == 0) continue;
        ASSERT_GE(p.offset, bad.handle.true_lb);
        ASSERT_LE(p.offset + static_cast<int64_t>(p.left), bad.handle.true_ub);
      }
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace ggas::types_test
