// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/graph/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "sim/fabric/graph/readers.hpp"

namespace ggas::fabric {

namespace {

using described = std::expected<std::optional<described_network>, std::string>;

described with(made_graph&& made) {
  if (!made) return std::unexpected(made.error());
  return described_network{std::move(*made)};
}

// "4x4" and "2" of "torus:4x4:2".
described generated(std::string_view kind, std::string_view text) {
  const size_t colon = text.find(':');
  const auto size = sizes_of(text.substr(0, colon));
  const auto sizes = [&](size_t least, size_t most) { return size.size() >= least && size.size() <= most; };
  const auto fail = [](std::string_view rule) { return std::unexpected(std::string(rule)); };
  if (kind == "torus" || kind == "mesh") {
    if (colon == text.npos && size.size() <= 3) return std::nullopt;  // links of NICs (topology.hpp)
    const auto each = colon == text.npos ? std::vector{1u} : sizes_of(text.substr(colon + 1));
    if (!sizes(1, grid::most_dimensions) || each.size() != 1 || each[0] < 1)
      return fail("expected up to eight sizes and NICs of each switch, as in torus:4x4:2");
    if (std::ranges::min(size) < 2) return fail("each size must be at least 2");
    return with(grid_of_switches(size, kind == "torus", each[0]));
  }
  if (colon != text.npos) return fail("sizes are separated by 'x'");
  if (kind == "fat-tree")
    return sizes(2, 2) ? with(fat_tree(size[0], size[1])) : fail("expected arity and levels, as in fat-tree:4x2");
  if (kind == "leaf-spine")
    return sizes(3, 3) ? with(leaf_spine(size[0], size[1], size[2]))
                       : fail("expected leaves, spines and NICs of each leaf, as in leaf-spine:4x2x8");
  return sizes(3, 4) ? with(dragonfly(size[0], size[1], size[2], size.size() == 4 ? size[3] : 0))
                     : fail("expected switches of a group, global cables and NICs of a switch, as in dragonfly:4x2x2");
}

described from_file(const std::string& name) {
  std::ifstream in(name);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) return std::unexpected(fmt::format("{}: cannot be read", name));
  if (name.ends_with(".toml")) {
    auto made = read_network_toml(text, name);
    if (!made) return std::unexpected(made.error());
    return std::move(*made);
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  const std::string_view begin = first == text.npos ? std::string_view() : std::string_view(text).substr(first);
  if (begin.starts_with("router") || begin.starts_with("node")) return with(read_anynet(text, name));
  return with(read_ibnetdiscover(text, name));
}

std::string set(std::string_view text, graph& g, cable& usual) {
  const size_t sign = text.find('=');
  const std::string_view key = text.substr(0, sign), value = sign == text.npos ? "" : text.substr(sign + 1);
  double number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc{} && end == value.data() + value.size() && std::isfinite(number);
  const auto in = [&](double least, double most) { return is_number && number >= least && number <= most; };
  const auto fail = [&](std::string_view rule) { return fmt::format("{}: must be {}", text, rule); };
  if (key == "forward_ns") {
    if (!in(0, 1e9)) return fail("0 to 1e9 ns");
    g.settings.forward_ps = uint64_t(std::llround(number * 1000));
  } else if (key == "latency_ns") {
    if (!in(0, 1e9)) return fail("0 to 1e9 ns");
    usual.latency_ps = uint64_t(std::llround(number * 1000));
  } else if (key == "gbit_per_s") {
    if (!is_number || !(number > 0) || number > 1e6) return fail("above 0 and at most 1e6 Gbit/s");
    usual.bits_per_second = number * 1e9;
  } else if (key == "buffer_packets") {
    if (!in(1, 10'000) || number != std::floor(number)) return fail("a whole number, 1 to 10000");
    g.settings.buffer_packets = unsigned(number);
  } else if (key == "cut_through") {
    if (value != "true" && value != "false") return fail("true or false");
    g.settings.cut_through = value == "true";
  } else {
    return fmt::format("'{}': settings are forward_ns, latency_ns, gbit_per_s, buffer_packets, cut_through", text);
  }
  return "";
}

}  // namespace

std::expected<std::optional<graph>, std::string> describe_switches(std::string_view text) {
  const size_t comma = text.find(','), colon = text.find(':');
  const std::string_view head = text.substr(0, comma), kind = text.substr(0, colon);
  constexpr std::string_view kinds[] = {"fat-tree", "leaf-spine", "dragonfly", "torus", "mesh"};
  std::error_code ignored;
  described made = std::nullopt;
  if (colon != text.npos && std::ranges::find(kinds, kind) != std::end(kinds))
    made = generated(kind, head.substr(colon + 1));
  else if (std::filesystem::is_regular_file(std::filesystem::path(head), ignored))
    made = from_file(std::string(head));
  if (!made) return std::unexpected(made.error());
  if (!*made) return std::nullopt;
  graph g = std::move((*made)->network);
  cable usual;
  for (size_t at = comma; at != text.npos;) {
    const size_t end = text.find(',', at + 1);
    if (std::string wrong = set(text.substr(at + 1, end == text.npos ? end : end - at - 1), g, usual); !wrong.empty())
      return std::unexpected(wrong);
    at = end;
  }
  g.set_cables(usual);
  if (auto ok = g.check(); !ok) return std::unexpected(ok.error());
  if (auto ok = g.find_routes((*made)->how); !ok) return std::unexpected(ok.error());
  return g;
}

}  // namespace ggas::fabric
