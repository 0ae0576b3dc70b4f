// SPDX-License-Identifier: Apache-2.0
// ggas-bench --provider host: the power of this computer while a thread of its processor waits, by several methods. No
// GPU is needed; GPUs of the computer are measured, too.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "benchmarks/energy/gpu_sensors.hpp"
#include "benchmarks/energy/powercap.hpp"
#include "benchmarks/energy/run.hpp"
#include "benchmarks/energy/waits.hpp"
#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/harness/computer.hpp"
#include "benchmarks/harness/output.hpp"
#include "benchmarks/harness/report_text.hpp"
#include "benchmarks/harness/signals.hpp"

namespace ggas::bench {

namespace {

constexpr const char* suite = "host";
constexpr int status_skipped = 77;  // no sensor
constexpr double usual_window_s = 5;

struct load {
  const char* variant;
  processor_wait way;
};
constexpr load loads[] = {{"processor_poll", processor_wait::poll},
                          {"processor_back_off", processor_wait::back_off},
                          {"processor_sleep", processor_wait::sleep}};

const description benchmarks[] = {{.name = "energy",
                                   .text = "power while a thread of the processor waits, in all and above idle",
                                   .params = "method sensor when",
                                   .variants = {{"idle", "nothing runs, before and after the loads"},
                                                {"processor_poll", "loads back to back"},
                                                {"processor_back_off", "loads with pauses between"},
                                                {"processor_sleep", "looks every 5 ms"}},
                                   .needs_peer = false}};

struct host_line {
  common_line common;
  bool list = false;
  std::filesystem::path power, powercap = powercap_folder;
  double window_s = usual_window_s;
  run_facts run;
};

std::variant<host_line, int> parse(int argc, char** argv,
                                   const std::vector<std::pair<std::string, std::string>>& environment) {
  host_line line;
  std::string provider = suite;
  CLI::App app{"Energy of this computer.", "ggas-bench"};
  add_common_options(app, line.common, "has no effect: the length of a run is that of its windows");
  app.add_option("--provider", provider, "host")->check(CLI::IsMember({suite}))->capture_default_str();
  app.add_option("--power", line.power, "power over time, CSV; the report plots it")->check(a_name);
  app.add_option("--powercap", line.powercap, "where the kernel shows its power zones")
      ->check(a_name)
      ->capture_default_str();
  app.add_option("--window", line.window_s, "seconds of a window; sensors need 5")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return end_parse(app, e);
  }
  if (std::string text = finish_common(line.common, suite); !text.empty()) return bad_input(text);
  const std::vector<const description*> all{&benchmarks[0]};
  const auto found = select(line.common.names, all, suite);
  if (const auto* wrong = std::get_if<std::string>(&found)) return bad_input(*wrong);
  line.list = std::get<selection>(found).list;
  line.run = facts_of(app, environment);
  return line;
}

record make_record(const host_line& line, const std::string& variant, const energy_figure& f, bool after) {
  record r;
  r.benchmark = benchmarks[0].name;
  r.variant = variant;
  r.provider = suite;
  r.platform = computer_text();
  r.nic = "none";
  r.nodes = 1;
  r.params["method"] = f.group;
  if (f.integrated) r.params["sensor"] = "integrated power";
  if (after) r.params["when"] = "after";
  r.metric = f.metric;
  r.unit = f.unit;
  r.seed = line.common.seed;
  r.run = line.run;
  summarise(r, f.samples);
  r.value = *r.p50;
  return r;
}

int measure(const host_line& line) {
  output out;
  if (const std::string wrong = out.open(line.common.json, line.common.report, line.power); !wrong.empty())
    return bad_input(wrong);
  std::vector<record> records;
  std::vector<std::string> notes;
  const nvml library;
  energy_run run({find_gpu_sensors(library, all_gpus(library)), find_processors(line.powercap)},
                 {.windows = line.common.quick ? 3 : 5, .seconds = line.window_s},
                 {.emit =
                      [&](const std::string& variant, const energy_figure& f, bool after) {
                        records.push_back(make_record(line, variant, f, after));
                        out.write(records.back(), true);
                      },
                  .note = [&](std::string text) { notes.push_back(std::move(text)); }});
  if (line.window_s < usual_window_s) notes.push_back("windows shorter than 5 s: a sensor may see a part of them only");
  if (run.has_sensors()) {
    run.idle_before();
    for (const load& l : loads)
      if (caught_signal() == 0) run.measure(l.variant, {}, [&](work_meter& m) { return wait_load(l.way, m), true; });
    if (caught_signal() == 0) run.idle_after();
    out.power(run.power_csv());
  }
  if (!records.empty()) say(table(benchmarks[0], records));
  for (const std::string& text : notes) say(fmt::format("  energy: {}\n", text));
  const int status = out.finish();
  if (caught_signal() != 0) return ended_by_signal("energy", "");
  return status == 0 && !run.has_sensors() ? status_skipped : status;
}

}  // namespace

}  // namespace ggas::bench

int main(int argc, char** argv) {
  using namespace ggas::bench;
  auto parsed = parse(argc, argv, switches_of_environment());
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const auto& line = std::get<host_line>(parsed);
  if (line.list) {
    const std::vector<const description*> all{&benchmarks[0]};
    say(list_text(all, suite));
    return end_of_output(0);
  }
  if (line.common.check) return 0;
  catch_signals();
  return end_of_output(measure(line));
}
