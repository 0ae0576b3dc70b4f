// SPDX-License-Identifier: Apache-2.0
// NVML's sensors of GPUs: the energy counter, and power at this moment.
#pragma once

#include <span>

#include "benchmarks/energy/nvml.hpp"
#include "benchmarks/energy/sensor.hpp"

namespace ggas::bench {

// The parts are gpu-0, gpu-1 and so on, in this order. A GPU with neither of the two sensors is left out, and `missing`
// names it. `library` must outlive the sensors.
sensor_list find_gpu_sensors(const nvml& library, std::span<const nvml::gpu> gpus);
// All that the library knows.
std::vector<nvml::gpu> all_gpus(const nvml& library);

}  // namespace ggas::bench
