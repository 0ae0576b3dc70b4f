/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu_api/types/type_c99.h"

#include <stddef.h>
#include <string.h>

#include "ggas/type.h"

#define MUST(what) \
  if (!(what)) return __LINE__

int try_types_from_c(void) {
  const int64_t sizes[] = {4, 5}, parts[] = {2, 3}, starts[] = {1, 1}, ones[] = {1, 1}, places[] = {0, 400};
  const int64_t two[] = {2, 2}, any[] = {-1, -1};
  const int blocks[] = {ggas_distribute_block, ggas_distribute_cyclic};
  ggas_datatype *d = NULL, *t[12] = {NULL}, *bad = NULL;
  MUST(ggas_type_primitive(ggas_type_float64, &d) == 0 && ggas_type_size(d) == 8);
  MUST(ggas_type_contiguous(3, d, &t[0]) == 0 && ggas_type_size(t[0]) == 24);
  MUST(ggas_type_vector(3, 1, 2, d, &t[1]) == 0 && ggas_type_extent(t[1]) == 40);
  MUST(ggas_type_hvector(3, 1, -16, d, &t[2]) == 0 && ggas_type_lb(t[2]) == -32);
  MUST(ggas_type_indexed(2, ones, places, d, &t[3]) == 0 && ggas_type_extent(t[3]) == 3208);
  MUST(ggas_type_hindexed(2, ones, places, d, &t[4]) == 0 && ggas_type_true_extent(t[4]) == 408);
  MUST(ggas_type_indexed_block(2, 2, places, d, &t[5]) == 0 && ggas_type_elements(t[5]) == 4);
  MUST(ggas_type_hindexed_block(2, 2, places, d, &t[6]) == 0 && ggas_type_extent(t[6]) == 416);
  const ggas_datatype* pair[2];
  pair[0] = t[0];
  pair[1] = t[1];
  MUST(ggas_type_struct(2, ones, places, pair, &t[7]) == 0 && ggas_type_size(t[7]) == 48);
  MUST(ggas_type_subarray(2, sizes, parts, starts, ggas_order_c, d, &t[8]) == 0);
  MUST(ggas_type_extent(t[8]) == 160 && ggas_type_true_lb(t[8]) == 48 && ggas_type_size(t[8]) == 48);
  MUST(ggas_type_darray(4, 3, 2, sizes, blocks, any, two, ggas_order_c, d, &t[9]) == 0);
  MUST(ggas_type_elements(t[9]) == 4 && ggas_type_extent(t[9]) == 160);
  MUST(ggas_type_resized(d, -8, 32, &t[10]) == 0 && ggas_type_lb(t[10]) == -8 && ggas_type_extent(t[10]) == 32);
  MUST(ggas_type_dup(t[10], &t[11]) == 0 && ggas_type_extent(t[11]) == 32);
  MUST(ggas_type_same_signature(t[0], 2, t[7], 1) && !ggas_type_same_signature(t[0], 1, t[7], 1));
  MUST(ggas_type_contiguous(-1, d, &bad) == 2 && bad == NULL);
  MUST(strcmp(ggas_type_error(), "contiguous: count = -1: must be 0 or more") == 0);
  MUST(ggas_type_indexed(1, NULL, places, d, &bad) == 2);
  MUST(strcmp(ggas_type_error(), "indexed: a list is null") == 0);
  MUST(ggas_type_dup(NULL, &bad) == 2 && ggas_type_dup(d, NULL) == 2);
  MUST(ggas_type_subarray(2, sizes, parts, starts, 7, d, &bad) == 2);
  MUST(ggas_type_primitive(15, &bad) == 2 && ggas_type_size(NULL) == 0);
  for (int i = 0; i < 12; ++i) ggas_type_free(t[i]);
  ggas_type_free(d);
  ggas_type_free(NULL);
  return 0;
}
