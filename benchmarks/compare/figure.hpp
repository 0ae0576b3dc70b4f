// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder print: a record line of the project (docs/benchmarks.md) for each point measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ggas::compare {

// A key of `params`: a number, or a text if there is one.
struct param {
  std::string name;
  int64_t number = 0;
  std::string text = {};
};

struct figure {
  std::string benchmark, variant, metric, unit;
  std::vector<param> params;
  std::vector<double> samples;  // repetitions, each the mean of many rounds; the figure to quote is their median
};

// What all records of a run share.
struct origin {
  std::string platform;  // GPU, links, driver: as in the records of GGAS
  int nodes;
  std::string library;  // name and version, for params; empty: none
};
origin origin_of(int gpus, const std::string& library = {});
// "NCCL 2.28.9"
std::string library_text(const char* name, int major, int minor, int patch);

// Repetitions of every point; one more goes before as a warm-up.
inline constexpr int repetitions = 7;

// The line on stdout. Nothing without samples.
void print(const origin& from, const figure& f);

}  // namespace ggas::compare
