// SPDX-License-Identifier: Apache-2.0
// Descriptions of datatypes: queries against the plain list, signatures, arrays that are spread, and what is refused.
#include <gtest/gtest.h>

#include <limits>

#include "tests/gpu_api/types/oracle.hpp"
#include "tests/gpu_api/types/type_c99.h"

namespace ggas::types_test {
namespace {

using list = std::vector<int64_t>;
constexpr int64_t huge = std::numeric_limits<int64_t>::max();

bool same_signature(const flat& a, const flat& b) {
  return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const auto& x, const auto& y) { return x.of == y.of; });
}

TEST(datatype, random_ones_answer_as_their_list) {
  random_types make(seed());
  uint64_t negative = 0, empty = 0;
  for (uint64_t i = 0, n = rounds(3000); i < n; ++i) {
    const both b = make.next(1 + static_cast<int>(make.below(4)));
    SCOPED_TRACE("seed " + std::to_string(seed()) + ", datatype " + std::to_string(i));
    ASSERT_TRUE(b.type.good()) << b.type.error();
    ASSERT_EQ(b.type.size(), b.list.size());
    ASSERT_EQ(b.type.elements(), b.list.entries.size());
    ASSERT_EQ(b.type.lb(), b.list.lb());
    ASSERT_EQ(b.type.extent(), b.list.extent());
    ASSERT_EQ(b.type.true_lb(), b.list.true_lb());
    ASSERT_EQ(b.type.true_extent(), b.list.true_ub() - b.list.true_lb());
    negative += b.type.true_lb() < 0;
    empty += b.type.size() == 0;
  }
  EXPECT_GT(negative, 0u);
  EXPECT_GT(empty, 0u);
}

// The example of the literature: a vector of vectors of doubles.
TEST(datatype, vector_of_vectors) {
  const datatype v1 = datatype::vector(4, 1, 2, primitive::float64), v2 = datatype::vector(6, 1, 4, v1);
  EXPECT_EQ(v1.size(), 32u);
  EXPECT_EQ(v1.extent(), 56);
  EXPECT_EQ(v2.elements(), 24u);
  EXPECT_EQ(v2.size(), 192u);
  EXPECT_EQ(v2.extent(), 5 * 224 + 56);
}

TEST(datatype, struct_is_rounded_up_as_a_compiler_does) {
  const list lengths{1, 2, 1}, places{0, 8, 16};
  const datatype children[] = {primitive::float64, primitive::int32, primitive::int8};
  const datatype t = datatype::structure(lengths, places, children);
  EXPECT_EQ(t.size(), 17u);
  EXPECT_EQ(t.extent(), 24);
  EXPECT_EQ(t.true_extent(), 17);
}

TEST(datatype, signatures_are_equal_where_sequences_are) {
  random_types make(seed() + 1);
  uint64_t equal = 0;
  for (uint64_t i = 0, n = rounds(3000); i < n; ++i) {
    // Short words of two kinds of primitives: many are equal at random.
    const auto word = [&] {
      list lengths, places;
      std::vector<datatype> children;
      flat f;
      for (uint64_t k = 1 + make.below(4); k > 0; --k) {
        const primitive p = make.below(2) ? primitive::int32 : primitive::float64;
        lengths.push_back(make.between(0, 3));
        places.push_back(0);
        children.push_back(p);
        f.add_block(flat(p), 0, lengths.back());
      }
      const int64_t copies = make.between(1, 4);
      flat all;
      for (int64_t c = 0; c < copies; ++c) all.add(f, 0);
      return both{datatype::contiguous(copies, datatype::structure(lengths, places, children)), all};
    };
    const both a = word(), b = word();
    ASSERT_EQ(a.type.signature() == b.type.signature(), same_signature(a.list, b.list)) << i;
    equal += a.type.signature() == b.type.signature();
  }
  EXPECT_GT(equal, 20u);
}

TEST(datatype, signature_of_huge_counts_takes_no_time) {
  const datatype children[] = {primitive::int32, primitive::float64};
  const list one{1, 1}, places{0, 8};
  const datatype pair = datatype::structure(one, places, children);
  const datatype many = datatype::contiguous(int64_t{1} << 50, pair);
  EXPECT_EQ(many.signature().word, pair.signature().word);
  EXPECT_EQ(many.signature().elements, uint64_t{1} << 51);
  // Not a repeated word: its runs of equal primitives are not listed.
  const datatype halves = datatype::contiguous(int64_t{1} << 25, datatype::contiguous(int64_t{1} << 25, pair));
  const datatype parts[] = {many, primitive::int8}, same[] = {halves, primitive::int8},
                 turned[] = {primitive::int8, many};
  const list far{0, (int64_t{1} << 50) * 16}, first{0, 16};
  const type_signature s = datatype::structure(one, far, parts).signature();
  EXPECT_EQ(s.elements, (uint64_t{1} << 51) + 1);
  EXPECT_EQ(s, datatype::structure(one, far, same).signature());
  EXPECT_NE(s, datatype::structure(one, first, turned).signature());
  EXPECT_EQ(s.word, datatype::contiguous(7, datatype::structure(one, far, parts)).signature().word);
}

