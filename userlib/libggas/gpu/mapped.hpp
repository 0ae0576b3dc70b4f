// SPDX-License-Identifier: Apache-2.0
// A GPU whose memory a processor reaches by mappings: the host SIMT engine, and the test GPU of virtual nodes. Which
// memory that is, the module says.
#pragma once

#include "userlib/libggas/gpu/device.hpp"

namespace ggas::library::gpu {

class mapped_device : public device {
 public:
  ~mapped_device() override;

  text map(const job& j, uint64_t bytes) override;
  text map_own(unsigned rank, unsigned size, uint64_t bytes, userlib::file& memory) override;
  int number() const override { return 0; }
  std::byte* window() const override { return window_; }
  uint64_t stride() const override { return stride_; }
  bool is_gpu_memory(const void*) const override { return true; }
  text copy(void* to, const void* from, uint64_t bytes) override;
  text copy_staged(void* to, const void* from, uint64_t bytes, uint64_t chunk) override;
  text zero(void* at, uint64_t bytes) override;
  text fetch_add(void* word, uint64_t add, uint64_t& old) override;
  text compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old) override;
  text reach(void* host, uint64_t, void*& there) override;
  void forget(void*) override {}

 protected:
  // Memory that is 0, as something that can be mapped.
  virtual text make(uint64_t bytes, userlib::file& memory) = 0;
  static text system_text(const std::string& what);

 private:
  text reserve(size_t ranks, uint64_t bytes);
  text place(size_t rank, const userlib::file& memory, uint64_t bytes);

  std::byte* window_ = nullptr;
  uint64_t stride_ = 0, window_bytes_ = 0;
};

}  // namespace ggas::library::gpu
