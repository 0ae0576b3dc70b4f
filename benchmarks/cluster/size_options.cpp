// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/size_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace ggas::bench {

namespace {

constexpr uint32_t most_side = 4096, most_steps = 100'000;
// A word for each of the most nodes; 2^26 updates, which the host repeats one by one to verify them.
constexpr unsigned least_log2_table = 10, most_log2_table = 24;

std::optional<size_options::size> parse(std::string_view text) {
  uint32_t side[3] = {};
  for (int i = 0; i < 3; ++i) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), side[i]);
    if (code != std::errc{}) return {};
    text.remove_prefix(size_t(end - text.data()));
    if (i == 2) break;
    if (!text.starts_with('x')) return {};
    text.remove_prefix(1);
  }
  if (!text.empty()) return {};
  return size_options::size{side[0], side[1], side[2]};
}

}  // namespace

std::string read_grid(const std::string& text, int nodes, size_options& to) {
  const auto g = parse(text);
  if (!g) return fmt::format("--grid {}: expected XxYxZ, as in 128x192x64", text);
  const size_options::size near{std::clamp((g->nx + 2) / 4 * 4, 4u, most_side), std::clamp(g->ny, 3u, most_side),
                                std::clamp(g->nz, 3 * uint32_t(nodes), std::max(most_side, 3 * uint32_t(nodes)))};
  if (near.nx == g->nx && near.ny == g->ny && near.nz == g->nz) {
    to.grid = *g;
    return {};
  }
  return fmt::format(
      "--grid {}: X must be a multiple of 4, Y at least 3, Z at least 3 for each of {} nodes, none above {}; the "
      "nearest "
      "is {}x{}x{}",
      text, nodes, most_side, near.nx, near.ny, near.nz);
}

std::string read_steps(uint64_t steps, size_options& to) {
  if (steps < 1 || steps > most_steps) return fmt::format("--steps {}: expected 1 to {}", steps, most_steps);
  to.steps = uint32_t(steps);
  return {};
}

std::string read_table(uint64_t words, size_options& to) {
  const uint64_t in_range = std::clamp(words, uint64_t{1} << least_log2_table, uint64_t{1} << most_log2_table);
  const uint64_t below = std::bit_floor(in_range), near = in_range - below <= below / 2 ? below : 2 * below;
  if (near != words)
    return fmt::format("--table {}: must be a power of two from {} to {}; the nearest is {}", words,
                       1u << least_log2_table, 1u << most_log2_table, near);
  to.log2_table = unsigned(std::countr_zero(words));
  return {};
}

}  // namespace ggas::bench
