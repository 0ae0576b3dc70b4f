// SPDX-License-Identifier: Apache-2.0
// What happens to a network while users work: faults, and what software does to its configuration.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tests/rtl/pairs/feature.hpp"

namespace ggas::test {

enum class disturbance : unsigned {
  dead_branch,  // a cable is out for a while
  flap,         // for less than software needs to notice
  retrain,      // LINK_CTRL is written to links that are up
  routes,       // LINK_PEER.valid, second choices and groups come and go
  stop,         // of what the traffic needs, and its start
  reset,        // STOP.nic, and everything again
  flr,          // function-level reset
  revoke,       // an export is taken back and given out again
  invalidate,   // the same of translations
  sizes,        // MPS and MRRS change
  stall,        // a host takes nothing; NICs after it are cut off
  malformed     // packets of a hostile peer, any field of any header at random
};
inline constexpr unsigned disturbances = 12;
const char* to_text(disturbance f);

// One feature, used by two domains, and one kind of disturbance.
class pair_run {
 public:
  pair_run(kind k, disturbance f, uint64_t seed);
  bool set_up();
  void round();  // some traffic, the disturbance, its end, and traffic that must come through
  void check_finished();
  uint64_t events() const { return events_; }  // faults, changes, forged packets
  uint64_t operations() const { return feature_->done(); }
  world w;

 private:
  using pair = std::pair<unsigned, unsigned>;
  static constexpr std::array<pair, 3> cables{pair{0, 1}, pair{1, 2}, pair{2, 0}};
  void traffic(uint64_t cycles) { w.t.run(cycles); }
  void happen();
  void cut(uint64_t least, uint64_t most);
  void unplug(unsigned cable, uint64_t cycles);
  void write_link_ctrl();
  void change_routes();
  void stop_nic(unsigned n);
  void reset_function(unsigned n);
  void set_up_again(unsigned n);
  void revoke(unsigned n, unsigned d);
  void invalidate(unsigned n, unsigned d);
  void change_sizes(unsigned n);
  void stall(unsigned n);
  void forge(nic::packet& p);
  void be_hostile();
  bool loses_packets() const;
  void check_healthy();
  void recover();
  void expect_alive();

  kind kind_;
  disturbance disturbance_;
  std::unique_ptr<feature> feature_;
  std::vector<std::unique_ptr<feature>> intruders_;  // of the hostile domain, at the hostile node
  bool working_ = false;
  std::array<bool, 3> may_die_{};  // cables, in this round
  uint64_t events_ = 0;
};

}  // namespace ggas::test
