// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/gpu/mapped.hpp"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "userlib/start/bootstrap.hpp"

namespace ggas::library::gpu {

using text = own_gpu::text;

mapped_device::~mapped_device() {
  if (window_) munmap(window_, window_bytes_);
}

text mapped_device::system_text(const std::string& what) { return what + ": " + std::strerror(errno); }

// ---------------------------------------------------------------------------------------------- memory

text mapped_device::reserve(size_t ranks, uint64_t bytes) {
  stride_ = std::bit_ceil(bytes);
  window_bytes_ = stride_ * ranks;
  void* const at = mmap(nullptr, window_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return system_text(std::to_string(window_bytes_) + " bytes of addresses for GPUs");
  window_ = static_cast<std::byte*>(at);
  return "";
}

text mapped_device::place(size_t rank, const userlib::file& memory, uint64_t bytes) {
  void* const at = window_ + rank * stride_;
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.fd(), 0) == MAP_FAILED)
    return system_text("memory of rank " + std::to_string(rank) + "'s GPU");
  return "";
}

text mapped_device::map(const job& j, uint64_t bytes) {
  auto b = userlib::bootstrap::join(j);
  if (!b) return b.error();
  userlib::file own;
  if (text why = make(bytes, own); !why.empty()) return why;
  if (auto same = (*b)->same("bytes of GPUs", std::to_string(bytes)); !same) return same.error();
  auto all = (*b)->gather("memory of GPUs", "", own.fd());
  if (!all) return all.error();
  text why = reserve(all->size(), bytes);
  for (size_t r = 0; why.empty() && r < all->size(); ++r) why = place(r, (*all)[r].handle, bytes);
  const auto agreed = (*b)->agree("maps of GPUs", why.empty() ? userlib::attempt<>() : std::unexpected(std::move(why)));
  return agreed ? "" : agreed.error();
}

text mapped_device::map_own(unsigned rank, unsigned size, uint64_t bytes, userlib::file& memory) {
  text why = make(bytes, memory);
  if (why.empty()) why = reserve(size, bytes);
  return why.empty() ? place(rank, memory, bytes) : why;
}

// ---------------------------------------------------------------------------------------------- work

text mapped_device::copy(void* to, const void* from, uint64_t bytes) {
  std::memmove(to, from, bytes);
  return "";
}

text mapped_device::copy_staged(void* to, const void* from, uint64_t bytes, uint64_t chunk) {
  std::vector<std::byte> stage(std::min(bytes, chunk));
  for (uint64_t at = 0; at < bytes; at += chunk) {
    const uint64_t n = std::min(bytes - at, chunk);
    std::memcpy(stage.data(), static_cast<const std::byte*>(from) + at, n);
    std::memcpy(static_cast<std::byte*>(to) + at, stage.data(), n);
  }
  return "";
}

text mapped_device::zero(void* at, uint64_t bytes) {
  std::memset(at, 0, bytes);
  return "";
}

text mapped_device::fetch_add(void* word, uint64_t add, uint64_t& old) {
  old = std::atomic_ref(*static_cast<uint64_t*>(word)).fetch_add(add);
  return "";
}

text mapped_device::compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old) {
  old = expected;
  std::atomic_ref(*static_cast<uint64_t*>(word)).compare_exchange_strong(old, desired);
  return "";
}

text mapped_device::reach(void* host, uint64_t, void*& there) {
  there = host;
  return "";
}

}  // namespace ggas::library::gpu
