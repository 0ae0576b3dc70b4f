// SPDX-License-Identifier: Apache-2.0
// Segments of GPUs between processes of one computer: a module maps the memory of all ranks' GPUs into each process,
// as arenas are. Notification slots are in the arenas, so in memory of the host.
#pragma once

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "userlib/libggas/core/room.hpp"
#include "userlib/libggas/gpu/gpus.hpp"

namespace ggas::library::shm {

class shm_transport;

// Between memories of the host. A rank may write to itself, and parts may overlap.
inline void copy_bytes(void* to, const void* from, uint64_t bytes) {
  if (bytes < 8 || bytes > 16) {
    std::memmove(to, from, bytes);
    return;
  }
  uint64_t first, last;  // both ends: without a call
  const uint64_t behind = bytes - 8;
  std::memcpy(&first, from, 8);
  std::memcpy(&last, static_cast<const std::byte*>(from) + behind, 8);
  std::memcpy(to, &first, 8);
  std::memcpy(static_cast<std::byte*>(to) + behind, &last, 8);
}

class shm_gpus final : public gpus {
 public:
  explicit shm_gpus(shm_transport& t) : t_(t) {}
  ~shm_gpus() override;

  ggas_rc open(const job& j, const char* module, int number, uint64_t bytes, uint64_t kept) override;
  gpu::device* device() override { return device_.load(std::memory_order_acquire); }
  uint64_t bytes() const override { return bytes_; }
  uint64_t kept() const override { return kept_; }
  ggas_rc segment_open(unsigned segment, uint64_t bytes, void* bound) override;
  ggas_rc segment_place(unsigned segment, unsigned rank, uint64_t& offset) override;
  ggas_rc segment_slots(unsigned segment, unsigned rank, uint32_t*& slots) override;
  ggas_rc write_staged(const place& to, const void* from, uint64_t bytes, unsigned queue, uint64_t chunk,
                       limit until) override;
  bool holds(const void* at) const override;

  void segment_closed(bool of_user, uint64_t offset, uint64_t address, uint64_t bytes);
  // Address of bytes in a rank's memory; null: they are not all inside, or there is none.
  std::byte* at(unsigned rank, uint64_t offset, uint64_t bytes) const;
  // Moves bytes between memories of which any may be a GPU's; they may overlap where none is.
  ggas_rc move(void* to, const void* from, uint64_t bytes);
  ggas_rc fetch_add(void* word, uint64_t add, uint64_t& old);
  ggas_rc compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old);

 private:
  struct reached {  // slots that kernels can reach
    uint64_t generation;
    std::byte* host;
    void* there;
  };
  shm_transport& t_;
  mutable std::mutex lock_;
  std::unique_ptr<gpu::device> owned_;
  std::atomic<gpu::device*> device_{nullptr};
  uint64_t bytes_ = 0, kept_ = 0;
  room room_{64 << 10};
  std::map<uint64_t, uint64_t> of_user_;  // address and bytes of what the user has bound
  std::atomic<size_t> users_{0};
  std::map<std::pair<unsigned, unsigned>, reached> reached_;
};

}  // namespace ggas::library::shm
