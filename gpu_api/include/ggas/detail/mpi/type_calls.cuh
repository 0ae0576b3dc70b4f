// SPDX-License-Identifier: Apache-2.0
// Calls that make and describe derived types. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/derived_types.cuh"

enum { MPI_ORDER_C, MPI_ORDER_FORTRAN };

namespace ggas::mpi {

// A new type: by all threads of the rank; the first one writes its records.
template <class Write>
GGAS_DEVICE int make_type(const shape_maker& m, uint64_t records, uint64_t look, MPI_Datatype* type, Write write) {
  *type = MPI_DATATYPE_NULL;
  if (!m.good()) return MPI_ERR_ARG;
  MPI_Datatype number = MPI_DATATYPE_NULL;
  const rank_group g;
  g.sync();  // no thread still reads the table for an earlier call
  if (g.leads()) {
    derived_type* const made = new_derived(m.made, records, look);
    if (made) {
      record_writer w{*made};
      write(w);
      if (!add_type(made, &number)) free(made);
    }
  }
  *type = static_cast<MPI_Datatype>(
      reinterpret_cast<uintptr_t>(of_all_threads(reinterpret_cast<void*>(static_cast<uintptr_t>(number)))));
  return *type == MPI_DATATYPE_NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

// The type that a constructor repeats.
struct type_child {
  type_shape shape{};
  const derived_type* made = nullptr;
  bool good;
  GGAS_DEVICE explicit type_child(MPI_Datatype type) : made(find_derived(type)), good(shape_of(type, shape)) {}
  GGAS_DEVICE uint64_t records() const { return made ? made->records : 0; }
  GGAS_DEVICE uint64_t look() const { return made ? made->look : 0; }
  GGAS_DEVICE uint64_t write(record_writer& w) const { return made ? w.copy(*made) : detail::no_record; }
};

GGAS_DEVICE_FUNCTION int make_vector(int count, int length, int64_t stride, const type_child& child,
                                     MPI_Datatype* made) {
  shape_maker m;
  m.add(0, length, count, stride, child.shape);
  m.finish();
  return make_type(m, 1 + child.records(), child.look(), made, [&](record_writer& w) {
    uint64_t* const r = w.of_child(detail::record_kind::vector, count, child.shape, !child.made);
    r[detail::rec_stride] = static_cast<uint64_t>(stride);
    r[detail::rec_blocklength] = static_cast<uint64_t>(length);
    child.write(w);
  });
}
// `one`: a block's length is lengths[0], for all.
struct type_blocks {
  const int* lengths;
  bool one;
  const int* places;        // in elements, or
  const MPI_Aint* offsets;  // in bytes
  GGAS_DEVICE int length(int i) const { return lengths[one ? 0 : i]; }
  GGAS_DEVICE int64_t place(int i, int64_t extent) const {
    return places ? limited_product(places[i], extent) : limited(offsets[i]);
  }
  GGAS_DEVICE int check(int count) const {
    if (count < 0) return MPI_ERR_COUNT;
    if (count > 0 && (!lengths || (!places && !offsets))) return MPI_ERR_ARG;
    for (int i = 0; i < count; ++i)
      if (length(i) < 0) return MPI_ERR_ARG;
    return MPI_SUCCESS;
  }
};
GGAS_DEVICE_FUNCTION int make_indexed(int count, type_blocks blocks, MPI_Datatype type, MPI_Datatype* made) {
  const type_child child(type);
  const int wrong = blocks.check(count);
  if (wrong != MPI_SUCCESS || !child.good) return first_of(wrong, MPI_ERR_TYPE);
  const int64_t extent = child.shape.extent();
  shape_maker m;
  for (int i = 0; i < count; ++i) m.add(blocks.place(i, extent), blocks.length(i), 1, 0, child.shape);
  m.finish();
  const uint64_t look = 2 * static_cast<uint64_t>(count) + 1;
  return make_type(m, 1 + child.records(), look + child.look(), made, [&](record_writer& w) {
    w.of_child(detail::record_kind::indexed, count, child.shape, !child.made);
    int64_t sum = 0;
    w.append(0);
    for (int i = 0; i < count; ++i) w.append(sum += blocks.length(i));
    for (int i = 0; i < count; ++i) w.append(blocks.place(i, extent));
    child.write(w);
  });
}
// A copy with other bounds.
GGAS_DEVICE_FUNCTION int make_copy(const type_child& child, const shape_maker& m, MPI_Datatype* made) {
  return make_type(m, child.made ? child.records() : 1, child.look(), made, [&](record_writer& w) {
    if (child.made)
      child.write(w);
    else
      w.of_child(detail::record_kind::contiguous, 1, child.shape, true);
  });
}

GGAS_DEVICE void release_type(derived_type* t) {
  if (--t->users == 0) free(t);
}
// All that the rank has: by MPI_Finalize.
GGAS_DEVICE_FUNCTION void free_types() {
  const rank_group g;
  g.sync();
  type_table* const table = types();
  if (g.leads() && table) {
    for (int64_t i = 0; i < table->room; ++i)
      if (table->at(i)) release_type(table->at(i));
    free(table);
    self().matching().types = 0;
  }
  g.sync();
}

}  // namespace ggas::mpi

GGAS_DEVICE_FUNCTION int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_child child(type);
  if (count < 0) return MPI_ERR_COUNT;
  if (!child.good) return MPI_ERR_TYPE;
  shape_maker m;
  m.add(0, count, 1, 0, child.shape);
  m.finish();
  return make_type(m, 1 + child.records(), child.look(), made, [&](record_writer& w) {
    w.of_child(ggas::detail::record_kind::contiguous, count, child.shape, !child.made);
    child.write(w);
  });
}
// The stride is in bytes.
GGAS_DEVICE int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_child child(type);
  if (count < 0) return MPI_ERR_COUNT;
  if (length < 0) return MPI_ERR_ARG;
  return child.good ? make_vector(count, length, limited(stride), child, made) : MPI_ERR_TYPE;
}
GGAS_DEVICE int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_child child(type);
  if (count < 0) return MPI_ERR_COUNT;
  if (length < 0) return MPI_ERR_ARG;
  return child.good ? make_vector(count, length, limited_product(stride, child.shape.extent()), child, made)
                    : MPI_ERR_TYPE;
}
GGAS_DEVICE int MPI_Type_indexed(int count, const int* lengths, const int* places, MPI_Datatype type,
                                 MPI_Datatype* made) {
  return ggas::mpi::make_indexed(count, {lengths, false, places, nullptr}, type, made);
}
GGAS_DEVICE int MPI_Type_create_hindexed(int count, const int* lengths, const MPI_Aint* offsets, MPI_Datatype type,
                                         MPI_Datatype* made) {
  return ggas::mpi::make_indexed(count, {lengths, false, nullptr, offsets}, type, made);
}
GGAS_DEVICE int MPI_Type_create_indexed_block(int count, int length, const int* places, MPI_Datatype type,
                                              MPI_Datatype* made) {
  return ggas::mpi::make_indexed(count, {&length, true, places, nullptr}, type, made);
}
GGAS_DEVICE int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint* offsets, MPI_Datatype type,
                                               MPI_Datatype* made) {
  return ggas::mpi::make_indexed(count, {&length, true, nullptr, offsets}, type, made);
}

