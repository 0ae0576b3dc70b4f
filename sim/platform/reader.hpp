// SPDX-License-Identifier: Apache-2.0
// Strict reading of a TOML table: every key must be read, and has a type and a range; errors are collected as "file:
// table.key: rule".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace ggas::sim {

class table_reader {
 public:
  // `errors` outlives the reader.
  table_reader(const toml::table* table, std::string file, std::string path, std::vector<std::string>& errors)
      : table_(table), file_(std::move(file)), path_(std::move(path)), errors_(errors) {}

  // Whole number in [min, max].
  template <std::integral T>
  void whole(std::string_view key, T& out, uint64_t min, uint64_t max) {
    const auto* n = find(key);
    if (!n) return;
    const auto v = n->value_exact<int64_t>();
    if (!v) return wrong(key, fmt::format("must be a whole number, is {}", kind(*n)));
    if (*v < 0 || uint64_t(*v) < min || uint64_t(*v) > max)
      return wrong(key, fmt::format("{} is out of range {} ... {}", *v, min, max));
    out = static_cast<T>(*v);
  }
  // As whole(), and one of a list or a power of two.
  template <std::integral T>
  void one_of(std::string_view key, T& out, std::initializer_list<uint64_t> values) {
    uint64_t v = 0;
    const size_t before = errors_.size();
    if (!table_ || !table_->contains(key)) {
      find(key);
      return;
    }
    whole(key, v, 0, std::numeric_limits<int64_t>::max());
    if (errors_.size() != before) return;
    for (const uint64_t ok : values)
      if (v == ok) {
        out = static_cast<T>(v);
        return;
      }
    wrong(key, fmt::format("{} is not one of {}", v, fmt::join(values, ", ")));
  }
  // Number in [min, max]; a whole number will do.
  void real(std::string_view key, double& out, double min, double max);
  void flag(std::string_view key, bool& out);
  void text(std::string_view key, std::string& out);
  // Nanoseconds in the file, picoseconds in `out`.
  void nanoseconds(std::string_view key, uint64_t& out, double max);
  // Sub-table; a reader of nothing if it is missing (which is an error).
  table_reader sub(std::string_view key);
  const toml::table* table(std::string_view key);
  // A key that may be missing.
  bool has(std::string_view key) const { return table_ && table_->contains(key); }
  // Reports a rule broken by `key`.
  void wrong(std::string_view key, std::string_view rule);
  // Reports every key no one asked for.
  void finish();

 private:
  const toml::node* find(std::string_view key);
  static std::string kind(const toml::node& n);

  const toml::table* table_;
  std::string file_, path_;
  std::vector<std::string>& errors_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace ggas::sim
