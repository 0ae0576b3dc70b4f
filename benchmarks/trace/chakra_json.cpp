// SPDX-License-Identifier: Apache-2.0
// Chakra traces as JSON, in the two forms that programs write: the messages of protobuf one after the other (Chakra's
// jsonizer), and one object with a list of nodes (ASTRA-sim).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/trace/chakra_file.hpp"

namespace ggas::bench {

namespace {

using nlohmann::json;

// protobuf writes numbers of 64 bits as texts.
chakra_attribute attribute(const std::string& name, const json& value) {
  chakra_attribute a{name};
  if (value.is_boolean()) a.number = value.get<bool>();
  if (value.is_number_integer()) a.number = value.get<int64_t>();
  if (!value.is_string()) return a;
  a.text = value.get<std::string>();
  int64_t n = 0;
  const auto [end, code] = std::from_chars(a.text->data(), a.text->data() + a.text->size(), n);
  if (code == std::errc{} && end == a.text->data() + a.text->size()) a.number = n;
  return a;
}

uint64_t whole(const json& value, const std::string& key) {
  const auto number = attribute(key, value).number;
  if (!number || *number < 0) throw chakra_broken{fmt::format("{}: expected a whole number from 0", key)};
  return uint64_t(*number);
}

// The value of the first of these keys; nothing: none is there.
const json* find(const json& node, std::initializer_list<const char*> keys) {
  for (const char* const key : keys)
    if (const auto at = node.find(key); at != node.end()) return &*at;
  return nullptr;
}

chakra_type type_of(const json& value) {
  static constexpr std::array names = {"INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
                                       "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
  for (size_t i = 0; i < names.size(); ++i)
    if (value == names[i]) return chakra_type(i);
  return chakra_type(whole(value, "type"));
}

void take_attributes(chakra_node& n, const json& list) {
  if (!list.is_array()) throw chakra_broken{"attr: expected a list"};
  for (const json& each : list) {
    const json* const name = each.is_object() ? find(each, {"name"}) : nullptr;
    if (!name || !name->is_string()) throw chakra_broken{"attr: expected objects with a name"};
    const json* value = nullptr;
    for (const auto& [key, v] : each.items())
      if (key.ends_with("Val") || key.ends_with("_val")) value = &v;
    if (value) take(n, attribute(*name, *value));
  }
}

chakra_node read_node(const json& in) {
  chakra_node n;
  n.unit = "entry";
  if (!in.is_object()) throw chakra_broken{"expected an object"};
  const json* const id = find(in, {"id", "Id"});
  if (id) n.id = whole(*id, "id");
  if (const json* v = find(in, {"type", "NodeType"})) n.type = type_of(*v);
  if (const json* v = find(in, {"durationMicros", "duration_micros", "runtime"})) n.micros = whole(*v, "duration");
  if (const json* v = find(in, {"dataDeps", "data_deps"})) {
    if (!v->is_array()) throw chakra_broken{"data_deps: expected a list"};
    for (const json& each : *v) n.data_deps.push_back(whole(each, "data_deps"));
  }
  for (const auto& [key, v] : in.items())
    if (!v.is_structured()) take(n, attribute(key, v));
  if (const json* v = find(in, {"attr"})) take_attributes(n, *v);
  only_gpus_communicate(n);
  return n;
}

}  // namespace

std::expected<std::vector<chakra_node>, std::string> parse_chakra_json(const std::string& text,
                                                                       const std::string& name) {
  std::vector<chakra_node> nodes;
  const auto add = [&nodes](const json& node) {
    nodes.push_back(read_node(node));
    nodes.back().place = nodes.size();
  };
  const auto fail = [&](std::string_view rule) {
    return std::unexpected(fmt::format("{}: entry {}: {}", name, nodes.size() + 1, rule));
  };
  std::istringstream in(text);
  try {
    json first;
    in >> first;
    const json* const list = first.is_object() ? find(first, {"workload_graph"}) : nullptr;
    if (!first.is_object()) return fail("expected the object of metadata, or one with workload_graph");
    if (list && !list->is_array()) return fail("workload_graph: expected a list");
    if (list) std::ranges::for_each(*list, add);
    for (json each; !list && in >> std::ws && !in.eof();) {
      in >> each;
      add(each);
    }
  } catch (const chakra_broken& b) {
    return fail(b.rule);
  } catch (const json::exception& e) {
    return fail(fmt::format("no JSON: {}", e.what()));
  }
  return nodes;
}

}  // namespace ggas::bench
