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

struct envelope {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  bool large = false;  // made with counts of 64 bits, of which MPI_Type_get_envelope is an error

  bool named() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
  }
};

envelope envelope_of(MPI_Datatype type) {
  envelope e;
#if MPI_VERSION >= 4
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &e.combiner);
  e.large = counts > 0;
  if (e.large) return e;
#endif
  PMPI_Type_get_envelope(type, &e.integers, &e.addresses, &e.types, &e.combiner);
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

// What a derived datatype was made with.
class contents {
 public:
  contents(MPI_Datatype type, const envelope& e)
      : integers_(static_cast<size_t>(e.integers)), addresses_(static_cast<size_t>(e.addresses)) {
    std::vector<MPI_Datatype> children(static_cast<size_t>(e.types));
    // Lists of no numbers have a place, too: an MPI may look at the pointer.
    std::vector<int> ints(integers_.size() + 1);
    std::vector<MPI_Aint> places(addresses_.size() + 1);
    PMPI_Type_get_contents(type, e.integers, e.addresses, e.types, ints.data(), places.data(), children.data());
    std::copy_n(ints.begin(), integers_.size(), integers_.begin());
    std::copy_n(places.begin(), addresses_.size(), addresses_.begin());
    const std::vector<reference> all(children.begin(), children.end());
    for (const reference& child : all) of.push_back(decode(child.type));
  }

  int64_t number(size_t i) const { return integers_[i]; }
  int64_t address(size_t i) const { return addresses_[i]; }
  numbers some(size_t from, size_t count) const { return cut(integers_, from, count); }
  numbers addresses() const { return addresses_; }

  std::vector<datatype> of;

 private:
  static numbers cut(const numbers& all, size_t from, size_t count) {
    const auto first = all.begin() + static_cast<ptrdiff_t>(from);
    return {first, first + static_cast<ptrdiff_t>(count)};
  }
  numbers integers_, addresses_;
};

array_order order_of(int64_t order) { return order == MPI_ORDER_FORTRAN ? array_order::fortran : array_order::c; }

distribution distribution_of(int64_t how) {
  if (how == MPI_DISTRIBUTE_BLOCK) return distribution::block;
  return how == MPI_DISTRIBUTE_CYCLIC ? distribution::cyclic : distribution::none;
}

datatype decode_darray(const contents& c) {
  const auto n = static_cast<size_t>(c.number(2));
  std::vector<distribution> how;
  for (const int64_t d : c.some(3 + n, n)) how.push_back(distribution_of(d));
  numbers arguments = c.some(3 + 2 * n, n);
  std::replace(arguments.begin(), arguments.end(), int64_t{MPI_DISTRIBUTE_DFLT_DARG}, default_argument);
  return datatype::darray(c.number(0), c.number(1), c.some(3, n), how, arguments, c.some(3 + 3 * n, n),
                          order_of(c.number(3 + 4 * n)), c.of[0]);
}

// The lists stand in the order of MPI_Type_get_contents.
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
      return datatype::hvector(c.number(0), c.number(1), c.address(0), c.of[0]);
    case MPI_COMBINER_INDEXED:
      return datatype::indexed(c.some(1, n()), c.some(1 + n(), n()), c.of[0]);
    case MPI_COMBINER_HINDEXED:
      return datatype::hindexed(c.some(1, n()), c.addresses(), c.of[0]);
    case MPI_COMBINER_INDEXED_BLOCK:
      return datatype::indexed_block(c.number(1), c.some(2, n()), c.of[0]);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return datatype::hindexed_block(c.number(1), c.addresses(), c.of[0]);
    case MPI_COMBINER_STRUCT:
      return datatype::structure(c.some(1, n()), c.addresses(), c.of);
    case MPI_COMBINER_SUBARRAY:
      return datatype::subarray(c.some(1, n()), c.some(1 + n(), n()), c.some(1 + 2 * n(), n()),
                                order_of(c.number(1 + 3 * n())), c.of[0]);
    case MPI_COMBINER_DARRAY:
      return decode_darray(c);
    case MPI_COMBINER_RESIZED:
      return datatype::resized(c.of[0], c.address(0), c.address(1));
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
  if (e.large) throw std::runtime_error("made by a constructor of large counts");
  datatype made = e.named() ? decode_named(type) : rebuild(e.combiner, contents(type, e));
  made = with_bounds_of(type, made);
  if (!made.good()) throw std::runtime_error(made.error());
  if (!same_places(type, made))
    throw std::runtime_error("the MPI below gives it other places than its constructors do");
  return made;
}

}  // namespace ggas::mpi
