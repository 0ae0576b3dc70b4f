// SPDX-License-Identifier: Apache-2.0
// Serves the NICs of a rig to virtual machines: a socket for each, one thread, one simulation for all.
//
// Time. While the next event is near, the simulation runs as fast as it can, so simulated time advances by work. When
// the NICs only wait (for a time-out, or for nothing), it follows the wall clock, so a time-out of 8 ms takes 8 ms.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/vfio_user/device.hpp"
#include "sim/vfio_user/rig.hpp"
#include "sim/vfio_user/tlp_log.hpp"

namespace ggas::device {

struct server_config {
  rig_config rig;
  std::vector<std::filesystem::path> sockets;  // one for each node
  std::filesystem::path log;                   // of TLPs; empty: none
  std::string log_header;                      // first line of the log
};

struct server_stats {
  uint64_t cycles = 0;      // clock edges of all NICs
  double simulating_s = 0;  // processor time inside the simulation
  uint64_t strays = 0, expired = 0, interrupts = 0;
};

class server {
 public:
  // Sockets accept clients when this returns. The error names the input and the rule it broke.
  static std::expected<std::unique_ptr<server>, std::string> create(server_config cfg);
  ~server();

  // Runs until `stop()` or SIGINT or SIGTERM; SIGUSR1 unplugs the cable between the NICs, or plugs it in again. The
  // caller has blocked the signals. The error: the log is incomplete, or the system refuses to wait.
  std::expected<void, std::string> run();
  // From any thread, or a signal handler.
  void stop();

  rig& nics() { return *rig_; }
  device& at(unsigned n) { return *devices_[n]; }
  server_stats stats() const;

 private:
  server() = default;
  std::expected<void, std::string> listen();
  void attach();
  std::expected<void, std::string> wait(int64_t timeout_ns);
  void take_signals();
  void plug_cable();
  void serve_clients();
  void accept(unsigned n);
  void end(unsigned n, const std::string& why);
  int64_t simulate();
  std::expected<void, std::string> end_log();
  int64_t follow(uint64_t next_ps, wall_clock::time_point now);

  server_config cfg_;
  std::vector<std::unique_ptr<device>> devices_;  // before the rig: its ports refer to them
  std::unique_ptr<rig> rig_;
  std::unique_ptr<tlp_log> log_;
  std::vector<file> listeners_;
  file stop_, signals_;
  bool stopped_ = false, answered_ = false, cable_ = true, cable_wanted_ = true;
  // Simulated and wall time of the last work: from there on the one follows the other.
  uint64_t paced_ps_ = 0;
  wall_clock::time_point paced_at_ = wall_clock::now();
  double simulating_s_ = 0;
};

}  // namespace ggas::device
