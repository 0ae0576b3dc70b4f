// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/dma_map.hpp"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace ggas::device {

namespace {

constexpr uint64_t page = 4096;

// A client may shorten its file while it is mapped: an access after its end is then a signal, which ends only the copy
// that caused it.
thread_local sigjmp_buf* copying = nullptr;

void on_bus_error(int number) {
  if (copying) siglongjmp(*copying, 1);
  ::signal(number, SIG_DFL);  // of others: the access is made again, and ends the process
}

void catch_bus_errors() {
  static const int caught = [] {
    struct sigaction how {};
    how.sa_handler = on_bus_error;
    how.sa_flags = SA_NODEFER;  // it is left by a jump
    return sigaction(SIGBUS, &how, nullptr);
  }();
  static_cast<void>(caught);
}

// Runs a copy; false: the memory has gone meanwhile.
template <class Copy>
bool whole(Copy&& copy) {
  sigjmp_buf here;
  const bool gone = sigsetjmp(here, 0) != 0;
  copying = gone ? nullptr : &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (gone) return false;
  copy();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  copying = nullptr;
  return true;
}

// Memory of the file, which has to be that long.
int map_file(const wire::dma_map& r, const file& from, std::byte*& bytes) {
  struct stat info {};
  if (fstat(from.get(), &info) != 0) return errno;
  if (S_ISREG(info.st_mode) && (r.offset > uint64_t(info.st_size) || r.size > uint64_t(info.st_size) - r.offset))
    return EINVAL;
  int rights = 0;
  if (r.flags & wire::dma_readable) rights |= PROT_READ;
  if (r.flags & wire::dma_writable) rights |= PROT_WRITE;
  void* const at = mmap(nullptr, r.size, rights, MAP_SHARED, from.get(), off_t(r.offset));
  if (at == MAP_FAILED) return errno;
  catch_bus_errors();
  bytes = static_cast<std::byte*>(at);
  return 0;
}

}  // namespace

int dma_map::map(const wire::dma_map& r, const file* from) {
  if (r.size == 0 || r.size % page || r.address % page || r.address + r.size - 1 < r.address) return EINVAL;
  if (r.flags & ~(wire::dma_readable | wire::dma_writable | wire::dma_by_mmap) ||
      (r.flags & wire::dma_by_mmap && !from))
    return EINVAL;
  if (windows_.size() >= window_limit) return ENOMEM;
  const auto next = windows_.lower_bound(r.address);
  if (next != windows_.end() && next->first - r.address < r.size) return EEXIST;
  if (next != windows_.begin()) {
    const window& before = std::prev(next)->second;
    if (r.address - before.address < before.size) return EEXIST;
  }
  window w{r.address, r.size, r.flags, nullptr};
  if (from)
    if (const int e = map_file(r, *from, w.bytes)) return e;
  windows_.emplace(r.address, w);
  return 0;
}

int dma_map::unmap(uint64_t address, uint64_t size) {
  const uint64_t last = address + (size - 1);
  if (size == 0 || last < address) return EINVAL;
  const auto first = windows_.lower_bound(address);
  const auto end = windows_.upper_bound(last);
  if (first != windows_.begin()) {
    const window& before = std::prev(first)->second;
    if (before.size > address - before.address) return EINVAL;
  }
  if (first == end) return ENOENT;
  const window& behind = std::prev(end)->second;
  if (behind.size - 1 > last - behind.address) return EINVAL;
  for (auto it = first; it != end; ++it)
    if (it->second.bytes) munmap(it->second.bytes, it->second.size);
  windows_.erase(first, end);
  return 0;
}

void dma_map::clear() {
  for (const auto& [address, w] : windows_)
    if (w.bytes) munmap(w.bytes, w.size);
  windows_.clear();
}

const dma_map::window* dma_map::find(uint64_t address, uint64_t bytes, bool write) const {
  auto it = windows_.upper_bound(address);
  if (it == windows_.begin()) return nullptr;
  const window& w = std::prev(it)->second;
  const uint64_t at = address - w.address;
  if (at >= w.size || bytes > w.size - at) return nullptr;
  return w.flags & (write ? wire::dma_writable : wire::dma_readable) ? &w : nullptr;
}

namespace {

bool word_at(const std::byte* p) { return reinterpret_cast<uintptr_t>(p) % 8 == 0; }

void copy_words_to(std::byte* to, std::span<const std::byte> from) {
  size_t i = 0;
  while (i < from.size()) {
    if (word_at(to + i) && from.size() - i >= 8) {
      uint64_t word;
      std::memcpy(&word, from.data() + i, 8);
      __atomic_store_n(reinterpret_cast<uint64_t*>(to + i), word, __ATOMIC_RELEASE);
      i += 8;
    } else {
      __atomic_store_n(reinterpret_cast<uint8_t*>(to + i), uint8_t(from[i]), __ATOMIC_RELEASE);
      ++i;
    }
  }
}

void copy_words_from(std::span<std::byte> to, const std::byte* from) {
  size_t i = 0;
  while (i < to.size()) {
    if (word_at(from + i) && to.size() - i >= 8) {
      const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(from + i), __ATOMIC_ACQUIRE);
      std::memcpy(to.data() + i, &word, 8);
      i += 8;
    } else {
      to[i] = std::byte(__atomic_load_n(reinterpret_cast<const uint8_t*>(from + i), __ATOMIC_ACQUIRE));
      ++i;
    }
  }
}

}  // namespace

bool copy_to_guest(std::byte* to, std::span<const std::byte> from) {
  return whole([&] { copy_words_to(to, from); });
}

bool copy_from_guest(std::span<std::byte> to, const std::byte* from) {
  return whole([&] { copy_words_from(to, from); });
}

}  // namespace ggas::device
