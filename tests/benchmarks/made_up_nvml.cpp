// SPDX-License-Identifier: Apache-2.0
// A fake libnvidia-ml.so.1. The values of its GPUs are in the file that MADE_UP_NVML names, a line each:
//   COUNTER POWER     mJ and mW; "-": the GPU does not support it
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int success = 0, invalid_argument = 2, not_supported = 3;

struct gpu {
  std::string counter_mj, power_mw;
};

std::vector<gpu> gpus() {
  std::vector<gpu> all;
  const char* name = std::getenv("MADE_UP_NVML");
  std::ifstream in(name ? name : "");
  for (gpu g; in >> g.counter_mj >> g.power_mw;) all.push_back(g);
  return all;
}

char handles[16];  // addresses only

const gpu* find(const std::vector<gpu>& all, const void* handle) {
  const auto number = static_cast<size_t>(static_cast<const char*>(handle) - handles);
  return number < all.size() ? &all[number] : nullptr;
}

struct field_value {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  unsigned long long value;
};

}  // namespace

extern "C" {
int nvmlInit_v2() { return std::getenv("MADE_UP_NVML") ? success : 9; }
int nvmlShutdown() { return success; }
int nvmlDeviceGetCount_v2(unsigned* n) {
  *n = unsigned(gpus().size());
  return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned n, void** handle) {
  if (n >= gpus().size()) return invalid_argument;
  *handle = &handles[n];
  return success;
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* mj) {
  const auto all = gpus();
  const gpu* g = find(all, handle);
  if (!g) return invalid_argument;
  if (g->counter_mj == "-") return not_supported;
  *mj = std::stoull(g->counter_mj);
  return success;
}
int nvmlDeviceGetFieldValues(void* handle, int count, field_value* values) {
  const auto all = gpus();
  const gpu* g = find(all, handle);
  if (!g) return invalid_argument;
  for (int i = 0; i < count; ++i) {
    const bool known = values[i].field == 186 && values[i].scope == 0 && g->power_mw != "-";
    values[i].status = known ? success : not_supported;
    values[i].type = 1;
    values[i].value = known ? std::stoull(g->power_mw) : 0;
  }
  return success;
}
}
