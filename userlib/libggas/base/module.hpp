// SPDX-License-Identifier: Apache-2.0
// Modules: shared objects next to libggas.so, or where the system searches for libraries, loaded when they are first
// needed. They stay loaded, because threads of their libraries may outlive any use of them.
#pragma once

#include <string>

namespace ggas::library {

// Symbol `maker` of libggas-<kind>-<name>.so; null with a text: there is none.
void* from_module(const std::string& kind, const std::string& name, const char* maker, std::string& why);

}  // namespace ggas::library