TEST(datatype, struct_of_many_kinds) {
  const datatype children[] = {primitive::int32, primitive::float64};
  const datatype pair = datatype::structure(list{1, 1}, list{0, 8}, children);
  const datatype parts[] = {pair, primitive::int32};
  const datatype packed = datatype::structure(list{600000, 1}, list{0, 16 * 600000}, parts);
  ASSERT_TRUE(packed.good()) << packed.error();
  // Primitives in blocks of their own.
  constexpr int pairs = 50000;
  const datatype fewer = datatype::structure(list{pairs, 1}, list{0, 16 * pairs}, parts);
  list lengths, places;
  std::vector<datatype> all;
  for (int i = 0; i < pairs; ++i)
    for (const int k : {0, 1}) {
      lengths.push_back(1);
      places.push_back(16 * i + 8 * k);
      all.push_back(children[k]);
    }
  EXPECT_EQ(datatype::structure(lengths, places, all).signature().word, pair.signature().word);
  lengths.push_back(1);
  places.push_back(16 * pairs);
  all.push_back(primitive::int32);
  EXPECT_EQ(datatype::structure(lengths, places, all).signature(), fewer.signature());
}

// Every element of the array belongs to one process.
TEST(datatype, darray_spreads_an_array) {
  random_types make(seed() + 2);
  for (int round = 0; round < 100; ++round) {
    const auto dimensions = static_cast<size_t>(1 + make.below(3));
    const array_order order = make.below(2) == 0 ? array_order::c : array_order::fortran;
    list sizes, arguments, processes;
    std::vector<distribution> how;
    int64_t size = 1, all = 1;
    for (size_t d = 0; d < dimensions; ++d) {
      how.push_back(static_cast<distribution>(make.below(3)));
      sizes.push_back(make.between(1, 7));
      processes.push_back(how[d] == distribution::none ? 1 : make.between(1, 3));
      const int64_t least = how[d] == distribution::block ? (sizes[d] + processes[d] - 1) / processes[d] : 1;
      arguments.push_back(make.below(2) == 0 ? default_argument : make.between(least, least + 2));
      size *= processes[d];
      all *= sizes[d];
    }
    std::vector<int> owners(static_cast<size_t>(all), 0);
    for (int64_t rank = 0; rank < size; ++rank) {
      const datatype t = datatype::darray(size, rank, sizes, how, arguments, processes, order, primitive::float64);
      ASSERT_TRUE(t.good()) << t.error();
      ASSERT_EQ(t.lb(), 0);
      ASSERT_EQ(t.extent(), all * 8);
      // What MPI's rule says of each element, in the order of memory.
      uint64_t mine = 0;
      for (int64_t e = 0; e < all; ++e) {
        int64_t left = e;
        list at(dimensions);
        for (size_t k = 0; k < dimensions; ++k) {
          const size_t d = order == array_order::c ? dimensions - 1 - k : k;
          at[d] = left % sizes[d];
          left /= sizes[d];
        }
        int64_t owner = 0;
        for (size_t d = 0; d < dimensions; ++d) {
          const int64_t usual = how[d] == distribution::block ? (sizes[d] + processes[d] - 1) / processes[d] : 1;
          const int64_t block = arguments[d] == default_argument ? usual : arguments[d];
          owner = owner * processes[d] + (how[d] == distribution::none ? 0 : at[d] / block % processes[d]);
        }
        if (owner == rank) ++mine, ++owners[static_cast<size_t>(e)];
      }
      ASSERT_EQ(t.elements(), mine);
    }
    for (const int n : owners) ASSERT_EQ(n, 1);
  }
}

TEST(datatype, what_is_wrong_is_named) {
  const datatype d = primitive::float64;
  const list one{1}, two{1, 2}, big{huge};
  const auto says = [](const datatype& t, const std::string& text) {
    EXPECT_FALSE(t.good());
    EXPECT_EQ(t.error(), text);
    EXPECT_EQ(t.size(), 0u);
  };
  says(datatype::contiguous(-1, d), "contiguous: count = -1: must be 0 or more");
  says(datatype::vector(1, -2, 1, d), "vector: blocklength = -2: must be 0 or more");
  says(datatype::vector(2, 1, huge, d), "vector: stride = 9223372036854775807: goes beyond 64 bits");
  says(datatype::contiguous(huge, d), "contiguous: a size or place goes beyond 64 bits");
  says(datatype::hvector(3, 1, huge, d), "hvector: a size or place goes beyond 64 bits");
  says(datatype::indexed(two, one, d), "indexed: 2 blocklengths and 1 displacements: must be as many");
  says(datatype::indexed(one, big, d), "indexed: a displacement goes beyond 64 bits");
  says(datatype::hindexed_block(-1, one, d), "hindexed_block: blocklength = -1: must be 0 or more");
  says(datatype::resized(d, huge, 1), "resized: a size or place goes beyond 64 bits");
  says(datatype::subarray(one, two, one, array_order::c, d),
       "subarray: sizes, subsizes and starts: must have a number for each dimension");
  says(datatype::subarray(one, one, one, array_order::c, d), "subarray: starts[0] = 1: must be 0 ... sizes - subsizes");
  const list seven(7, 1);
  says(datatype::subarray(seven, seven, seven, array_order::c, d), "subarray: 7 dimensions: must be 1 ... 6");
  const distribution block[] = {distribution::block};
  says(datatype::darray(3, 3, one, block, one, one, array_order::c, d), "darray: rank = 3: must be 0 ... size - 1");
  says(datatype::contiguous(2, datatype::contiguous(-1, d)), "contiguous: count = -1: must be 0 or more");
  says(datatype(static_cast<primitive>(99)), "primitive 99: must be one of the list");
  datatype deep = d;
  for (int i = 0; i < datatype::most_depth; ++i) deep = datatype::dup(deep);
  EXPECT_TRUE(deep.good());
  says(datatype::dup(deep), "dup: depth 257: at most 256 constructors of constructors");
}

TEST(datatype, from_c) { EXPECT_EQ(try_types_from_c(), 0); }

}  // namespace
}  // namespace ggas::types_test
