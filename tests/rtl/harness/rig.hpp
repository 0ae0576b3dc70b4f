// SPDX-License-Identifier: Apache-2.0
// Two NICs with a link between them, a host and a scoreboard each. Tests act on a NIC only through TLPs and flits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "tests/rtl/harness/link_channel.hpp"
#include "tests/rtl/harness/machine.hpp"
#include "tests/rtl/harness/scoreboard.hpp"

namespace ggas::test {

struct rig_config {
  unsigned width = 64;
  nic::host_config host{.mps = 256, .mrrs = 512, .bus_id = 0x0100};
  host_behaviour behaviour = {};
  unsigned link_latency = 20;
  double phy_stall = 0;  // chance per cycle that the PHY does not take a flit
  bool gated = false;    // stop a NIC's clock whenever it allows
  bool mask_mode = false;
  uint64_t start_time = 0;  // first value of time_i
  std::array<uint16_t, 2> id{0, 1};
  uint64_t stride = 1 << 20;  // window bytes per node, also the size of each segment
  std::array<uint64_t, 2> segment{0x4000'0000, 0x1'2000'0000};
  unsigned load_ticks = 1000, host_ticks = 500;
  unsigned replay_limit = 32, replay_timeout = 2048;
  uint64_t seed = 1;
  bool model = false;  // the reference model in place of the RTL
};

struct side {
  std::unique_ptr<nic::nic_core> nic;
  std::unique_ptr<host_model> host;
  std::unique_ptr<scoreboard> board;
  std::unique_ptr<link_channel> out;  // towards the other side
  std::unique_ptr<nic::flit_decoder> monitor;
  uint8_t next_seq = 0;
  bool sequence_known = false;
  bool stepped = false;  // in this cycle
};

class rig : public machine {
 public:
  explicit rig(const rig_config& cfg);

  rig_config cfg;
  std::array<side, 2> s;

  unsigned nodes() const override { return 2; }
  host_model& host(unsigned n) override { return *s[n].host; }
  void step() override;
  // Both hosts have no work left and nothing is under way.
  bool settle(uint64_t limit = 400'000);

  // Programs both NICs and waits until the link is up.
  bool set_up();
  bool wait_link_up(uint64_t limit = 20'000);
  void check_finished();

  // Window offset of byte `offset` of node `n`'s segment.
  uint64_t window(unsigned n, uint64_t offset) const { return cfg.id[n] * cfg.stride + offset; }
  // Its bus address there.
  uint64_t bus(unsigned n, uint64_t offset) const { return cfg.segment[n] + offset; }

  // ---- observation
  std::function<void()> on_step;                                     // after every step: software next to the test
  std::function<void(unsigned from, const nic::flit&)> on_flit;      // sent by a NIC
  std::function<void(unsigned from, const nic::packet&)> on_packet;  // first transmissions
  std::function<void(unsigned at, const pcie::tlp&)> on_tlp_out;     // by the NIC of a side
  void link_phy_up(bool up);
  // Retrains whatever died until both links are up.
  bool retrain(unsigned limit = 20);
  void scoreboards(bool on) {
    for (auto& x : s) x.board->enabled = on;
  }
  std::string report() const;

  // The event ring: records written so far by the NIC of side n.
  std::vector<nic::event> event_log(unsigned n);

  // Each side exports its segment under this number, for the domain of the windows. Below are the bits of
  // INTERVAL[].TARGET or SMFU_SHIFT for this export.
  static constexpr uint8_t segment_export = 3;
  static constexpr uint16_t window_domain = 0x5e60;
  static constexpr uint64_t to_segment = GGAS_INTERVAL_TARGET_VALID_MASK |
                                         uint64_t{segment_export} << GGAS_INTERVAL_TARGET_EXPORT_NO_SHIFT |
                                         uint64_t{window_domain} << GGAS_INTERVAL_TARGET_DOMAIN_SHIFT;

  // Event ring and MSI-X: written by a NIC, but not stored by anyone.
  static bool own_page(uint64_t addr) { return addr >= event_ring && addr < msix_page + 4096; }
  static constexpr uint64_t event_ring = 0xfee0'0000'0000'0000, msix_page = 0xfee0'0000'0001'0000;

 private:
  void step_side(unsigned n);
  void monitor(unsigned n, const nic::flit& f);
  rng rng_;
};

}  // namespace ggas::test
