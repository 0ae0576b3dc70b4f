// SPDX-License-Identifier: Apache-2.0
// Memory that requests get for a while: of each node's segment, and of its pinned memory.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "ggas/heap.hpp"
#include "ggas/work.hpp"

namespace ggas::detail {

struct pools {
  struct of_node {
    std::byte *segment, *pinned;
    size_t pinned_bytes;                 // of the whole pinned memory
    std::unique_ptr<heap> gpu, staging;  // staging may be null: there is no pinned memory
  };
  static result<std::shared_ptr<pools>> make(cluster& c, uint64_t by_hand, uint64_t pinned_by_hand);

  // Null, and why; of 0 bytes always null.
  std::byte* take_gpu(int node, size_t bytes, std::string& why);
  std::byte* take_staging(int node, size_t bytes, std::string& why);
  void give_gpu(int node, const std::byte* p);
  void give_staging(int node, const std::byte* p);
  bool is_pinned(int node, const std::byte* p, size_t bytes) const;
  uint64_t used() const;
  uint64_t allocations() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<void> kept_;  // the range of the segments
  std::map<int, of_node> nodes_;
  uint64_t allocations_ = 0;
};

}  // namespace ggas::detail
