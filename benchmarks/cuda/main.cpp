// SPDX-License-Identifier: Apache-2.0
// ggas-bench --provider cuda: runs benchmarks on the GPUs of this computer, prints tables, writes JSON lines and a
// report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "benchmarks/cuda/machine.hpp"
#include "benchmarks/cuda/records.hpp"
#include "benchmarks/harness/common_line.hpp"
#include "benchmarks/harness/output.hpp"
#include "benchmarks/harness/report_text.hpp"
#include "benchmarks/harness/seeds.hpp"
#include "benchmarks/harness/signals.hpp"

namespace ggas::bench {

namespace {

constexpr const char* suite = "gpu";
constexpr int status_skipped = 77;  // no GPU to run on

constexpr const char* why_no_sharing =
    "(Nodes that share a GPU take turns of milliseconds on it: no figures of communication. Tests do that: "
    "docs/cuda-provider.md.)\n";

constexpr const char* examples = R"(
Without names every benchmark runs, quickly, and a report is written to report/.

examples:
  ggas-bench --provider cuda list
  ggas-bench --provider cuda store_latency barrier --nodes 2
  ggas-bench --provider cuda gpu --json results.jsonl --report report
)";

struct gpu_line {
  common_line common;
  selection what;
  gpu_options opts;
  std::filesystem::path power;
};

std::vector<std::string> energy_loads() {
  std::vector<std::string> names;
  const auto of = std::ranges::find(all_gpu_benchmarks(), std::string_view("energy"), &gpu_benchmark::name);
  for (const variant_info& v : of->variants)
    if (std::string_view(v.name) != "idle") names.emplace_back(v.name);
  return names;
}

std::variant<gpu_line, int> parse(int argc, char** argv,
                                  const std::vector<std::pair<std::string, std::string>>& environment) {
  gpu_line line;
  common_line& common = line.common;
  std::string provider = "cuda";
  CLI::App app{"Benchmarks of GPUs with one global address space, on the GPUs of this computer.", "ggas-bench"};
  app.footer(examples);
  add_common_options(app, common, "milliseconds of real time one point may take (default 20000)");
  app.add_option("--provider", provider, "cuda (the other providers belong to another program)")
      ->check(CLI::IsMember({"cuda"}))
      ->capture_default_str();
  app.add_option("--power", line.power, "energy: power over time, CSV; the report plots it")->check(a_name);
  app.add_option("--load", line.opts.loads, "energy: only these loads, by their names in the list of benchmarks")
      ->check(CLI::IsMember(energy_loads()));
  app.add_option("--nodes", line.opts.nodes, "GPUs to use, 1 or more (default: all)")->check(CLI::Range(1, 64));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return end_parse(app, e);
  }
  if (std::string text = finish_common(common, suite); !text.empty()) return bad_input(text);
  auto found = select(common.names, descriptions(all_gpu_benchmarks()), suite);
  if (const auto* wrong = std::get_if<std::string>(&found)) return bad_input(*wrong);
  line.what = std::get<selection>(std::move(found));
  line.opts.quick = common.quick;
  line.opts.seed = common.seed;
  line.opts.run = facts_of(app, environment);
  if (common.timeout_ms > 0) line.opts.timeout_ns = static_cast<uint64_t>(common.timeout_ms * 1e6);
  return line;
}

class program {
 public:
  program(gpu_line line, gpu_machine machine)
      : line_(std::move(line)), machine_(std::move(machine)), progress_(line_.what.chosen.size()) {
    if (line_.opts.nodes == 0) line_.opts.nodes = machine_.gpus;
  }

  int run() {
    if (const std::string wrong = check(); !wrong.empty()) return bad_input(wrong);
    const common_line& common = line_.common;
    if (const std::string wrong = output_.open(common.json, common.report, line_.power); !wrong.empty())
      return bad_input(wrong);
    line_.opts.on_power = [this](const std::string& csv) { output_.power(csv); };
    int status = 0;
    for (const size_t i : line_.what.chosen) {
      if (caught_signal() != 0) break;
      ++begun_;
      status = std::max(status, run_one(all_gpu_benchmarks()[i]));
      progress_.benchmark_done();
    }
    progress_.clear();
    if (line_.what.chosen.size() > 1) say(overview(all_) + "\n");
    if (!skipped_.empty())
      fmt::print(stderr, "ggas-bench: skipped, need at least 2 GPUs:{}\n{}", skipped_, why_no_sharing);
    status = std::max(status, output_.finish());
    if (caught_signal() != 0) return tell_of_signal();
    return status == 0 && all_.empty() && !skipped_.empty() ? status_skipped : status;
  }

