// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/gpu_sensors.hpp"

namespace ggas::bench {

sensor_list find_gpu_sensors(const nvml& library, std::span<const nvml::gpu> gpus) {
  sensor_list all;
  all.missing = library.missing().empty() && gpus.empty() ? "NVML knows no GPU" : library.missing();
  for (size_t i = 0; i < gpus.size(); ++i) {
    const nvml::gpu g = gpus[i];
    sensor s{.part = "gpu-" + std::to_string(i), .group = "gpus"};
    if (library.energy_j(g)) s.energy_j = [&library, g] { return library.energy_j(g); };
    if (library.power_w(g)) s.power_w = [&library, g] { return library.power_w(g); };
    if (s.energy_j || s.power_w)
      all.found.push_back(std::move(s));
    else if (all.missing.empty())
      all.missing = s.part + " reports neither energy nor power";
  }
  return all;
}

std::vector<nvml::gpu> all_gpus(const nvml& library) {
  std::vector<nvml::gpu> all;
  for (unsigned i = 0; i < library.count(); ++i) all.push_back(library.at(i));
  return all;
}

}  // namespace ggas::bench
