// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace ggas::bench {

namespace {

// From the library's reference manual; its interface is stable, its header is not part of every toolkit.
constexpr int success = 0;
constexpr unsigned most_links = 18;
// Names of NVLink by the library's number for a version.
constexpr std::array<const char*, 8> nvlink_names{"?", "1", "2", "2.2", "3", "3.1", "4", "5"};

// Power at this moment; the value is a whole number of mW.
constexpr unsigned instant_power = 186, is_unsigned = 1;
struct field_value {
  unsigned field, scope;  // scope 0: the GPU, not its module
  long long timestamp_us, latency_us;
  unsigned type;
  int status;
  union {
    double real;
    unsigned whole;
    long long widest;
  } value;
};

using get_unsigned = int(void*, unsigned*);
using get_of_link = int(void*, unsigned, unsigned*);

}  // namespace

template <class F>
F* nvml::entry(const char* name) const {
  return library_ ? reinterpret_cast<F*>(dlsym(library_, name)) : nullptr;
}

nvml::nvml() {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library_) {
    missing_ = "no NVML (libnvidia-ml.so.1, part of the driver)";
    return;
  }
  const auto init = entry<int()>("nvmlInit_v2");
  if (init && init() == success) return;
  missing_ = "NVML does not start";
  dlclose(library_);
  library_ = nullptr;
}

nvml::~nvml() {
  if (!library_) return;
  if (const auto shutdown = entry<int()>("nvmlShutdown")) shutdown();
  dlclose(library_);
}

std::string nvml::driver() const {
  char text[96] = {};
  const auto get = entry<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  return get && get(text, sizeof text) == success ? text : "unknown";
}

nvml::gpu nvml::find(const std::string& pci_address) const {
  gpu g = nullptr;
  const auto get = entry<int(const char*, gpu*)>("nvmlDeviceGetHandleByPciBusId_v2");
  return get && get(pci_address.c_str(), &g) == success ? g : nullptr;
}

std::optional<double> nvml::energy_j(gpu g) const {
  unsigned long long mj = 0;
  const auto get = entry<int(gpu, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  if (!g || !get || get(g, &mj) != success) return {};
  return static_cast<double>(mj) / 1e3;
}

std::optional<double> nvml::power_w(gpu g) const {
  field_value v{};
  v.field = instant_power;
  const auto get = entry<int(gpu, int, field_value*)>("nvmlDeviceGetFieldValues");
  if (!g || !get || get(g, 1, &v) != success || v.status != success || v.type != is_unsigned) return {};
  return v.value.whole / 1e3;
}

unsigned nvml::count() const {
  unsigned n = 0;
  const auto get = entry<int(unsigned*)>("nvmlDeviceGetCount_v2");
  return get && get(&n) == success ? n : 0;
}

nvml::gpu nvml::at(unsigned number) const {
  gpu g = nullptr;
  const auto get = entry<int(unsigned, gpu*)>("nvmlDeviceGetHandleByIndex_v2");
  return get && get(number, &g) == success ? g : nullptr;
}

nvml::link nvml::nvlink(gpu g) const {
  link found;
  const auto state = entry<get_of_link>("nvmlDeviceGetNvLinkState");
  const auto version = entry<get_of_link>("nvmlDeviceGetNvLinkVersion");
  if (!g || !state || !version) return found;
  for (unsigned i = 0; i < most_links; ++i) {
    unsigned up = 0, v = 0;
    if (state(g, i, &up) != success || !up) continue;
    ++found.count;
    if (version(g, i, &v) == success) found.version = nvlink_names[v < nvlink_names.size() ? v : 0];
  }
  return found;
}

nvml::slot nvml::pcie(gpu g) const {
  slot found;
  const auto generation = entry<get_unsigned>("nvmlDeviceGetMaxPcieLinkGeneration");
  const auto lanes = entry<get_unsigned>("nvmlDeviceGetMaxPcieLinkWidth");
  if (!g || !generation || !lanes) return found;
  if (generation(g, &found.generation) != success || lanes(g, &found.lanes) != success) return {};
  return found;
}

}  // namespace ggas::bench
