// SPDX-License-Identifier: Apache-2.0
// A stencil over objects: each has some rows of a grid that is closed from its bottom to its top.
#pragma once

#include "ggas/kernel.hpp"

// One step: each element of the inner columns becomes a quarter of the sum of its neighbours; the first and last column
// stay. Buffers are `rows` rows of `width` numbers with another object's row before and after them.
GGAS_KERNEL(stencil_step, float* to, const float* from, int rows, int width);
