// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "ggas/status.hpp"
#include "ggas/type.h"
#include "ggas/type.hpp"

struct ggas_datatype {
  ggas::datatype type;
};

namespace {

using ggas::datatype;
using numbers = std::span<const int64_t>;

thread_local std::string last_error;

ggas_status refuse(ggas_datatype** made, std::string why) {
  if (made) *made = nullptr;
  last_error = std::move(why);
  return ggas_bad_argument;
}

ggas_status hand_out(datatype t, ggas_datatype** made) {
  if (!t.good()) return refuse(made, t.error());
  *made = new ggas_datatype{std::move(t)};
  return ggas_ok;
}

// `make` is called if no pointer is null; a list of no numbers may be.
template <class F>
ggas_status construct(const char* name, const ggas_datatype* of, ggas_datatype** made, int64_t count,
                      std::initializer_list<const void*> lists, F make) {
  if (!of || !made) return refuse(made, std::string(name) + ": a datatype is null");
  if (count < 0) return refuse(made, std::string(name) + ": count = " + std::to_string(count) + ": must be 0 or more");
  for (const void* l : lists)
    if (count > 0 && !l) return refuse(made, std::string(name) + ": a list is null");
  return hand_out(make(static_cast<size_t>(count)), made);
}

ggas::array_order order_of(int order) {
  return order == ggas_order_fortran ? ggas::array_order::fortran : ggas::array_order::c;
}
bool is_order(int order) { return order == ggas_order_c || order == ggas_order_fortran; }

}  // namespace

