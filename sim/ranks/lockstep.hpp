// SPDX-License-Identifier: Apache-2.0
// Conservative synchronisation: all ranks advance together from one window of time to the next. A window is as long as
// the flight of a flit to another node, so a flit that is sent in it arrives after it; flits between ranks are
// exchanged at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/fabric/wire.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/ranks/ranks.hpp"

namespace ggas::sim {

class lockstep {
 public:
  using link_finder = std::function<fabric::flit_sink*(unsigned node, unsigned port)>;
  struct config {
    link_finder find;                        // the end of a link of this rank's nodes; nullptr: another's
    std::function<uint64_t()> next_send_ps;  // no flit leaves this rank before, if none arrives
    uint64_t flight_ps;                      // the shortest time from sending to arrival
  };
  lockstep(ranks& all, kernel& k, config cfg);
  ~lockstep();

  // The end of a link of another rank's node, for the wire that leads there.
  fabric::flit_sink& remote(unsigned node, unsigned port);

  // Like kernel::run_until, but for all ranks: runs until done() is true on each. Returns true if that happened; then
  // all stop at the time at which the last done() became true. If broken() is true on a rank that is done, the others
  // run only to the end of the window.
  bool run_until(const std::function<bool()>& done, const std::function<bool()>& broken, uint64_t timeout_ps);

 private:
  struct far_end;
  struct meeting {
    bool all_done = true, any_broken = false;
    uint64_t first = 0, last = 0;       // times at which ranks stand
    uint64_t next_send = ~uint64_t{0};  // of any rank
  };
  meeting meet(bool done, bool broken);
  void advance(uint64_t to_ps);

  ranks& ranks_;
  kernel& kernel_;
  config cfg_;
  std::vector<std::unique_ptr<far_end>> ends_;
  std::string outbox_;  // for the next barrier
};

}  // namespace ggas::sim
