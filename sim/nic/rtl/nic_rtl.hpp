// SPDX-License-Identifier: Apache-2.0
// The Verilated NICs: each is a shared object, loaded when the first NIC of its width and number of links is made.
#pragma once

#include <string>

#include "sim/nic/nic_core.hpp"

namespace ggas::nic {

// data_width is 64, 256 or 512 with one link, 64 or 512 with up to six. The NIC has at least cfg.links.
made_nic make_nic_rtl(unsigned data_width, const host_config& cfg, const char* name);
// Module of that NIC, which is also its target of the build; empty: there is no such NIC.
std::string nic_module(unsigned data_width, unsigned links);

}  // namespace ggas::nic