GGAS_DEVICE_FUNCTION int MPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* offsets,
                                                const MPI_Datatype* parts, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_blocks blocks{lengths, false, nullptr, offsets};
  int wrong = blocks.check(count);
  if (wrong == MPI_SUCCESS && count > 0 && !parts) wrong = MPI_ERR_ARG;
  if (wrong != MPI_SUCCESS) return wrong;
  const auto as_before = [=](int i) { return i > 0 && parts[i] == parts[i - 1]; };  // then they share the records
  shape_maker m;
  uint64_t records = 1, look = 5 * static_cast<uint64_t>(count) + 1;
  for (int i = 0; i < count; ++i) {
    const type_child child(parts[i]);
    if (!child.good) return MPI_ERR_TYPE;
    m.add(blocks.place(i, 0), blocks.length(i), 1, 0, child.shape);
    records += as_before(i) ? 0 : child.records();
    look += as_before(i) ? 0 : child.look();
  }
  m.finish();
  return make_type(m, records, look, made, [&](record_writer& w) {
    using namespace ggas::detail;
    uint64_t* const r = w.next();
    r[rec_bits] = static_cast<uint64_t>(record_kind::structure);
    r[rec_count] = static_cast<uint64_t>(count);
    int64_t sum = 0;
    w.append(0);
    for (int i = 0; i < count; ++i) w.append(sum += limited_product(blocks.length(i), type_child(parts[i]).shape.size));
    for (int i = 0; i < count; ++i) w.append(blocks.place(i, 0));
    for (int i = 0; i < count; ++i) w.append(type_child(parts[i]).shape.size);
    for (int i = 0; i < count; ++i) w.append(type_child(parts[i]).shape.extent());
    uint64_t* const children = w.t.lookaside() + w.look;
    w.look += static_cast<uint64_t>(count);
    for (int i = 0; i < count; ++i) children[i] = as_before(i) ? children[i - 1] : type_child(parts[i]).write(w);
  });
}

