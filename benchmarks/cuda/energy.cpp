// SPDX-License-Identifier: Apache-2.0
// energy: what the counters of GPUs and processors say beside a load. The counters move in steps of up to 100 ms, so a
// window is no shorter than a second.
#include "benchmarks/cuda/energy.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "benchmarks/cuda/benchmarks.hpp"
#include "benchmarks/cuda/nvml.hpp"
#include "benchmarks/cuda/rapl.hpp"

namespace ggas::bench {

namespace {

using steady = std::chrono::steady_clock;

// Joules so far, of everything there is of a kind; nothing if one of them does not tell.
class energy_counters {
 public:
  explicit energy_counters(const gpu_session& s) {
    for (int node = 0; node < s.nodes(); ++node) {
      char address[32] = {};
      if (cudaDeviceGetPCIBusId(address, sizeof address, node) == cudaSuccess) gpus_.push_back(library_.find(address));
    }
  }
  std::optional<double> gpus_j() const {
    double sum = 0;
    for (const nvml::gpu g : gpus_) {
      const auto j = library_.energy_j(g);
      if (!j) return {};
      sum += *j;
    }
    return sum;
  }
  std::optional<double> processors_j() { return processors_.energy_j(); }
  std::string why_no_gpus() const {
    return library_.missing().empty() ? "these GPUs do not count their energy" : library_.missing();
  }
  std::string why_no_processors() const { return processors_.missing(); }

 private:
  nvml library_;
  std::vector<nvml::gpu> gpus_;
  rapl processors_;
};

struct window {
  double seconds, work;
  std::optional<double> gpus_j, processors_j;
};

constexpr int windows = 5;
constexpr double window_s = 1;

class meter : public work_meter {
 public:
  explicit meter(energy_counters& c) : counters_(c) {}

  bool more() override {
    if (!open_) {
      begin();  // the first job warms up
    } else if (elapsed() >= (warm_ ? window_s : 0)) {
      if (warm_) close();
      warm_ = true;
      begin();
    }
    return found.size() < windows;
  }
  void add(double work) override { now_.work += work; }

  std::vector<window> found;

 private:
  double elapsed() const { return std::chrono::duration<double>(steady::now() - begin_).count(); }
  void begin() {
    open_ = true;
    now_ = {0, 0, counters_.gpus_j(), counters_.processors_j()};
    begin_ = steady::now();
  }
  void close() {
    now_.seconds = elapsed();
    const auto since = [](const std::optional<double>& before, const std::optional<double>& after) {
      return before && after ? std::optional(*after - *before) : std::nullopt;
    };
    found.push_back({now_.seconds, now_.work, since(now_.gpus_j, counters_.gpus_j()),
                     since(now_.processors_j, counters_.processors_j())});
  }

  energy_counters& counters_;
  bool open_ = false, warm_ = false;
  window now_{};
  steady::time_point begin_;
};

fault idle(gpu_session& s, work_meter& m) {
  while (m.more()) {
    s.say("idle");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return {};
}

struct load {
  const char* variant;
  fault (*run)(gpu_session& s, work_meter& m);
  const char* metric;  // beside the power; nullptr: none
  const char* unit;    // "J": energy over work; else work over energy
  bool quick;          // measured in a quick run too
  int64_t elements;    // floats of a call; 0: says nothing
};

constexpr const char* per_call = "energy_per_call";
const load loads[] = {
    {"idle", idle, nullptr, "", true, 0},
    {"random_access", random_access_load, "energy_per_update", "J", true, 0},
    {"global_reduction", global_reduction_load, "energy_per_reduction", "J", true, 0},
    {"himeno", himeno_load, "flops_per_joule", "1/J", true, 0},
    {"put", put_load, "energy_per_byte", "J", true, 0},
    {"barrier", barrier_load, per_call, "J", false, 0},
    {"alltoall", alltoall_load, per_call, "J", false, 1 << 10},
    {"allreduce", allreduce_load, per_call, "J", true, 1 << 10},
};

// The samples of a metric over the windows, by GPUs or processors; nothing if a counter did not tell in all of them.
void emit(gpu_session& s, const load& l, const std::vector<window>& found, const char* method,
          std::optional<double> window::*energy) {
  if (!std::ranges::all_of(found, [&](const window& w) { return (w.*energy).has_value(); })) return;
  std::vector<double> power, share;
  for (const window& w : found) {
    const double j = *(w.*energy);
    power.push_back(j / w.seconds);
    if (l.metric) share.push_back(std::string(l.unit) == "J" ? j / w.work : w.work / j);
  }
  std::vector<param> params{{"method", method}};
  if (l.elements) params.emplace_back("elements", l.elements);
  s.emit({.variant = l.variant, .params = params, .metric = "power", .unit = "W", .samples = power});
  if (l.metric) s.emit({.variant = l.variant, .params = params, .metric = l.metric, .unit = l.unit, .samples = share});
}

fault measure(gpu_session& s, energy_counters& counters, const load& l) {
  meter m(counters);
  GGAS_GPU_TRY(l.run(s, m));
  emit(s, l, m.found, "gpus", &window::gpus_j);
  emit(s, l, m.found, "processors", &window::processors_j);
  return {};
}

}  // namespace

fault run_energy(gpu_session& s) {
  energy_counters counters(s);
  if (!counters.gpus_j()) s.note("energy of the GPUs n/a: " + counters.why_no_gpus());
  if (!counters.processors_j()) s.note("energy of the processors n/a: " + counters.why_no_processors());
  for (const load& l : loads)
    if (l.quick || !s.opts().quick) GGAS_GPU_TRY(measure(s, counters, l));
  return {};
}

}  // namespace ggas::bench
