// SPDX-License-Identifier: Apache-2.0
// Datatypes: the bytes of memory that belong to a message, and their order. A datatype is an ordered list of
// primitives, each at a distance from the address that is passed to a call; the constructors and their rules are MPI's
// (chapter Datatypes). For the host, C++20, no CUDA. Guide: docs/datatypes.md; kernels: ggas/type.cuh; from C:
// ggas/type.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ggas {

enum class primitive : uint8_t {
  byte,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,   // two float32
  complex128,  // two float64
};
inline constexpr int primitives = 15;
uint64_t size_of(primitive p);

enum class array_order { c, fortran };  // c: the last dimension's elements are neighbours; fortran: the first one's
enum class distribution { none, block, cyclic };
inline constexpr int64_t default_argument = -1;  // of a distribution

// What kernels read of a datatype.
enum class type_form {
  automatic,  // a box where it is one, else the records of the canonical datatype
  records,    // those of the datatype as it was made: to compare, and to test
};

// The part of a datatype that must be equal on both sides of a transfer: the primitives in their order, without places.
// Two sequences are equal if they have the same length and repeat the same word. The shortest word is found up to 2^40
// elements of one primitive, and beyond if the sequence repeats it up to 2^20 times or a prime number of times.
struct type_signature {
  uint64_t word;         // a hash of the shortest word that the sequence repeats; 0: no elements
  uint64_t word_length;  // its elements
  uint64_t elements;     // of the whole sequence
  bool operator==(const type_signature&) const = default;
};

// A value; copies share their contents. A constructor with a wrong argument makes a datatype that is not good(): its
// error() names the argument and the rule, its other values are 0, and datatypes made from it have the same error.
// Displacements and extents are in bytes; in constructors without an h in their name they are in extents of `of`. All
// numbers have 64 bits; a larger one is an error, and so are more than `most_depth` nested constructors. Any thread may
// use it.
class datatype {
 public:
  static constexpr int most_depth = 256;
  static constexpr int most_dimensions = 6;

  datatype(primitive p);  // implicit: a primitive is a datatype

  static datatype contiguous(int64_t count, const datatype& of);
  static datatype vector(int64_t count, int64_t blocklength, int64_t stride, const datatype& of);
  static datatype hvector(int64_t count, int64_t blocklength, int64_t stride_bytes, const datatype& of);
  // A block for each displacement.
  static datatype indexed(std::span<const int64_t> blocklengths, std::span<const int64_t> displacements,
                          const datatype& of);
  static datatype hindexed(std::span<const int64_t> blocklengths, std::span<const int64_t> displacements,
                           const datatype& of);
  static datatype indexed_block(int64_t blocklength, std::span<const int64_t> displacements, const datatype& of);
  static datatype hindexed_block(int64_t blocklength, std::span<const int64_t> displacements, const datatype& of);
  static datatype structure(std::span<const int64_t> blocklengths, std::span<const int64_t> displacements,
                            std::span<const datatype> of);
  // Part of an array of 1 ... most_dimensions dimensions: `subsizes` elements from `starts` on. Its extent is the
  // array's.
  static datatype subarray(std::span<const int64_t> sizes, std::span<const int64_t> subsizes,
                           std::span<const int64_t> starts, array_order order, const datatype& of);
  // What process `rank` of `size` has of an array that is spread over a grid of processes, by ranks in C's order.
  static datatype darray(int64_t size, int64_t rank, std::span<const int64_t> sizes,
                         std::span<const distribution> distributions, std::span<const int64_t> arguments,
                         std::span<const int64_t> processes, array_order order, const datatype& of);
  static datatype resized(const datatype& of, int64_t lb, int64_t extent);
  static datatype dup(const datatype& of);

  bool good() const;
  const std::string& error() const;

  uint64_t size() const;        // bytes of data, without gaps
  uint64_t elements() const;    // primitives
  int64_t lb() const;           // lower bound
  int64_t extent() const;       // from one item to the next; rounded up as alignment asks, where no bounds were given
  int64_t true_lb() const;      // of the data alone
  int64_t true_extent() const;  // likewise, without rounding
  int depth() const;            // constructors on the way to the deepest primitive
  type_signature signature() const;

  // What it was made of: for encoders (gpu_api/types).
  struct node;
  const node& made_of() const { return *node_; }

 private:
  explicit datatype(std::shared_ptr<const node> n) : node_(std::move(n)) {}
  std::shared_ptr<const node> node_;
  friend class datatype_builder;
};

}  // namespace ggas
