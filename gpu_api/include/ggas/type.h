/* SPDX-License-Identifier: Apache-2.0 */
/* Datatypes from C: the constructors and queries of ggas/type.hpp, which has the rules. C99. Any thread may call; a
 * datatype is used by one thread at a time or not freed meanwhile. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggas_datatype ggas_datatype; /* made by the calls below, given back by ggas_type_free */

/* In the order of ggas::primitive. */
enum ggas_primitive {
  ggas_type_byte,
  ggas_type_int8,
  ggas_type_uint8,
  ggas_type_int16,
  ggas_type_uint16,
  ggas_type_int32,
  ggas_type_uint32,
  ggas_type_int64,
  ggas_type_uint64,
  ggas_type_float16,
  ggas_type_bfloat16,
  ggas_type_float32,
  ggas_type_float64,
  ggas_type_complex64,
  ggas_type_complex128
};
enum ggas_array_order { ggas_order_c, ggas_order_fortran };
enum ggas_distribution { ggas_distribute_none, ggas_distribute_block, ggas_distribute_cyclic };

/* Constructors return 0 (ggas_ok) and a new datatype in *made. On an error they return 2 (ggas_bad_argument) and set
 * *made to null, and ggas_type_error() gives the reason. A null `of`, `made` or list is an error, too. Lists have
 * `count` (arrays: `dimensions`) numbers. */
int ggas_type_primitive(int primitive, ggas_datatype** made);
int ggas_type_contiguous(int64_t count, const ggas_datatype* of, ggas_datatype** made);
int ggas_type_vector(int64_t count, int64_t blocklength, int64_t stride, const ggas_datatype* of, ggas_datatype** made);
int ggas_type_hvector(int64_t count, int64_t blocklength, int64_t stride_bytes, const ggas_datatype* of,
                      ggas_datatype** made);
int ggas_type_indexed(int64_t count, const int64_t* blocklengths, const int64_t* displacements, const ggas_datatype* of,
                      ggas_datatype** made);
int ggas_type_hindexed(int64_t count, const int64_t* blocklengths, const int64_t* displacements,
                       const ggas_datatype* of, ggas_datatype** made);
int ggas_type_indexed_block(int64_t count, int64_t blocklength, const int64_t* displacements, const ggas_datatype* of,
                            ggas_datatype** made);
int ggas_type_hindexed_block(int64_t count, int64_t blocklength, const int64_t* displacements, const ggas_datatype* of,
                             ggas_datatype** made);
int ggas_type_struct(int64_t count, const int64_t* blocklengths, const int64_t* displacements,
                     const ggas_datatype* const* of, ggas_datatype** made);
int ggas_type_subarray(int dimensions, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts, int order,
                       const ggas_datatype* of, ggas_datatype** made);
int ggas_type_darray(int64_t size, int64_t rank, int dimensions, const int64_t* sizes, const int* distributions,
                     const int64_t* arguments, const int64_t* processes, int order, const ggas_datatype* of,
                     ggas_datatype** made);
int ggas_type_resized(const ggas_datatype* of, int64_t lb, int64_t extent, ggas_datatype** made);
int ggas_type_dup(const ggas_datatype* of, ggas_datatype** made);

/* What was made of it stays. Null is no error. */
void ggas_type_free(ggas_datatype* type);
/* The error of the calling thread's last constructor that failed. */
const char* ggas_type_error(void);

/* Queries; of null 0. */
uint64_t ggas_type_size(const ggas_datatype* type);
uint64_t ggas_type_elements(const ggas_datatype* type);
int64_t ggas_type_lb(const ggas_datatype* type);
int64_t ggas_type_extent(const ggas_datatype* type);
int64_t ggas_type_true_lb(const ggas_datatype* type);
int64_t ggas_type_true_extent(const ggas_datatype* type);
/* Not 0: the same primitives in the same order, of so many items each. */
int ggas_type_same_signature(const ggas_datatype* a, uint64_t count_a, const ggas_datatype* b, uint64_t count_b);

#ifdef __cplusplus
}
#endif
