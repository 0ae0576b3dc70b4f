// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "sim/fabric/graph/readers.hpp"

namespace ggas::fabric {

namespace {

constexpr double most_ns = 1e9, most_gbit = 1e6;

class toml_reader {
 public:
  explicit toml_reader(std::string_view file) : file_(file) {}

  std::expected<described_network, std::string> read(const toml::table& root) {
    for (const auto& [key, value] : root) known(key.str(), value);
    const auto nics = whole(root, "nics", 1, graph::most_vertices).value_or(0);
    const toml::array* switches = root["switches"].as_array();
    if (nics == 0) wrong(root, "nics: missing key");
    if (!switches) wrong(root, "switches: expected a list of names");
    if (wrong_.empty()) name_all(unsigned(nics), *switches);
    if (!wrong_.empty()) return std::unexpected(wrong_);
    graph g(unsigned(nics), unsigned(switches->size()));
    for (const auto& [name, vertex] : vertices_) g.name(vertex, name);
    settings(root, g.settings);
    const routing how = routing_of(root);
    const toml::array* links = root["link"].as_array();
    if (!links) wrong(root, "link: expected tables [[link]]");
    for (size_t i = 0; links && wrong_.empty() && i < links->size(); ++i)
      if (const toml::table* t = links->get(i)->as_table())
        link(*t, g);
      else
        wrong(*links->get(i), "link: expected tables [[link]]");
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return described_network{std::move(g), how};
  }

 private:
  void wrong(const toml::node& at, std::string_view what) {
    if (wrong_.empty()) wrong_ = fmt::format("{}:{}: {}", file_, at.source().begin.line, what);
  }
  void known(std::string_view key, const toml::node& value) {
    static const std::set<std::string_view> keys{"nics",           "switches",    "link",   "forward_ns",
                                                 "buffer_packets", "cut_through", "routing"};
    if (!keys.contains(key)) wrong(value, fmt::format("{}: unknown key", key));
  }
  std::optional<int64_t> whole(const toml::table& t, const char* key, int64_t least, int64_t most) {
    const toml::node* n = t.get(key);
    if (!n) return std::nullopt;
    const auto value = n->value_exact<int64_t>();
    if (value && *value >= least && *value <= most) return value;
    wrong(*n, fmt::format("{}: must be a whole number, {} to {}", key, least, most));
    return std::nullopt;
  }
  // Above 0, or from 0 on.
  std::optional<double> number(const toml::table& t, const char* key, bool zero, double most) {
    const toml::node* n = t.get(key);
    if (!n) return std::nullopt;
    const auto value = n->is_number() ? n->value<double>() : std::nullopt;
    if (value && (zero ? *value >= 0 : *value > 0) && *value <= most) return value;
    wrong(*n, fmt::format("{}: must be {} 0 and at most {}", key, zero ? "at least" : "above", most));
    return std::nullopt;
  }
  void name_all(unsigned nics, const toml::array& switches) {
    for (unsigned n = 0; n < nics; ++n) vertices_[fmt::format("nic{}", n)] = n;
    for (const toml::node& each : switches) {
      const auto name = each.value_exact<std::string>();
      if (!name || name->empty() || name->find(':') != name->npos)
        return wrong(each, "switches: expected a list of names, without ':'");
      if (!vertices_.emplace(*name, nics + unsigned(names_++)).second)
        return wrong(each, fmt::format("switches: '{}' is there twice", *name));
    }
  }
  void settings(const toml::table& root, switch_settings& s) {
    if (const auto ns = number(root, "forward_ns", true, most_ns)) s.forward_ps = uint64_t(std::llround(*ns * 1000));
    if (const auto packets = whole(root, "buffer_packets", 1, 10'000)) s.buffer_packets = unsigned(*packets);
    const toml::node* n = root.get("cut_through");
    if (!n) return;
    if (const auto on = n->value_exact<bool>())
      s.cut_through = *on;
    else
      wrong(*n, "cut_through: must be true or false");
  }
  routing routing_of(const toml::table& root) {
    const toml::node* n = root.get("routing");
    if (!n) return routing::automatic;
    const auto text = n->value_exact<std::string>();
    if (text == "auto") return routing::automatic;
    if (text == "shortest") return routing::shortest;
    if (text == "up-down") return routing::up_down;
    wrong(*n, "routing: must be \"auto\", \"shortest\" or \"up-down\"");
    return routing::automatic;
  }
  void link(const toml::table& t, graph& g) {
    static const std::set<std::string_view> keys{"between", "gbit_per_s", "latency_ns"};
    for (const auto& [key, value] : t)
      if (!keys.contains(key.str())) return wrong(value, fmt::format("link.{}: unknown key", key.str()));
    cable c;
    if (const auto gbit = number(t, "gbit_per_s", false, most_gbit)) c.bits_per_second = *gbit * 1e9;
    if (const auto ns = number(t, "latency_ns", true, most_ns)) c.latency_ps = uint64_t(std::llround(*ns * 1000));
    const toml::array* ends = t["between"].as_array();
    if (!ends || ends->size() != 2) return wrong(t, "link.between: expected two ends, as in [\"leaf0\", \"nic0\"]");
    const auto a = side(*ends->get(0)), b = side(*ends->get(1));
    if (!wrong_.empty()) return;
    if (a.size() > 1 && b.size() > 1) return wrong(*ends, "link.between: one end must be a single name");
    for (const unsigned from : a)
      for (const unsigned to : b) g.connect(from, to, c, c);
  }
  // A name, or a list of names.
  std::vector<unsigned> side(const toml::node& n) {
    std::vector<unsigned> out;
    if (const toml::array* list = n.as_array())
      for (const toml::node& each : *list) out.push_back(end(each));
    else
      out.push_back(end(n));
    if (out.empty()) wrong(n, "link.between: an end without a name");
    return out;
  }
  // "leaf0" or "leaf0:3", port 3, which only one cable may have.
  unsigned end(const toml::node& n) {
    const std::string text = n.value_exact<std::string>().value_or("");
    const std::string name = text.substr(0, text.find(':'));
    const auto found = vertices_.find(name);
    if (found == vertices_.end())
      wrong(n, fmt::format("link.between: '{}' is no switch of the list and none of nic0, nic1, ...", name));
    if (!wrong_.empty() || name.size() == text.size()) return wrong_.empty() ? found->second : 0;
    const std::string digits = text.substr(name.size() + 1);
    unsigned port = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || stop != digits.data() + digits.size())
      wrong(n, fmt::format("link.between: '{}': a port is a whole number", text));
    else if (!taken_.emplace(found->second, port).second)
      wrong(n, fmt::format("link.between: port {} of '{}' has two cables", port, name));
    return found->second;
  }

  std::string_view file_;
  std::string wrong_;
  std::map<std::string, unsigned, std::less<>> vertices_;
  std::set<std::pair<unsigned, unsigned>> taken_;
  size_t names_ = 0;
};

}  // namespace

std::expected<described_network, std::string> read_network_toml(std::string_view text, std::string_view file) {
  const auto parsed = toml::parse(text, file);
  if (!parsed)
    return std::unexpected(
        fmt::format("{}:{}: {}", file, parsed.error().source().begin.line, parsed.error().description()));
  return toml_reader(file).read(parsed.table());
}

}  // namespace ggas::fabric
