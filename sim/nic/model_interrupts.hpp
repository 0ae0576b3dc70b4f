// SPDX-License-Identifier: Apache-2.0
// Events of the NIC's model in the event ring of host memory, and MSI-X messages (docs/interrupts.md). Not in it: arms
// of contexts with the ring of fired ones, moderation, shares of the ring (EVQ_LIMIT).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/nic/reference_model.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

class model_interrupts {
 public:
  using read_register = std::function<uint64_t(uint16_t offset)>;
  model_interrupts(read_register read, uint16_t bus_id) : read_(std::move(read)), bus_id_(bus_id) {}

  // Writes to the host that `e` causes, in order.
  std::vector<pcie::tlp> raise(const event& e);
  // A register was written: messages that may leave now.
  std::vector<pcie::tlp> registers_written();

  uint32_t head() const { return head_; }        // EVQ_HEAD
  uint16_t pending() const { return pending_; }  // MSIX_PBA

 private:
  bool enabled() const;
  void record(const event& e, std::vector<pcie::tlp>& out);
  void message(unsigned vector, std::vector<pcie::tlp>& out);
  pcie::tlp write(uint64_t addr, std::vector<uint32_t> dws) const;

  read_register read_;
  uint16_t bus_id_;
  bool was_enabled_ = false;
  uint32_t head_ = 0;
  uint64_t dropped_ = 0;
  uint16_t pending_ = 0;
};

}  // namespace ggas::nic
