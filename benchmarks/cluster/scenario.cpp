// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "benchmarks/harness/common_line.hpp"
#include "sim/platform/platform.hpp"

namespace ggas::bench {

namespace {

enum class type { text, whole, number, flag, texts };

struct rule {
  std::string_view key;
  type kind;
  std::string_view option;  // that its value goes to; empty: a word of its own
};

constexpr rule top_rules[] = {{"benchmarks", type::texts, ""},
                              {"seed", type::whole, "--seed"},
                              {"seeds", type::whole, "--seeds"},
                              {"timeout_ms", type::number, "--timeout"}};
constexpr rule cluster_rules[] = {{"nodes", type::whole, "--nodes"},      {"gpus", type::whole, "--gpus"},
                                  {"nic", type::text, "--nic"},           {"topology", type::text, "--topology"},
                                  {"platform", type::text, "--platform"}, {"set", type::texts, "--set"},
                                  {"faults", type::texts, "--fault"}};
constexpr rule output_rules[] = {{"json", type::text, "--json"},     {"report", type::text, "--report"},
                                 {"trace", type::text, "--trace"},   {"pcap", type::text, "--pcap"},
                                 {"waves", type::text, "--waves"},   {"window", type::text, "--window"},
                                 {"energy", type::flag, "--energy"}, {"energy_units", type::flag, "--energy-units"}};

constexpr std::string_view node_keys[] = {"count", "gpus", "platform", "set"};
constexpr std::string_view program_keys[] = {"command", "nodes", "environment", "exit_status", "stdout"};
constexpr int64_t most_nodes = 65'536, most_gpus = 16, longest_s = 10'000'000;

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
      settings_.push_back({"--" + *text, {}});
    else if (text != "full")
      wrong(n->source(), "size", "must be \"quick\", \"middle\" or \"full\"");
  }
  // [[node]]: computers of one kind each.
  void nodes(const toml::table& root) {
    const toml::node* n = root.get("node");
    if (!n) return;
    const toml::array* list = n->as_array();
    if (!list || list->empty() || !list->is_array_of_tables())
      return wrong(n->source(), "node", "must be tables, [[node]]");
    for (const char* const key : {"nodes", "gpus"})
      if (const toml::node* other = root["cluster"][key].node())
        wrong(other->source(), fmt::format("cluster.{}", key), "cannot be combined with [[node]], which sets it");
    const cluster_config plain;
    const auto usual = root["cluster"]["platform"].value_or(plain.platform);
    for (const toml::node& each : *list) node(*each.as_table(), usual);
  }
  // [[program]]: what runs on some nodes each.
  void programs(const toml::table& root) {
    if (const toml::node* n = root.get("timeout_s")) {
      if (!root.contains("program")) wrong(n->source(), "timeout_s", "needs a table [[program]]");
      job_.timeout_s = whole(*n, "timeout_s", 1, longest_s);
    }
    const toml::node* n = root.get("program");
    if (!n) return;
    const toml::array* list = n->as_array();
    if (!list || list->empty() || !list->is_array_of_tables())
      return wrong(n->source(), "program", "must be tables, [[program]]");
    if (const toml::node* other = root.get("node"))
      wrong(other->source(), "node", "cannot be combined with [[program]]: nodes are of one kind, with one GPU each");
    for (const toml::node& each : *list) program(*each.as_table());
  }
  void wrong(const toml::source_region& at, std::string_view key, std::string_view what) {
    errors_.push_back(fmt::format("{}:{}: {}: {}", file_, at.begin.line, key, what));
  }
  std::expected<scenario, std::string> end() && {
    if (!errors_.empty()) return std::unexpected(fmt::format("{}", fmt::join(errors_, "\n")));
    return scenario{std::move(settings_), std::move(nodes_), std::move(job_)};
  }

