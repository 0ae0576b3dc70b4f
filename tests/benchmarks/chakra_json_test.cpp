// SPDX-License-Identifier: Apache-2.0
// Chakra traces in JSON: the form of Chakra's jsonizer and that of ASTRA-sim say what the form in protobuf says.
#include <gtest/gtest.h>

#include <random>

#include "benchmarks/trace/chakra.hpp"
#include "chakra_traces.hpp"

namespace ggas::bench {
namespace {

constexpr const char* jsonizer = R"({
  "version": "0.0.4"
}{
  "id": "9", "name": "work", "type": "COMP_NODE", "durationMicros": "20",
  "attr": [ { "name": "is_cpu_op", "boolVal": false }, { "name": "stream", "int64Val": "7" } ]
}{
  "id": "4", "name": "put", "type": "COMM_SEND_NODE", "ctrlDeps": [ "3" ], "dataDeps": [ "9" ],
  "attr": [ { "name": "comm_size", "int64Val": "64" }, { "name": "comm_dst", "int32Val": 0 }, { "name": "comm_tag",
    "uint64Val": "5" } ]
}{
  "id": "5", "type": "COMM_COLL_NODE",
  "attr": [ { "name": "comm_type", "int64Val": "0" }, { "name": "comm_size", "int64Val": "4096" },
    { "name": "pg_name", "stringVal": "7" } ]
}
)";

constexpr const char* astra = R"({ "workload_graph": [
  { "Id": 9, "Name": "work", "NodeType": 4, "runtime": 20, "data_deps": [], "is_cpu_op": false, "stream": 7 },
  { "Id": 4, "Name": "put", "NodeType": 5, "ctrlDeps": [3], "data_deps": [9], "comm_size": 64, "comm_dst": 0,
    "comm_tag": 5 },
  { "Id": 5, "NodeType": 7, "data_deps": [], "comm_type": 0, "comm_size": 4096, "pg_name": "7" }
] })";

const std::string protobuf = encode(
    {{.id = 9, .micros = 20, .numbers = {{"stream", 7}}},
     {.id = 4,
      .type = chakra_type::send,
      .after = {9},
      .numbers = {{"comm_size", 64}, {"comm_dst", 0}, {"comm_tag", 5}}},
     {.id = 5, .type = chakra_type::collective, .numbers = {{"comm_type", 0}, {"comm_size", 4096}}, .pg_name = "7"}});

TEST(chakra_json, all_forms_say_the_same) {
  const auto wanted = parse_chakra(protobuf, "t");
  ASSERT_TRUE(wanted) << wanted.error();
  for (const char* text : {jsonizer, astra}) {
    const auto found = parse_chakra_json(text, "t");
    ASSERT_TRUE(found) << found.error();
    ASSERT_EQ(found->size(), wanted->size());
    for (size_t i = 0; i < found->size(); ++i) {
      const chakra_node &a = (*found)[i], &b = (*wanted)[i];
      EXPECT_EQ(std::tie(a.id, a.type, a.micros, a.data_deps, a.stream, a.is_cpu_op, a.pg_name),
                std::tie(b.id, b.type, b.micros, b.data_deps, b.stream, b.is_cpu_op, b.pg_name));
      EXPECT_EQ(std::tie(a.comm_type, a.comm_size, a.comm_dst, a.comm_src, a.comm_tag),
                std::tie(b.comm_type, b.comm_size, b.comm_dst, b.comm_src, b.comm_tag));
      EXPECT_EQ(a.place, i + 1);
    }
  }
}

TEST(chakra_json, what_is_wrong_is_reported_with_its_entry) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "t: entry 1: no JSON"},
      {"[]", "t: entry 1: expected the object of metadata"},
      {"{}{", "t: entry 1: no JSON"},
      {R"({"workload_graph": 3})", "workload_graph: expected a list"},
      {R"({"workload_graph": [{"Id": 1}, 3]})", "t: entry 2: expected an object"},
      {R"({"workload_graph": [{"Id": -1}]})", "id: expected a whole number from 0"},
      {R"({}{"id": "x"})", "id: expected a whole number from 0"},
      {R"({}{"type": "COMM_NODE"})", "type: expected a whole number from 0"},
      {R"({}{"dataDeps": 5})", "data_deps: expected a list"},
      {R"({}{"attr": [{"name": "comm_size", "stringVal": "big"}]})", "attribute comm_size: expected a whole number"},
      {R"({}{"attr": [5]})", "attr: expected objects with a name"},
  };
  for (const auto& [text, says] : cases) {
    const auto found = parse_chakra_json(text, "t");
    ASSERT_FALSE(found) << text;
    EXPECT_NE(found.error().find(says), std::string::npos) << text << ": " << found.error();
  }
  auto nodes = parse_chakra_json(R"({}{"id": 3, "type": 0})", "t");
  ASSERT_TRUE(nodes) << nodes.error();
  EXPECT_EQ(plan_chakra({*nodes}, {"t"}).error(), "t: entry 1: node 3: unknown type 0");
}

TEST(chakra_json, noise_does_no_harm) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string text = round % 2 ? jsonizer : astra;
    for (unsigned changes = random() % 3 + 1; changes > 0; --changes) text[random() % text.size()] = char(random());
    if (const auto nodes = parse_chakra_json(text, "t")) (void)plan_chakra({*nodes}, {"t"});
  }
}

}  // namespace
}  // namespace ggas::bench
