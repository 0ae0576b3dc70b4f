// SPDX-License-Identifier: Apache-2.0
// A stencil over objects: each has some rows of a grid that is closed from its bottom to its top.
#pragma once

#include "ggas/cluster.hpp"
#include "ggas/kernel.hpp"

// A row in the memory of a neighbour, which gets a copy of a border row: its node and an offset in its segment.
struct halo_row {
  int node;
  uint64_t offset;
};

// One step: each element of the inner columns becomes a quarter of the sum of its neighbours; the first and last column
// stay. Buffers are `rows` rows of `width` numbers with another object's row before and after them. The first and the
// last new row are also stored in the memory of the objects above and below.
GGAS_KERNEL(stencil_step, float* to, const float* from, int rows, int width, halo_row above, halo_row below);
