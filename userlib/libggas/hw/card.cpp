// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/hw/card.hpp"

#include <cstdio>

namespace ggas::library::hw {

std::string card::text() const {
  char t[160];
  std::snprintf(t, sizeof t, "%llx %llx %llx %x %x %x %x", (unsigned long long)ident, (unsigned long long)states,
                (unsigned long long)control, messages.node, messages.vpid, doorbell.node, doorbell.vpid);
  return t;
}

bool card::read(const std::string& text, card& c) {
  unsigned long long i, l, k;
  unsigned n1, v1, n2, v2;
  char more;
  if (std::sscanf(text.c_str(), "%llx %llx %llx %x %x %x %x%c", &i, &l, &k, &n1, &v1, &n2, &v2, &more) != 7)
    return false;
  if (i == 0 || n1 > UINT16_MAX || n2 > UINT16_MAX || v1 > UINT8_MAX || v2 > UINT8_MAX) return false;
  c = {i, l, k, {uint16_t(n1), uint8_t(v1)}, {uint16_t(n2), uint8_t(v2)}};
  return true;
}

}  // namespace ggas::library::hw
