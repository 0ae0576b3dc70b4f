// SPDX-License-Identifier: Apache-2.0
// Runs the reference model in parallel with one NIC: gives it the same inputs and compares the outputs. The model runs
// ahead (it has no time), so every output of the NIC must already be expected. Compared in order: stores on the link,
// loads on the link, writes into the host per source node, reads of the host per source node, answers per tag,
// completions per tag. Across classes: no load or read passes an earlier store or write of its flow. The exports that a
// quiet flushes depend on time; the scoreboard checks only the guarantee: when the NIC answers without error, every
// store of the asking node is covered by a completed flush of its export.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "sim/nic/reference/reference_model.hpp"
#include "tests/rtl/harness/failures.hpp"

namespace ggas::test {

class scoreboard {
 public:
  scoreboard(unsigned width, nic::host_config cfg, failures& f);

  nic::reference_model& model() { return model_; }
  bool enabled = true;
  // One-sided traffic runs next to: what belongs to it is left to other checks.
  bool one_sided = false;
  // Writes by the NIC that are no stores: event ring, MSI-X.
  std::function<bool(uint64_t addr)> own_write;

  void host_push(const pcie::tlp& t);                     // into the NIC
  void host_pop(const pcie::tlp& t);                      // out of it
  void host_completion(const pcie::tlp& t, unsigned dw);  // out of it, rules checked
  void link_out(const nic::packet& p);                    // first transmission of a packet by this NIC
  void link_in(const nic::packet& p);                     // the same of its peer

  // Everything expected has come, and the counters of `read` agree.
  void check_finished(const std::function<uint64_t(uint16_t)>& read);
  bool quiet() const;
  struct counts {
    uint64_t packets_out = 0, quiets = 0;
  };
  const counts& seen() const { return seen_; }

 private:
  struct dword {
    uint64_t addr;
    uint8_t be;
    uint32_t data;
  };
  struct flow {  // writes and reads on behalf of one source
    std::deque<dword> writes;
    uint64_t writes_expected = 0, writes_seen = 0;
    std::deque<uint64_t> reads;                           // keys of expected_read, not yet wholly issued
    std::deque<std::pair<uint64_t, uint64_t>> unflushed;  // address and number (from 1) of writes seen
    std::deque<uint64_t> quiets;                          // under way: writes expected in front of each
  };
  struct flush {
    uint64_t base, size;                        // of the export
    std::map<uint16_t, uint64_t> after_writes;  // seen, by flow
  };
  struct host_quiet {
    uint64_t stores;      // in front of it, to other nodes
    uint64_t own_writes;  // to the own node
  };
  struct expected_read {
    pcie::tlp request;
    uint64_t after_writes;
    unsigned issued = 0, received = 0;
    std::vector<uint32_t> data;
  };
  struct part {  // a read the NIC made
    uint64_t read;
    unsigned dw, left;
  };
  struct expected_load {
    nic::packet p;
    uint64_t after_stores;
  };
  struct expected_answer {
    std::vector<uint32_t> data;
    pcie::cpl_status status = pcie::cpl_status::sc;
    unsigned used = 0;
  };
  bool not_mine(const pcie::tlp& t) const;
  uint16_t own_node() const { return uint16_t(model_.counter(GGAS_REG_NODE)); }
  void drain();
  void expect_request(const nic::target_request& r);
  void write_out(const pcie::tlp& t);
  void read_out(const pcie::tlp& t);
  bool bind_read(const pcie::tlp& t, flow& f);
  void flush_out(const pcie::tlp& t);
  bool flushed(const pcie::tlp& t);
  void check_visible(uint16_t source, uint64_t writes);
  std::optional<nic::reference_model::exported> export_at(uint64_t bus) const;
  void completion_in(const pcie::tlp& t);
  void store_out(const nic::packet& p);
  void load_out(const nic::packet& p);
  void answer_out(const nic::packet& p);

  failures& fail_;
  nic::reference_model model_;
  std::map<uint16_t, flow> flows_;
  std::map<uint64_t, expected_read> reads_;
  uint64_t next_read_ = 1;
  std::map<uint16_t, part> parts_;     // by host tag of the NIC
  std::map<uint16_t, flush> flushes_;  // likewise
  std::deque<nic::packet> stores_;
  uint64_t stores_expected_ = 0, stores_seen_ = 0;
  std::deque<expected_load> loads_;
  std::map<std::pair<uint16_t, uint16_t>, std::deque<nic::packet>> answers_;  // by destination and tag
  std::map<uint16_t, uint16_t> net_tags_;                                     // ours -> the model's
  std::set<uint16_t> quiet_tags_;                                             // network tags of our quiets
  std::map<uint16_t, expected_answer> completions_;                           // by host tag
  std::map<uint16_t, host_quiet> host_quiets_;                                // by host tag
  std::map<uint16_t, uint16_t> volatile_reads_;                               // host tag -> register
  counts seen_;
};

}  // namespace ggas::test
