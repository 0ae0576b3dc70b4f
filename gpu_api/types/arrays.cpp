// SPDX-License-Identifier: Apache-2.0
// Parts of arrays.
#include <algorithm>

#include "gpu_api/types/builder.hpp"

namespace ggas {

namespace {

using kind = datatype::node::kind;
using numbers = std::vector<int64_t>;

std::string nth(const char* argument, size_t i) { return std::string(argument) + "[" + std::to_string(i) + "]"; }

// With the dimension whose elements are neighbours at the end.
template <class T>
std::vector<T> in_order_of_c(std::span<const T> v, array_order order) {
  std::vector<T> r(v.begin(), v.end());
  if (order == array_order::fortran) std::reverse(r.begin(), r.end());
  return r;
}

bool check_dimensions(datatype_builder& b, std::initializer_list<size_t> lengths, const char* what) {
  const size_t n = *lengths.begin();
  if (n < 1 || n > datatype::most_dimensions)
    b.fail(std::to_string(n) + " dimensions: must be 1 ... " + std::to_string(datatype::most_dimensions));
  for (const size_t other : lengths)
    if (other != n) b.fail(std::string(what) + ": must have a number for each dimension");
  return b.good();
}

// What a process has of one dimension, made of what it has of the faster ones.
struct share {
  int64_t size, processes, argument, coordinate;
  distribution how;
};

// Neighbours in a dimension, `row` bytes apart.
datatype rows(int64_t count, int64_t row, const datatype& of) { return datatype::hvector(count, 1, row, of); }

datatype share_of(const share& s, int64_t row, const datatype& of, int64_t& start) {
  if (s.how == distribution::none) return start = 0, rows(s.size, row, of);
  if (s.how == distribution::block) {
    const int64_t block = s.argument == default_argument ? (s.size - 1) / s.processes + 1 : s.argument;
    start = std::min(block * s.coordinate, s.size);
    return rows(std::min(block, s.size - start), row, of);
  }
  const int64_t block = s.argument == default_argument ? 1 : s.argument;
  start = std::min(block * s.coordinate, s.size);
  const int64_t round = block * s.processes, mine = s.size - start;
  const int64_t whole = mine / round + (mine % round >= block ? 1 : 0);
  const int64_t rest = mine % round < block ? mine % round : 0;
  const datatype all = datatype::hvector(whole, 1, round * row, rows(block, row, of));
  const int64_t lengths[] = {1, 1}, places[] = {0, whole * round * row};
  const datatype parts[] = {all, rows(rest, row, of)};
  return rest == 0 ? all : datatype::structure(lengths, places, parts);
}

void check_share(datatype_builder& b, const share& s, size_t i) {
  b.require(s.size >= 1, nth("sizes", i).c_str(), s.size, "must be 1 or more");
  b.require(s.processes >= 1, nth("processes", i).c_str(), s.processes, "must be 1 or more");
  if (s.how == distribution::none) {
    b.require(s.processes == 1, nth("processes", i).c_str(), s.processes, "must be 1 where nothing is distributed");
    return;
  }
  b.require(s.argument >= 1 || s.argument == default_argument, nth("arguments", i).c_str(), s.argument,
            "must be 1 or more, or the default");
  if (!b.good() || s.argument == default_argument) return;
  exact math;
  const int64_t round = math.times(s.argument, s.processes);
  b.require(!math.went_over(), nth("arguments", i).c_str(), s.argument, "goes beyond 64 bits");
  if (s.how == distribution::block)
    b.require(round >= s.size, nth("arguments", i).c_str(), s.argument, "the blocks must cover the array");
}

}  // namespace

datatype datatype::subarray(std::span<const int64_t> sizes, std::span<const int64_t> subsizes,
                            std::span<const int64_t> starts, array_order order, const datatype& of) {
  datatype_builder b("subarray", kind::subarray, std::span(&of, 1));
  if (!check_dimensions(b, {sizes.size(), subsizes.size(), starts.size()}, "sizes, subsizes and starts"))
    return b.finish();
  auto& node = b.made();
  node.sizes = in_order_of_c(sizes, order);
  node.subsizes = in_order_of_c(subsizes, order);
  node.starts = in_order_of_c(starts, order);
  exact math;
  int64_t row = of.extent(), first = 0, last = 0, copies = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    const int64_t size = node.sizes[d], part = node.subsizes[d], start = node.starts[d];
    b.require(size >= 1, nth("sizes", d).c_str(), size, "must be 1 or more");
    b.require(part >= 1 && part <= size, nth("subsizes", d).c_str(), part, "must be 1 ... sizes");
    b.require(start >= 0 && start <= size - part, nth("starts", d).c_str(), start, "must be 0 ... sizes - subsizes");
    if (!b.good()) return b.finish();
    first = math.plus(first, math.times(start, row));
    last = math.plus(last, math.times(start + part - 1, row));
    copies = math.times(copies, part);
    row = math.times(row, size);
  }
  if (math.went_over()) b.fail("the array goes beyond 64 bits");
  b.add(first, 1, 0, copies, 0);
  b.reach(last - first);
  b.bound(0, row);
  return b.finish();
}

datatype datatype::darray(int64_t size, int64_t rank, std::span<const int64_t> sizes,
                          std::span<const distribution> distributions, std::span<const int64_t> arguments,
                          std::span<const int64_t> processes, array_order order, const datatype& of) {
  datatype_builder b("darray", kind::resized, std::span(&of, 1));
  if (!check_dimensions(b, {sizes.size(), distributions.size(), arguments.size(), processes.size()},
                        "sizes, distributions, arguments and processes"))
    return b.finish();
  b.require(size >= 1, "size", size, "must be 1 or more");
  b.require(rank >= 0 && rank < size, "rank", rank, "must be 0 ... size - 1");
  std::vector<share> shares(sizes.size());
  exact math;
  int64_t grid = 1, left = rank;
  for (size_t d = sizes.size(); d-- > 0 && b.good();) {  // ranks are in C's order whatever that of the array is
    shares[d] = {sizes[d], processes[d], arguments[d], 0, distributions[d]};
    check_share(b, shares[d], d);
    if (!b.good()) break;
    shares[d].coordinate = left % processes[d];
    left /= processes[d];
    grid = math.times(grid, processes[d]);
  }
  if (b.good()) b.require(grid == size && !math.went_over(), "size", size, "must be the product of processes");
  if (!b.good()) return b.finish();
  shares = in_order_of_c(std::span<const share>(shares), order);
  datatype part = of;
  int64_t row = of.extent(), first = 0, start = 0;
  for (size_t d = shares.size(); d-- > 0;) {
    const share& s = shares[d];
    const int64_t longer = math.times(row, s.size);
    math.times(row, math.times(s.processes, std::max<int64_t>(s.argument, 1)));  // a round of a cyclic distribution
    if (math.went_over()) {
      b.fail("the array goes beyond 64 bits");
      return b.finish();
    }
    part = share_of(s, row, part, start);
    first = math.plus(first, math.times(start, row));
    row = longer;
  }
  return resized(hindexed_block(1, std::span(&first, 1), part), 0, row);
}

}  // namespace ggas
