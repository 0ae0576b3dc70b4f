// SPDX-License-Identifier: Apache-2.0
// ggas-device: NICs of one simulated network as PCIe devices of virtual machines (docs/drivers.md).
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>

#include "sim/vfio_user/replay.hpp"
#include "sim/vfio_user/server.hpp"

namespace {

using namespace ggas;

int run(device::server_config cfg) {
  auto made = device::server::create(std::move(cfg));
  if (!made) {
    fmt::print(stderr, "ggas-device: {}\n", made.error());
    return 1;
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  const auto ended = (*made)->run();
  const auto s = (*made)->stats();
  fmt::print("cycles {}\nsimulating_s {:.3f}\nstrays {}\nexpired_reads {}\ninterrupts {}\n", s.cycles, s.simulating_s,
             s.strays, s.expired, s.interrupts);
  if (ended) return 0;
  fmt::print(stderr, "ggas-device: {}\n", ended.error());
  return 1;
}

int run_again(const std::string& log, std::string again, const std::string& waves) {
  if (again.empty()) again = log + ".again";
  const auto done = device::replay(log, again, waves);
  if (!done) {
    fmt::print(stderr, "ggas-device: {}\n", done.error());
    return 1;
  }
  fmt::print("identical: {} lines, {} cycles\n", done->lines, done->cycles);
  return 0;
}

// Signals are taken by the server as it waits.
void hold_signals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&held, s);
  sigprocmask(SIG_BLOCK, &held, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Serves simulated NICs, joined by links, to virtual machines: one vfio-user socket a NIC.");
  std::vector<std::string> sockets;
  std::string log, again, waves;
  device::log_header how{.platform = "galibier-k20", .faults = {}, .settings = {}};
  uint64_t window_mb = 64;
  app.add_option("sockets", sockets, "paths of the sockets, one for each node (1 or 2)")->expected(0, 2);
  app.add_option("--platform", how.platform, "platform of NICs and links")->capture_default_str();
  app.add_option("--set", how.settings, "platform key = value, over the file's; repeatable")->allow_extra_args(false);
  app.add_option("--window", window_mb, "window (BAR2) in MB, a power of two")->capture_default_str();
  app.add_option("--faults", how.faults, "faults of the links (docs/simulator.md)");
  app.add_option("--seed", how.seed, "seed of the faults")->capture_default_str();
  app.add_option("--log", log, "file for every access and TLP with time stamps");
  app.add_option("--replay", again, "no server: repeats the run of this log; --log is the new one (LOG.again)");
  app.add_option("--waves", waves, "with --replay: FST files, one for each NIC; this is their stem");
  CLI11_PARSE(app, argc, argv);
  if (!again.empty()) return run_again(again, log, waves);
  if (sockets.empty()) {
    fmt::print(stderr, "ggas-device: no socket (ggas-device --help)\n");
    return 2;
  }

  hold_signals();
  auto plat = sim::load_platform(how.platform, how.settings);
  if (!plat) {
    fmt::print(stderr, "ggas-device: {}\n", plat.error());
    return 2;
  }
  how.nodes = unsigned(sockets.size());
  how.window_bytes = window_mb << 20;
  device::server_config cfg;
  cfg.rig = {.plat = std::move(*plat),
             .nodes = how.nodes,
             .window_bytes = how.window_bytes,
             .seed = how.seed,
             .faults = how.faults,
             .make_nic = {}};
  cfg.sockets.assign(sockets.begin(), sockets.end());
  cfg.log = log;
  cfg.log_header = how.line();
  return run(std::move(cfg));
}
