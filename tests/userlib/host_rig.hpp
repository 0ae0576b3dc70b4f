// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of host programs: clusters of every provider, the simulated one with the reference model as NIC.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ggas/cluster.hpp"
#ifdef GGAS_HAVE_SIM
#include "tests/sim/model_core.hpp"
#include "userlib/cluster/providers/sim/sim_cluster.hpp"
#endif

namespace ggas::test {

constexpr uint64_t us = 1000, ms = 1000 * us, second = 1000 * ms;

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::unique_ptr<cluster> make(const std::string& provider, cluster_config cfg = {}, bool rtl = false) {
  cfg.provider = provider;
  cfg.segment_bytes = 1 << 20;
  cfg.host_bytes = 1 << 20;
#ifdef GGAS_HAVE_SIM
  const auto model = [](unsigned width, const nic::host_config& h, const char*) {
    return std::make_unique<model_core>(width, h);
  };
  auto made = provider == "sim" && !rtl ? userlib::make_sim_cluster(cfg, model) : cluster::create(cfg);
#else
  auto made = cluster::create(cfg);
#endif
  EXPECT_TRUE(made) << made.error().text;
  return made ? std::move(*made) : nullptr;
}

inline std::vector<std::string> providers() {
#ifdef GGAS_HAVE_SIM
  return {"shm", "sim"};
#else
  return {"shm"};
#endif
}

}  // namespace ggas::test
