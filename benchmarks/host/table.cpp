// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/host/table.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

namespace ggas::host_bench {

namespace {

double load() {
  double minute = 0;
  std::ifstream("/proc/loadavg") >> minute;
  return minute;
}

nlohmann::json record(const pattern& p, size_t bytes, const samples& s) {
  return {{"benchmark", p.name},
          {"library", s.of->name()},
          {"provider", s.of->provider()},
          {"platform", "host"},
          {"processors", std::thread::hardware_concurrency()},
          {"load", load()},
          {"seed", 0},
          {"ranks", s.of->size()},
          {"bytes", bytes},
          {"unit", p.unit},
          {"median", s.median()},
          {"least", s.sorted.front()},
          {"most", s.sorted.back()},
          {"samples", s.sorted.size()}};
}

}  // namespace

results_file::results_file(const std::string& path) {
  if (path.empty()) return;
  auto file = trace::one_writer::of_file(path);
  if (!file) throw failure(file.error());
  only = std::move(*file);
  lines.open(path);
}

table::table(const std::string& json) : file_(json), json_(json) {}

void table::begin(const pattern& p, const std::vector<const means*>& all) {
  pattern_ = &p;
  all_ = all;
  least_.assign(all.size() - 1, {});
  std::printf("\n# %s, %s, of %s (%s), %u ranks, %u processors, load %.1f\n", p.name, p.unit, all[0]->name().c_str(),
              all[0]->provider().c_str(), all[0]->size(), std::thread::hardware_concurrency(), load());
  std::printf("%-10s %14s %14s %14s", "# Size", "median", "least", "most");
  for (size_t i = 1; i < all.size(); ++i) std::printf(" %14s %8s", all[i]->name().c_str(), "ratio");
  std::printf("\n");
}

double table::ratio_to(const samples& ours, const samples& theirs) const {
  return pattern_->is == kind::rate ? ours.median() / theirs.median() : theirs.median() / ours.median();
}

void table::row(size_t bytes, const std::vector<samples>& all) {
  const samples& ours = all[0];
  std::printf("%-10zu %14.2f %14.2f %14.2f", bytes, ours.median(), ours.sorted.front(), ours.sorted.back());
  for (size_t i = 0; i < all.size(); ++i) {
    nlohmann::json line = record(*pattern_, bytes, all[i]);
    if (i > 0) {
      const double r = ratio_to(ours, all[i]);
      std::printf(" %14.2f %8.2f", all[i].median(), r);
      line["ratio"] = r;
      if (least_[i - 1].least == 0 || r < least_[i - 1].least) least_[i - 1] = {r, bytes};
    }
    if (json_.lines.is_open() && !(json_.lines << line << std::endl))
      throw failure(file_ + ": not all results could be written");
  }
  std::printf("\n");
}

void table::end() {
  for (size_t i = 0; i < least_.size(); ++i)
    std::printf("# beside %s (%s): %.2f times as good or better, least at %zu bytes\n", all_[i + 1]->name().c_str(),
                all_[i + 1]->provider().c_str(), least_[i].least, least_[i].bytes);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw failure("standard output: not all could be written");
}

}  // namespace ggas::host_bench
