// SPDX-License-Identifier: Apache-2.0
#include "ggas/tuning_table.hpp"

// The parser checks some rules of a text by assertions before it reports them: they must not end a build with
// assertions.
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <sstream>

#include "userlib/cluster/tuning/built_in.hpp"

namespace ggas {

namespace {

// What a table calls a method, by its number in ggas_method; null: not for a table.
constexpr std::array<const char*, 8> method_names = {nullptr,  nullptr, "one_shot", "two_shot",
                                                     "direct", "push",  "read",     "tree"};
constexpr uint32_t most_blocks = 1024, most_threads = 512;

// Sets of methods, a bit each.
constexpr unsigned no_methods = 0, all_methods = 0b11111100, methods_of_reduce = 0b11010100;

// "one_shot, two_shot ... or tree"
std::string names_of(unsigned methods) {
  std::string text;
  for (size_t m = 0; m < method_names.size(); ++m) {
    if (!(methods >> m & 1)) continue;
    if (!text.empty()) text += methods >> (m + 1) == 0 ? " or " : ", ";
    text += method_names[m];
  }
  return text;
}

// Of puts with runs of up to as many bytes.
std::string staged_key(int i) { return "up_to_" + std::to_string(tuning::narrowest_staged << i); }

// Reads entries; remembers the first thing that is wrong.
class reader {
 public:
  explicit reader(std::string_view file) : file_(file) {}
  const std::string& error() const { return error_; }

  struct entry {
    uint64_t count;
    tuning values;
  };
  entry read(const toml::table& t) {
    entry e{};
    where_ = "nodes: ";
    e.count = number(t, "count", 1, INT32_MAX);
    where_ = "nodes, count " + std::to_string(e.count) + ": ";
    only(t, {"count", "block", "grid", "on_stream", "reduce", "broadcast", "spread", "root_sends", "by_nic", "typed",
             "engine_rows", "staged"});
    const tuning usual = tuning::usual();
    e.values.block = limits(t, "block");
    e.values.grid = limits(t, "grid");
    e.values.allreduce = launches(t, "on_stream", all_methods);
    e.values.reduce =
        t.contains("reduce") ? launches(t, "reduce", methods_of_reduce) : tuning::for_reduce(e.values.allreduce);
    e.values.broadcast = t.contains("broadcast") ? launches(t, "broadcast", no_methods) : usual.broadcast;
    e.values.spread = t.contains("spread") ? launches(t, "spread", no_methods) : usual.spread;
    e.values.root_sends = t.contains("root_sends") ? number(t, "root_sends", 0, INT64_MAX) : usual.root_sends;
    e.values.by_nic = t.contains("by_nic") ? number(t, "by_nic", 0, 256) : usual.by_nic;
    e.values.typed = t.contains("typed") ? launches(t, "typed", no_methods) : usual.typed;
    e.values.engine = t.contains("engine_rows") ? engine_rows(t) : usual.engine;
    e.values.staged = t.contains("staged") ? staged_puts(t) : usual.staged;
    return e;
  }
  void only(const toml::table& t, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : t)
      if (std::ranges::find(known, key.str()) == known.end()) wrong(value, std::string(key.str()), "unknown key");
  }

 private:
  // At a place of the file.
  uint64_t wrong(const toml::node& at, const std::string& key, const std::string& rule) {
    if (error_.empty())
      error_ = file_ + ":" + std::to_string(at.source().begin.line) + ": " + where_ + key + ": " + rule;
    return 0;
  }

  uint64_t number(const toml::table& t, const std::string& key, uint64_t least, uint64_t most) {
    const toml::node* n = t.get(key);
    const auto v = n ? n->value_exact<int64_t>() : std::nullopt;
    if (!v) return wrong(n ? *n : t, key, "must be a whole number");
    if (*v >= 0 && static_cast<uint64_t>(*v) >= least && static_cast<uint64_t>(*v) <= most)
      return static_cast<uint64_t>(*v);
    return wrong(*n, key, std::to_string(*v) + " is not in " + std::to_string(least) + " ... " + std::to_string(most));
  }

  tuning::limits limits(const toml::table& entry, const std::string& key) {
    tuning::limits l{};
    const toml::node* n = entry.get(key);
    const toml::table* t = n ? n->as_table() : nullptr;
    if (!t) return wrong(n ? *n : entry, key, "must be a table with one_shot and two_shot, in bytes"), l;
    only(*t, {"one_shot", "two_shot", "direct"});
    l.one_shot = number(*t, "one_shot", 0, INT64_MAX);
    l.two_shot = number(*t, "two_shot", l.one_shot, INT64_MAX);
    l.direct = t->contains("direct") ? number(*t, "direct", l.two_shot, INT64_MAX) : tuning::any;
    return l;
  }

