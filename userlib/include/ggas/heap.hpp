// SPDX-License-Identifier: Apache-2.0
// The symmetric heap: allocate and free memory of the segments, at the same offset on every node and in every process.
// docs/heap.md. C++20, so that nvcc can include it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace ggas {

class cluster;

struct heap_config {
  // Offsets in every segment: of the heap's first byte, and after its last one. The same in all processes.
  uint64_t begin = 0, end = 0;
  uint64_t most_end = 0;  // that `grow` may reach; 0: the heap does not grow
  // Makes every segment `end` bytes long; the error or nothing. Called in all processes alike.
  std::function<std::string(uint64_t end)> grow = {};
  // Reserves the range, from `begin` to the end or to its largest size, as long as the returned object lives. Null: it
  // is not available. Empty: no other process uses it.
  std::function<std::shared_ptr<void>(uint64_t begin, uint64_t end, std::string& why)> keep = {};
  // In a job it is a barrier of all processes, which returns an error if they do not all pass the same text. It is
  // empty if there is only one process.
  std::function<std::string(const std::string& call)> same = {};
  // Is informed of a block that free() takes back, before another one may get it.
  std::function<void(uint64_t offset, uint64_t bytes)> freed = {};
};

struct heap_statistics {
  uint64_t bytes;         // of the heap as it is now
  uint64_t used, peak;    // bytes allocated, with what rounding added; and the most there were
  uint64_t largest_free;  // bytes of the largest free block
  uint64_t allocations;   // blocks allocated now
  uint64_t free_blocks;
  uint64_t calls;  // of allocate and free, also those that failed
  uint64_t grown;  // times the segments were made longer
};

// Used by one thread at a time. In a job all processes make the same calls in the same order. Errors are texts; on an
// error nothing has changed.
class heap {
 public:
  static constexpr uint64_t unit = 256;  // sizes and offsets are multiples of it

  // Null if the range is empty or overlaps another heap (`why` has the numbers), or if the processes pass different
  // arguments.
  static std::unique_ptr<heap> create(heap_config cfg, std::string& why);

  // Returns the offset of `bytes` bytes (1 or more) at a multiple of `alignment`, a power of two. Returns no value if
  // it failed; then `why` has the reason.
  std::optional<uint64_t> allocate(uint64_t bytes, std::string& why, uint64_t alignment = unit);
  // `offset` came from allocate and was not freed since. Returns an error, or an empty text: it is free now.
  std::string free(uint64_t offset);

  heap_statistics statistics() const;
  // Offset and bytes of each allocated block.
  const std::map<uint64_t, uint64_t>& allocated() const { return used_; }

 private:
  heap(heap_config cfg, std::shared_ptr<void> kept);
  std::string agree(const std::string& call);
  std::string extend(uint64_t bytes, uint64_t alignment);
  std::string exhausted(uint64_t bytes, uint64_t alignment) const;
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment);
  void give_back(uint64_t offset, uint64_t bytes);
  void add_free(uint64_t offset, uint64_t bytes);
  void drop_free(std::map<uint64_t, uint64_t>::iterator block);

  heap_config cfg_;
  std::shared_ptr<void> kept_;
  std::map<uint64_t, uint64_t> used_, free_;              // offset, bytes
  std::set<std::pair<uint64_t, uint64_t>> free_by_size_;  // bytes, offset
  uint64_t used_bytes_ = 0, peak_ = 0, calls_ = 0, grown_ = 0;
};

// The range after the reserved area and `by_hand` bytes that the program lays out itself, to the end of the segments;
// it grows with them. A cluster's heaps do not overlap: a second heap in such a range is refused. In a job the
// processes compare their calls. `c` must outlive the heap.
heap_config heap_of(cluster& c, uint64_t by_hand = 0);
// A heap in the pinned memory of a local node, after `by_hand` bytes. It gives offsets in host_memory(node), in this
// process only. A range has one heap at a time. `c` must outlive the heap.
heap_config host_heap_of(cluster& c, int node, uint64_t by_hand = 0);

}  // namespace ggas
