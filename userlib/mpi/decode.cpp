// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/decode.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace ggas::mpi {

namespace {

using numbers = std::vector<int64_t>;

struct named {
  MPI_Datatype type;
  primitive of;
};
// Others are as many bytes as they have: what is packed does not depend on it.
const std::vector<named>& primitives_of_mpi() {
  static const std::vector<named> all = {
      {MPI_CHAR, primitive::int8},
      {MPI_SIGNED_CHAR, primitive::int8},
      {MPI_UNSIGNED_CHAR, primitive::uint8},
      {MPI_BYTE, primitive::byte},
      {MPI_PACKED, primitive::byte},
      {MPI_SHORT, primitive::int16},
      {MPI_UNSIGNED_SHORT, primitive::uint16},
      {MPI_INT, primitive::int32},
      {MPI_UNSIGNED, primitive::uint32},
      {MPI_LONG, primitive::int64},
      {MPI_UNSIGNED_LONG, primitive::uint64},
      {MPI_LONG_LONG, primitive::int64},
      {MPI_UNSIGNED_LONG_LONG, primitive::uint64},
      {MPI_INT8_T, primitive::int8},
      {MPI_UINT8_T, primitive::uint8},
      {MPI_INT16_T, primitive::int16},
      {MPI_UINT16_T, primitive::uint16},
      {MPI_INT32_T, primitive::int32},
      {MPI_UINT32_T, primitive::uint32},
      {MPI_INT64_T, primitive::int64},
      {MPI_UINT64_T, primitive::uint64},
      {MPI_FLOAT, primitive::float32},
      {MPI_DOUBLE, primitive::float64},
      {MPI_C_FLOAT_COMPLEX, primitive::complex64},
      {MPI_C_DOUBLE_COMPLEX, primitive::complex128},
  };
  return all;
}

struct pair {
  MPI_Datatype type;
  datatype first;
};
// A number and the int after it, as MPI_MINLOC has them.
const std::vector<pair>& pairs_of_mpi() {
  static const std::vector<pair> all = {
      {MPI_FLOAT_INT, primitive::float32}, {MPI_DOUBLE_INT, primitive::float64},
      {MPI_LONG_INT, primitive::int64},    {MPI_SHORT_INT, primitive::int16},
      {MPI_2INT, primitive::int32},        {MPI_LONG_DOUBLE_INT, datatype::contiguous(16, primitive::byte)},
  };
  return all;
}

uint64_t size_in_mpi(MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return static_cast<uint64_t>(size);
}

datatype decode_named(MPI_Datatype type) {
  for (const named& n : primitives_of_mpi())
    if (n.type == type) return n.of;
  for (const pair& p : pairs_of_mpi()) {
    if (p.type != type) continue;
    const std::array<int64_t, 2> ones{1, 1};
    const auto behind = static_cast<int64_t>((p.first.size() + sizeof(int) - 1) / sizeof(int) * sizeof(int));
    const std::array<int64_t, 2> places{0, behind};
    const std::array<datatype, 2> of{p.first, primitive::int32};
    return datatype::structure(ones, places, of);
  }
  return datatype::contiguous(static_cast<int64_t>(size_in_mpi(type)), primitive::byte);
}

// How many arguments a constructor had. `large`: counts of 64 bits, if it was one with _c.
struct envelope {
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  int combiner = 0;

  bool named() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
  }
};

envelope envelope_of(MPI_Datatype type) {
  envelope e;
#if MPI_VERSION >= 4
  PMPI_Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large, &e.types, &e.combiner);
#else
  int integers = 0, addresses = 0, types = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &e.combiner);
  e.integers = integers, e.addresses = addresses, e.types = types;
#endif
  return e;
}

// MPI_Type_get_contents gives references to derived datatypes, which are freed as others are.
struct reference {
  reference(MPI_Datatype t) : type(t) {}
  reference(reference&& other) : type(other.type) { other.type = MPI_DATATYPE_NULL; }
  ~reference() {
    if (type != MPI_DATATYPE_NULL && !is_named(type)) PMPI_Type_free(&type);
  }
  MPI_Datatype type;
};

// Lists of no numbers have a place, too: an MPI may look at the pointer.
template <class T>
std::vector<T> room_for(MPI_Count n) {
  return std::vector<T>(static_cast<size_t>(n) + 1);
}

// What a derived datatype was made with. Of a constructor with large counts these are apart from the integers, in the
// order of MPI's table; `numbers` has all in the order of the constructor without.
class contents {
 public:
  contents(MPI_Datatype type, const envelope& e)
      : integers_(room_for<int>(e.integers)),
        addresses_(room_for<MPI_Aint>(e.addresses)),
        large_(room_for<MPI_Count>(e.large)) {
    auto children = room_for<MPI_Datatype>(e.types);
#if MPI_VERSION >= 4
    PMPI_Type_get_contents_c(type, e.integers, e.addresses, e.large, e.types, integers_.data(), addresses_.data(),
                             large_.data(), children.data());
#else
    PMPI_Type_get_contents(type, static_cast<int>(e.integers), static_cast<int>(e.addresses), static_cast<int>(e.types),
                           integers_.data(), addresses_.data(), children.data());
#endif
    integers_.pop_back();
    addresses_.pop_back();
    large_.pop_back();
    children.pop_back();
    const std::vector<reference> all(children.begin(), children.end());
    for (const reference& child : all) of.push_back(decode(child.type));
  }

