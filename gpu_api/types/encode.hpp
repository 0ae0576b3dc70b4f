// SPDX-License-Identifier: Apache-2.0
// From a datatype to what kernels read.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ggas/detail/type/type_handle.hpp"
#include "ggas/type.hpp"

namespace ggas {

// Runs of so many bytes, the first at `base`, repeated in each dimension, the innermost first.
struct type_box {
  int64_t base = 0;
  uint64_t run = 0;
  std::vector<detail::box_dimension> dimensions = {};
};

// The datatype as a box; nothing where it is none of at most detail::most_box_dimensions dimensions. Not of size 0.
const std::optional<type_box>& box_of(const datatype& t);
// The same bytes in the same order, in as few steps as possible: of bytes, neighbouring runs merged.
datatype canonical(const datatype& t);

struct encoded_type {
  std::vector<uint64_t> records, lookaside;
  uint64_t unit = 1;  // every run and place is a multiple of it: 1, 2, 4, 8 or 16
};
encoded_type encode(const datatype& t);

// Handle and words of its image; whose it is, and where, is not filled in. t.good().
struct type_image {
  ggas_type handle;
  std::vector<uint64_t> words;
};
type_image image_of(const datatype& t, type_form form = type_form::automatic);

// The primitives of a datatype in their order, without places: small for any number of equal ones.
struct signature_word;
std::shared_ptr<const signature_word> signature_word_of(const datatype& t);
// Whether so many bytes from the beginning of the sequence, which is repeated, end with a whole primitive.
bool ends_primitive(const signature_word& word, uint64_t bytes);

}  // namespace ggas
