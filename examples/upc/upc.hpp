// SPDX-License-Identifier: Apache-2.0
// Shared by kernels and host program: the shared data of the two UPC programs of docs/upc.md.
#pragma once

#include <string>

#include "ggas/heap.hpp"
#include "ggas/kernel.hpp"
#include "ggas/status.hpp"
#include "ggas/upc.hpp"

constexpr uint64_t one_second = 1000000000;  // ns

// shared [N] double a[N][N]; shared double b[N], c[N];
constexpr uint64_t n = 24;
using matrix = ggas::upc::shared_array<double, n>;
using vector = ggas::upc::shared_array<double>;

// shared [CELLS] double u[2][CELLS * THREADS];
constexpr uint64_t cells = 16, steps = 10;
using rod = ggas::upc::shared_array<double, cells>;
struct rods {
  rod u[2];
};

// What the host program starts; `report` has the statuses of each program's threads.
GGAS_KERNEL(multiply, matrix a, vector b, vector c, ggas::upc::shared_array<uint64_t> report);
GGAS_KERNEL(conduct, rods r, ggas::upc::shared_array<uint64_t> report);

// The product once more, by programs of the processor; what went wrong, or nothing.
std::string multiply_on_processors(ggas::cluster& cluster, ggas::heap& heap, matrix a, vector b, vector c);
