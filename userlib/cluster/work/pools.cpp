// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/work/pools.hpp"

namespace ggas::detail {

result<std::shared_ptr<pools>> pools::make(cluster& c, uint64_t by_hand, uint64_t pinned_by_hand) {
  auto all = std::make_shared<pools>();
  const heap_config range = heap_of(c, by_hand);
  std::string why;
  all->kept_ = c.keep_for_heap(range.begin, range.end, why);
  if (!all->kept_) return error{errc::bad_argument, why};
  for (const int n : c.local_nodes()) {
    const host_region pinned = c.host_memory(n);
    of_node& pool = all->nodes_[n];
    pool = {c.segment(n), pinned.base, pinned.bytes, heap::create({range.begin, range.end}, why), nullptr};
    if (!pool.gpu) return error{errc::bad_argument, "pool of GPU memory: " + why};
    if (pinned_by_hand >= pinned.bytes) continue;
    pool.staging = heap::create(host_heap_of(c, n, pinned_by_hand), why);
    if (!pool.staging) return error{errc::bad_argument, "pool of pinned memory: " + why};
  }
  return all;
}

std::byte* pools::take_gpu(int node, size_t bytes, std::string& why) {
  const std::lock_guard lock(mutex_);
  of_node& n = nodes_.at(node);
  const auto at = n.gpu->allocate(bytes, why);
  allocations_ += at.has_value();
  return at ? n.segment + *at : nullptr;
}

std::byte* pools::take_staging(int node, size_t bytes, std::string& why) {
  const std::lock_guard lock(mutex_);
  of_node& n = nodes_.at(node);
  if (!n.staging) {
    why = "there is no pinned memory (cluster_config::host_bytes)";
    return nullptr;
  }
  const auto at = n.staging->allocate(bytes, why);
  allocations_ += at.has_value();
  return at ? n.pinned + *at : nullptr;
}

void pools::give_gpu(int node, const std::byte* p) {
  const std::lock_guard lock(mutex_);
  of_node& n = nodes_.at(node);
  n.gpu->free(static_cast<uint64_t>(p - n.segment));
}

void pools::give_staging(int node, const std::byte* p) {
  const std::lock_guard lock(mutex_);
  of_node& n = nodes_.at(node);
  n.staging->free(static_cast<uint64_t>(p - n.pinned));
}

bool pools::is_pinned(int node, const std::byte* p, size_t bytes) const {
  const of_node& n = nodes_.at(node);
  const uint64_t offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(n.pinned);
  return n.pinned && offset <= n.pinned_bytes && bytes <= n.pinned_bytes - offset;
}

uint64_t pools::used() const {
  const std::lock_guard lock(mutex_);
  uint64_t all = 0;
  for (const auto& [node, n] : nodes_) all += n.gpu->statistics().used + (n.staging ? n.staging->statistics().used : 0);
  return all;
}

uint64_t pools::allocations() const {
  const std::lock_guard lock(mutex_);
  return allocations_;
}

void gpu_block::free() {
  if (of && !freed.exchange(true)) of->give_gpu(node, address);
}
gpu_block::~gpu_block() { free(); }

}  // namespace ggas::detail
