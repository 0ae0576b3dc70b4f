// SPDX-License-Identifier: Apache-2.0
// Tables of functions of workers as a host program sees them: names (docs/work.md). Their definition: ggas/workers.hpp.
#pragma once

#include <span>

#include "ggas/detail/platform/worker_shape.hpp"
#include "ggas/kernel.hpp"

namespace ggas {

// Orders that are carried out by one launch: `count` of `words` words each, for the same number of blocks.
struct merged_launch {
  const uint64_t* orders;  // on the GPU
  uint64_t words;
  uint32_t count, blocks;
};

// A compiled form of a table.
struct made_workers {
  std::span<const void* const> functions;  // the kernels (ggas::kernel) of the table, by their numbers
  // Queues the resident kernel; all of its blocks must run at once.
  result<> (*launch)(cluster& c, const stream& s, const block_shape& block, const worker_launch& l);
  result<> (*launch_merged)(cluster& c, const stream& s, const block_shape& block, const merged_launch& l);
};

struct work_table {
  const char* name;
  // Null: the program is not linked with it.
  const made_workers* engine;
  const made_workers* cuda;
  const made_workers* of(const cluster& c) const { return c.config().provider == "cuda" ? cuda : engine; }
};

}  // namespace ggas

// At namespace scope, in a header. Weak: null if the program is not linked with it.
#define GGAS_WORKERS(name)                                                          \
  extern const ::ggas::made_workers name##_workers_on_engine __attribute__((weak)); \
  extern const ::ggas::made_workers name##_workers_on_cuda __attribute__((weak));   \
  inline const ::ggas::work_table name { #name, &name##_workers_on_engine, &name##_workers_on_cuda }
