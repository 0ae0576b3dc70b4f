// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/sampler.hpp"

#include <fmt/format.h>

#include <utility>

namespace ggas::bench {

namespace {
// Counters of GPUs move every 20 to 100 ms, those of processors every ms; a reading of a GPU's takes some ms.
constexpr auto period = std::chrono::milliseconds(20);
}  // namespace

sampler::sampler(std::vector<sensor> sensors) : sensors_(std::move(sensors)) {
  for (const sensor& s : sensors_) logs_.emplace_back(s.range_j);
  read();
  thread_ = std::thread([this] { run(); });
}

sampler::~sampler() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void sampler::run() {
  std::unique_lock lock(mutex_);
  auto next = clock::now();
  while (!ending_) {
    next = std::max(next + period, clock::now());
    if (!end_.wait_until(lock, next, [this] { return ending_; })) read();
  }
}

void sampler::read() {
  sample s{0, activity_, {}};
  for (size_t i = 0; i < sensors_.size(); ++i) {
    const sensor& from = sensors_[i];
    const auto energy = from.energy_j ? from.energy_j() : std::nullopt;
    const auto power = from.power_w ? from.power_w() : std::nullopt;
    read_at_s_ = std::chrono::duration<double>(clock::now() - begin_).count();
    logs_[i].add(read_at_s_, energy, power);
    s.watts.push_back(logs_[i].watts());
  }
  s.at_s = read_at_s_ = std::chrono::duration<double>(clock::now() - begin_).count();
  samples_.push_back(std::move(s));
}

sampler::moment sampler::now() {
  const std::lock_guard lock(mutex_);
  read();
  moment m{read_at_s_, {}};
  for (const sensor_log& log : logs_) m.of.push_back(log.now());
  return m;
}

std::vector<spent_energy> sampler::between(const moment& from, const moment& to) {
  std::vector<spent_energy> all;
  for (size_t i = 0; i < from.of.size(); ++i) all.push_back(sensor_log::between(from.of[i], to.of[i]));
  return all;
}

std::vector<sampler::sample> sampler::samples() {
  const std::lock_guard lock(mutex_);
  return samples_;
}

void sampler::activity(std::string what) {
  const std::lock_guard lock(mutex_);
  activity_ = std::move(what);
}

std::string power_csv(const std::vector<sensor>& sensors, const std::vector<sampler::sample>& samples) {
  std::string out = "time_s,activity";
  for (const sensor& s : sensors) out += "," + s.part;
  for (const sampler::sample& s : samples) {
    out += fmt::format("\n{:.6f},{}", s.at_s, s.activity);
    for (const auto& w : s.watts) out += w ? fmt::format(",{:.3f}", *w) : ",";
  }
  return out + "\n";
}

}  // namespace ggas::bench
