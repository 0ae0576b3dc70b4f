// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver that the provider calls, found at run time: a program with this provider starts
// without a driver, and reports that it is missing.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <string>

#include "userlib/start/bootstrap.hpp"

namespace ggas::userlib {

// Name, and the CUDA version of its form.
#define GGAS_DRIVER_FUNCTIONS(X)           \
  X(cuGetErrorName, 6000)                  \
  X(cuGetErrorString, 6000)                \
  X(cuDeviceGetAttribute, 2000)            \
  X(cuMemAddressReserve, 10020)            \
  X(cuMemAddressFree, 10020)               \
  X(cuMemCreate, 10020)                    \
  X(cuMemRelease, 10020)                   \
  X(cuMemMap, 10020)                       \
  X(cuMemUnmap, 10020)                     \
  X(cuMemSetAccess, 10020)                 \
  X(cuMemGetAllocationGranularity, 10020)  \
  X(cuMemExportToShareableHandle, 10020)   \
  X(cuMemImportFromShareableHandle, 10020) \
  X(cuMemGetHandleForAddressRange, 11070)

struct driver {
#define GGAS_DRIVER_MEMBER(name, version) PFN_##name##_v##version name = nullptr;
  GGAS_DRIVER_FUNCTIONS(GGAS_DRIVER_MEMBER)
#undef GGAS_DRIVER_MEMBER

  static attempt<> load();  // before get(); says what is missing or too old
  static const driver& get();
};

// A function of the driver's by its name and the CUDA version of its form; an error says that the driver is too old.
attempt<> find_in_driver(const char* name, unsigned version, void** function);

// "what: call: CUDA_ERROR_...: text"; nothing if there is no error. An error of the runtime is reported only here:
// CUDA's last error is then cleared, because a later launch that checks it would seem to have failed.
attempt<> worked(const std::string& what, const char* call, CUresult r);
attempt<> worked(const std::string& what, const char* call, cudaError_t e);

// A call of the driver's or of the runtime's, with its name in the error.
#define GGAS_DRIVER(what, call, ...) \
  ::ggas::userlib::worked(what, #call, ::ggas::userlib::driver::get().call(__VA_ARGS__))
#define GGAS_RUNTIME(what, call, ...) ::ggas::userlib::worked(what, #call, call(__VA_ARGS__))

}  // namespace ggas::userlib
