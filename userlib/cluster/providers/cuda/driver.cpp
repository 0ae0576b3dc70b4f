// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/cuda/driver.hpp"

#include <cstdlib>

#include "ggas/job.hpp"

namespace ggas::userlib {

namespace {

// Loads kernels when a program starts to use a GPU, not when they are first launched. Loading waits until the
// GPU is idle, and a kernel on it may wait for the one that is to be loaded. CUDA reads the variable once, at its first
// call in the process, so it is set before main(). It affects all CUDA libraries of the process and costs them time and
// memory; a process that a launcher started for one node does not need it. A value that the user has set stays.
[[maybe_unused]] const int eager = [] {
  std::string ignored;
  return job::from_environment(ignored).alone() ? setenv("CUDA_MODULE_LOADING", "EAGER", 0) : 0;
}();

driver found;

std::string version_text(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

attempt<> check_versions() {
  int has = 0, needs = 0;
  cudaDriverGetVersion(&has);
  cudaRuntimeGetVersion(&needs);
  if (has == 0) return std::unexpected(std::string("there is no CUDA driver (libcuda.so.1) on this computer"));
  int gpus = 0;
  const cudaError_t e = cudaGetDeviceCount(&gpus);
  const attempt<> seen = worked("GPUs", "cudaGetDeviceCount", e);
  if (e == cudaErrorInsufficientDriver)
    return std::unexpected("the CUDA driver is too old: this program needs one for CUDA " + version_text(needs) +
                           ", this one is for CUDA " + version_text(has));
  if (e == cudaErrorNoDevice)
    return std::unexpected(std::string("this process sees no GPU: there is none, or CUDA_VISIBLE_DEVICES hides it"));
  return seen;
}

}  // namespace

attempt<> find_in_driver(const char* name, unsigned version, void** function) {
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const std::string what = std::string("the driver's ") + name;
#if CUDART_VERSION >= 12050
  auto ok = GGAS_RUNTIME(what, cudaGetDriverEntryPointByVersion, name, function, version, cudaEnableDefault, &result);
#else
  auto ok = GGAS_RUNTIME(what, cudaGetDriverEntryPoint, name, function, cudaEnableDefault, &result);
#endif
  if (!ok) return ok;
  if (result == cudaDriverEntryPointSuccess && *function) return {};
  int has = 0;
  cudaDriverGetVersion(&has);
  return std::unexpected("the CUDA driver is too old: it has no " + std::string(name) + " of CUDA " +
                         version_text(static_cast<int>(version)) + "; it is for CUDA " + version_text(has));
}

attempt<> driver::load() {
  // Once: threads may make clusters side by side.
  static const attempt<> all = [] {
    attempt<> ok = check_versions();
#define GGAS_DRIVER_FIND(name, version) \
  if (ok) ok = find_in_driver(#name, version, reinterpret_cast<void**>(&found.name));
    GGAS_DRIVER_FUNCTIONS(GGAS_DRIVER_FIND)
#undef GGAS_DRIVER_FIND
    return ok;
  }();
  return all;
}

const driver& driver::get() { return found; }

attempt<> worked(const std::string& what, const char* call, CUresult r) {
  if (r == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  const char* words = nullptr;
  found.cuGetErrorName(r, &name);
  found.cuGetErrorString(r, &words);
  return std::unexpected(what + ": " + call + ": " + (name ? name : "CUDA error") + ": " +
                         (words ? words : "no description"));
}

attempt<> worked(const std::string& what, const char* call, cudaError_t e) {
  if (e == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return std::unexpected(what + ": " + call + ": " + cudaGetErrorName(e) + ": " + cudaGetErrorString(e));
}

}  // namespace ggas::userlib
