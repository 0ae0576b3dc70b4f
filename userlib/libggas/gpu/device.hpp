// SPDX-License-Identifier: Apache-2.0
// Interface of libggas to a GPU: a module (libggas-gpu-<name>.so) makes it, loaded when a program requests it, so that
// the library itself links nothing of a GPU. Texts are errors for people; "" is none. Any thread may make any call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ggas/job.hpp"
#include "userlib/start/message.hpp"

namespace ggas::library::gpu {

// What the core itself asks of the GPU of a process.
class own_gpu {
 public:
  using text = std::string;

  virtual ~own_gpu() = default;
  virtual int number() const = 0;  // as this process counts
  // Memory of rank r lies at window() + r * stride(). The stride is a power of two.
  virtual std::byte* window() const = 0;
  virtual uint64_t stride() const = 0;
  // Each side on a GPU or not; done when it returns, and seen by kernels that begin to look afterwards.
  virtual text copy(void* to, const void* from, uint64_t bytes) = 0;
};

class device : public own_gpu {
 public:
  // Every rank of the job contributes `bytes` of its GPU, filled with 0. All ranks call it; after that this process and
  // its GPU access those of all ranks in the window.
  virtual text map(const job& j, uint64_t bytes) = 0;
  // The same where ranks reach each other by NICs: this rank's memory alone, in its place in the window. memory: the
  // memory that its NIC reads and writes: a dma-buf, or a file of memory of the host.
  virtual text map_own(unsigned rank, unsigned size, uint64_t bytes, userlib::file& memory) = 0;

  // Whether memory of the user can be a segment of a GPU.
  virtual bool is_gpu_memory(const void* at) const = 0;
  // The same through memory of the host, in chunks: one goes on while the next one comes.
  virtual text copy_staged(void* to, const void* from, uint64_t bytes, uint64_t chunk) = 0;
  virtual text zero(void* at, uint64_t bytes) = 0;
  // On a word of 8 bytes of any rank's memory; atomic with those of kernels with system scope.
  virtual text fetch_add(void* word, uint64_t add, uint64_t& old) = 0;
  virtual text compare_swap(void* word, uint64_t expected, uint64_t desired, uint64_t& old) = 0;
  // Lets kernels reach memory of the host. there: its address for them.
  virtual text reach(void* host, uint64_t bytes, void*& there) = 0;
  virtual void forget(void* host) = 0;
};

// What a module exports under the name below; number: of the GPU, -1: by rank. Null with a text: there is none.
using maker = device* (*)(int number, int rank, std::string& why);
inline constexpr const char* maker_name = "ggas_gpu_device_3";  // 3: version of this header

// Loads a module that lies next to libggas.so, or where the system looks for libraries.
device* load(const std::string& module, int number, int rank, std::string& why);

}  // namespace ggas::library::gpu
