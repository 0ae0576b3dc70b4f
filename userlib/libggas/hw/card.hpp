// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ggas/rma.h"

namespace ggas::library::hw {

// What a rank informs all others at the start.
struct card {
  uint64_t ident = 0, states = 0, control = 0;  // of the words of rank states, of control: network logical addresses
  ggas_rma_peer messages{}, doorbell{};         // contexts that take messages, that take notifications
  std::string text() const;
  static bool read(const std::string& text, card& c);
};

}  // namespace ggas::library::hw