 private:
  void program(const toml::table& t) {
    for (const auto& [key, value] : t)
      if (std::ranges::find(program_keys, key.str()) == std::end(program_keys))
        wrong(value.source(), fmt::format("program.{}", key.str()), "unknown key");
    scenario_program it;
    const toml::node* const nodes = t.get("nodes");
    it.where = fmt::format("{}:{}", file_, (nodes ? nodes->source() : t.source()).begin.line);
    if (const toml::node* n = t.get("command"))
      it.command = texts(*n, "program.command");
    else
      wrong(t.source(), "program.command", "missing key");
    if (nodes) it.nodes = node_numbers(*nodes);
    if (const toml::node* n = t.get("exit_status")) it.exit_status = whole(*n, "program.exit_status", 0, 255);
    if (const toml::node* n = t.get("stdout")) it.standard_output = text(*n, "program.stdout");
    if (const toml::node* n = t.get("environment")) it.environment = variables(*n);
    job_.programs.push_back(std::move(it));
  }
  std::vector<std::pair<std::string, std::string>> variables(const toml::node& n) {
    std::vector<std::pair<std::string, std::string>> out;
    const toml::table* const t = n.as_table();
    if (!t) wrong(n.source(), "program.environment", "must be a table");
    if (!t) return out;
    for (const auto& [key, value] : *t) {
      const std::string name(key.str());
      const auto said = value.value_exact<std::string>();
      if (!said || name.empty() || name.find('=') != name.npos)
        wrong(value.source(), "program.environment." + name, "must be a string");
      else
        out.emplace_back(name, *said);
    }
    return out;
  }
  std::vector<int64_t> node_numbers(const toml::node& n) {
    std::vector<int64_t> out;
    const toml::array* const list = n.as_array();
    if (!list || list->empty()) wrong(n.source(), "program.nodes", "must be a list of whole numbers");
    for (size_t i = 0; list && i < list->size(); ++i)
      out.push_back(whole((*list)[i], "program.nodes", 0, most_nodes - 1));
    return out;
  }
  // The least if it is wrong.
  int64_t whole(const toml::node& n, std::string_view name, int64_t least, int64_t most) {
    const auto v = n.value_exact<int64_t>();
    if (v && *v >= least && *v <= most) return *v;
    wrong(n.source(), name, fmt::format("must be a whole number, {} ... {}", least, most));
    return least;
  }
  std::string text(const toml::node& n, std::string_view name) {
    const auto v = n.value_exact<std::string>();
    if (!v || v->empty()) wrong(n.source(), name, "must be a string");
    return v.value_or("");
  }
  // Empty after a message.
  std::vector<std::string> texts(const toml::node& n, std::string_view name) {
    std::vector<std::string> out;
    const toml::array* const list = n.as_array();
    for (size_t i = 0; list && i < list->size(); ++i)
      if (const auto v = list->get(i)->value_exact<std::string>()) out.push_back(*v);
    if (out.empty() || out.size() != list->size() || out.front().empty())
      wrong(n.source(), name, "must be a list of strings");
    return out;
  }
  void node(const toml::table& t, const std::string& usual_platform) {
    for (const auto& [key, value] : t)
      if (std::ranges::find(node_keys, key.str()) == std::end(node_keys))
        wrong(value.source(), fmt::format("node.{}", key.str()), "unknown key");
    host_config it;
    const int64_t count = in_range(t, "count", most_nodes);
    it.gpus = int(in_range(t, "gpus", most_gpus));
    if (const toml::node* n = t.get("platform")) it.platform = text(*n, "node.platform");
    if (const toml::node* n = t.get("set")) it.overrides = texts(*n, "node.set");
    check_platform(t, it, it.platform.empty() ? usual_platform : it.platform);
    if (count > most_nodes - int64_t(nodes_.size()))
      return wrong(t.source(), "node", fmt::format("more than {} nodes", most_nodes));
    nodes_.insert(nodes_.end(), size_t(count), it);
  }
  // 1 if the key is missing or wrong.
  int64_t in_range(const toml::table& t, std::string_view key, int64_t most) {
    const toml::node* n = t.get(key);
    return n ? whole(*n, fmt::format("node.{}", key), 1, most) : 1;
  }
  // What [cluster] says is wrong is reported after.
  void check_platform(const toml::table& t, const host_config& it, const std::string& name) {
    const auto line = [&t](const char* key) { return t.contains(key) ? t.get(key)->source() : t.source(); };
    const auto plain = sim::load_platform(name);
    if (!plain && it.platform.empty()) return;
    if (!plain) return wrong(line("platform"), "node.platform", plain.error());
    if (const auto with = sim::load_platform(name, it.overrides); !with) wrong(line("set"), "node.set", with.error());
    for (const std::string& o : it.overrides)
      for (const char* const table : {"nic.", "link.", "rma."})
        if (o.starts_with(table))
          wrong(line("set"), "node.set", fmt::format("'{}': NIC and links are those of [cluster]", o));
    if (it.gpus > 1 && !plain->pcie.switches)
      wrong(line("gpus"), "node.gpus", fmt::format("{} has no table pcie.switch: one GPU at most", plain->file));
  }
  void add(const rule& r, std::string text) { settings_.push_back({std::string(r.option), std::move(text)}); }
  void value(const std::string& name, const toml::node& n, const rule& r) {
    if (r.kind == type::text) {
      const auto v = n.value_exact<std::string>();
      if (!v) return wrong(n.source(), name, "must be a string");
      if (const std::string rule = a_name(*v); !rule.empty()) return wrong(n.source(), name, rule);
      return add(r, *v);
    }
    if (r.kind == type::whole) {
      if (const auto v = n.value_exact<int64_t>()) return add(r, fmt::format("{}", *v));
      return wrong(n.source(), name, "must be a whole number");
    }
    if (r.kind == type::number) {
      if (n.is_number()) return add(r, fmt::format("{}", *n.value<double>()));
      return wrong(n.source(), name, "must be a number");
    }
    if (r.kind == type::flag) {
      const auto v = n.value_exact<bool>();
      if (!v) return wrong(n.source(), name, "must be true or false");
      if (*v) add(r, "");
      return;
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
  std::vector<setting> settings_;
  std::vector<std::string> errors_;
  std::vector<host_config> nodes_;
  scenario_job job_;
};

}  // namespace

std::expected<scenario, std::string> read_scenario(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return std::unexpected(fmt::format("scenario '{}': cannot be read", file.string()));
  const auto parsed = toml::parse_file(file.string());
  if (!parsed)
    return std::unexpected(
        fmt::format("{}:{}: {}", file.string(), parsed.error().source().begin.line, parsed.error().description()));
  const toml::table& root = parsed.table();
  reader r(file.string());
  constexpr std::string_view others[] = {"size", "cluster", "node", "program", "timeout_s", "output"};
  r.table(root, "", top_rules, others);
  r.size(root);
  r.sub(root, "cluster", cluster_rules);
  r.nodes(root);
  r.programs(root);
  r.sub(root, "output", output_rules);
  if (!root.contains("benchmarks") && !root.contains("program"))
    r.wrong({{1, 1}, {1, 1}, nullptr}, "benchmarks", "missing key, and there is no [[program]]");
  return std::move(r).end();
}

}  // namespace ggas::bench
