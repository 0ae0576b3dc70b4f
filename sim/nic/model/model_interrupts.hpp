// SPDX-License-Identifier: Apache-2.0
// Events of the NIC's model in the event ring of host memory, fired contexts in their ring, and MSI-X messages
// (docs/interrupts.md). Actions that take the RTL some cycles are done at once here; only moderation and shares of the
// event ring depend on time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/reference/reference_model.hpp"
#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

class model_interrupts {
 public:
  using read_register = std::function<uint64_t(uint16_t offset)>;
  using count_event = std::function<void(uint8_t code)>;
  model_interrupts(read_register read, count_event count, uint16_t bus_id)
      : read_(std::move(read)), count_(std::move(count)), bus_id_(bus_id) {}

  // Each returns the writes to the host that leave now, in order. `cycle`: core time.
  std::vector<pcie::tlp> raise(const event& e, uint64_t cycle);
  std::vector<pcie::tlp> fire(const fired& f, uint64_t cycle);
  std::vector<pcie::tlp> registers_written(uint64_t cycle);
  std::vector<pcie::tlp> tick(uint64_t cycle);
  bool waits() const;  // for a tick

  uint32_t head() const { return head_; }              // EVQ_HEAD
  uint32_t fired_head() const { return fired_head_; }  // FIRED_HEAD
  uint16_t pending() const;                            // MSIX_PBA

 private:
  struct vector_state {
    bool pending = false;
    bool held = false;  // since a message, until its moderation ends
    uint64_t sent_at = 0, raises = 0;
  };
  struct context_state {
    bool listed = false;  // has an entry that software has not read
    bool again = false;   // fired since
    uint8_t vector = 0;
  };
  using writes = std::vector<pcie::tlp>;
  bool on(uint16_t ctrl, uint64_t enable) const;
  void start_rings();
  bool within_share(const event& e, uint64_t cycle);
  void record(const event& e, uint64_t cycle, writes& out);
  void enter(uint8_t vpid, uint8_t vector, uint64_t cycle, writes& out);
  void take_back_entries(uint64_t cycle, writes& out);
  void raise_vector(unsigned vector, uint64_t cycle, writes& out);
  void send_if_able(unsigned vector, uint64_t cycle, writes& out);
  pcie::tlp write(uint64_t addr, std::vector<uint32_t> dws) const;

  read_register read_;
  count_event count_;
  uint16_t bus_id_;
  bool events_on_ = false, fired_on_ = false;
  uint32_t head_ = 0, fired_head_ = 0, fired_read_ = 0;
  uint64_t dropped_ = 0;
  std::map<unsigned, std::pair<uint64_t, unsigned>> shares_;  // period, records in it
  std::array<context_state, rma_contexts> contexts_;
  std::array<uint8_t, rma_contexts> ring_{};  // contexts, by entry
  std::array<vector_state, GGAS_MSIX_NUM> vectors_;
};

}  // namespace ggas::nic
