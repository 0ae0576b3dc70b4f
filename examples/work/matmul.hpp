// SPDX-License-Identifier: Apache-2.0
// The matrix product of the Hybrid API's thesis: P = M N, one work request.
#pragma once

// Followed by its elements, row by row: both are copied as one buffer.
struct matrix {
  int width, height;
  float* elements() { return reinterpret_cast<float*>(this + 1); }
};

inline int bytes_of(int width, int height) {
  return static_cast<int>(sizeof(matrix) +
                          sizeof(float) * static_cast<unsigned>(width) * static_cast<unsigned>(height));
}

constexpr int block_size = 16;  // widths and heights are multiples of it
constexpr int matmul_id = 1;

// Enqueues it; `callback` is a CkCallback*.
void kernelSetup(matrix* m, matrix* n, matrix* p, void* callback, int id);