  // Of the integers, or of the large counts in their place.
  int64_t number(size_t i) const { return large_.empty() ? integers_[i] : large_[i]; }
  numbers some(size_t from, size_t count) const {
    return large_.empty() ? cut(integers_, from, count) : cut(large_, from, count);
  }
  // Of the addresses; large counts from `from` on in their place.
  int64_t address(size_t i, size_t from) const { return large_.empty() ? addresses_[i] : large_[from + i]; }
  numbers addresses(size_t from, size_t count) const {
    return large_.empty() ? cut(addresses_, 0, count) : cut(large_, from, count);
  }
  // Integers that are none of the counts: dimensions, order, ways and arguments of distributions.
  int64_t plain(size_t i) const { return integers_[i]; }
  numbers plain(size_t from, size_t count) const { return cut(integers_, from, count); }
  bool large() const { return !large_.empty(); }

  std::vector<datatype> of;

 private:
  template <class T>
  static numbers cut(const std::vector<T>& all, size_t from, size_t count) {
    const auto first = all.begin() + static_cast<ptrdiff_t>(from);
    return {first, first + static_cast<ptrdiff_t>(count)};
  }
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> large_;
};

array_order order_of(int64_t order) { return order == MPI_ORDER_FORTRAN ? array_order::fortran : array_order::c; }

distribution distribution_of(int64_t how) {
  if (how == MPI_DISTRIBUTE_BLOCK) return distribution::block;
  return how == MPI_DISTRIBUTE_CYCLIC ? distribution::cyclic : distribution::none;
}

datatype decode_darray(const contents& c) {
  const auto n = static_cast<size_t>(c.plain(2));
  const size_t after_sizes = c.large() ? 3 : 3 + n;
  std::vector<distribution> how;
  for (const int64_t d : c.plain(after_sizes, n)) how.push_back(distribution_of(d));
  numbers arguments = c.plain(after_sizes + n, n);
  std::replace(arguments.begin(), arguments.end(), int64_t{MPI_DISTRIBUTE_DFLT_DARG}, default_argument);
  return datatype::darray(c.plain(0), c.plain(1), c.large() ? c.some(0, n) : c.plain(3, n), how, arguments,
                          c.plain(after_sizes + 2 * n, n), order_of(c.plain(after_sizes + 3 * n)), c.of[0]);
}

datatype decode_subarray(const contents& c) {
  const auto n = static_cast<size_t>(c.plain(0));
  const size_t sizes = c.large() ? 0 : 1;
  return datatype::subarray(c.some(sizes, n), c.some(sizes + n, n), c.some(sizes + 2 * n, n),
                            order_of(c.plain(c.large() ? 1 : 1 + 3 * n)), c.of[0]);
}

// The lists are in the order of MPI_Type_get_contents.
datatype rebuild(int combiner, const contents& c) {
  const auto n = [&] { return static_cast<size_t>(c.number(0)); };
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return datatype::dup(c.of[0]);
    case MPI_COMBINER_CONTIGUOUS:
      return datatype::contiguous(c.number(0), c.of[0]);
    case MPI_COMBINER_VECTOR:
      return datatype::vector(c.number(0), c.number(1), c.number(2), c.of[0]);
    case MPI_COMBINER_HVECTOR:
      return datatype::hvector(c.number(0), c.number(1), c.address(0, 2), c.of[0]);
    case MPI_COMBINER_INDEXED:
      return datatype::indexed(c.some(1, n()), c.some(1 + n(), n()), c.of[0]);
    case MPI_COMBINER_HINDEXED:
      return datatype::hindexed(c.some(1, n()), c.addresses(1 + n(), n()), c.of[0]);
    case MPI_COMBINER_INDEXED_BLOCK:
      return datatype::indexed_block(c.number(1), c.some(2, n()), c.of[0]);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return datatype::hindexed_block(c.number(1), c.addresses(2, n()), c.of[0]);
    case MPI_COMBINER_STRUCT:
      return datatype::structure(c.some(1, n()), c.addresses(1 + n(), n()), c.of);
    case MPI_COMBINER_SUBARRAY:
      return decode_subarray(c);
    case MPI_COMBINER_DARRAY:
      return decode_darray(c);
    case MPI_COMBINER_RESIZED:
      return datatype::resized(c.of[0], c.address(0, 0), c.address(1, 0));
    default:
      throw std::runtime_error("made by a constructor of MPI that is not known here");
  }
}

// An MPI may round extents otherwise than the primitives here ask for: what it says counts, at each level.
datatype with_bounds_of(MPI_Datatype type, datatype made) {
  MPI_Count lb = 0, extent = 0;
  PMPI_Type_get_extent_x(type, &lb, &extent);
  if (!made.good() || (made.lb() == lb && made.extent() == extent)) return made;
  return datatype::resized(made, lb, extent);
}

bool same_places(MPI_Datatype type, const datatype& made) {
  MPI_Count lb = 0, extent = 0;
  PMPI_Type_get_true_extent_x(type, &lb, &extent);
  return made.size() == size_in_mpi(type) &&
         (made.size() == 0 || (made.true_lb() == lb && made.true_extent() == extent));
}

}  // namespace

bool is_named(MPI_Datatype type) { return envelope_of(type).named(); }

datatype decode(MPI_Datatype type) {
  const envelope e = envelope_of(type);
  datatype made = e.named() ? decode_named(type) : rebuild(e.combiner, contents(type, e));
  made = with_bounds_of(type, made);
  if (!made.good()) throw std::runtime_error(made.error());
  if (!same_places(type, made))
    throw std::runtime_error("the MPI below gives it other places than its constructors do");
  return made;
}

}  // namespace ggas::mpi
