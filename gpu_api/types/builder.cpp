// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/types/builder.hpp"

#include <algorithm>

namespace ggas {

datatype_builder::datatype_builder(const char* name, node::kind what, std::span<const datatype> children)
    : name_(name) {
  node_.what = what;
  node_.children.assign(children.begin(), children.end());
  for (const datatype& c : children) {
    const node& n = c.made_of();
    if (!n.error.empty() && good()) node_.error = n.error;
    node_.depth = std::max(node_.depth, n.depth + 1);
  }
  if (node_.depth > datatype::most_depth)
    fail("depth " + std::to_string(node_.depth) + ": at most " + std::to_string(datatype::most_depth) +
         " constructors of constructors");
}

void datatype_builder::fail(const std::string& text) {
  if (good()) node_.error = name_ + ": " + text;
}

void datatype_builder::require(bool rule, const char* argument, int64_t value, const char* text) {
  if (!rule) fail(std::string(argument) + " = " + std::to_string(value) + ": " + text);
}

void datatype_builder::add(int64_t displacement, int64_t blocklength, size_t i, int64_t times, int64_t stride) {
  if (!good() || blocklength <= 0 || times <= 0) return;
  const node& c = child(i);
  if (c.empty()) return;
  const int64_t copies = math_.times(blocklength, times);
  node_.size = static_cast<uint64_t>(
      math_.plus(static_cast<int64_t>(node_.size), math_.times(copies, static_cast<int64_t>(c.size))));
  node_.elements += static_cast<uint64_t>(copies) * c.elements;  // never more than bytes
  if (c.elements > 0) {
    node_.alignment = std::max(node_.alignment, c.alignment);
    parts_.add(c.word, static_cast<uint64_t>(copies) * (c.elements / c.word->all.length));
  }
  const int64_t in_block = math_.times(blocklength - 1, c.extent()), between = math_.times(times - 1, stride);
  const int64_t low =
      math_.plus(displacement, math_.plus(std::min<int64_t>(in_block, 0), std::min<int64_t>(between, 0)));
  const int64_t high =
      math_.plus(displacement, math_.plus(std::max<int64_t>(in_block, 0), std::max<int64_t>(between, 0)));
  const auto widen = [&](int64_t& lower, int64_t& upper, bool first, int64_t from, int64_t to) {
    const int64_t a = math_.plus(low, from), b = math_.plus(high, to);
    lower = first ? a : std::min(lower, a);
    upper = first ? b : std::max(upper, b);
  };
  if (c.size > 0) {
    widen(node_.true_lb, node_.true_ub, !some_, c.true_lb, c.true_ub);
    some_ = true;
  }
  // Where bounds were given to some children, only those count.
  if (c.bounded) {
    widen(node_.lb, node_.ub, !node_.bounded, c.lb, c.ub);
    node_.bounded = true;
  }
}

void datatype_builder::reach(int64_t bytes) {
  int64_t& end = bytes < 0 ? node_.true_lb : node_.true_ub;
  if (some_) end = math_.plus(end, bytes);
}

void datatype_builder::bound(int64_t lb, int64_t extent) {
  node_.bounded = true;
  node_.lb = lb;
  node_.ub = math_.plus(lb, extent);
}

datatype datatype_builder::finish() {
  if (good() && !node_.bounded) {
    node_.lb = node_.true_lb;
    const int64_t data = math_.plus(node_.true_ub, math_.times(node_.true_lb, -1));
    const auto align = static_cast<int64_t>(node_.alignment);
    node_.ub = math_.plus(node_.lb, math_.times(math_.plus(data, align - 1) / align, align));
  }
  if (good()) {  // extents are differences: those of all bounds are numbers
    math_.plus(node_.ub, math_.times(node_.lb, -1));
    math_.plus(node_.true_ub, math_.times(node_.true_lb, -1));
  }
  if (math_.went_over()) fail("a size or place goes beyond 64 bits");
  if (good()) node_.word = parts_.root();
  if (!good()) {
    std::string error = std::move(node_.error);
    node_ = {};
    node_.what = node::kind::contiguous;
    node_.error = std::move(error);
  }
  if (good()) node_.box = found_box(node_);
  return datatype(std::make_shared<const node>(std::move(node_)));
}

}  // namespace ggas
