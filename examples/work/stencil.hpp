// SPDX-License-Identifier: Apache-2.0
// A stencil over objects: each has some rows of a grid that is closed from its bottom to its top.
#pragma once

#include "ggas/cluster.hpp"
#include "ggas/kernel.hpp"

// One step: each element of the inner columns becomes a quarter of the sum of its neighbours; the first and last column
// stay. Buffers are `rows` rows of `width` numbers with another object's row before and after them.
GGAS_KERNEL(stencil_step, float* to, const float* from, int rows, int width);

// Queues a copy of a row of numbers, from the stream's node to an offset in a node's segment.
ggas::result<> put_row(ggas::cluster& c, const ggas::stream& s, int to, uint64_t offset, const float* from, int width);
