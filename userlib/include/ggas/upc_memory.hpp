// SPDX-License-Identifier: Apache-2.0
// The allocators of UPC on the symmetric heap, for a host program that passes the memory to kernels (docs/upc.md).
// C++20.
#pragma once

#include <limits>
#include <string>

#include "ggas/heap.hpp"
#include "ggas/upc.hpp"

namespace ggas::upc {

// Memory of a cluster's UPC threads, which are its nodes. Rules of the heap: used by one thread at a time; in a job all
// processes make the same calls in the same order, even calls that in UPC only one thread makes. A null pointer means
// an error, which `why` describes.
class memory {
 public:
  // `from` outlives it.
  memory(heap& from, int threads) : heap_(from), threads_(static_cast<uint64_t>(threads)) {}

  // upc_all_alloc, upc_global_alloc: shared [bytes] char[blocks * bytes], distributed cyclically. The result points to
  // the first block, on thread 0.
  shared_void all_alloc(uint64_t blocks, uint64_t bytes, std::string& why) {
    const uint64_t each = star(blocks, threads_);
    if (bytes != 0 && each > std::numeric_limits<uint64_t>::max() / bytes) {
      why = "all_alloc: " + std::to_string(blocks) + " blocks of " + std::to_string(bytes) + " bytes: too many";
      return {};
    }
    return at(0, each * bytes, why);
  }
  shared_void global_alloc(uint64_t blocks, uint64_t bytes, std::string& why) { return all_alloc(blocks, bytes, why); }
  // upc_alloc: shared [] char[bytes] of one thread, the caller's in UPC. The other segments have the place, too.
  shared_void alloc(int thread, uint64_t bytes, std::string& why) {
    if (thread < 0 || static_cast<uint64_t>(thread) >= threads_) {
      why = "alloc: thread " + std::to_string(thread) + ": must be 0 ... " + std::to_string(threads_ - 1);
      return {};
    }
    return at(static_cast<uint64_t>(thread), bytes, why);
  }
  // Shared [B] T a[elements]; at = 0: `why`.
  template <class T, uint64_t B = 1>
  shared_array<T, B> array(uint64_t elements, std::string& why) {
    constexpr uint64_t most = std::numeric_limits<int64_t>::max() / sizeof(T) / 2;
    if (elements > most || (B != 0 && elements > most - B * threads_)) {
      why = "array of " + std::to_string(elements) + " elements: too many";
      return {0, 0, static_cast<uint32_t>(threads_)};
    }
    const uint64_t offset = at(0, shared_array<T, B>::bytes(elements, threads_), why).offset();
    if (offset > shared_ptr<T, B>::largest - shared_array<T, B>::bytes(elements, threads_)) {
      why = "array: pointers to shared with this block reach " + std::to_string(shared_ptr<T, B>::largest) + " bytes";
      (void)heap_.free(offset);
      return {0, 0, static_cast<uint32_t>(threads_)};
    }
    return {offset, offset ? elements : 0, static_cast<uint32_t>(threads_)};
  }
  // upc_free: what one of these calls returned; null is none. Empty: it is free.
  std::string free(const shared_void& p) { return p ? heap_.free(p.offset()) : std::string(); }

 private:
  shared_void at(uint64_t thread, uint64_t bytes, std::string& why) {
    if (bytes == 0) {
      why = "0 bytes: nothing to allocate";
      return {};
    }
    const auto offset = heap_.allocate(bytes, why);
    return offset ? shared_void{thread, 0, *offset} : shared_void{};
  }
  heap& heap_;
  uint64_t threads_;
};

}  // namespace ggas::upc