GGAS_DEVICE_FUNCTION int MPI_Type_create_subarray(int dimensions, const int* sizes, const int* parts, const int* starts,
                                                  int order, MPI_Datatype type, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_child child(type);
  if (!child.good) return MPI_ERR_TYPE;
  if (dimensions < 1 || !sizes || !parts || !starts || (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN))
    return MPI_ERR_ARG;
  // Dimension d in C's order: the last one is dense.
  const auto at = [=](int d) { return order == MPI_ORDER_C ? d : dimensions - 1 - d; };
  int64_t row = child.shape.extent(), first = 0, last = 0, elements = 1;
  for (int d = dimensions - 1; d >= 0; --d) {
    const int i = at(d);
    if (sizes[i] < 1 || parts[i] < 1 || starts[i] < 0 || starts[i] > sizes[i] - parts[i]) return MPI_ERR_ARG;
    first = limited_sum(first, limited_product(starts[i], row));
    last = limited_sum(last, limited_product(starts[i] + parts[i] - 1, row));
    row = limited_product(row, sizes[i]);
    elements = limited_product(elements, parts[i]);
  }
  shape_maker m;
  m.add(first, 1, 1, 0, child.shape);
  m.add(last, 1, 1, 0, child.shape);
  m.made.size = limited_product(elements, child.shape.size);
  m.made.lb = 0;
  m.made.ub = row;
  m.made.bounded = true;
  m.made.dense = false;
  const uint64_t look = 3 * static_cast<uint64_t>(dimensions);
  return make_type(m, 1 + child.records(), look + child.look(), made, [&](record_writer& w) {
    w.of_child(ggas::detail::record_kind::subarray, dimensions, child.shape, !child.made);
    const auto append = [&](const int* values) {
      for (int d = 0; d < dimensions; ++d) w.append(values[at(d)]);
    };
    append(sizes);
    append(parts);
    append(starts);
    child.write(w);
  });
}

GGAS_DEVICE int MPI_Type_create_resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_child child(type);
  if (!child.good) return MPI_ERR_TYPE;
  shape_maker m{child.shape, true};
  m.made.lb = limited(lb);
  m.made.ub = limited_sum(m.made.lb, limited(extent));
  m.made.bounded = true;
  return make_copy(child, m, made);
}
GGAS_DEVICE int MPI_Type_dup(MPI_Datatype type, MPI_Datatype* made) {
  using namespace ggas::mpi;
  const type_child child(type);
  if (!child.good) return MPI_ERR_TYPE;
  const int error = make_copy(child, {child.shape, true}, made);
  const rank_group g;
  if (error == MPI_SUCCESS && g.leads()) find_derived(*made)->committed = !child.made || child.made->committed;
  g.sync();
  return error;
}

GGAS_DEVICE_FUNCTION int MPI_Type_commit(MPI_Datatype* type) {
  using namespace ggas::mpi;
  derived_type* const t = type ? find_derived(*type) : nullptr;
  if (!t) return type && type_good(*type) ? MPI_SUCCESS : MPI_ERR_TYPE;
  const rank_group g;
  g.sync();
  if (g.leads()) t->committed = true;
  g.sync();
  return MPI_SUCCESS;
}
// Requests of the type go on.
GGAS_DEVICE_FUNCTION int MPI_Type_free(MPI_Datatype* type) {
  using namespace ggas::mpi;
  derived_type* const t = type ? find_derived(*type) : nullptr;
  if (!t) return MPI_ERR_TYPE;
  const rank_group g;
  g.sync();
  if (g.leads()) {
    types()->at((static_cast<int>(*type) >> 8) - first_derived) = nullptr;
    release_type(t);
  }
  g.sync();
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

// MPI_UNDEFINED: more than an int.
GGAS_DEVICE_FUNCTION int MPI_Type_size(MPI_Datatype type, int* size) {
  ggas::mpi::type_shape s;
  if (!ggas::mpi::shape_of(type, s)) return MPI_ERR_TYPE;
  *size = s.size >> 31 == 0 ? static_cast<int>(s.size) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent) {
  ggas::mpi::type_shape s;
  if (!ggas::mpi::shape_of(type, s)) return MPI_ERR_TYPE;
  *lb = s.lb;
  *extent = s.extent();
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent) {
  ggas::mpi::type_shape s;
  if (!ggas::mpi::shape_of(type, s)) return MPI_ERR_TYPE;
  *lb = s.true_lb;
  *extent = s.true_ub - s.true_lb;
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Get_address(const void* place, MPI_Aint* address) {
  *address = static_cast<MPI_Aint>(reinterpret_cast<uintptr_t>(place));
  return MPI_SUCCESS;
}
