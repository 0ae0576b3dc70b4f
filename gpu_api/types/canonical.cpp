// SPDX-License-Identifier: Apache-2.0
// Datatypes made simple: boxes, runs merged.
#include <algorithm>
#include <map>

#include "gpu_api/types/encode.hpp"
#include "gpu_api/types/node.hpp"

namespace ggas {

namespace {

using node = datatype::node;
using kind = node::kind;

// An item with more runs than its lists have entries anyway stays nested beyond so many.
constexpr uint64_t always_flat = 4096;

// `count` copies, `stride` bytes apart.
std::optional<type_box> repeated(std::optional<type_box> b, int64_t count, int64_t stride) {
  if (!b || count == 1) return b;
  const auto n = static_cast<uint64_t>(count);
  if (b->dimensions.empty() && static_cast<uint64_t>(stride) == b->run) {
    b->run *= n;
    return b;
  }
  if (!b->dimensions.empty()) {
    detail::box_dimension& outer = b->dimensions.back();
    if (static_cast<uint64_t>(outer.stride) * outer.count == static_cast<uint64_t>(stride)) {
      outer.count *= n;
      return b;
    }
  }
  if (b->dimensions.size() == detail::most_box_dimensions) return std::nullopt;
  b->dimensions.push_back({n, stride});
  return b;
}

std::optional<type_box> moved(std::optional<type_box> b, int64_t by) {
  if (b) b->base += by;
  return b;
}

bool same_shape(const type_box& a, const type_box& b) {
  return a.run == b.run &&
         std::equal(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(), b.dimensions.end(),
                    [](const auto& x, const auto& y) { return x.count == y.count && x.stride == y.stride; });
}

// Boxes in sequence are one: runs that touch, or equal boxes at equal distances. A list is given up at the first box
// that fits neither.
class joined_boxes {
 public:
  // False: they are not one.
  bool add(type_box b) {
    const bool touches = last_ && last_->dimensions.empty() && b.dimensions.empty() &&
                         last_->base + static_cast<int64_t>(last_->run) == b.base;
    if (touches) {
      last_->run += b.run;
      return true;
    }
    const bool fits = end_last();
    last_ = std::move(b);
    return fits;
  }
  std::optional<type_box> all() {
    return last_ && end_last() ? repeated(std::move(first_), count_, stride_) : std::nullopt;
  }

 private:
  bool end_last() {
    if (!last_) return true;
    const int64_t distance = last_->base - place_;
    place_ = last_->base;
    if (++count_ == 1) {
      first_ = std::move(last_);
      return true;
    }
    if (count_ == 2) stride_ = distance;
    return same_shape(*last_, *first_) && distance == stride_;
  }

