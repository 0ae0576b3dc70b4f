// SPDX-License-Identifier: Apache-2.0
// The module `simt`: the GPU of a rank is the host SIMT engine in its process, whose memory is plain memory that all
// ranks have mapped.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "userlib/libggas/gpu/device.hpp"
#include "userlib/start/bootstrap.hpp"

namespace ggas::library::gpu {

namespace {

std::string system_text(const std::string& what) { return what + ": " + std::strerror(errno); }

class simt_device final : public device {
 public:
  ~simt_device() override {
    if (window_) munmap(window_, window_bytes_);
  }

  text map(const job& j, uint64_t bytes) override {
    auto b = userlib::bootstrap::join(j);
    if (!b) return b.error();
    const userlib::file own(memfd_create("ggas-gpu", MFD_CLOEXEC));
    if (!own || ftruncate(own.fd(), static_cast<off_t>(bytes)) != 0) return system_text("memory of the GPU");
    if (auto same = (*b)->same("bytes of GPUs", std::to_string(bytes)); !same) return same.error();
    auto all = (*b)->gather("memory of GPUs", "", own.fd());
    if (!all) return all.error();
    text why = map_all(*all, bytes);
    const auto agreed =
        (*b)->agree("maps of GPUs", why.empty() ? userlib::attempt<>() : std::unexpected(std::move(why)));
    return agreed ? "" : agreed.error();
  }

  int number() const override { return 0; }
  std::byte* window() const override { return window_; }
  uint64_t stride() const override { return stride_; }
  bool is_gpu_memory(const void*) const override { return true; }

  text copy(void* to, const void* from, uint64_t bytes) override {
    std::memmove(to, from, bytes);
    return "";
  }
  text copy_staged(void* to, const void* from, uint64_t bytes, uint64_t chunk) override {
    std::vector<std::byte> stage(std::min(bytes, chunk));
    for (uint64_t at = 0; at < bytes; at += chunk) {
      const uint64_t n = std::min(bytes - at, chunk);
      std::memcpy(stage.data(), static_cast<const std::byte*>(from) + at, n);
      std::memcpy(static_cast<std::byte*>(to) + at, stage.data(), n);
    }
    return "";
  }
  text zero(void* at, uint64_t bytes) override {
    std::memset(at, 0, bytes);
    return "";
  }
  text fetch_add(void* word, uint64_t add, uint64_t& old) override {
    old = std::atomic_ref(*static_cast<uint64_t*>(word)).fetch_add(add);
    return "";
  }
  text compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old) override {
    old = expected;
    std::atomic_ref(*static_cast<uint64_t*>(word)).compare_exchange_strong(old, desired);
    return "";
  }
  text reach(void* host, uint64_t, void*& there) override {
    there = host;
    return "";
  }
  void forget(void*) override {}

 private:
  text map_all(const std::vector<userlib::bootstrap::part>& all, uint64_t bytes) {
    stride_ = std::bit_ceil(bytes);
    window_bytes_ = stride_ * all.size();
    void* const at = mmap(nullptr, window_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return system_text(std::to_string(window_bytes_) + " bytes of addresses for GPUs");
    window_ = static_cast<std::byte*>(at);
    for (size_t r = 0; r < all.size(); ++r)
      if (mmap(window_ + r * stride_, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, all[r].handle.fd(), 0) ==
          MAP_FAILED)
        return system_text("memory of rank " + std::to_string(r) + "'s GPU");
    return "";
  }

  std::byte* window_ = nullptr;
  uint64_t stride_ = 0, window_bytes_ = 0;
};

}  // namespace

}  // namespace ggas::library::gpu

extern "C" ggas::library::gpu::device* ggas_gpu_device_2(int, int, std::string&) {
  return new ggas::library::gpu::simt_device;
}
