// SPDX-License-Identifier: Apache-2.0
// The module `testgpu` of libggas: the GPU of a virtual node (kernel/testgpu), whose memory the NIC reaches by its
// dma-buf, and the processor by a mapping.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kernel/include/uapi/testgpu.h"
#include "userlib/libggas/gpu/mapped.hpp"

namespace {

class node_gpu final : public ggas::library::gpu::mapped_device {
  text make(uint64_t bytes, ggas::userlib::file& memory) override {
    const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    testgpu_alloc wanted{};
    wanted.bytes = (bytes + page - 1) / page * page;
    const ggas::userlib::file gpu(open("/dev/testgpu", O_RDWR | O_CLOEXEC));
    if (!gpu || ioctl(gpu.fd(), TESTGPU_IOC_ALLOC, &wanted) != 0) return system_text("memory of the test GPU");
    memory = ggas::userlib::file(wanted.fd);
    return "";
  }
};

}  // namespace

extern "C" ggas::library::gpu::device* ggas_gpu_device_3(int, int, std::string&) { return new node_gpu; }
