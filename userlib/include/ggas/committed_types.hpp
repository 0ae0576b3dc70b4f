// SPDX-License-Identifier: Apache-2.0
// Datatypes for kernels: committing a datatype writes the data that kernels read into the segments, once, at the same
// offset on every node. docs/datatypes.md. C++20.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ggas/detail/type/type_handle.hpp"
#include "ggas/heap.hpp"
#include "ggas/type.hpp"

namespace ggas {

class cluster;

// Writes bytes at an offset of the segments of all nodes of this process; the error or nothing.
struct segment_writer {
  std::function<std::string(uint64_t offset, const void* from, size_t bytes)> write;
  const cluster* of = nullptr;  // whose segments they are, for calls on streams
};

// The committed datatypes of a cluster. Used by one thread at a time; in a job all processes make the same calls in the
// same order, as for the heap. Errors are texts; on an error nothing has changed. A handle is valid while the space
// lives; kernels that use it must end before it is freed.
class type_space {
 public:
  // `memory` outlives it.
  type_space(heap& memory, segment_writer write);
  ~type_space();  // frees what is left
  type_space(const type_space&) = delete;
  type_space& operator=(const type_space&) = delete;

  // A handle for kernels; one that kernels refuse if something is wrong, and `why` says what.
  ggas_type commit(const datatype& t, std::string& why, type_form form = type_form::automatic);
  // Kernels refuse the handle from now on. An error: it was not committed here, or freed before.
  std::string free(const ggas_type& handle);

  uint64_t committed() const { return images_.size(); }
  uint64_t uploads() const { return uploads_; }  // images that were written, one for each commit

 private:
  heap& memory_;
  segment_writer write_;
  uint64_t space_, generation_ = 0, uploads_ = 0;
  std::map<uint64_t, uint64_t> images_;  // generation, offset
};

// Writes to a cluster's segments. It must not outlive the cluster.
segment_writer writer_of(cluster& c);

// The error of a handle on a cluster: it was not committed, was freed before, or belongs to another cluster. The text
// is empty if the handle is valid. May be called by any thread.
std::string type_error(const cluster& c, const ggas_type& handle);

}  // namespace ggas