  std::optional<type_box> first_, last_;
  int64_t count_ = 0, place_ = 0, stride_ = 0;
};

// visit(child, count, displacement) for each block of a list, until one returns false.
template <class F>
bool for_each_block(const node& n, F visit) {
  for (size_t i = 0; i < n.displacements.size(); ++i) {
    const datatype& child = n.children[n.what == kind::structure ? i : 0];
    const int64_t count = n.what == kind::indexed_block ? n.blocklength : n.blocklengths[i];
    if (count > 0 && child.size() > 0 && !visit(child, count, n.displacements[i])) return false;
  }
  return true;
}

bool is_list(kind k) { return k == kind::indexed || k == kind::indexed_block || k == kind::structure; }

std::optional<type_box> box_of_list(const node& n) {
  joined_boxes joined;
  const bool fits = for_each_block(n, [&](const datatype& child, int64_t count, int64_t displacement) {
    auto block = moved(repeated(box_of(child), count, child.extent()), displacement);
    return block && joined.add(std::move(*block));
  });
  return fits ? joined.all() : std::nullopt;
}

std::optional<type_box> box_of_subarray(const node& n) {
  std::optional<type_box> b = box_of(n.children[0]);
  int64_t row = n.child().extent(), first = 0;
  for (size_t d = n.sizes.size(); d-- > 0;) {
    b = repeated(b, n.subsizes[d], row);
    first += n.starts[d] * row;
    row *= n.sizes[d];
  }
  return moved(b, first);
}

uint64_t runs_of_box(const type_box& b, uint64_t most) {
  uint64_t runs = 1;
  for (const auto& d : b.dimensions) runs = d.count > most ? most + 1 : std::min(runs * d.count, most + 1);
  return runs;
}

// Runs of a datatype; at most a little more than `most` are counted.
uint64_t count_runs(const datatype& t, uint64_t most) {
  if (t.size() == 0) return 0;
  if (const auto& b = box_of(t)) return runs_of_box(*b, most);
  const node& n = t.made_of();
  uint64_t runs = 0;
  if (is_list(n.what)) {
    for_each_block(n, [&](const datatype& child, int64_t count, int64_t) {
      const auto copies = static_cast<uint64_t>(count);
      const auto block = repeated(box_of(child), count, child.extent());  // dense copies are one run
      runs += block           ? runs_of_box(*block, most)
              : copies > most ? most + 1
                              : std::min(count_runs(child, most) * copies, most + 1);
      return runs <= most;
    });
    return std::min(runs, most + 1);
  }
  const uint64_t copies = n.child().size == 0 ? 0 : t.size() / n.child().size;
  return copies > most ? most + 1 : std::min(count_runs(n.children[0], most) * copies, most + 1);
}

struct runs {
  std::vector<int64_t> lengths, places;

  void add(int64_t place, uint64_t bytes) {
    if (!places.empty() && places.back() + lengths.back() == place) {
      lengths.back() += static_cast<int64_t>(bytes);
      return;
    }
    places.push_back(place);
    lengths.push_back(static_cast<int64_t>(bytes));
  }
  void add(const type_box& b, int64_t place, size_t dimensions) {
    if (dimensions == 0) return add(place, b.run);
    const auto& d = b.dimensions[dimensions - 1];
    for (uint64_t i = 0; i < d.count; ++i) add(b, place + static_cast<int64_t>(i) * d.stride, dimensions - 1);
  }
  void add(const datatype& t, int64_t place);
  void add_copies(const datatype& t, int64_t place, int64_t copies, int64_t stride) {
    for (int64_t i = 0; i < copies; ++i) add(t, place + i * stride);
  }
  void add_subarray(const node& n, size_t d, int64_t place, int64_t rows) {
    if (d == n.sizes.size()) return add(n.children[0], place);
    const int64_t row = rows / n.sizes[d];
    for (int64_t i = 0; i < n.subsizes[d]; ++i) add_subarray(n, d + 1, place + (n.starts[d] + i) * row, row);
  }
};

void runs::add(const datatype& t, int64_t place) {
  if (t.size() == 0) return;
  if (const auto& b = box_of(t)) return add(*b, place + b->base, b->dimensions.size());
  const node& n = t.made_of();
  if (is_list(n.what)) {
    for_each_block(n, [&](const datatype& child, int64_t count, int64_t displacement) {
      add_copies(child, place + displacement, count, child.extent());
      return true;
    });
  } else if (n.what == kind::vector) {
    for (int64_t i = 0; i < n.count; ++i)
      add_copies(n.children[0], place + i * n.stride, n.blocklength, n.child().extent());
  } else if (n.what == kind::subarray) {
    add_subarray(n, 0, place, n.extent());
  } else {
    add_copies(n.children[0], place, n.what == kind::contiguous ? n.count : 1, n.child().extent());
  }
}

datatype of_runs(const runs& r) {
  const bool equal = std::all_of(r.lengths.begin(), r.lengths.end(), [&](int64_t n) { return n == r.lengths[0]; });
  if (equal) return datatype::hindexed_block(r.lengths[0], r.places, primitive::byte);
  return datatype::hindexed(r.lengths, r.places, primitive::byte);
}

datatype of_box(const type_box& b) {
  datatype t = datatype::contiguous(static_cast<int64_t>(b.run), primitive::byte);
  for (const auto& d : b.dimensions) t = datatype::hvector(static_cast<int64_t>(d.count), 1, d.stride, t);
  return b.base == 0 ? t : datatype::hindexed_block(1, std::span(&b.base, 1), t);
}

datatype copies_of(int64_t count, int64_t stride, const datatype& t) {
  return count == 1 ? t : datatype::hvector(count, 1, stride, t);
}

// Simplifies a datatype and the datatypes that it is made of, each once.
class simplifier {
 public:
  datatype simple(const datatype& t) {
    if (t.size() == 0) return datatype::contiguous(0, primitive::byte);
    if (const auto& b = box_of(t)) return of_box(*b);
    const auto known = done_.find(&t.made_of());
    if (known != done_.end()) return known->second;
    return done_.emplace(&t.made_of(), made(t)).first->second;
  }

