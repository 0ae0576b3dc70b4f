// SPDX-License-Identifier: Apache-2.0
// The grid of the stencil: its stripes in the memory of GPUs, and what the processors of the host compute.
#pragma once

#include <string>
#include <vector>

#include "ggas/work.hpp"
#include "stencil.hpp"

struct shape {
  int objects, steps, rows, width;
  size_t row_bytes() const { return static_cast<size_t>(width) * sizeof(float); }
  size_t bytes() const { return (static_cast<size_t>(rows) + 2) * row_bytes(); }
  unsigned blocks() const { return static_cast<unsigned>(rows * width + 255) / 256; }
};

// Each object's rows are a stripe, twice: a step reads one of its memories and writes the other one.
class stripes {
 public:
  static ggas::result<stripes> make(ggas::dispatcher& work, const shape& of);
  size_t size() const { return all_.size(); }
  const shape& of() const { return of_; }
  int node(size_t stripe) const { return all_[stripe].memory[0].node(); }
  size_t above(size_t stripe) const { return (stripe + size() - 1) % size(); }
  size_t below(size_t stripe) const { return (stripe + 1) % size(); }
  const ggas::gpu_memory& memory(size_t stripe, int which) const { return all_[stripe].memory[which]; }
  // In the memory of a stripe: where those above and below store its halo.
  halo_row first_row(size_t stripe, int which) const { return row(stripe, which, 0); }
  halo_row last_row(size_t stripe, int which) const { return row(stripe, which, of_.rows + 1); }
  // The whole grid, row by row, to memory 0 with its halos and to memory 1; out of one memory.
  ggas::result<> write(ggas::cluster& c, const std::vector<float>& grid) const;
  ggas::result<> read(ggas::cluster& c, std::vector<float>& grid, int which) const;

 private:
  struct stripe {
    ggas::gpu_memory memory[2];
  };
  halo_row row(size_t stripe, int which, int i) const {
    const auto& m = memory(stripe, which);
    return {m.node(), m.block()->offset + static_cast<size_t>(i) * of_.row_bytes()};
  }

  shape of_;
  std::vector<stripe> all_;
};

std::vector<float> first_grid(const shape& of);
// After all steps, by all processors, each with some of the rows.
std::vector<float> expected_grid(const shape& of);
