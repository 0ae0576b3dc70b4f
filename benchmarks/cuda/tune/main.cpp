// SPDX-License-Identifier: Apache-2.0
// ggas-tune FILE [GPUS]: measures allreduce on GPUS GPUs (default: all) of this computer and adds an entry to a tuning
// table (docs/collectives.md).
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string_view>

#include "benchmarks/cuda/machine.hpp"
#include "benchmarks/cuda/tune/tune.hpp"
#include "ggas/tuning_table.hpp"

namespace {

using namespace ggas::bench;

constexpr int bad_input = 2, failed = 1, skipped = 77;

constexpr const char* help = R"(usage: ggas-tune FILE [GPUS]

Measures the methods of collectives, and packs, on GPUS GPUs of this computer (2 or more; default: all) and adds what it
found to the table in FILE, which it makes if there is none. Takes some seconds; nothing else should run on the GPUs. Of
two entries for the same number of GPUs the later one counts. What a table says: docs/collectives.md.

example:
  ggas-tune mine.toml && GGAS_TUNING=$PWD/mine.toml program

exit status: 0 measured, 1 failed, 2 bad input, 77 no GPU
)";

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
    return say(bad_input, std::to_string(options.nodes) + " GPUs: must be 2 or more, and this computer has " +
                              std::to_string(machine.gpus));
  std::ofstream out(file, std::ios::app);
  if (!out) return say(bad_input, std::string(file) + ": cannot be written");
  const description what{.name = "tune", .text = "methods of allreduce", .params = "", .variants = {}};
  gpu_session s(
      what, options, machine.limits, [](const figure&) {}, [](const std::string&) {});
  ggas::tuning t{};
  fault wrong = tune(s, t);
  if (!wrong) wrong = tune_typed(s, t);
  if (wrong) {
    if (s.stuck()) std::_Exit(say(failed, wrong.text));  // kernels still run
    return say(failed, wrong.text);
  }
  out << "\n# " << machine.platform << "\n" << ggas::tuning_text(t, options.nodes);
  return out.flush() ? 0 : say(failed, std::string(file) + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // loading a kernel while another GPU spins in one could wait for ever
  const std::span<char*> words(argv, static_cast<size_t>(argc));
  for (const std::string_view word : words.subspan(1)) {
    if (word == "-h" || word == "--help") return std::fputs(help, stdout) < 0 ? failed : 0;
    if (word.starts_with("-")) return say(bad_input, "unknown option " + std::string(word) + " (see ggas-tune --help)");
  }
  if (words.size() < 2 || words.size() > 3) return say(bad_input, "usage: ggas-tune FILE [GPUS]");
  int nodes = 0;
  if (words.size() == 3) {
    const std::string_view count = words[2];
    const auto [end, wrong] = std::from_chars(count.data(), count.data() + count.size(), nodes);
    if (wrong != std::errc{} || end != count.data() + count.size() || nodes < 2)
      return say(bad_input, "'" + std::string(count) + "' GPUs: must be a number, 2 or more");
  }
  return run(words[1], nodes);
}
