// SPDX-License-Identifier: Apache-2.0
// The reference model at the pins of nic_core: no cycles, no link protocol. With it in the rig the model is tested end
// to end, and so is the rig itself.
#pragma once

#include <memory>

#include "sim/nic/nic_core.hpp"

namespace ggas::test {

std::unique_ptr<nic::nic_core> make_model_core(unsigned data_width, const nic::host_config& cfg);

}  // namespace ggas::test