  tuning::rows_by_engine engine_rows(const toml::table& entry) {
    const toml::table* const t = entry["engine_rows"].as_table();
    if (!t)
      return wrong(*entry.get("engine_rows"), "engine_rows", "must be a table with host and gpu, in bytes"),
             tuning::rows_by_engine{};
    only(*t, {"host", "gpu"});
    const auto least = [&](const char* key) { return t->contains(key) ? number(*t, key, 1, INT64_MAX) : tuning::any; };
    return {least("host"), least("gpu")};
  }

  tuning::staged_puts staged_puts(const toml::table& entry) {
    tuning::staged_puts puts = tuning::usual().staged;
    const toml::table* const t = entry["staged"].as_table();
    if (!t)
      return wrong(*entry.get("staged"), "staged", "must be a table with up_to_8 ... up_to_64 and structs, in bytes"),
             puts;
    only(*t, {"up_to_8", "up_to_16", "up_to_32", "up_to_64", "structs"});
    for (int i = 0; i < tuning::staged_widths; ++i)
      if (const std::string key = staged_key(i); t->contains(key)) puts.least[i] = number(*t, key, 1, INT64_MAX);
    if (t->contains("structs")) puts.structs = number(*t, "structs", 1, INT64_MAX);
    return puts;
  }

  // The number of a method that is one of `allowed`, bit by bit.
  uint32_t method_of(const toml::table& t, unsigned allowed) {
    const toml::node* method = t.get("method");
    const auto name = method ? method->value_exact<std::string>() : std::nullopt;
    for (uint32_t m = 0; name && m < method_names.size(); ++m)
      if ((allowed >> m & 1) && *name == method_names[m]) return m;
    return static_cast<uint32_t>(wrong(method ? *method : t, "method", "must be " + names_of(allowed)));
  }

  tuning::launch row(const toml::table& t, uint64_t above, unsigned methods) {
    only(t, methods ? std::initializer_list<std::string_view>{"bytes", "method", "blocks", "threads"}
                    : std::initializer_list<std::string_view>{"bytes", "blocks", "threads"});
    tuning::launch r{};
    r.bytes = t.contains("bytes") ? number(t, "bytes", above + 1, INT64_MAX) : tuning::any;
    if (methods) r.method = method_of(t, methods);
    r.blocks = static_cast<uint32_t>(number(t, "blocks", 1, most_blocks));
    r.threads = static_cast<uint32_t>(number(t, "threads", 32, most_threads));
    return r;
  }

  tuning::launches launches(const toml::table& entry, const std::string& key, unsigned methods) {
    tuning::launches out{};
    const toml::node* n = entry.get(key);
    const toml::array* rows = n ? n->as_array() : nullptr;
    if (!rows || rows->empty() || rows->size() > tuning::rows || !rows->is_homogeneous<toml::table>()) {
      wrong(n ? *n : entry, key, "must be an array of 1 ... " + std::to_string(int{tuning::rows}) + " tables");
      return out;
    }
    uint64_t above = 0;
    for (size_t i = 0; i < rows->size(); ++i) {
      const toml::table& t = *rows->get_as<toml::table>(i);
      out.row[i] = row(t, above, methods);
      above = out.row[i].bytes;
      if ((above == tuning::any) != (i + 1 == rows->size()))
        wrong(t, key, "the last row, and no other, must be without bytes: it is for all that are longer");
    }
    // The last one stands for the rest too.
    std::fill(out.row + rows->size(), out.row + tuning::rows, out.row[rows->size() - 1]);
    return out;
  }

  std::string file_, where_, error_;
};

// Whether an entry is better than another one for that number of nodes: the next smaller number is best, or else the
// smallest number. Of two entries for the same number the later one is better, because it was measured later.
bool is_better(uint64_t count, uint64_t other, uint64_t nodes) {
  const bool fits = count <= nodes, other_fits = other <= nodes;
  return fits != other_fits ? fits : fits ? count >= other : count <= other;
}

// The end of the string that begins at a quote; counts the lines in it.
size_t string_end(std::string_view text, size_t at, size_t& line) {
  const char quote = text[at];
  const size_t quotes = text.substr(at, 3) == std::string(3, quote) ? 3 : 1;
  for (at += quotes; at < text.size(); ++at) {
    if (text.substr(at, quotes) == std::string(quotes, quote)) return at + quotes;
    if (text[at] == '\n' && quotes == 1) return at;
    if (text[at] == '\\' && quote == '"') ++at;
    if (at < text.size() && text[at] == '\n') ++line;
  }
  return at;
}

// The line with a non-ASCII letter outside of strings and comments, where TOML allows no such letter; 0 if there is no
// such line. The parser (3.3) assumes that this cannot happen, and then has undefined behaviour.
size_t line_of_foreign_letter(std::string_view text) {
  size_t line = 1;
  for (size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) > 0x7f) return line;
    if (c == '"' || c == '\'') {
      at = string_end(text, at, line);
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      line += c == '\n';
      ++at;
    }
  }
  return 0;
}

}  // namespace

