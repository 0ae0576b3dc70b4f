// SPDX-License-Identifier: Apache-2.0
// ggas-device: NICs of one simulated network as PCIe devices of virtual machines (docs/drivers.md).
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>

#include "sim/device/server.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Serves simulated NICs, joined by links, to virtual machines: one vfio-user socket a NIC.");
  std::vector<std::string> sockets, settings;
  std::string platform = "galibier-k20", log;
  uint64_t window_mb = 64, seed = 1;
  std::string faults;
  app.add_option("sockets", sockets, "paths of the sockets, one for each node (1 or 2)")->required()->expected(1, 2);
  app.add_option("--platform", platform, "platform of NICs and links")->capture_default_str();
  app.add_option("--set", settings, "platform key = value, over the file's");
  app.add_option("--window", window_mb, "window (BAR2) in MB, a power of two")->capture_default_str();
  app.add_option("--log", log, "file for every access and TLP with time stamps");
  app.add_option("--faults", faults, "faults of the links (docs/simulator.md)");
  app.add_option("--seed", seed, "seed of the faults")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  // Signals are taken while the server waits.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  struct sigaction quiet {};
  quiet.sa_handler = [](int) {};
  sigaction(SIGINT, &quiet, nullptr);
  sigaction(SIGTERM, &quiet, nullptr);

  auto plat = sim::load_platform(platform, settings);
  if (!plat) {
    fmt::print(stderr, "ggas-device: {}\n", plat.error());
    return 2;
  }
  device::server_config cfg;
  cfg.rig = {.plat = std::move(*plat),
             .nodes = unsigned(sockets.size()),
             .window_bytes = window_mb << 20,
             .seed = seed,
             .faults = faults,
             .make_nic = {}};
  cfg.sockets.assign(sockets.begin(), sockets.end());
  cfg.log = log;
  cfg.log_header = fmt::format("# platform={} nodes={} window={} seed={} set={} faults={}", platform, sockets.size(),
                               window_mb << 20, seed, fmt::join(settings, ","), faults);
  return run(std::move(cfg));
}
