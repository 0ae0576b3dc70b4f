// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver that the library calls, found at run time in a process that has loaded it: programs
// without CUDA do not load it.
#pragma once

#include <cuda.h>

#include <string>

namespace ggas::mpi {

#define GGAS_MPI_DRIVER_FUNCTIONS(X) \
  X(cuGetErrorName)                  \
  X(cuPointerGetAttributes)          \
  X(cuPointerSetAttribute)           \
  X(cuDeviceGetAttribute)            \
  X(cuDevicePrimaryCtxRetain)        \
  X(cuCtxPushCurrent)                \
  X(cuCtxPopCurrent)                 \
  X(cuCtxGetDevice)                  \
  X(cuModuleLoadData)                \
  X(cuModuleGetFunction)             \
  X(cuStreamCreate)                  \
  X(cuStreamSynchronize)             \
  X(cuMemAlloc)                      \
  X(cuMemFree)                       \
  X(cuMemHostAlloc)                  \
  X(cuMemFreeHost)                   \
  X(cuMemcpyAsync)                   \
  X(cuLaunchKernel)                  \
  X(cuMemGetAddressRange)            \
  X(cuIpcGetMemHandle)               \
  X(cuIpcOpenMemHandle)              \
  X(cuIpcCloseMemHandle)

struct driver {
#define GGAS_MPI_MEMBER(name) decltype(&::name) name = nullptr;
  GGAS_MPI_DRIVER_FUNCTIONS(GGAS_MPI_MEMBER)
#undef GGAS_MPI_MEMBER

  // Null: no process in this process has loaded one, or it is too old.
  static const driver* get();
};

// "call: CUDA_ERROR_..."; nothing if all is well.
std::string worked(const driver& d, const char* call, CUresult r);

}  // namespace ggas::mpi