 private:
  datatype made(const datatype& t) {
    const node& n = t.made_of();
    switch (n.what) {
      case kind::contiguous:
        return copies_of(n.count, n.child().extent(), simple(n.children[0]));
      case kind::vector:
        return copies_of(n.count, n.stride, copies_of(n.blocklength, n.child().extent(), simple(n.children[0])));
      case kind::subarray:
        return of_subarray(n);
      case kind::indexed_block:
      case kind::indexed:
      case kind::structure:
        return of_list(t);
      default:
        return simple(n.children[0]);
    }
  }

  datatype of_subarray(const node& n) {
    datatype rows = simple(n.children[0]);
    int64_t row = n.child().extent(), first = 0;
    for (size_t d = n.sizes.size(); d-- > 0;) {
      rows = copies_of(n.subsizes[d], row, rows);
      first += n.starts[d] * row;
      row *= n.sizes[d];
    }
    return first == 0 ? rows : datatype::hindexed_block(1, std::span(&first, 1), rows);
  }

  datatype of_list(const datatype& t) {
    const node& n = t.made_of();
    const uint64_t most = always_flat + 2 * n.displacements.size(), in_all = count_runs(t, most);
    if (in_all <= most) {
      runs r;
      r.lengths.reserve(in_all);
      r.places.reserve(in_all);
      r.add(t, 0);
      return of_runs(r);
    }
    std::vector<int64_t> lengths, places;
    std::vector<datatype> children;
    for_each_block(n, [&](const datatype& of, int64_t count, int64_t displacement) {
      lengths.push_back(count);
      places.push_back(displacement);
      if (children.empty() || n.what == kind::structure) children.push_back(child(of));
      return true;
    });
    if (n.what == kind::structure) return datatype::structure(lengths, places, children);
    return datatype::hindexed(lengths, places, children[0]);
  }

  // With the extent that it had, whatever bounds its simple form has.
  datatype child(const datatype& t) {
    const auto known = children_.find(&t.made_of());
    if (known != children_.end()) return known->second;
    return children_.emplace(&t.made_of(), datatype::resized(simple(t), 0, t.extent())).first->second;
  }

  std::map<const node*, datatype> done_, children_;
};

}  // namespace

const std::optional<type_box>& box_of(const datatype& t) { return t.made_of().box; }

std::optional<type_box> found_box(const datatype::node& n) {
  if (n.size == 0) return std::nullopt;
  switch (n.what) {
    case kind::primitive:
      return type_box{0, n.size};
    case kind::contiguous:
      return repeated(box_of(n.children[0]), n.count, n.child().extent());
    case kind::vector:
      return repeated(repeated(box_of(n.children[0]), n.blocklength, n.child().extent()), n.count, n.stride);
    case kind::subarray:
      return box_of_subarray(n);
    case kind::resized:
    case kind::dup:
      return box_of(n.children[0]);
    default:
      return box_of_list(n);
  }
}

datatype canonical(const datatype& t) { return simplifier().simple(t); }

}  // namespace ggas
