// SPDX-License-Identifier: Apache-2.0
// A method process of the module under construction, run whenever the event fires.
#pragma once

#include <functional>
#include <systemc>

namespace ggas::pcie {

void spawn_method(const char* name, sc_core::sc_event& on, std::function<void()> body);

}  // namespace ggas::pcie
