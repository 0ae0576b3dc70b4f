// SPDX-License-Identifier: Apache-2.0
// energy: what the sensors of GPUs, processors and DRAM report of a load, and of the same machine when idle.
#include "benchmarks/cuda/energy.hpp"

#include <algorithm>

#include "benchmarks/cuda/benchmarks.hpp"
#include "benchmarks/energy/gpu_sensors.hpp"
#include "benchmarks/energy/powercap.hpp"
#include "benchmarks/energy/run.hpp"
#include "benchmarks/energy/waits.hpp"

namespace ggas::bench {

namespace {

template <processor_wait Way>
fault wait_of_processor(gpu_session& s, work_meter& m) {
  s.say("wait of the processor");
  wait_load(Way, m);
  return {};
}

struct load {
  const char* variant;
  fault (*run)(gpu_session& s, work_meter& m);
  work_metric work;
  bool quick;            // measured in a quick run too
  bool alone;            // makes sense on one GPU
  int64_t elements = 0;  // floats of a call; 0: says nothing
};

constexpr work_metric per_call{"energy_per_call", "J"}, flops{"flops_per_joule", "1/J"}, none{};
const load loads[] = {
    {"random_access", random_access_load, {"energy_per_update", "J"}, true, false},
    {"global_reduction", global_reduction_load, {"energy_per_reduction", "J"}, true, true},
    {"himeno", himeno_load, flops, true, true},
    {"himeno_host", himeno_host_load, flops, false, true},
    {"himeno_stream", himeno_stream_load, flops, false, true},
    {"himeno_device", himeno_device_load, flops, false, true},
    {"put", put_load, {"energy_per_byte", "J"}, true, false},
    {"barrier", barrier_load, per_call, false, true},
    {"alltoall", alltoall_load, per_call, false, false, 1 << 10},
    {"allreduce", allreduce_load, per_call, true, true, 1 << 10},
    {"wait_spin", wait_spin_load, none, true, true},
    {"wait_back_off", wait_back_off_load, none, true, true},
    {"workers_spin", workers_spin_load, none, true, true},
    {"workers_back_off", workers_back_off_load, none, true, true},
    {"processor_poll", wait_of_processor<processor_wait::poll>, none, true, true},
    {"processor_back_off", wait_of_processor<processor_wait::back_off>, none, true, true},
    {"processor_sleep", wait_of_processor<processor_wait::sleep>, none, true, true},
};

int64_t elements_of(const std::string& variant) {
  for (const load& l : loads)
    if (variant == l.variant) return l.elements;
  return 0;
}

void emit(gpu_session& s, const std::string& variant, const energy_figure& f, bool after) {
  std::vector<param> params{{"method", f.group}};
  if (const int64_t elements = elements_of(variant)) params.emplace_back("elements", elements);
  if (f.integrated) params.emplace_back("sensor", "integrated power");
  if (after) params.emplace_back("when", "after");
  s.emit({.variant = variant, .params = params, .metric = f.metric, .unit = f.unit, .samples = f.samples});
}

std::vector<nvml::gpu> gpus_of(const gpu_session& s, const nvml& library) {
  std::vector<nvml::gpu> all;
  for (int node = 0; node < s.nodes(); ++node) {
    char address[32] = {};
    const bool known = cudaDeviceGetPCIBusId(address, sizeof address, node) == cudaSuccess;
    all.push_back(known ? library.find(address) : nullptr);
  }
  return all;
}

bool wanted(const gpu_session& s, const load& l) {
  const auto& chosen = s.opts().loads;
  if (!chosen.empty()) return std::ranges::find(chosen, l.variant) != chosen.end();
  return (l.alone || s.nodes() > 1) && (l.quick || !s.opts().quick);
}

// A load that was asked for and needs a peer.
bool lacks_peer(gpu_session& s, const load& l) {
  if (l.alone || s.nodes() > 1) return false;
  s.note(std::string(l.variant) + ": left out, needs at least 2 GPUs");
  return true;
}

fault run_all(gpu_session& s, energy_run& run) {
  fault wrong;
  if (!energy_run::warm_up([&](work_meter& m) { return !(wrong = wait_spin_load(s, m)); })) return wrong;
  run.idle_before();
  for (const load& l : loads) {
    if (!wanted(s, l) || lacks_peer(s, l)) continue;
    run.measure(l.variant, l.work, [&](work_meter& m) { return !(wrong = l.run(s, m)); });
    if (wrong) return wrong;
  }
  run.idle_after();
  return {};
}

}  // namespace

fault run_energy(gpu_session& s) {
  const nvml library;
  energy_run run({find_gpu_sensors(library, gpus_of(s, library)), find_processors()},
                 {.windows = s.opts().quick ? 3 : 5},
                 {.emit = [&](const std::string& v, const energy_figure& f, bool after) { emit(s, v, f, after); },
                  .note = [&](std::string line) { s.note(std::move(line)); }});
  const fault wrong = run_all(s, run);
  if (s.opts().on_power) s.opts().on_power(run.power_csv());
  return wrong;
}

}  // namespace ggas::bench