 private:
  std::string check() const {
    if (line_.opts.nodes > machine_.gpus)
      return fmt::format("--nodes {}: this computer has {} GPUs", line_.opts.nodes, machine_.gpus);
    for (const size_t i : line_.what.chosen) {
      const gpu_benchmark& b = all_gpu_benchmarks()[i];
      if (b.needs_peer && line_.opts.nodes < 2 && machine_.gpus > 1 && !line_.what.suite)
        return fmt::format("{} needs at least 2 GPUs; nodes: {}", b.name, line_.opts.nodes);
    }
    return {};
  }

  static fault run_parts(const gpu_benchmark& b, gpu_session& s) {
    try {
      for (size_t i = 0; i < b.parts.size() && b.parts[i]; ++i) GGAS_GPU_TRY(b.parts[i](s));
      return {};
    } catch (const std::exception& e) {  // no memory on the host: the results so far are still written
      return {std::string(b.name) + ": " + e.what()};
    }
  }

  int run_one(const gpu_benchmark& b) {
    if (b.needs_peer && line_.opts.nodes < 2) {
      skipped_ += std::string(" ") + b.name;
      return 0;
    }
    records_.clear();
    seed_records of_seeds;
    const auto sink = [&](record r) { line_.common.seeds == 1 ? keep(std::move(r)) : of_seeds.add(std::move(r)); };
    const uint64_t first = line_.opts.seed;
    seed_outcome outcome;
    for (uint64_t i = 0; i < line_.common.seeds && !outcome.wrong && caught_signal() == 0; ++i) {
      line_.opts.seed = first + i;
      outcome = run_with_seed(b, sink);
    }
    line_.opts.seed = first;
    for (record& r : of_seeds.merged()) keep(std::move(r));
    progress_.clear();
    if (!records_.empty()) say(table(b, records_));
    for (const std::string& line : outcome.notes) say(fmt::format("  {}: {}\n", b.name, line));
    say("\n");
    all_.insert(all_.end(), records_.begin(), records_.end());
    if (outcome.wrong) fmt::print(stderr, "ggas-bench: {}\n", outcome.wrong.text);
    std::fflush(stdout);
    if (outcome.stuck) end_now();
    return !outcome.wrong ? 0 : outcome.wrong.bad_input ? status_bad_input : status_failed;
  }

  void keep(record r) {
    output_.write(r, true);
    records_.push_back(std::move(r));
  }

  struct seed_outcome {
    fault wrong;
    std::vector<std::string> notes;
    bool stuck = false;
  };
  seed_outcome run_with_seed(const gpu_benchmark& b, const std::function<void(record)>& sink) {
    record_maker maker(b, line_.opts, machine_.platform);
    gpu_session s(
        b, line_.opts, machine_.limits, [&](const figure& f) { sink(maker.make(f)); },
        [&](const std::string& what) { progress_.show(what, 0); });
    fault wrong = run_parts(b, s);
    return {std::move(wrong), s.notes(), s.stuck()};
  }

  // A kernel spins without end: these GPUs cannot be used until this process has ended, and freeing its memory would
  // wait for the kernel.
  [[noreturn]] void end_now() {
    (void)output_.finish();
    const int status = end_of_output(caught_signal() != 0 ? tell_of_signal() : status_failed);
    std::fflush(nullptr);
    std::_Exit(status);
  }

  int tell_of_signal() const {
    const std::vector<size_t>& all = line_.what.chosen;
    std::string not_run;
    for (size_t i = begun_; i < all.size(); ++i) not_run += std::string(" ") + all_gpu_benchmarks()[all[i]].name;
    return ended_by_signal({}, not_run);
  }

  gpu_line line_;
  gpu_machine machine_;
  progress progress_;
  output output_;
  std::vector<record> records_;  // of the benchmark at work
  std::vector<record> all_;
  std::string skipped_;  // names of benchmarks
  size_t begun_ = 0;
};

}  // namespace

}  // namespace ggas::bench

int main(int argc, char** argv) {
  using namespace ggas::bench;
  const auto environment = switches_of_environment(measures::gpus);
  // Loading a kernel while another GPU spins in one could wait for ever.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  auto parsed = parse(argc, argv, environment);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  auto& line = std::get<gpu_line>(parsed);
  if (line.what.list) {
    say(list_text(descriptions(all_gpu_benchmarks()), suite));
    return end_of_output(0);
  }
  if (line.common.check) return 0;
  gpu_machine machine = find_gpus();
  if (!machine.absent.empty()) {
    fmt::print(stderr, "ggas-bench: --provider cuda: {}\n", machine.absent);
    return status_skipped;
  }
  catch_signals();
  return end_of_output(program(std::move(line), std::move(machine)).run());
}
