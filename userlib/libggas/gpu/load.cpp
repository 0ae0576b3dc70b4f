// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/base/module.hpp"
#include "userlib/libggas/gpu/device.hpp"

namespace ggas::library::gpu {

device* load(const std::string& module, int number, int rank, std::string& why) {
  const auto make = reinterpret_cast<maker>(from_module("gpu", module, maker_name, why));
  return make ? make(number, rank, why) : nullptr;
}

}  // namespace ggas::library::gpu
