// SPDX-License-Identifier: Apache-2.0
// A requester and a target for tests of the PCIe models.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/pcie/packet.hpp"
#include "sim/pcie/port.hpp"
#include "sim/pcie/root_complex.hpp"

namespace ggas::test {

struct received {
  uint64_t at_ps;
  pcie::tlp packet;
};

// Keeps everything it gets; may refuse.
struct device {
  explicit device(const char* name, const pcie::port_config& cfg = {}) : port(name, cfg) {
    port.on_receive = [this](pcie::tlp& t) {
      if (accept && !accept(t)) return false;
      got.push_back({pcie::now_ps(), std::move(t)});
      return true;
    };
  }
  pcie::port port;
  std::function<bool(const pcie::tlp&)> accept;
  std::vector<received> got;
};

inline pcie::tlp write_of(uint64_t addr, unsigned bytes, uint16_t id = 0) {
  const std::vector<std::byte> data(bytes, std::byte{0x5a});
  return pcie::memory_write(addr, data, id);
}

inline void run_idle(sim::kernel& k, uint64_t ps = 1'000'000'000) {
  k.run_until([] { return false; }, ps);
}

}  // namespace ggas::test
