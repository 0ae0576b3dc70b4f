// SPDX-License-Identifier: Apache-2.0
// Memory of the heap for flags of kernels: zero when it is handed out, and again after each reset of the cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ggas/heap.hpp"

namespace ggas {
class cluster;
namespace userlib {

struct zeroed_place {
  uint64_t offset;
  std::shared_ptr<void> kept;  // as long as the place is used
};

// Empty after an error: `why` begins with `call`.
std::optional<zeroed_place> allocate_zeroed(cluster& c, heap& memory, uint64_t bytes, const std::string& call,
                                            std::string& why);

}  // namespace userlib
}  // namespace ggas
