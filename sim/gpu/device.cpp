// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu/device.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/gpu/gpu.hpp"

namespace ggas::gpu {

namespace {

// By the order of static initialisation, which is anyone's.
const model*& first_model() {
  static const model* first = nullptr;
  return first;
}

std::unique_ptr<device> make_gpu(const gpu_config& cfg, const surroundings& s) {
  auto g = std::make_unique<gpu>(fmt::format("node{}_gpu", s.node).c_str(), cfg, s.bus_id, s.port);
  attach(g->host, s);
  attach(g->addresses, s);
  g->packets(s.mps, s.mrrs);
  g->on_idle = s.on_idle;
  g->context = s.context;
  return g;
}

}  // namespace

model::model(const char* its_name, maker its_make)
    : name(its_name), make(its_make), next(std::exchange(first_model(), this)) {}

std::expected<maker, std::string> find_model(std::string_view name) {
  if (name == "simt") return make_gpu;
  std::string names = "'simt'";
  for (const model* m = first_model(); m; m = m->next) {
    if (name == m->name) return m->make;
    names += fmt::format(", '{}'", m->name);
  }
  return std::unexpected(fmt::format("gpu.model '{}': this program has {}", name, names));
}

}  // namespace ggas::gpu
