// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/chakra_file.hpp"

#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <unordered_map>

namespace ggas::bench {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Numbers of the fields of the messages Node and AttributeProto.
namespace node_field {
constexpr uint32_t id = 1, type = 3, data_deps = 5, duration_micros = 7, attr = 10;
}
namespace attr_field {
constexpr uint32_t name = 1, int32_val = 7, int64_val = 9, uint32_val = 11, uint64_val = 13, sint32_val = 15,
                   sint64_val = 17, fixed32_val = 19, fixed64_val = 21, sfixed32_val = 23, sfixed64_val = 25,
                   bool_val = 27, string_val = 29;
}

constexpr uint32_t field(uint32_t number, pbf_wire_type type) { return protozero::tag_and_type(number, type); }

chakra_attribute read_attribute(pbf_reader in) {
  chakra_attribute a;
  while (in.next()) switch (in.tag_and_type()) {
      case field(attr_field::name, pbf_wire_type::length_delimited):
        a.name = in.get_string();
        break;
      case field(attr_field::string_val, pbf_wire_type::length_delimited):
        a.text = in.get_string();
        break;
      case field(attr_field::int32_val, pbf_wire_type::varint):
        a.number = in.get_int32();
        break;
      case field(attr_field::int64_val, pbf_wire_type::varint):
        a.number = in.get_int64();
        break;
      case field(attr_field::uint32_val, pbf_wire_type::varint):
        a.number = in.get_uint32();
        break;
      case field(attr_field::uint64_val, pbf_wire_type::varint):
        a.number = int64_t(in.get_uint64());
        break;
      case field(attr_field::sint32_val, pbf_wire_type::varint):
        a.number = in.get_sint32();
        break;
      case field(attr_field::sint64_val, pbf_wire_type::varint):
        a.number = in.get_sint64();
        break;
      case field(attr_field::fixed32_val, pbf_wire_type::fixed32):
        a.number = in.get_fixed32();
        break;
      case field(attr_field::fixed64_val, pbf_wire_type::fixed64):
        a.number = int64_t(in.get_fixed64());
        break;
      case field(attr_field::sfixed32_val, pbf_wire_type::fixed32):
        a.number = in.get_sfixed32();
        break;
      case field(attr_field::sfixed64_val, pbf_wire_type::fixed64):
        a.number = in.get_sfixed64();
        break;
      case field(attr_field::bool_val, pbf_wire_type::varint):
        a.number = in.get_bool();
        break;
      default:
        in.skip();
    }
  return a;
}

// The attribute as a number that is not negative.
uint64_t whole(const chakra_attribute& a) {
  if (!a.number || *a.number < 0)
    throw chakra_broken{fmt::format("attribute {}: expected a whole number from 0", a.name)};
  return uint64_t(*a.number);
}

void read_node(chakra_node& n, pbf_reader in) {
  while (in.next()) switch (in.tag_and_type()) {
      case field(node_field::id, pbf_wire_type::varint):
        n.id = in.get_uint64();
        break;
      case field(node_field::type, pbf_wire_type::varint):
        n.type = chakra_type(in.get_enum());
        break;
      case field(node_field::duration_micros, pbf_wire_type::varint):
        n.micros = in.get_uint64();
        break;
      case field(node_field::data_deps, pbf_wire_type::varint):
        n.data_deps.push_back(in.get_uint64());
        break;
      case field(node_field::data_deps, pbf_wire_type::length_delimited):
        for (const uint64_t id : in.get_packed_uint64()) n.data_deps.push_back(id);
        break;
      case field(node_field::attr, pbf_wire_type::length_delimited):
        take(n, read_attribute(in.get_message()));
        break;
      default:
        in.skip();
    }
  only_gpus_communicate(n);
}

// What a file is cut into.
pbf_reader next_message(std::string_view bytes, size_t& at) {
  const char* data = bytes.data() + at;
  const char* const end = bytes.data() + bytes.size();
  const uint64_t length = protozero::decode_varint(&data, end);
  if (length > size_t(end - data)) throw protozero::end_of_buffer_exception{};
  at = size_t(data - bytes.data()) + length;
  return {data, size_t(length)};
}

}  // namespace

void take(chakra_node& n, const chakra_attribute& a) {
  using optional_number = std::optional<uint64_t> chakra_node::*;
  using number = uint64_t chakra_node::*;
  static const std::unordered_map<std::string_view, optional_number> optionals = {
      {"comm_type", &chakra_node::comm_type},
      {"comm_size", &chakra_node::comm_size},
      {"comm_src", &chakra_node::comm_src},
      {"comm_dst", &chakra_node::comm_dst}};
  static const std::unordered_map<std::string_view, number> numbers = {{"comm_tag", &chakra_node::comm_tag},
                                                                       {"num_ops", &chakra_node::num_ops},
                                                                       {"tensor_size", &chakra_node::tensor_size},
                                                                       {"stream", &chakra_node::stream},
                                                                       {"tid", &chakra_node::tid}};
  if (const auto o = optionals.find(a.name); o != optionals.end()) {
    n.*o->second = whole(a);
  } else if (const auto m = numbers.find(a.name); m != numbers.end()) {
    n.*m->second = whole(a);
  } else if (a.name == "is_cpu_op") {
    n.is_cpu_op = whole(a) != 0;
  } else if (a.name == "pg_name") {
    if (!a.text) throw chakra_broken{"attribute pg_name: expected a string"};
    n.pg_name = *a.text;
  }
}

void only_gpus_communicate(chakra_node& n) {
  const bool communicates = n.type >= chakra_type::send && n.type <= chakra_type::collective;
  if (n.is_cpu_op && communicates) n.type = chakra_type::comp;
}

std::string chakra_wrong(const std::string& name, const chakra_node& node, std::string_view rule) {
  return fmt::format("{}: {} {}: node {}: {}", name, node.unit, node.place, node.id, rule);
}

std::expected<std::vector<chakra_node>, std::string> parse_chakra(std::string_view bytes, const std::string& name) {
  std::vector<chakra_node> nodes;
  size_t at = 0;
  chakra_node n;
  try {
    if (bytes.starts_with("\x1f\x8b")) throw chakra_broken{"is compressed (gzip): unpack it first"};
    if (bytes.empty()) throw chakra_broken{"no message of metadata"};
    for (pbf_reader metadata = next_message(bytes, at); metadata.next();) metadata.skip();
    while (at < bytes.size()) {
      n = {};
      n.place = at;
      read_node(n, next_message(bytes, at));
      nodes.push_back(std::move(n));
    }
  } catch (const chakra_broken& b) {
    return std::unexpected(chakra_wrong(name, n, b.rule));
  } catch (const protozero::end_of_buffer_exception&) {
    return std::unexpected(chakra_wrong(name, n, "the file ends inside this message, or a field is longer than it"));
  } catch (const protozero::exception& e) {
    return std::unexpected(chakra_wrong(name, n, fmt::format("not a message of protobuf: {}", e.what())));
  }
  return nodes;
}

}  // namespace ggas::bench