extern "C" {

int ggas_type_primitive(int primitive, ggas_datatype** made) {
  if (!made) return refuse(made, "primitive: a datatype is null");
  if (primitive < 0 || primitive >= ggas::primitives)
    return refuse(made, "primitive " + std::to_string(primitive) + ": must be one of the list");
  return hand_out(static_cast<ggas::primitive>(primitive), made);
}

int ggas_type_contiguous(int64_t count, const ggas_datatype* of, ggas_datatype** made) {
  return construct("contiguous", of, made, 0, {}, [&](size_t) { return datatype::contiguous(count, of->type); });
}
int ggas_type_vector(int64_t count, int64_t blocklength, int64_t stride, const ggas_datatype* of,
                     ggas_datatype** made) {
  return construct("vector", of, made, 0, {},
                   [&](size_t) { return datatype::vector(count, blocklength, stride, of->type); });
}
int ggas_type_hvector(int64_t count, int64_t blocklength, int64_t stride_bytes, const ggas_datatype* of,
                      ggas_datatype** made) {
  return construct("hvector", of, made, 0, {},
                   [&](size_t) { return datatype::hvector(count, blocklength, stride_bytes, of->type); });
}
int ggas_type_indexed(int64_t count, const int64_t* blocklengths, const int64_t* displacements, const ggas_datatype* of,
                      ggas_datatype** made) {
  return construct("indexed", of, made, count, {blocklengths, displacements}, [&](size_t n) {
    return datatype::indexed(numbers(blocklengths, n), numbers(displacements, n), of->type);
  });
}
int ggas_type_hindexed(int64_t count, const int64_t* blocklengths, const int64_t* displacements,
                       const ggas_datatype* of, ggas_datatype** made) {
  return construct("hindexed", of, made, count, {blocklengths, displacements}, [&](size_t n) {
    return datatype::hindexed(numbers(blocklengths, n), numbers(displacements, n), of->type);
  });
}
int ggas_type_indexed_block(int64_t count, int64_t blocklength, const int64_t* displacements, const ggas_datatype* of,
                            ggas_datatype** made) {
  return construct("indexed_block", of, made, count, {displacements},
                   [&](size_t n) { return datatype::indexed_block(blocklength, numbers(displacements, n), of->type); });
}
int ggas_type_hindexed_block(int64_t count, int64_t blocklength, const int64_t* displacements, const ggas_datatype* of,
                             ggas_datatype** made) {
  return construct("hindexed_block", of, made, count, {displacements}, [&](size_t n) {
    return datatype::hindexed_block(blocklength, numbers(displacements, n), of->type);
  });
}

int ggas_type_struct(int64_t count, const int64_t* blocklengths, const int64_t* displacements,
                     const ggas_datatype* const* of, ggas_datatype** made) {
  if (count > 0 && !of) return refuse(made, "structure: a list is null");
  std::vector<datatype> children;
  for (int64_t i = 0; i < count; ++i) {
    if (!of[i]) return refuse(made, "structure: a datatype is null");
    children.push_back(of[i]->type);
  }
  const ggas_datatype any{ggas::primitive::byte};
  return construct("structure", &any, made, count, {blocklengths, displacements}, [&](size_t n) {
    return datatype::structure(numbers(blocklengths, n), numbers(displacements, n), children);
  });
}

int ggas_type_subarray(int dimensions, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts, int order,
                       const ggas_datatype* of, ggas_datatype** made) {
  if (!is_order(order)) return refuse(made, "subarray: order = " + std::to_string(order) + ": must be c or fortran");
  return construct("subarray", of, made, dimensions, {sizes, subsizes, starts}, [&](size_t n) {
    return datatype::subarray(numbers(sizes, n), numbers(subsizes, n), numbers(starts, n), order_of(order), of->type);
  });
}

int ggas_type_darray(int64_t size, int64_t rank, int dimensions, const int64_t* sizes, const int* distributions,
                     const int64_t* arguments, const int64_t* processes, int order, const ggas_datatype* of,
                     ggas_datatype** made) {
  if (!is_order(order)) return refuse(made, "darray: order = " + std::to_string(order) + ": must be c or fortran");
  std::vector<ggas::distribution> how;
  for (int d = 0; distributions && d < dimensions; ++d) {
    if (distributions[d] < ggas_distribute_none || distributions[d] > ggas_distribute_cyclic)
      return refuse(made, "darray: distributions[" + std::to_string(d) + "] = " + std::to_string(distributions[d]) +
                              ": must be none, block or cyclic");
    how.push_back(static_cast<ggas::distribution>(distributions[d]));
  }
  return construct("darray", of, made, dimensions, {sizes, distributions, arguments, processes}, [&](size_t n) {
    return datatype::darray(size, rank, numbers(sizes, n), how, numbers(arguments, n), numbers(processes, n),
                            order_of(order), of->type);
  });
}

int ggas_type_resized(const ggas_datatype* of, int64_t lb, int64_t extent, ggas_datatype** made) {
  return construct("resized", of, made, 0, {}, [&](size_t) { return datatype::resized(of->type, lb, extent); });
}
int ggas_type_dup(const ggas_datatype* of, ggas_datatype** made) {
  return construct("dup", of, made, 0, {}, [&](size_t) { return datatype::dup(of->type); });
}

void ggas_type_free(ggas_datatype* type) { delete type; }
const char* ggas_type_error(void) { return last_error.c_str(); }

uint64_t ggas_type_size(const ggas_datatype* t) { return t ? t->type.size() : 0; }
uint64_t ggas_type_elements(const ggas_datatype* t) { return t ? t->type.elements() : 0; }
int64_t ggas_type_lb(const ggas_datatype* t) { return t ? t->type.lb() : 0; }
int64_t ggas_type_extent(const ggas_datatype* t) { return t ? t->type.extent() : 0; }
int64_t ggas_type_true_lb(const ggas_datatype* t) { return t ? t->type.true_lb() : 0; }
int64_t ggas_type_true_extent(const ggas_datatype* t) { return t ? t->type.true_extent() : 0; }

int ggas_type_same_signature(const ggas_datatype* a, uint64_t count_a, const ggas_datatype* b, uint64_t count_b) {
  if (!a || !b) return 0;
  const ggas::type_signature x = a->type.signature(), y = b->type.signature();
  uint64_t all_x = 0, all_y = 0;
  if (__builtin_mul_overflow(x.elements, count_a, &all_x) || __builtin_mul_overflow(y.elements, count_b, &all_y))
    return 0;
  return all_x == all_y && (all_x == 0 || (x.word == y.word && x.word_length == y.word_length));
}
}
