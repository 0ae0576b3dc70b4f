// SPDX-License-Identifier: Apache-2.0
// ggas-tune FILE [GPUS]: measures allreduce on so many GPUs (default: all) of this computer and adds an entry to a
// table of tuning (docs/collectives.md).
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "benchmarks/cuda/machine.hpp"
#include "benchmarks/cuda/tune.hpp"
#include "ggas/tuning_table.hpp"

namespace {

using namespace ggas::bench;

constexpr int bad_input = 2, failed = 1, skipped = 77;

int say(int status, const std::string& text) {
  std::fprintf(stderr, "ggas-tune: %s\n", text.c_str());
  return status;
}

int run(const char* file, int nodes) {
  const gpu_machine machine = find_gpus();
  if (!machine.absent.empty()) return say(skipped, machine.absent);
  gpu_options options{};
  options.nodes = nodes ? nodes : machine.gpus;
  if (options.nodes < 2 || options.nodes > machine.gpus)
    return say(bad_input, std::to_string(options.nodes) + " GPUs: must be 2 ... " + std::to_string(machine.gpus) +
                              ", which this computer has");
  std::ofstream out(file, std::ios::app);
  if (!out) return say(bad_input, std::string(file) + ": cannot be written");
  const description what{.name = "tune", .text = "methods of allreduce", .params = "", .variants = {}};
  gpu_session s(
      what, options, machine.limits, [](const figure&) {}, [](const std::string&) {});
  ggas::tuning t{};
  if (const fault wrong = tune(s, t)) {
    if (s.stuck()) std::_Exit(say(failed, wrong.text));  // kernels still run
    return say(failed, wrong.text);
  }
  out << "\n# " << machine.platform << "\n" << ggas::tuning_text(t, options.nodes);
  return out.flush() ? 0 : say(failed, std::string(file) + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // loading a kernel while another GPU spins in one could wait for ever
  int nodes = 0;
  const char* const count = argc == 3 ? argv[2] : "0";
  const auto [end, wrong] = std::from_chars(count, count + std::strlen(count), nodes);
  if (argc < 2 || argc > 3 || wrong != std::errc{} || *end != 0) return say(bad_input, "usage: ggas-tune FILE [GPUS]");
  return run(argv[1], nodes);
}
