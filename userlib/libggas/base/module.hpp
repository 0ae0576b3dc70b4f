// SPDX-License-Identifier: Apache-2.0
// Modules: shared objects that lie next to libggas.so, or where the system looks for libraries, and are loaded when
// something of them is asked for. They stay loaded: threads of what they link may outlive any use of them.
#pragma once

#include <string>

namespace ggas::library {

// Symbol `maker` of libggas-<kind>-<name>.so; null with a text: there is none.
void* from_module(const std::string& kind, const std::string& name, const char* maker, std::string& why);

}  // namespace ggas::library
