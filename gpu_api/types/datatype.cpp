// SPDX-License-Identifier: Apache-2.0
// Primitives, queries, and the constructors but those of arrays (arrays.cpp).
#include "ggas/type.hpp"

#include "gpu_api/types/builder.hpp"

namespace ggas {

namespace {

using kind = datatype::node::kind;
using one = std::span<const datatype, 1>;

one only(const datatype& of) { return one(&of, 1); }

// A block for each displacement, in bytes or extents.
datatype blocks(const char* name, kind what, std::span<const int64_t> lengths, int64_t every_length,
                std::span<const int64_t> displacements, const datatype& of, bool in_bytes) {
  datatype_builder b(name, what, only(of));
  const bool listed = what == kind::indexed;
  if (listed && lengths.size() != displacements.size())
    b.fail(std::to_string(lengths.size()) + " blocklengths and " + std::to_string(displacements.size()) +
           " displacements: must be as many");
  if (!listed) b.require(every_length >= 0, "blocklength", every_length, "must be 0 or more");
  exact math;
  auto& node = b.made();
  node.count = static_cast<int64_t>(displacements.size());
  node.blocklength = every_length;
  node.blocklengths.assign(lengths.begin(), lengths.end());
  node.displacements.reserve(displacements.size());
  for (size_t i = 0; i < displacements.size() && b.good(); ++i) {
    const int64_t n = listed ? lengths[i] : every_length;
    const int64_t at = in_bytes ? displacements[i] : math.times(displacements[i], of.extent());
    b.require(n >= 0, "blocklength", n, "must be 0 or more");
    node.displacements.push_back(at);
    b.add(at, n);
  }
  if (math.went_over()) b.fail("a displacement goes beyond 64 bits");
  return b.finish();
}

datatype strided(const char* name, int64_t count, int64_t blocklength, int64_t stride, const datatype& of) {
  datatype_builder b(name, kind::vector, only(of));
  b.require(count >= 0, "count", count, "must be 0 or more");
  b.require(blocklength >= 0, "blocklength", blocklength, "must be 0 or more");
  b.made().count = count;
  b.made().blocklength = blocklength;
  b.made().stride = stride;
  b.add(0, blocklength, 0, count, stride);
  return b.finish();
}

}  // namespace

uint64_t size_of(primitive p) {
  constexpr uint64_t sizes[primitives] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
  return static_cast<unsigned>(p) < primitives ? sizes[static_cast<unsigned>(p)] : 0;
}

datatype::datatype(primitive p) {
  node n;
  n.element = p;
  n.size = size_of(p);
  if (n.size == 0) n.error = "primitive " + std::to_string(static_cast<int>(p)) + ": must be one of the list";
  n.elements = n.size == 0 ? 0 : 1;
  n.ub = n.true_ub = static_cast<int64_t>(n.size);
  n.alignment = p == primitive::complex64 || p == primitive::complex128 ? n.size / 2 : n.size;
  if (n.size != 0) n.word = word_of(p);
  n.box = found_box(n);
  node_ = std::make_shared<const node>(std::move(n));
}

bool datatype::good() const { return node_->error.empty(); }
const std::string& datatype::error() const { return node_->error; }
uint64_t datatype::size() const { return node_->size; }
uint64_t datatype::elements() const { return node_->elements; }
int64_t datatype::lb() const { return node_->lb; }
int64_t datatype::extent() const { return node_->extent(); }
int64_t datatype::true_lb() const { return node_->true_lb; }
int64_t datatype::true_extent() const { return node_->true_ub - node_->true_lb; }
int datatype::depth() const { return node_->depth; }
type_signature datatype::signature() const {
  const word_hash& word = node_->word->all;
  return {word.sum, word.length, node_->elements};
}

datatype datatype::contiguous(int64_t count, const datatype& of) {
  datatype_builder b("contiguous", kind::contiguous, only(of));
  b.require(count >= 0, "count", count, "must be 0 or more");
  b.made().count = count;
  b.add(0, count);
  return b.finish();
}

datatype datatype::hvector(int64_t count, int64_t blocklength, int64_t stride_bytes, const datatype& of) {
  return strided("hvector", count, blocklength, stride_bytes, of);
}

datatype datatype::vector(int64_t count, int64_t blocklength, int64_t stride, const datatype& of) {
  exact math;
  const int64_t bytes = math.times(stride, of.extent());
  if (!math.went_over()) return strided("vector", count, blocklength, bytes, of);
  datatype_builder b("vector", kind::vector, only(of));
  b.require(false, "stride", stride, "goes beyond 64 bits");
  return b.finish();
}

datatype datatype::indexed(std::span<const int64_t> blocklengths, std::span<const int64_t> displacements,
                           const datatype& of) {
  return blocks("indexed", kind::indexed, blocklengths, 0, displacements, of, false);
}
datatype datatype::hindexed(std::span<const int64_t> blocklengths, std::span<const int64_t> displacements,
                            const datatype& of) {
  return blocks("hindexed", kind::indexed, blocklengths, 0, displacements, of, true);
}
datatype datatype::indexed_block(int64_t blocklength, std::span<const int64_t> displacements, const datatype& of) {
  return blocks("indexed_block", kind::indexed_block, {}, blocklength, displacements, of, false);
}
datatype datatype::hindexed_block(int64_t blocklength, std::span<const int64_t> displacements, const datatype& of) {
  return blocks("hindexed_block", kind::indexed_block, {}, blocklength, displacements, of, true);
}

datatype datatype::structure(std::span<const int64_t> blocklengths, std::span<const int64_t> displacements,
                             std::span<const datatype> of) {
  datatype_builder b("structure", kind::structure, of);
  if (blocklengths.size() != of.size() || displacements.size() != of.size())
    b.fail(std::to_string(blocklengths.size()) + " blocklengths, " + std::to_string(displacements.size()) +
           " displacements and " + std::to_string(of.size()) + " datatypes: must be as many");
  auto& node = b.made();
  node.count = static_cast<int64_t>(of.size());
  node.blocklengths.assign(blocklengths.begin(), blocklengths.end());
  node.displacements.assign(displacements.begin(), displacements.end());
  for (size_t i = 0; i < of.size() && b.good(); ++i) {
    b.require(blocklengths[i] >= 0, "blocklength", blocklengths[i], "must be 0 or more");
    b.add(displacements[i], blocklengths[i], i);
  }
  return b.finish();
}

datatype datatype::resized(const datatype& of, int64_t lb, int64_t extent) {
  datatype_builder b("resized", kind::resized, only(of));
  b.add(0, 1);
  b.bound(lb, extent);
  return b.finish();
}

datatype datatype::dup(const datatype& of) {
  datatype_builder b("dup", kind::dup, only(of));
  b.add(0, 1);
  return b.finish();
}

}  // namespace ggas
