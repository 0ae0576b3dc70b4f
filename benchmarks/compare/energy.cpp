// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/energy.hpp"

#include <cuda_runtime.h>

#include <cstdio>

#include "benchmarks/energy/gpu_sensors.hpp"
#include "benchmarks/energy/run.hpp"

namespace ggas::compare {

namespace {

constexpr int windows = 3;

std::vector<bench::nvml::gpu> first_gpus(const bench::nvml& library, int count) {
  std::vector<bench::nvml::gpu> all;
  for (int gpu = 0; gpu < count; ++gpu) {
    char address[32] = {};
    const bool known = cudaDeviceGetPCIBusId(address, sizeof address, gpu) == cudaSuccess;
    all.push_back(known ? library.find(address) : nullptr);
  }
  return all;
}

}  // namespace

class crew_energy::sensors {
 public:
  sensors(int gpus, const origin& from, const char* library)
      : run_({find_gpu_sensors(nvml_, first_gpus(nvml_, gpus))}, {.windows = windows},
             {.emit = [=, this](const std::string&, const bench::energy_figure& f,
                                bool) { print_figure(from, library, f); },
              .note = [](const std::string& line) { std::fprintf(stderr, "energy: %s\n", line.c_str()); }}) {}

  bench::energy_run& run() { return run_; }
  void load(const char* name, int64_t elements) {
    name_ = name;
    elements_ = elements;
  }

 private:
  void print_figure(const origin& from, const char* library, const bench::energy_figure& f) const {
    if (f.integrated) return;
    figure out{"energy", library, f.metric, f.unit, {{"load", 0, name_}, {"method", 0, f.group}}, f.samples};
    if (elements_ > 0) out.params.push_back({"elements", elements_});
    print(from, out);
  }

  bench::nvml nvml_;
  bench::energy_run run_;
  const char* name_ = "";
  int64_t elements_ = 0;
};

crew_energy::crew_energy(crew& all, const origin& from, const char* library) : all_(all) {
  if (all.rank() == 0) sensors_ = std::make_unique<sensors>(all.size(), from, library);
}

crew_energy::~crew_energy() = default;

// Rank 0 decides when it is enough; nothing runs on any GPU when it looks.
void crew_energy::repeat(bench::work_meter* meter, const energy_load& load) {
  while (true) {
    all_.meet();
    bool wanted = meter != nullptr && meter->more();
    all_.share(&wanted, sizeof(wanted));
    if (!wanted) return;
    load.job();
    if (meter != nullptr) meter->add(load.work_of_a_job);
  }
}

void crew_energy::idle(const energy_load& warm_up) {
  const auto job = [&](bench::work_meter& m) { return repeat(&m, warm_up), true; };
  if (!sensors_) return repeat(nullptr, warm_up);
  bench::energy_run::warm_up(job);
  sensors_->load("idle", 0);
  sensors_->run().idle_before();
}

void crew_energy::measure(const energy_load& load) {
  if (!sensors_) return repeat(nullptr, load);
  sensors_->load(load.name, load.elements);
  sensors_->run().measure(load.name, load.work, [&](bench::work_meter& m) { return repeat(&m, load), true; });
}

}  // namespace ggas::compare
