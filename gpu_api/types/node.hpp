// SPDX-License-Identifier: Apache-2.0
// What a datatype is made of, and what follows of it.
#pragma once

#include <optional>
#include <vector>

#include "ggas/type.hpp"
#include "gpu_api/types/encode.hpp"

namespace ggas {

// The shortest word that a sequence of primitives repeats, as runs of equal primitives.
struct signature_run {
  primitive of;
  uint64_t count;
  bool operator==(const signature_run&) const = default;
};
using signature_word = std::vector<signature_run>;

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
  signature_word word;
  std::optional<type_box> box;  // the data as a box, if they are one of few dimensions

  const node& child() const { return children[0].made_of(); }
  int64_t extent() const { return ub - lb; }
  bool empty() const { return size == 0 && !bounded; }  // leaves no trace in what is made of it
};

// Sequences one after the other, each repeated; nothing: more runs than datatype::most_signature_runs.
struct repeated_word {
  const signature_word* word;
  uint64_t times;
};
std::optional<signature_word> joined(const std::vector<repeated_word>& parts);
// The box of a new datatype, from those of what it is made of.
std::optional<type_box> found_box(const datatype::node& n);
uint64_t length_of(const signature_word& w);
uint64_t hash_of(const signature_word& w);

}  // namespace ggas