result<tuning> read_tuning(std::string_view text, std::string_view name, int nodes) {
  const auto refuse = [&](const std::string& why) { return error{errc::bad_argument, std::string(name) + why}; };
  if (const size_t line = line_of_foreign_letter(text); line)
    return refuse(":" + std::to_string(line) + ": only strings and comments may have letters outside ASCII");
  toml::table all;
  try {
    all = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    return refuse(":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
  }
  const toml::array* entries = all["nodes"].as_array();
  if (!entries || entries->empty() || !entries->is_homogeneous<toml::table>())
    return refuse(": needs an array of tables 'nodes', each with count = 1 or more");
  reader r(name);
  r.only(all, {"nodes"});
  std::optional<reader::entry> best;
  for (const toml::node& e : *entries) {
    const reader::entry one = r.read(*e.as_table());
    if (!best || is_better(one.count, best->count, static_cast<uint64_t>(nodes))) best = one;
  }
  if (!r.error().empty()) return error{errc::bad_argument, r.error()};
  return best->values;
}

result<tuning> tuning_for(int nodes) {
  const char* file = std::getenv("GGAS_TUNING");
  if (!file || !*file) return read_tuning(built_in_tuning, "built-in tuning table", nodes);
  constexpr std::streamsize most = 1 << 20;  // of a table that someone wrote
  std::string text(most + 1, 0);
  std::ifstream in(file);
  in.read(text.data(), most + 1);  // does not throw for a folder, as iterators do
  if (in.bad() || !in.is_open()) return error{errc::no_file, std::string("GGAS_TUNING = ") + file + ": cannot be read"};
  if (in.gcount() > most)
    return error{errc::bad_argument, std::string("GGAS_TUNING = ") + file + ": is longer than 1 MiB"};
  text.resize(static_cast<size_t>(in.gcount()));
  return read_tuning(text, file, nodes);
}

std::string tuning_text(const tuning& t, int nodes) {
  std::ostringstream s;
  s << "[[nodes]]\ncount = " << nodes << "\n";
  const auto limits = [&](const char* key, const tuning::limits& l) {
    s << key << " = { one_shot = " << l.one_shot << ", two_shot = " << l.two_shot;
    if (l.direct != tuning::any) s << ", direct = " << l.direct;
    s << " }\n";
  };
  limits("block", t.block);
  limits("grid", t.grid);
  const auto launches = [&](const char* key, const tuning::launches& all) {
    s << key << " = [\n";
    for (const tuning::launch& l : all.row) {
      s << "  { ";
      if (l.bytes != tuning::any) s << "bytes = " << l.bytes << ", ";
      if (l.method != 0) s << "method = \"" << method_names.at(l.method) << "\", ";
      s << "blocks = " << l.blocks << ", threads = " << l.threads << " },\n";
      if (l.bytes == tuning::any) break;
    }
    s << "]\n";
  };
  launches("on_stream", t.allreduce);
  launches("reduce", t.reduce);
  launches("broadcast", t.broadcast);
  launches("spread", t.spread);
  s << "root_sends = " << t.root_sends << "\nby_nic = " << t.by_nic << "\n";
  launches("typed", t.typed);
  s << "engine_rows = { ";
  if (t.engine.host != tuning::any) s << "host = " << t.engine.host << (t.engine.gpu != tuning::any ? ", " : " ");
  if (t.engine.gpu != tuning::any) s << "gpu = " << t.engine.gpu << " ";
  s << "}\nstaged = {";
  const char* before = " ";
  const auto entry = [&](const std::string& key, uint64_t least) {
    if (least == tuning::any) return;
    s << before << key << " = " << least;
    before = ", ";
  };
  for (int i = 0; i < tuning::staged_widths; ++i) entry(staged_key(i), t.staged.least[i]);
  entry("structs", t.staged.structs);
  s << " }\n";
  return s.str();
}

}  // namespace ggas
