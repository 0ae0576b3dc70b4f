// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/reader.hpp"

#include <cmath>
#include <sstream>

namespace ggas::sim {

std::string table_reader::kind(const toml::node& n) {
  std::ostringstream s;
  s << n.type();
  return s.str();
}

void table_reader::wrong(std::string_view key, std::string_view rule) {
  errors_.push_back(fmt::format("{}: {}{}{}: {}", file_, path_, path_.empty() ? "" : ".", key, rule));
}

const toml::node* table_reader::find(std::string_view key) {
  known_.emplace(key);
  if (!table_) return nullptr;  // the missing table was reported
  const toml::node* n = table_->get(key);
  if (!n) wrong(key, "missing key");
  return n;
}

void table_reader::real(std::string_view key, double& out, double min, double max) {
  const auto* n = find(key);
  if (!n) return;
  const auto v = n->is_number() ? n->value<double>() : std::nullopt;
  if (!v) return wrong(key, fmt::format("must be a number, is {}", kind(*n)));
  if (!(*v >= min && *v <= max)) return wrong(key, fmt::format("{} is out of range {} ... {}", *v, min, max));
  out = *v;
}

void table_reader::nanoseconds(std::string_view key, uint64_t& out, double max) {
  double ns = 0;
  const size_t before = errors_.size();
  real(key, ns, 0, max);
  if (errors_.size() == before) out = uint64_t(std::llround(ns * 1000));
}

void table_reader::flag(std::string_view key, bool& out) {
  const auto* n = find(key);
  if (!n) return;
  const auto v = n->value_exact<bool>();
  if (!v) return wrong(key, fmt::format("must be true or false, is {}", kind(*n)));
  out = *v;
}

void table_reader::text(std::string_view key, std::string& out) {
  const auto* n = find(key);
  if (!n) return;
  const auto v = n->value_exact<std::string>();
  if (!v) return wrong(key, fmt::format("must be a string, is {}", kind(*n)));
  out = *v;
}

const toml::table* table_reader::table(std::string_view key) {
  const auto* n = find(key);
  if (!n) return nullptr;
  if (!n->is_table()) wrong(key, fmt::format("must be a table, is {}", kind(*n)));
  return n->as_table();
}

table_reader table_reader::sub(std::string_view key) {
  const auto* t = table(key);
  return {t, file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key), errors_};
}

void table_reader::finish() {
  if (!table_) return;
  for (const auto& [key, node] : *table_)
    if (!known_.contains(key.str())) wrong(key.str(), "unknown key");
}

}  // namespace ggas::sim
