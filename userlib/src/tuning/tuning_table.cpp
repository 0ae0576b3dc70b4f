// SPDX-License-Identifier: Apache-2.0
#include "ggas/tuning_table.hpp"

#include <toml++/toml.h>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "userlib/src/tuning/built_in.hpp"

namespace ggas {

namespace {

// Names of the methods that a table may choose, by their number in ggas_method.
constexpr std::array<const char*, 3> method_names = {"one_shot", "two_shot", "direct"};
constexpr uint32_t first_method = 2, most_blocks = 1024, most_threads = 512;

// Reads one entry; remembers the first thing that is wrong.
class reader {
 public:
  reader(std::string_view file, std::string where) : where_(std::string(file) + ": " + std::move(where)) {}
  const std::string& error() const { return error_; }

  uint64_t number(const toml::table& t, const std::string& key, uint64_t least, uint64_t most) {
    const auto v = t[key].value_exact<int64_t>();
    if (!v) return wrong(key, "must be a whole number");
    if (*v < 0 || static_cast<uint64_t>(*v) < least || static_cast<uint64_t>(*v) > most)
      return wrong(key, std::to_string(*v) + " is not in " + std::to_string(least) + " ... " + std::to_string(most));
    return static_cast<uint64_t>(*v);
  }

  tuning::limits limits(const toml::table& entry, const std::string& key) {
    const toml::table* t = entry[key].as_table();
    if (!t) return wrong(key, "must be a table with one_shot and two_shot, in bytes"), tuning::limits{};
    const auto all = uint64_t(INT64_MAX);
    const uint64_t one = number(*t, "one_shot", 0, all);
    return {one, number(*t, "two_shot", one, all)};
  }

  tuning::launch row(const toml::table& t, uint64_t above) {
    tuning::launch r{};
    r.bytes = t.contains("bytes") ? number(t, "bytes", above + 1, INT64_MAX) : tuning::any;
    const auto name = t["method"].value_exact<std::string>();
    for (uint32_t m = 0; name && m < method_names.size(); ++m) {
      if (*name == method_names[m]) r.method = first_method + m;
    }
    if (r.method == 0) wrong("method", "must be one_shot, two_shot or direct");
    r.blocks = static_cast<uint32_t>(number(t, "blocks", 1, most_blocks));
    r.threads = static_cast<uint32_t>(number(t, "threads", 32, most_threads));
    return r;
  }

  void on_stream(const toml::table& entry, tuning& out) {
    const toml::array* rows = entry["on_stream"].as_array();
    if (!rows || rows->empty() || rows->size() > tuning::rows || !rows->is_homogeneous<toml::table>()) {
      wrong("on_stream", "must be an array of 1 ... " + std::to_string(int{tuning::rows}) + " tables");
      return;
    }
    for (size_t i = 0; i < tuning::rows; ++i) {  // the last one stands for the rest too
      const size_t at = std::min(i, rows->size() - 1);
      out.on_stream[i] = row(*rows->get_as<toml::table>(at), at == 0 ? 0 : out.on_stream[at - 1].bytes);
    }
    if (error_.empty() && out.on_stream[tuning::rows - 1].bytes != tuning::any)
      wrong("on_stream", "the last row must be without bytes: it is for all that are longer");
  }

 private:
  uint64_t wrong(const std::string& key, const std::string& rule) {
    if (error_.empty()) error_ = where_ + ": " + key + ": " + rule;
    return 0;
  }
  std::string where_, error_;
};

// The entry to use for so many nodes.
const toml::table* choose(const toml::array& entries, int nodes) {
  const toml::table* best = nullptr;
  int64_t best_count = 0;
  for (const toml::node& e : entries) {
    const toml::table* t = e.as_table();
    const auto count = t ? (*t)["count"].value_exact<int64_t>() : std::nullopt;
    if (!count || *count < 1) continue;
    const bool fits = *count <= nodes, best_fits = best && best_count <= nodes;
    if (!best || (fits ? !best_fits || *count > best_count : !best_fits && *count < best_count)) {
      best = t;
      best_count = *count;
    }
  }
  return best;
}

}  // namespace

std::expected<tuning, std::string> read_tuning(std::string_view text, std::string_view name, int nodes) {
  toml::table all;
  try {
    all = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    return std::unexpected(std::string(name) + ":" + std::to_string(e.source().begin.line) + ": " +
                           std::string(e.description()));
  }
  const toml::array* entries = all["nodes"].as_array();
  const toml::table* entry = entries ? choose(*entries, nodes) : nullptr;
  if (!entry)
    return std::unexpected(std::string(name) + ": needs an array of tables 'nodes', each with count = 1 or more");
  reader r(name, "nodes, count " + std::to_string(*(*entry)["count"].value<int64_t>()));
  tuning t{};
  t.block = r.limits(*entry, "block");
  t.grid = r.limits(*entry, "grid");
  r.on_stream(*entry, t);
  if (!r.error().empty()) return std::unexpected(r.error());
  return t;
}

std::expected<tuning, std::string> tuning_for(int nodes) {
  const char* file = std::getenv("GGAS_TUNING");
  if (!file || !*file) return read_tuning(built_in_tuning, "built-in tuning table", nodes);
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return std::unexpected(std::string("GGAS_TUNING = ") + file + ": cannot be read");
  return read_tuning(text, file, nodes);
}

std::string tuning_text(const tuning& t, int nodes) {
  std::ostringstream s;
  s << "[[nodes]]\ncount = " << nodes << "\n";
  const auto limits = [&](const char* key, const tuning::limits& l) {
    s << key << " = { one_shot = " << l.one_shot << ", two_shot = " << l.two_shot << " }\n";
  };
  limits("block", t.block);
  limits("grid", t.grid);
  s << "on_stream = [\n";
  for (const tuning::launch& l : t.on_stream) {
    s << "  { ";
    if (l.bytes != tuning::any) s << "bytes = " << l.bytes << ", ";
    s << "method = \"" << method_names.at(l.method - first_method) << "\", blocks = " << l.blocks
      << ", threads = " << l.threads << " },\n";
    if (l.bytes == tuning::any) break;
  }
  s << "]\n";
  return s.str();
}

}  // namespace ggas
