// SPDX-License-Identifier: Apache-2.0
// The host of one NIC: root complex and memory. It makes requests under PCIe ordering, checks every completion against
// the rules, and answers the NIC's reads late, cut and out of order, or with errors. Writes become visible late, too.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "sim/nic/nic_core.hpp"
#include "tests/rtl/harness/failures.hpp"
#include "tests/rtl/harness/memory.hpp"
#include "tests/rtl/harness/rng.hpp"

namespace ggas::test {

enum class read_fate : uint8_t { answer, ur, ca, poison, silent };

struct host_behaviour {
  unsigned rcb = 64;                                 // 64 or 128: where answers may be cut
  double cut = 0.3;                                  // chance to cut at each such border
  unsigned write_delay = 12;                         // most cycles until a write (or the sampling of a read) is done
  unsigned read_delay_min = 4, read_delay_max = 60;  // from sampling to each completion
  double stall = 0.02;                               // chance per cycle and stream that it begins to refuse
  unsigned stall_max = 40;
  bool hold = false;                      // takes nothing
  unsigned max_reads = 40;                // our own outstanding requests
  unsigned max_posted_pending = 2;        // our own posted requests on their way into the NIC
  bool completions_behind_posted = true;  // PCIe order; the deadlock test depends on it
  bool posted_first = false;              // take reads and completions only while no store of ours waits
  // A second device, farther away: accesses to these addresses are done later, in order among themselves.
  uint64_t far_base = 0, far_bytes = 0;
  unsigned far_delay = 0;
};

struct read_result {
  pcie::tlp request;
  pcie::cpl_status status = pcie::cpl_status::sc;
  std::vector<uint32_t> dws;
  bool ok() const { return status == pcie::cpl_status::sc; }
  // What a user reads where nothing can be read.
  bool ones() const { return ok() && !dws.empty() && std::ranges::count(dws, ~0u) == std::ssize(dws); }
  uint64_t value() const { return dws.empty() ? 0 : dws[0] | (dws.size() > 1 ? uint64_t{dws[1]} << 32 : 0); }
};

class host_model {
 public:
  host_model(nic::nic_core& nic, const nic::host_config& cfg, const host_behaviour& how, uint64_t seed, failures& f);

  host_behaviour behaviour;
  memory mem;
  std::function<read_fate(const pcie::tlp&)> fate;                             // of a read by the NIC; default: answer
  std::function<void(const pcie::tlp&)> on_push, on_pop;                       // every TLP, at the boundary
  std::function<void(const pcie::tlp& cpl, unsigned first_dw)> on_completion;  // a completion that kept the rules

  using done = std::function<void(const read_result&)>;
  void write(pcie::tlp t);            // any posted request
  void read(pcie::tlp t, done d);     // any non-posted one; the tag is given here
  void push_raw(const pcie::tlp& t);  // around every rule and queue of this host

  // Requests not yet handed to the NIC, and reads not yet answered.
  size_t queued() const { return posted_.size() + non_posted_.size(); }
  size_t outstanding() const { return reads_.size(); }
  bool idle() const {
    return queued() == 0 && reads_.empty() && inbound_.empty() && far_inbound_.empty() && answers_.empty();
  }
  void forget_reads() { reads_.clear(); }  // after a NIC was given up

  void before_step(uint64_t now);
  void after_step(uint64_t now);

  struct counts {
    uint64_t requests_in = 0, completions_in = 0;  // from the NIC
  };
  const counts& seen() const { return seen_; }

 private:
  struct queued_request {
    uint64_t seq;
    pcie::tlp t;
  };
  struct pending_read {
    pcie::tlp request;
    unsigned dw = 0;
    read_result result;
    done d;
  };
  struct inbound {
    uint64_t at;
    pcie::tlp t;
  };
  struct answer {
    uint64_t at, order, posted_before;
    pcie::tlp t;
    uint64_t chain;  // completions of one read stay in order
  };
  void push(const pcie::tlp& t);
  void push_requests();
  void push_answers(uint64_t now);
  void choose_gates();
  void arrive(const pcie::tlp& t, uint64_t now);
  void completion(const pcie::tlp& t);
  void check_request(const pcie::tlp& t);
  void work_inbound(std::deque<inbound>& queue, uint64_t now);
  void answer_read(const pcie::tlp& t, uint64_t now);
  uint16_t free_tag();

  nic::nic_core& nic_;
  nic::host_config cfg_;
  rng rng_;
  failures& fail_;
  uint64_t seq_ = 0, posted_pushed_ = 0, chains_ = 0;
  std::deque<queued_request> posted_, non_posted_;
  std::vector<done> non_posted_done_;
  std::map<uint64_t, done> callbacks_;  // by seq of the queued request
  std::map<uint16_t, pending_read> reads_;
  std::deque<inbound> inbound_, far_inbound_;
  std::deque<answer> answers_;
  std::array<unsigned, 3> stall_{};
  counts seen_;
};

// Requests for DWs; byte enables full unless given.
pcie::tlp make_write(uint8_t bar, uint64_t addr, std::vector<uint32_t> dws, uint8_t first_be = 0xf,
                     uint8_t last_be = 0xf);
pcie::tlp make_read(uint8_t bar, uint64_t addr, unsigned dws, uint8_t first_be = 0xf, uint8_t last_be = 0xf);

}  // namespace ggas::test
