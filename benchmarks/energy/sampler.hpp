// SPDX-License-Identifier: Apache-2.0
// Reads all sensors again and again in a thread of its own, and keeps power over time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/energy/sensor.hpp"

namespace ggas::bench {

class sampler {
 public:
  explicit sampler(std::vector<sensor> sensors);
  ~sampler();
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  const std::vector<sensor>& sensors() const { return sensors_; }

  // The state of every sensor, which is read for it.
  struct moment {
    double at_s;  // since the sampler was made
    std::vector<sensor_log::mark> of;
  };
  moment now();
  double elapsed(const moment& since) const {
    return std::chrono::duration<double>(clock::now() - begin_).count() - since.at_s;
  }
  // By sensor.
  static std::vector<spent_energy> between(const moment& from, const moment& to);

  // Watts of every part by time, with what the machine did then.
  struct sample {
    double at_s;
    std::string activity;
    std::vector<std::optional<double>> watts;
  };
  std::vector<sample> samples();
  // What the machine does from now on: the word of the samples that follow.
  void activity(std::string what);

 private:
  using clock = std::chrono::steady_clock;
  void read();  // holds the mutex
  void run();

  std::vector<sensor> sensors_;
  std::mutex mutex_;  // for all that follows
  std::condition_variable end_;
  bool ending_ = false;
  clock::time_point begin_ = clock::now();
  double read_at_s_ = 0;
  std::vector<sensor_log> logs_;
  std::vector<sample> samples_;
  std::string activity_;
  std::thread thread_;
};

// Power over time as CSV: time_s, activity, a column of watts for each part. A field is empty where a sensor gave no
// value.
std::string power_csv(const std::vector<sensor>& sensors, const std::vector<sampler::sample>& samples);

}  // namespace ggas::bench
