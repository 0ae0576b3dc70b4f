// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace ggas::bench {

namespace {

enum class type { text, whole, number, texts };

struct rule {
  std::string_view key;
  type kind;
  std::string_view option;  // that its value goes to; empty: a word of its own
};

constexpr rule top_rules[] = {{"benchmarks", type::texts, ""},
                              {"seed", type::whole, "--seed"},
                              {"timeout_ms", type::number, "--timeout"}};
constexpr rule cluster_rules[] = {{"nodes", type::whole, "--nodes"},         {"nic", type::text, "--nic"},
                                  {"topology", type::text, "--topology"},    {"platform", type::text, "--platform"},
                                  {"set", type::texts, "--set"},             {"faults", type::texts, "--fault"}};
constexpr rule output_rules[] = {{"json", type::text, "--json"},   {"report", type::text, "--report"},
                                 {"trace", type::text, "--trace"}, {"pcap", type::text, "--pcap"},
                                 {"waves", type::text, "--waves"}, {"window", type::text, "--window"}};

class reader {
 public:
  explicit reader(std::string file) : file_(std::move(file)) {}

  void table(const toml::table& t, std::string_view path, std::span<const rule> rules,
             std::span<const std::string_view> others = {}) {
    for (const auto& [key, node] : t) {
      const std::string name = path.empty() ? std::string(key.str()) : fmt::format("{}.{}", path, key.str());
      const auto found = std::ranges::find(rules, key.str(), &rule::key);
      if (found != rules.end())
        value(name, node, *found);
      else if (std::ranges::find(others, key.str()) == others.end())
        wrong(node.source(), name, "unknown key");
    }
  }
  // A sub-table that may be missing.
  void sub(const toml::table& root, std::string_view key, std::span<const rule> rules) {
    const toml::node* n = root.get(key);
    if (!n) return;
    if (const toml::table* t = n->as_table())
      table(*t, key, rules);
    else
      wrong(n->source(), key, "must be a table");
  }
  void size(const toml::table& root) {
    const toml::node* n = root.get("size");
    if (!n) return;
    const auto text = n->value_exact<std::string>();
    if (text == "quick" || text == "middle")
      words_.push_back("--" + *text);
    else if (text != "full")
      wrong(n->source(), "size", "must be \"quick\", \"middle\" or \"full\"");
  }
  void wrong(const toml::source_region& at, std::string_view key, std::string_view what) {
    errors_.push_back(fmt::format("{}:{}: {}: {}", file_, at.begin.line, key, what));
  }
  std::expected<std::vector<std::string>, std::string> end() && {
    if (!errors_.empty()) return std::unexpected(fmt::format("{}", fmt::join(errors_, "\n")));
    return std::move(words_);
  }

 private:
  void add(const rule& r, std::string text) {
    if (!r.option.empty()) words_.emplace_back(r.option);
    words_.push_back(std::move(text));
  }
  void value(const std::string& name, const toml::node& n, const rule& r) {
    if (r.kind == type::text) {
      if (const auto v = n.value_exact<std::string>()) return add(r, *v);
      return wrong(n.source(), name, "must be a string");
    }
    if (r.kind == type::whole) {
      if (const auto v = n.value_exact<int64_t>()) return add(r, fmt::format("{}", *v));
      return wrong(n.source(), name, "must be a whole number");
    }
    if (r.kind == type::number) {
      if (n.is_number()) return add(r, fmt::format("{}", *n.value<double>()));
      return wrong(n.source(), name, "must be a number");
    }
    const toml::array* list = n.as_array();
    if (!list || list->empty()) return wrong(n.source(), name, "must be a list of strings");
    for (const toml::node& each : *list) {
      const auto v = each.value_exact<std::string>();
      if (!v || v->empty() || (r.option.empty() && v->front() == '-'))
        wrong(each.source(), name, "must be a list of strings");
      else
        add(r, *v);
    }
  }

  std::string file_;
  std::vector<std::string> words_, errors_;
};

}  // namespace

std::expected<std::vector<std::string>, std::string> read_scenario(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return std::unexpected(fmt::format("scenario '{}': cannot be read", file.string()));
  const auto parsed = toml::parse_file(file.string());
  if (!parsed)
    return std::unexpected(fmt::format("{}:{}: {}", file.string(), parsed.error().source().begin.line,
                                       parsed.error().description()));
  const toml::table& root = parsed.table();
  reader r(file.string());
  constexpr std::string_view others[] = {"size", "cluster", "output"};
  r.table(root, "", top_rules, others);
  r.size(root);
  r.sub(root, "cluster", cluster_rules);
  r.sub(root, "output", output_rules);
  if (!root.contains("benchmarks")) r.wrong({{1, 1}, {1, 1}, nullptr}, "benchmarks", "missing key");
  return std::move(r).end();
}

}  // namespace ggas::bench
