// SPDX-License-Identifier: Apache-2.0
// Derived types of MPI. A rank makes them in memory of its own, as records that kernels can walk (docs/datatypes.md).
// Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/world.cuh"
#include "ggas/detail/type/type_walk.cuh"

namespace ggas::mpi {

// Sizes and places go up to this: those of a larger type stay there, and the type is refused.
constexpr int64_t most_type_bytes = int64_t{1} << 60;
GGAS_DEVICE int64_t limited(int64_t v) {
  return v > most_type_bytes ? most_type_bytes : v < -most_type_bytes ? -most_type_bytes : v;
}
GGAS_DEVICE int64_t limited_sum(int64_t a, int64_t b) { return limited(a + b); }
GGAS_DEVICE int64_t limited_product(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  const int64_t size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
  const int64_t size = size_a > most_type_bytes / size_b ? most_type_bytes : size_a * size_b;
  return (a < 0) == (b < 0) ? size : -size;
}
GGAS_DEVICE bool within_limits(int64_t v) { return v < most_type_bytes && v > -most_type_bytes; }

// What a constructor needs to know of a type.
struct type_shape {
  int64_t size, lb, ub, true_lb, true_ub;
  int64_t align;
  uint32_t info;  // the basic type of all elements; 0: they are of several
  bool bounded;   // lb and ub were given
  bool dense;     // the data of an element have no gaps, begin at its address, and are in their order
  GGAS_DEVICE int64_t extent() const { return ub - lb; }
};

// `records` of record_words, then `look` words of the lookaside part.
struct derived_type {
  type_shape shape;
  uint32_t records, look;
  uint32_t users;  // its handle, and requests
  bool committed;
  GGAS_DEVICE uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  GGAS_DEVICE const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
  GGAS_DEVICE uint64_t* lookaside() { return words() + records * detail::record_words; }
  GGAS_DEVICE const uint64_t* lookaside() const { return words() + records * detail::record_words; }
};
static_assert(sizeof(derived_type) % 8 == 0);

// The derived types of a rank. Their numbers follow those of basic types and have no size in the lowest byte.
constexpr int first_derived = MPI_LARGEST_TYPE / 256 + 1, most_derived = 1 << 22;
struct type_table {
  int64_t room;
  GGAS_DEVICE derived_type*& at(int64_t i) { return reinterpret_cast<derived_type**>(this + 1)[i]; }
};
GGAS_DEVICE type_table* types() {
  return reinterpret_cast<type_table*>(static_cast<uintptr_t>(self().matching().types));
}

// Committed or not; null: it is not one.
GGAS_DEVICE_FUNCTION derived_type* find_derived(MPI_Datatype type) {
  const int64_t i = (static_cast<int>(type) >> 8) - first_derived;
  type_table* const table = types();
  return TYPE_SIZE(type) == 0 && table && i >= 0 && i < table->room ? table->at(i) : nullptr;
}
// A committed one; null: it is not one.
GGAS_DEVICE derived_type* derived(MPI_Datatype type) {
  if (TYPE_SIZE(type) != 0) return nullptr;
  derived_type* const t = find_derived(type);
  return t && t->committed ? t : nullptr;
}

// Basic or derived. False: it does not exist.
GGAS_DEVICE bool shape_of(MPI_Datatype type, type_shape& s) {
  const derived_type* const t = find_derived(type);
  if (t) s = t->shape;
  if (t || !type_good(type)) return t != nullptr;
  const int64_t size = TYPE_SIZE(type);
  s = {size, 0, size, 0, size, size, info_of(type), false, true};
  return true;
}

// ---- the shape of a new type

struct shape_maker {
  type_shape made{0, 0, 0, 0, 0, 1, 0, false, true};
  bool has_data = false;

