// SPDX-License-Identifier: Apache-2.0
// What a datatype is made of, and what follows of it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ggas/type.hpp"
#include "gpu_api/types/encode.hpp"

namespace ggas {

// Of a sequence of primitives: its elements are the digits of a number in a base, which is taken modulo a prime.
struct word_hash {
  uint64_t length = 0;  // elements
  uint64_t sum = 0;     // the number
  uint64_t power = 1;   // the base to the power of the length
  bool operator==(const word_hash&) const = default;
};

// The shortest word that a sequence of primitives repeats: powers of other such words, one after another. Of a
// primitive: no parts.
struct signature_word;
using shared_word = std::shared_ptr<const signature_word>;
struct word_power {
  shared_word word;
  uint64_t times;
  word_hash end;  // of all up to here
};
struct signature_word {
  word_hash all;
  std::array<uint64_t, primitives> counts{};  // elements of each primitive
  std::vector<word_power> parts;
};
shared_word word_of(primitive p);

// Sequences one after another, each repeated.
class word_list {
 public:
  void add(const shared_word& word, uint64_t times);
  shared_word root() const;

 private:
  std::vector<std::pair<shared_word, uint64_t>> parts_;
};

struct datatype::node {
  // The h forms: displacements and strides are in bytes here.
  enum class kind { primitive, contiguous, vector, indexed_block, indexed, structure, subarray, resized, dup };

  kind what = kind::primitive;
  ggas::primitive element = ggas::primitive::byte;
  int64_t count = 0, blocklength = 0, stride = 0;
  std::vector<int64_t> blocklengths, displacements;  // indexed, structure; indexed_block: displacements
  std::vector<int64_t> sizes, subsizes, starts;      // subarray, the last dimension's elements are neighbours
  std::vector<datatype> children;                    // structure: one a block; primitive: none; else one

  std::string error;
  uint64_t size = 0, elements = 0;
  int64_t lb = 0, ub = 0, true_lb = 0, true_ub = 0;
  bool bounded = false;    // bounds were given, here or below
  uint64_t alignment = 1;  // the largest of the primitives
  int depth = 0;
  shared_word word = std::make_shared<const signature_word>();
  std::optional<type_box> box;  // the data as a box, if they are one of few dimensions

  const node& child() const { return children[0].made_of(); }
  int64_t extent() const { return ub - lb; }
  bool empty() const { return size == 0 && !bounded; }  // leaves no trace in what is made of it
};

// The box of a new datatype, from those of what it is made of.
std::optional<type_box> found_box(const datatype::node& n);

}  // namespace ggas
