// SPDX-License-Identifier: Apache-2.0
// Makes files of Chakra traces for tests.
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/trace/chakra_file.hpp"

namespace ggas::bench {

struct trace_node {
  uint64_t id = 0;
  chakra_type type = chakra_type::comp;
  uint64_t micros = 0;
  std::vector<uint64_t> after = {};
  std::vector<std::pair<std::string, int64_t>> numbers = {};
  std::string pg_name = {};
};

inline std::string framed(const std::string& message) {
  std::string out;
  protozero::write_varint(std::back_inserter(out), message.size());
  return out + message;
}

inline std::string encode(const trace_node& n) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_uint64(1, n.id);
  w.add_string(2, "name");
  w.add_enum(3, int32_t(n.type));
  w.add_packed_uint64(5, n.after.begin(), n.after.end());
  if (n.micros) w.add_uint64(7, n.micros);
  for (const auto& [key, value] : n.numbers) {
    protozero::pbf_writer a(w, 10);
    a.add_string(1, key);
    a.add_int64(9, value);
  }
  if (!n.pg_name.empty()) {
    protozero::pbf_writer a(w, 10);
    a.add_string(1, "pg_name");
    a.add_string(29, n.pg_name);
  }
  return framed(out);
}

inline std::string encode(const std::vector<trace_node>& nodes) {
  std::string out = framed(std::string("\x0a\x05") + "0.0.4");
  for (const trace_node& n : nodes) out += encode(n);
  return out;
}

}  // namespace ggas::bench