  // `times` blocks of `copies` elements, the first block at a displacement, each `stride` bytes after the one before.
  GGAS_DEVICE void add(int64_t displacement, int64_t copies, int64_t times, int64_t stride, const type_shape& child) {
    if (copies <= 0 || times <= 0) return;
    const int64_t in_block = limited_product(copies - 1, child.extent()), between = limited_product(times - 1, stride);
    const int64_t low = limited_sum(displacement, (in_block < 0 ? in_block : 0) + (between < 0 ? between : 0));
    const int64_t high = limited_sum(displacement, (in_block > 0 ? in_block : 0) + (between > 0 ? between : 0));
    const bool follows = displacement == made.size && child.dense && (copies == 1 || child.extent() == child.size) &&
                         (times == 1 || stride == limited_product(copies, child.size));
    made.dense = made.dense && (child.size == 0 || follows);
    made.size = limited_sum(made.size, limited_product(limited_product(copies, times), child.size));
    if (child.size > 0) {
      made.align = child.align > made.align ? child.align : made.align;
      made.info = has_data && made.info != child.info ? 0 : child.info;
      widen(made.true_lb, made.true_ub, has_data, limited_sum(low, child.true_lb), limited_sum(high, child.true_ub));
      has_data = true;
    }
    // Where bounds were given to some children, only those count.
    if (child.bounded) {
      widen(made.lb, made.ub, made.bounded, limited_sum(low, child.lb), limited_sum(high, child.ub));
      made.bounded = true;
    }
  }
  GGAS_DEVICE void finish() {
    if (made.bounded) return;
    made.lb = made.true_lb;
    const int64_t data = made.true_ub - made.true_lb;
    made.ub = limited_sum(made.lb, (data + made.align - 1) / made.align * made.align);
  }
  GGAS_DEVICE bool good() const {
    return within_limits(made.size) && within_limits(made.lb) && within_limits(made.ub) &&
           within_limits(made.true_lb) && within_limits(made.true_ub);
  }

 private:
  GGAS_DEVICE static void widen(int64_t& low, int64_t& high, bool some, int64_t from, int64_t to) {
    low = some && low < from ? low : from;
    high = some && high > to ? high : to;
  }
};

// ---- its records. By the first thread.

GGAS_DEVICE derived_type* new_derived(const type_shape& shape, uint64_t records, uint64_t look) {
  const uint64_t words = records * detail::record_words + look;
  if (words >> 32 != 0) return nullptr;
  auto* const t = static_cast<derived_type*>(malloc(sizeof(derived_type) + words * 8));
  if (!t) return nullptr;
  *t = {shape, static_cast<uint32_t>(records), static_cast<uint32_t>(look), 1, false};
  for (uint64_t i = 0; i < words; ++i) t->words()[i] = 0;
  return t;
}

// Writes a type's records, from the root down. A child's records are copied to later places.
struct record_writer {
  derived_type& t;
  uint64_t record = 0, look = 0;  // the next free ones

  GGAS_DEVICE uint64_t* next() { return t.words() + record++ * detail::record_words; }
  GGAS_DEVICE void append(int64_t v) { t.lookaside()[look++] = static_cast<uint64_t>(v); }

  // One of a single child. What the constructor puts aside follows.
  GGAS_DEVICE uint64_t* of_child(detail::record_kind kind, int64_t count, const type_shape& shape, bool leaf) {
    uint64_t* const r = next();
    r[detail::rec_bits] = static_cast<uint64_t>(kind) | (leaf ? detail::rec_leaf : 0);
    r[detail::rec_count] = static_cast<uint64_t>(count);
    r[detail::rec_size] = static_cast<uint64_t>(shape.size);
    r[detail::rec_extent] = static_cast<uint64_t>(shape.extent());
    r[detail::rec_look] = look;
    return r;
  }
  // The number of a child's first record.
  GGAS_DEVICE uint64_t copy(const derived_type& child) {
    using namespace detail;
    const uint64_t first = record, aside = look;
    for (uint64_t i = 0; i < child.look; ++i) append(static_cast<int64_t>(child.lookaside()[i]));
    for (uint64_t r = 0; r < child.records; ++r) {
      uint64_t* const to = next();
      for (uint64_t i = 0; i < record_words; ++i) to[i] = child.words()[r * record_words + i];
      to[rec_look] += aside;
      if (static_cast<record_kind>(to[rec_bits] & 0xf) != record_kind::structure) continue;
      const uint64_t n = to[rec_count];
      uint64_t* const children = t.lookaside() + to[rec_look] + 4 * n + 1;
      for (uint64_t i = 0; i < n; ++i)
        if (children[i] != no_record) children[i] += first;
    }
    return first;
  }
};

// Puts a new type into the table, which grows. By the first thread. False: no memory.
GGAS_DEVICE bool add_type(derived_type* made, MPI_Datatype* type) {
  type_table* table = types();
  int64_t i = 0;
  while (table && i < table->room && table->at(i)) ++i;
  if (!table || i == table->room) {
    const int64_t room = table ? 2 * table->room : 8;
    if (room > most_derived) return false;
    void* const memory = malloc(sizeof(type_table) + static_cast<size_t>(room) * sizeof(derived_type*));
    auto* const larger = static_cast<type_table*>(memory);
    if (!larger) return false;
    larger->room = room;
    for (int64_t k = 0; k < room; ++k) larger->at(k) = k < i ? table->at(k) : nullptr;
    free(table);
    self().matching().types = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(larger));
    table = larger;
  }
  table->at(i) = made;
  *type = static_cast<MPI_Datatype>((first_derived + static_cast<int>(i)) << 8);
  return true;
}

}  // namespace ggas::mpi
