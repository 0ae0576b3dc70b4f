// SPDX-License-Identifier: Apache-2.0
// The module `simt`: the GPU of a rank is the host SIMT engine in its process, whose memory is plain memory that all
// ranks of a computer have mapped.
#include <sys/mman.h>
#include <unistd.h>

#include "userlib/libggas/gpu/mapped.hpp"

namespace ggas::library::gpu {

namespace {

class simt_device final : public mapped_device {
  text make(uint64_t bytes, userlib::file& memory) override {
    memory = userlib::file(memfd_create("ggas-gpu", MFD_CLOEXEC));
    if (!memory || ftruncate(memory.fd(), static_cast<off_t>(bytes)) != 0) return system_text("memory of the GPU");
    return "";
  }
};

}  // namespace

}  // namespace ggas::library::gpu

extern "C" ggas::library::gpu::device* ggas_gpu_device_3(int, int, std::string&) {
  return new ggas::library::gpu::simt_device;
}
