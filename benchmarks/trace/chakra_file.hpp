// SPDX-License-Identifier: Apache-2.0
// One file of a Chakra execution trace (MLCommons, schema/protobuf/et_def.proto): the operations of one rank. A message
// of metadata is followed by a message for each node, each with its length in front.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ggas::bench {

// The numbers of the format.
enum class chakra_type : uint32_t { invalid, metadata, mem_load, mem_store, comp, send, recv, collective };
enum class chakra_collective : uint32_t {
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  broadcast,
  all_to_all,
  reduce_scatter,
  reduce_scatter_block,
  barrier
};

struct chakra_node {
  uint64_t id = 0;
  uint64_t place = 0;         // byte of the file at which its message begins; JSON: its number
  const char* unit = "byte";  // or "entry"
  chakra_type type = chakra_type::invalid;
  uint64_t micros = 0;
  // Nodes that it waits for. Its ctrl_deps are callers, for which it does not wait: Chakra's own feeder does not read
  // them either.
  std::vector<uint64_t> data_deps;
  // Attributes that mean something here.
  std::optional<uint64_t> comm_type, comm_size, comm_src, comm_dst;
  uint64_t comm_tag = 0, num_ops = 0, tensor_size = 0, stream = 0, tid = 0;
  bool is_cpu_op = false;
  std::string pg_name;  // group of processes; empty: all
};

// `bytes` is a file's content, `name` stands in messages. What is wrong is reported as "name: byte N: node ID: rule".
std::expected<std::vector<chakra_node>, std::string> parse_chakra(std::string_view bytes, const std::string& name);

// The same of a file in JSON: "name: entry N: rule".
std::expected<std::vector<chakra_node>, std::string> parse_chakra_json(const std::string& text,
                                                                       const std::string& name);

// For the readers of both: what is wrong in a node, an attribute as the file has it, and what a node makes of it.
struct chakra_broken {
  std::string rule;
};
struct chakra_attribute {
  std::string name;
  std::optional<int64_t> number = {};
  std::optional<std::string> text = {};
};
void take(chakra_node& n, const chakra_attribute& a);
// A processor that starts a communication: the communication itself is a node of the GPU.
void only_gpus_communicate(chakra_node& n);

// "name: byte N: node ID: rule".
std::string chakra_wrong(const std::string& name, const chakra_node& node, std::string_view rule);

}  // namespace ggas::bench
