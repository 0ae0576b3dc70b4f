// SPDX-License-Identifier: Apache-2.0
#include "ggas/registrations.hpp"

#include "ggas/cluster.hpp"

namespace ggas {

registrations::registrations(cluster& c, size_t most)
    : cluster_(c),
      most_(most),
      informed_(c.when_freed([this](int node, const std::byte* at, size_t bytes) { freed(node, at, bytes); })) {}

registrations::~registrations() {
  for (auto& [node, t] : tables_)
    while (!t.entries.empty()) (void)undo(node, t, t.entries.begin());
}

std::optional<uint64_t> registrations::add(int node, const void* at, size_t bytes, std::string& why) {
  why.clear();
  table& t = tables_[node];
  const auto* const key = static_cast<const std::byte*>(at);
  const auto known = t.entries.find(key);
  if (known != t.entries.end() && known->second.bytes >= bytes) {
    ++t.found;
    return known->second.nla;
  }
  if (known == t.entries.end() && t.entries.size() >= most_) {
    why = "registration on node " + std::to_string(node) + ": the table is full: " + std::to_string(most_) +
          " addresses are registered; drop one, or free its memory";
    return std::nullopt;
  }
  const auto nla = cluster_.map_memory(node, at, bytes);
  if (!nla) {
    why = nla.error().text;
    return std::nullopt;
  }
  ++t.made;
  if (known != t.entries.end()) {
    ++t.lengthened;
    (void)cluster_.unmap_memory(node, known->second.nla);  // out of the table, whatever the NIC says
  }
  t.entries[key] = {bytes, *nla};
  return *nla;
}

std::string registrations::drop(int node, const void* at) {
  table& t = tables_[node];
  const auto known = t.entries.find(static_cast<const std::byte*>(at));
  if (known == t.entries.end()) return "registration on node " + std::to_string(node) + ": the address is in no entry";
  return undo(node, t, known);
}

// The entry goes, whatever the NIC says: it must not be found for what lies there next.
std::string registrations::undo(int node, table& t, std::map<const std::byte*, entry>::iterator which) {
  const uint64_t nla = which->second.nla;
  t.entries.erase(which);
  ++t.dropped;
  const auto ok = cluster_.unmap_memory(node, nla);
  return ok ? "" : ok.error().text;
}

void registrations::freed(int node, const std::byte* at, size_t bytes) {
  const auto its = tables_.find(node);
  if (its == tables_.end()) return;
  for (auto e = its->second.entries.begin(); e != its->second.entries.end();) {
    const auto here = e++;
    if (here->first < at + bytes && at < here->first + here->second.bytes) (void)undo(node, its->second, here);
  }
}

registration_counts registrations::counts(int node) const {
  const auto its = tables_.find(node);
  if (its == tables_.end()) return {};
  const table& t = its->second;
  return {t.entries.size(), t.made, t.lengthened, t.found, t.dropped};
}

}  // namespace ggas
