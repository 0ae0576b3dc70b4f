// SPDX-License-Identifier: Apache-2.0
// How constructors make datatypes: a node with its sizes, bounds and signature worked out, or the first error.
#pragma once

#include <utility>

#include "gpu_api/types/node.hpp"

namespace ggas {

// Arithmetic of 64 bits that remembers that it went beyond.
class exact {
 public:
  int64_t times(int64_t a, int64_t b) {
    int64_t r = 0;
    over_ = __builtin_mul_overflow(a, b, &r) || over_;
    return r;
  }
  int64_t plus(int64_t a, int64_t b) {
    int64_t r = 0;
    over_ = __builtin_add_overflow(a, b, &r) || over_;
    return r;
  }
  bool went_over() const { return over_; }

 private:
  bool over_ = false;
};

class datatype_builder {
 public:
  using node = datatype::node;

  datatype_builder(const char* name, node::kind what, std::span<const datatype> children);
  node& made() { return node_; }
  bool good() const { return node_.error.empty(); }
  // The first failure stays: "vector: count = -1: must be 0 or more".
  void fail(const std::string& text);
  void require(bool rule, const char* argument, int64_t value, const char* text);

  // Adds `blocklength` copies of child `i` (or of the only child) from `displacement` on, and repeats them `times`
  // times with a stride of `stride` bytes.
  void add(int64_t displacement, int64_t blocklength, size_t i = 0, int64_t times = 1, int64_t stride = 0);
  // Copies of the last add() lie up to `bytes` after (or, if negative, before) the place it named.
  void reach(int64_t bytes);
  // Bounds that are given, in place of those that follow.
  void bound(int64_t lb, int64_t extent);
  datatype finish();

 private:
  const node& child(size_t i) const { return node_.children[node_.children.size() == 1 ? 0 : i].made_of(); }

  std::string name_;
  node node_;
  exact math_;
  bool some_ = false;  // there are data
  word_list parts_;
};

}  // namespace ggas
