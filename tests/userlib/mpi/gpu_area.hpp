// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs, for cases of messages. Each rank has a GPU, or all the only one. In CI that of fake_driver.cpp.
#pragma once

#include <cuda.h>

#include "tests/userlib/mpi/rig.hpp"

namespace mpi_test {

// An area of memory of the rank's GPU.
class gpu_area {
 public:
  explicit gpu_area(const bytes& content) : bytes_(content.size()) {
    static const CUcontext mine = context();
    CHECK(mine && cuCtxSetCurrent(mine) == CUDA_SUCCESS);  // of this thread
    CHECK(cuMemAlloc(&at_, bytes_) == CUDA_SUCCESS);
    write(content);
  }
  gpu_area(const gpu_area&) = delete;
  gpu_area& operator=(const gpu_area&) = delete;
  ~gpu_area() { cuMemFree(at_); }

  char* at(MPI_Aint place = 0) const { return reinterpret_cast<char*>(at_) + place; }
  void write(const bytes& content) {
    CHECK(cuMemcpy(at_, reinterpret_cast<CUdeviceptr>(content.data()), bytes_) == CUDA_SUCCESS);
  }
  bytes read() const {
    bytes content(bytes_);
    CHECK(cuMemcpy(reinterpret_cast<CUdeviceptr>(content.data()), at_, bytes_) == CUDA_SUCCESS);
    return content;
  }

 private:
  static CUcontext context() {
    int n = 0;
    CUdevice d = 0;
    CUcontext c = nullptr;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&n) != CUDA_SUCCESS || n == 0) return nullptr;
    cuDeviceGet(&d, rank() % n);
    return cuDevicePrimaryCtxRetain(&c, d) == CUDA_SUCCESS ? c : nullptr;
  }
  CUdeviceptr at_ = 0;
  size_t bytes_;
};

// What a receiver's area is, by the MPI alone.
inline bytes expected_of(const sample& out, const bytes& source, const sample& layout, bytes area) {
  const bytes sent = out.packed(source);
  int place = 0;
  ALONE(Unpack)(sent.data(), out.size(), &place, layout.in(area), layout.count, layout.of.type, MPI_COMM_SELF);
  return area;
}

}  // namespace mpi_test
