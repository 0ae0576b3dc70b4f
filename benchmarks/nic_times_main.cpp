// SPDX-License-Identifier: Apache-2.0
// ggas-nic-times: prints sim/nic/model_times.inc, taken from the RTL of this build. --check compares it with what the
// build has: exit status 1, and the rows that differ, if the RTL has changed since.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "benchmarks/nic_times.hpp"

namespace {

using namespace ggas;

constexpr unsigned widths[] = {64, 256, 512};
// Of the NIC that has collectives. At 256 bit there is none: that of 64 bit stands for it.
constexpr unsigned links = 6;

std::string text(const nic::time_row& r) {
  return fmt::format("{{cause::{}, {}, effect::{}, {:.2f}f, {:.2f}f}}", nic::to_text(r.from), r.answer,
                     nic::to_text(r.to), r.cycles, r.per_beat);
}

void print(unsigned width, const std::vector<nic::time_row>& rows) {
  fmt::print("const model_times times_{}{{\n", width);
  for (const auto& r : rows) fmt::print("    {},\n", text(r));
  fmt::print("}};\n");
}

// Rows of the RTL that the build's table has not, within rounding.
unsigned compare(unsigned width, const std::vector<nic::time_row>& rows) {
  constexpr double rounding = 0.011;
  unsigned wrong = 0;
  for (const auto& r : rows) {
    const auto one = nic::model_times::of(width)->cycles(r.from, r.answer, r.to, 1);
    const auto two = nic::model_times::of(width)->cycles(r.from, r.answer, r.to, 2);
    if (one && std::abs(*one - r.cycles) < rounding && std::abs(*two - r.cycles - r.per_beat) < 2 * rounding) continue;
    fmt::print("{} bit: the RTL has {}\n", width, text(r));
    ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  bool check = false;
  CLI::App app{"Times of the NIC's model, taken from the RTL; standard output is sim/nic/model_times.inc.",
               "ggas-nic-times"};
  app.add_flag("--check", check, "compare the table of this build with the RTL instead");
  CLI11_PARSE(app, argc, argv);
  if (!check) fmt::print("// SPDX-License-Identifier: Apache-2.0\n// Written by ggas-nic-times; not by hand.\n"
                         "// clang-format off\n");
  unsigned wrong = 0;
  for (const unsigned width : widths) {
    bench::nic_times t(width);
    if (!t.ready()) {
      fmt::print(stderr, "ggas-nic-times: the link of the {}-bit NIC does not come up\n", width);
      return 1;
    }
    auto rows = t.measure();
    fmt::print(stderr, "{} bit: {} rows, off by {:.2f} cycles in the mean; {} outputs without a reason\n", width,
               rows.size(), t.mean_error(), t.unexplained());
    bench::nic_times c(width == 256 ? 64 : width, links);
    const auto more = c.measure();
    fmt::print(stderr, "{} bit, collectives: {} rows, off by {:.2f} cycles; {} outputs without a reason\n", width,
               more.size(), c.mean_error(), c.unexplained());
    rows.insert(rows.end(), more.begin(), more.end());
    if (check)
      wrong += compare(width, rows);
    else
      print(width, rows);
  }
  if (!check) fmt::print("// clang-format on\n");
  return wrong ? 1 : 0;
}
