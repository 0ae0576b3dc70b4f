// SPDX-License-Identifier: Apache-2.0
// ggas-nic-times: prints sim/nic/model/model_times.inc, measured on the RTL of this build. --check compares it with the
// table in the build: exit status 1, and the rows that differ, if the RTL has changed since.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/nic/hand_on.hpp"
#include "benchmarks/nic/holds.hpp"
#include "benchmarks/nic/times.hpp"

namespace {

using namespace ggas;

// Links of the smallest NIC that has collectives. There is none at 256 bit: the one of 64 bit is used for it.
constexpr unsigned links = 2;

// All that the table of a width has.
struct table {
  nic::nic_limits limits;
  std::vector<nic::time_row> times;
  std::vector<nic::pace_row> paces;
};

std::string text(const nic::time_row& r) {
  return fmt::format("{{cause::{}, {}, effect::{}, {}, {:.0f}}}", nic::to_text(r.from), r.answer, nic::to_text(r.to),
                     r.beats, r.cycles);
}
std::string text(const nic::pace_row& r) {
  return fmt::format("{{cause::{}, {}, effect::{}, {}, {:.1f}f}}", nic::to_text(r.from), r.answer, nic::to_text(r.to),
                     r.dws, r.cycles);
}

std::vector<std::pair<const char*, unsigned>> named(const nic::nic_limits& l) {
  return {{"loads", l.loads},
          {"loads_served", l.loads_served},
          {"fetches", l.fetches},
          {"get_fetches", l.get_fetches},
          {"queue_reads", l.queue_reads},
          {"atomics", l.atomics},
          {"atomics_held", l.atomics_held},
          {"atomic_gap", l.atomic_gap},
          {"atomic_kept", l.atomic_kept},
          {"stores_passed", l.stores_passed},
          {"stores_held", l.stores_held},
          {"packets_held", l.packets_held},
          {"control_gap", l.control_gap}};
}

void append(std::vector<nic::pace_row>& all, const std::vector<nic::pace_row>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Adds the rows whose kinds are not in `all` yet.
void add(std::vector<nic::time_row>& all, const std::vector<nic::time_row>& more) {
  const std::vector<nic::time_row> before = all;
  for (const auto& r : more)
    if (std::ranges::none_of(before,
                             [&](const auto& o) { return o.from == r.from && o.answer == r.answer && o.to == r.to; }))
      all.push_back(r);
}

// Adds the rows of sizes that a kind does not have yet.
void add_sizes(std::vector<nic::time_row>& all, const std::vector<nic::time_row>& more) {
  for (const auto& r : more) {
    const auto same = [&](const auto& o) { return o.from == r.from && o.answer == r.answer && o.to == r.to; };
    const auto first = std::ranges::find_if(all, same);
    const auto place = std::find_if(first, all.end(), [&](const auto& o) { return !same(o) || o.beats >= r.beats; });
    if (place == all.end() || !same(*place) || place->beats != r.beats) all.insert(place, r);
  }
}

void ended(const bench::nic_times& t) {
  if (t.wrong().empty()) return;
  fmt::print(stderr, "ggas-nic-times: {}\n", t.wrong());
  std::exit(1);
}

void print(unsigned width, const table& t) {
  fmt::print("const model_times times_{}{{\n    {{", width);
  const char* comma = "";
  for (const auto& [name, value] : named(t.limits)) fmt::print("{}.{} = {}", std::exchange(comma, ", "), name, value);
  fmt::print("}},\n    {{\n");
  for (const auto& r : t.times) fmt::print("        {},\n", text(r));
  fmt::print("    }},\n    {{\n");
  for (const auto& r : t.paces) fmt::print("        {},\n", text(r));
  fmt::print("    }}}};\n");
}

// What the RTL has and the build's table has not, within rounding.
unsigned compare(unsigned width, const table& t) {
  constexpr double rounding = 0.011;
  const nic::model_times& mine = *nic::model_times::of(width);
  unsigned wrong = 0;
  const auto expect = [&](bool same, const auto& r) {
    if (!same) fmt::print("{} bit: the RTL has {}\n", width, text(r));
    wrong += !same;
  };
  for (const auto& r : t.times) {
    const auto cycles = mine.cycles(r.from, r.answer, r.to, r.beats);
    expect(cycles && std::abs(*cycles - r.cycles) < rounding, r);
  }
  for (const auto& r : t.paces) expect(std::abs(mine.pace(r.from, r.answer, r.to, r.dws) - r.cycles) < rounding, r);
  const auto has = named(mine.limits());
  for (size_t i = 0; const auto& [name, value] : named(t.limits))
    if (has[i++].second != value) {
      fmt::print("{} bit: the RTL has {} = {}\n", width, name, value);
      ++wrong;
    }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  bool check = false;
  std::vector<unsigned> widths{64, 256, 512};
  CLI::App app{"Times of the NIC's model, taken from the RTL; standard output is sim/nic/model/model_times.inc.",
               "ggas-nic-times"};
  app.add_flag("--check", check, "compare the table of this build with the RTL instead");
  app.add_option("--width", widths, "data widths of the NIC; default: all")->check(CLI::IsMember({64, 256, 512}));
  CLI11_PARSE(app, argc, argv);
  if (!check)
    fmt::print(
        "// SPDX-License-Identifier: Apache-2.0\n// Written by ggas-nic-times; not by hand.\n"
        "// clang-format off\n");
  unsigned wrong = 0;
  for (const unsigned width : widths) {
    nic::nic_limits limits = bench::measure_limits(width);
    const auto hand = bench::measure_hand_on(width);
    limits.atomic_kept = hand.kept;
    limits.atomic_gap = hand.gap;
    table all{.limits = limits, .times = hand.times, .paces = hand.paces};
    for (const unsigned n : {1u, links}) {
      const unsigned w = n > 1 && width == 256 ? 64 : width;
      bench::nic_times often(w, limits, n), seldom(w, limits, n);
      ended(often);
      const auto tell = [&](const bench::nic_times& t) {
        fmt::print(stderr, "{} bit, {} links: waits of {:.2f} cycles in the mean; {} outputs without a reason\n", w, n,
                   t.mean_wait(), t.unexplained());
      };
      add(all.times, often.measure());
      tell(often);
      if (n == 1) append(all.paces, often.paces());
      if (n == 1) {
        bench::nic_times acknowledged(w, limits);
        add_sizes(all.times, acknowledged.measure_acknowledged());
        ended(acknowledged);
      }
      add(all.times, seldom.measure_seldom());
      tell(seldom);
      ended(often);
      ended(seldom);
    }
    for (const uint16_t node : {uint16_t{1}, uint16_t{0}})
      for (unsigned first = 0; first < bench::nic_times::waiting_kinds; ++first) {
        bench::nic_times waiting(width, limits);
        add(all.times, waiting.measure_waiting(first, node));
        ended(waiting);
      }
    append(all.paces, bench::measure_cuts(width));
    if (check)
      wrong += compare(width, all);
    else
      print(width, all);
  }
  if (!check) fmt::print("// clang-format on\n");
  return wrong ? 1 : 0;
}
