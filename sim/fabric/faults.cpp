// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

namespace ggas::fabric {

namespace {

std::optional<double> number(const std::string& s) {
  double v = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (ec != std::errc{} || end != s.data() + s.size() || !std::isfinite(v) || v < 0) return std::nullopt;
  return v;
}

std::optional<uint64_t> whole(const std::string& s) {
  uint64_t v = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (ec != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return v;
}

using words = std::vector<std::string>;

constexpr double longest_us = 1e12;  // 11 days

std::optional<std::string> parse_node(const words& w, fault_rule& r) {
  if (w.size() != 5 || w[2] != "dead" || w[3] != "from") return "expected: node <number> dead from <us>";
  const auto node = whole(w[1]);
  const auto from = number(w[4]);
  if (!node || *node > ~0u) return fmt::format("node '{}': must be a whole number", w[1]);
  if (!from || *from > longest_us) return "the time must be a number of microseconds";
  r.kind = fault_kind::dead_node;
  r.node = unsigned(*node);
  r.from_ps = uint64_t(*from * 1e6);
  return std::nullopt;
}

std::optional<std::string> parse_cut(const words& w, fault_rule& r) {
  const bool to = w.size() == 6 && w[4] == "to";
  if (w.size() < 4 || w[2] != "from" || (w.size() > 4 && !to)) return "expected: cut from <us> [to <us>]";
  const auto from = number(w[3]);
  const auto end = to ? number(w[5]) : std::optional(0.0);
  if (!from || !end || *from > longest_us || *end > longest_us || (to && *end <= *from))
    return "times must be numbers of microseconds, to > from";
  r.from_ps = uint64_t(*from * 1e6);
  if (to) r.to_ps = uint64_t(*end * 1e6);
  return std::nullopt;
}

std::optional<std::string> parse_flit(const words& w, fault_rule& r) {
  if (w.size() == 4 && w[2] == "rate") {
    const auto rate = number(w[3]);
    if (!rate || *rate > 1) return "rate must be between 0 and 1";
    r.by_rate = true;
    r.rate = *rate;
    return std::nullopt;
  }
  const bool count = w.size() == 6 && w[4] == "count";
  if (w.size() < 4 || w[2] != "at" || (w.size() > 4 && !count))
    return "expected: at <flit index> [count <n>], or rate <probability>";
  const auto at = whole(w[3]);
  const auto n = count ? whole(w[5]) : std::optional<uint64_t>(1);
  if (!at || !n || *n == 0) return "index and count must be whole numbers, count at least 1";
  r.first = *at;
  r.count = *n;
  return std::nullopt;
}

std::optional<std::string> parse_line(const words& w, fault_rule& r) {
  if (w[0] == "node") return parse_node(w, r);
  if (w.size() < 2) return "expected: <wire> <fault> ..., or node <number> dead from <us>";
  r.wire = w[0];
  if (w[1] == "cut") {
    r.kind = fault_kind::cut;
    return parse_cut(w, r);
  }
  if (w[1] == "drop")
    r.kind = fault_kind::drop;
  else if (w[1] == "corrupt")
    r.kind = fault_kind::corrupt;
  else if (w[1] == "duplicate")
    r.kind = fault_kind::duplicate;
  else
    return fmt::format("unknown fault '{}': drop, corrupt, duplicate or cut", w[1]);
  return parse_flit(w, r);
}

}  // namespace

std::expected<std::vector<fault_rule>, std::string> parse_faults(std::string_view script, std::string_view file_name) {
  std::vector<fault_rule> rules;
  std::istringstream in{std::string(script)};
  std::string line;
  for (unsigned n = 1; std::getline(in, line); ++n) {
    if (const auto hash = line.find('#'); hash != std::string::npos) line.resize(hash);
    std::istringstream tokens(line);
    words w;
    for (std::string t; tokens >> t;) w.push_back(t);
    if (w.empty()) continue;
    fault_rule r{.line = n};
    if (const auto wrong = parse_line(w, r)) return std::unexpected(fmt::format("{}:{}: {}", file_name, n, *wrong));
    rules.push_back(std::move(r));
  }
  return rules;
}

std::string wire_name(unsigned from, unsigned to) { return fmt::format("{}->{}", from, to); }

std::expected<std::vector<fault_rule>, std::string> faults_of_wires(const std::vector<fault_rule>& rules,
                                                                    const topology& shape, std::string_view file_name) {
  std::set<std::string> names{"*"};
  std::vector<fault_rule> out;
  for (unsigned n = 0; n < shape.nodes(); ++n)
    for (unsigned port = 0; port < shape.ports(); ++port)
      if (const auto there = shape.across(n, port)) names.insert(wire_name(n, there->node));
  for (const fault_rule& r : rules) {
    if (r.kind != fault_kind::dead_node) {
      if (!names.contains(r.wire))
        return std::unexpected(fmt::format("{}: there is no wire '{}': {}", file_name, r.wire, fmt::join(names, ", ")));
      out.push_back(r);
      continue;
    }
    if (r.node >= shape.nodes())
      return std::unexpected(
          fmt::format("{}:{}: there is no node {}: 0 to {}", file_name, r.line, r.node, shape.nodes() - 1));
    for (unsigned port = 0; port < shape.ports(); ++port)
      if (const auto there = shape.across(r.node, port))
        for (const std::string& wire : {wire_name(r.node, there->node), wire_name(there->node, r.node)})
          out.push_back({.wire = wire, .kind = fault_kind::cut, .from_ps = r.from_ps, .line = r.line});
  }
  return out;
}

fault_injector::fault_injector(const std::vector<fault_rule>& rules, std::string_view wire, uint64_t seed) {
  for (const auto& r : rules)
    if (r.kind != fault_kind::dead_node && (r.wire == "*" || r.wire == wire)) rules_.push_back(r);
  uint64_t h = 0xcbf29ce484222325ull ^ seed * 0x9e3779b97f4a7c15ull;
  for (const char c : wire) h = (h ^ uint8_t(c)) * 0x100000001b3ull;
  random_.seed(h);
}

std::vector<fault_rule> fault_injector::cuts() const {
  std::vector<fault_rule> out;
  for (const auto& r : rules_)
    if (r.kind == fault_kind::cut) out.push_back(r);
  return out;
}

fault fault_injector::next(uint64_t index, uint64_t now_ps) {
  fault result;
  for (const auto& r : rules_) {
    bool hit;
    if (r.kind == fault_kind::cut)
      hit = now_ps >= r.from_ps && now_ps < r.to_ps;
    else if (r.by_rate)
      hit = double(random_() >> 11) * 0x1p-53 < r.rate;
    else
      hit = index - r.first < r.count;
    if (!hit) continue;
    if (result.kind == fault_kind::none) result.kind = r.kind;
    if (r.kind == fault_kind::cut) result.kind = r.kind;
  }
  if (result.kind == fault_kind::corrupt) result.bit = unsigned(random_());
  return result;
}

}  // namespace ggas::fabric
