// SPDX-License-Identifier: Apache-2.0
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "sim/pcie/process.hpp"

#include <utility>

namespace ggas::pcie {

void spawn_method(const char* name, sc_core::sc_event& on, std::function<void()> body) {
  sc_core::sc_spawn_options o;
  o.spawn_method();
  o.dont_initialize();
  o.set_sensitivity(&on);
  sc_core::sc_spawn(std::move(body), name, &o);
}

}  // namespace ggas::pcie
