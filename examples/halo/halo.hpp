// SPDX-License-Identifier: Apache-2.0
// Shared by the kernel and the host program.
#pragma once

#include <stdint.h>

#include "ggas/detail/type/type_handle.hpp"
#include "ggas/kernel.hpp"

constexpr int inner = 6, width = inner + 2;  // cells of a node in each dimension, with a layer of ghosts around them
constexpr uint64_t cells = uint64_t{width} * width * width, steps = 4;
constexpr uint64_t one_second = 1000000000;  // ns

// The layout of every segment, and the faces that neighbours exchange: x is the fastest index, so each face is a column
// of single cells.
struct halo_plan {
  uint64_t grid;     // doubles
  uint64_t arrived;  // two signals: faces that came from the left and from the right; then how many were taken
  uint64_t status;
  ggas_type first, last, left_ghost, right_ghost;
};

// What the host program starts.
GGAS_KERNEL(halo, halo_plan plan);
// The same steps as calls on the node's stream.
ggas::result<> queue_halo(ggas::cluster& c, int node, const halo_plan& plan);
