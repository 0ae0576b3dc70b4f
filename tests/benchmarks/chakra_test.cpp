// SPDX-License-Identifier: Apache-2.0
// Files in the format Chakra: what is read from them, what is refused, and that no bytes do harm.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "benchmarks/trace/chakra.hpp"
#include "chakra_traces.hpp"

namespace ggas::bench {
namespace {

constexpr auto send = chakra_type::send, recv = chakra_type::recv, coll = chakra_type::collective;

// Ranks are files r0, r1, ...
std::expected<schedule, std::string> plan(const std::vector<std::string>& files) {
  std::vector<std::vector<chakra_node>> ranks;
  std::vector<std::string> names;
  for (const std::string& bytes : files) {
    names.push_back(fmt::format("r{}", names.size()));
    auto nodes = parse_chakra(bytes, names.back());
    if (!nodes) return std::unexpected(nodes.error());
    ranks.push_back(std::move(*nodes));
  }
  return plan_chakra(ranks, names);
}

std::string wrong(const std::vector<std::vector<trace_node>>& ranks) {
  std::vector<std::string> files;
  for (const auto& nodes : ranks) files.push_back(encode(nodes));
  const auto p = plan(files);
  return p ? "" : p.error();
}

trace_node collective(uint64_t id, chakra_collective what, int64_t bytes, const char* group = "") {
  return {.id = id, .type = coll, .numbers = {{"comm_type", int64_t(what)}, {"comm_size", bytes}}, .pg_name = group};
}

TEST(chakra, computations_and_messages_become_operations) {
  const auto p = plan(
      {encode(
           {{.id = 9, .micros = 20},
            {.id = 4, .type = send, .after = {9}, .numbers = {{"comm_size", 64}, {"comm_dst", 1}, {"comm_tag", 7}}}}),
       encode({{.id = 1, .type = recv, .numbers = {{"comm_size", 64}, {"comm_src", 0}, {"comm_tag", 7}}}})});
  ASSERT_TRUE(p) << p.error();
  ASSERT_EQ(p->ranks[0].size(), 2u);
  const auto& [work, out] = std::tie(p->ranks[0][0], p->ranks[0][1]);
  EXPECT_EQ(work.amount, 20'000u);
  EXPECT_EQ(work.at_end, std::vector<uint32_t>{1});
  EXPECT_EQ(out.what, schedule_op::kind::send);
  EXPECT_EQ(out.waits, 1u);
  EXPECT_EQ(out.peer, 1u);
  EXPECT_EQ(out.tag, 7u);
  EXPECT_EQ(p->messages, 1u);
  EXPECT_EQ(p->bytes, 64u);
}

TEST(chakra, streams_and_threads_compute_side_by_side) {
  const auto p = plan({encode({{.id = 0, .micros = 1, .numbers = {{"stream", 7}}},
                               {.id = 1, .micros = 1, .numbers = {{"stream", 7}}},
                               {.id = 2, .micros = 1, .numbers = {{"stream", 20}}},
                               {.id = 3, .micros = 1, .numbers = {{"is_cpu_op", 1}, {"tid", 7}}}})});
  ASSERT_TRUE(p) << p.error();
  const auto& ops = p->ranks[0];
  EXPECT_EQ(ops[0].cpu, ops[1].cpu);
  EXPECT_NE(ops[0].cpu, ops[2].cpu);
  EXPECT_NE(ops[0].cpu, ops[3].cpu);
  EXPECT_NE(ops[2].cpu, ops[3].cpu);
}

TEST(chakra, a_processor_that_starts_a_collective_only_takes_time) {
  const auto p = plan({encode({{.id = 0, .type = coll, .micros = 85, .numbers = {{"is_cpu_op", 1}}}})});
  ASSERT_TRUE(p) << p.error();
  EXPECT_EQ(p->ranks[0][0].amount, 85'000u);
}

TEST(chakra, numbers_may_have_any_type) {
  using writer = protozero::pbf_writer;
  const std::vector<std::function<void(writer&)>> types = {
      [](writer& w) { w.add_int32(7, 5); },     [](writer& w) { w.add_int64(9, 5); },
      [](writer& w) { w.add_uint32(11, 5); },   [](writer& w) { w.add_uint64(13, 5); },
      [](writer& w) { w.add_sint32(15, 5); },   [](writer& w) { w.add_sint64(17, 5); },
      [](writer& w) { w.add_fixed32(19, 5); },  [](writer& w) { w.add_fixed64(21, 5); },
      [](writer& w) { w.add_sfixed32(23, 5); }, [](writer& w) { w.add_sfixed64(25, 5); }};
  for (size_t i = 0; i < types.size(); ++i) {
    std::string message;
    {
      writer w(message);
      w.add_enum(3, int32_t(send));
      writer a(w, 10);
      a.add_string(1, "comm_dst");
      types[i](a);
    }
    const auto nodes = parse_chakra(encode(std::vector<trace_node>{}) + framed(message), "t");
    ASSERT_TRUE(nodes) << nodes.error();
    EXPECT_EQ(nodes->front().comm_dst, 5u) << i;
  }
}

TEST(chakra, dependencies_are_read_packed_and_single) {
  std::string message;
  {
    protozero::pbf_writer w(message);
    w.add_uint64(5, 300);
    w.add_uint64(5, 2);
  }
  const auto nodes = parse_chakra(encode({{.id = 1, .after = {2, 300}}}) + framed(message), "t");
  ASSERT_TRUE(nodes) << nodes.error();
  EXPECT_EQ((*nodes)[0].data_deps, (std::vector<uint64_t>{2, 300}));
  EXPECT_EQ((*nodes)[1].data_deps, (std::vector<uint64_t>{300, 2}));
}

TEST(chakra, groups_are_those_that_name_them) {
  using enum chakra_collective;
  std::vector<std::string> files;
  for (int r = 0; r < 4; ++r)
    files.push_back(encode({collective(0, all_gather, 100, r < 2 ? "low" : "high"), collective(1, all_gather, 10)}));
  const auto p = plan(files);
  ASSERT_TRUE(p) << p.error();
  EXPECT_EQ(p->bytes, 4u * 100 + 4 * 3 * 10);
  for (const schedule_op& op : p->ranks[3]) EXPECT_TRUE(op.amount != 100 || op.peer == 2);
}

TEST(chakra, what_is_wrong_is_reported_with_file_byte_and_node) {
  using enum chakra_collective;
  const std::vector<std::pair<std::string, std::vector<std::vector<trace_node>>>> cases = {
      {"r0: byte 8: node 3: unknown type 0", {{{.id = 3, .type = chakra_type::invalid}}}},
      {"unknown type 8", {{{.id = 3, .type = chakra_type(8)}}}},
      {"unknown comm_type 10", {{collective(0, chakra_collective(10), 8)}}},
      {"attribute comm_type is missing", {{{.type = coll, .numbers = {{"comm_size", 8}}}}}},
      {"attribute comm_size is missing", {{{.type = coll, .numbers = {{"comm_type", 0}}}}}},
      {"comm_size 0: expected 1 to", {{collective(0, all_reduce, 0)}}},
      {"attribute comm_dst is missing", {{{.type = send, .numbers = {{"comm_size", 8}}}}}},
      {"comm_dst 1: the trace has 1 ranks", {{{.type = send, .numbers = {{"comm_size", 8}, {"comm_dst", 1}}}}}},
      {"attribute comm_src: expected a whole number from 0",
       {{{.type = recv, .numbers = {{"comm_size", 8}, {"comm_src", -1}}}}}},
      {"r0: byte 19: node 0: this id a second time", {{{.id = 0}, {.id = 0}}}},
      {"node 0: waits for node 5, which is not in the file", {{{.after = {5}}}}},
      {"node 1: rank 0: this operation waits for itself",
       {{{.id = 0}, {.id = 1, .after = {2}}, {.id = 2, .after = {1}}}}},
      {"duration_micros is missing", {{{.numbers = {{"num_ops", 5}}}}}},
      {"duration_micros is missing", {{{.type = chakra_type::mem_load, .numbers = {{"tensor_size", 5}}}}}},
      {"duration_micros 2000000000: at most", {{{.micros = 2'000'000'000}}}},
      {"rank 0 sends 1 messages of tag 0 to rank 1, which receives 0",
       {{{.type = send, .numbers = {{"comm_size", 8}, {"comm_dst", 1}}}}, {}}},
      {"r1: byte 8: node 7: collective 1 of group '': r0 has 0", {{}, {collective(7, all_reduce, 8)}}},
      {"r1: byte 8: node 7: collective 1 of group '': in r0 it has another",
       {{collective(0, all_reduce, 9)}, {collective(7, all_reduce, 8)}}},
      {"collective of group '' in r0, which this rank does not have", {{collective(0, barrier, 0)}, {}}},
  };
  for (const auto& [says, ranks] : cases)
    EXPECT_NE(wrong(ranks).find(says), std::string::npos) << says << "\nis reported as\n" << wrong(ranks);
}

TEST(chakra, broken_files_are_refused) {
  const auto reported = [](std::string_view bytes) { return parse_chakra(bytes, "t").error(); };
  EXPECT_NE(reported("").find("no message of metadata"), std::string::npos);
  EXPECT_NE(reported("\x1f\x8b\x08").find("gzip"), std::string::npos);
  const std::string whole = encode({{.id = 3, .micros = 4, .numbers = {{"stream", 2}}}});
  size_t refused = 0;
  for (size_t length = 0; length < whole.size(); ++length)
    if (!parse_chakra(std::string_view(whole).substr(0, length), "t")) ++refused;
  EXPECT_EQ(refused, whole.size() - 1);  // one cut lies between two messages
}

// Any bytes give a schedule or a message; what they give can be run.
TEST(chakra, random_damage_does_no_harm) {
  using enum chakra_collective;
  std::vector<std::string> good;
  for (int64_t r = 0; r < 3; ++r)
    good.push_back(encode({{.id = 0, .micros = 5, .numbers = {{"stream", 1}}},
                           collective(1, all_reduce, 9000, "g"),
                           collective(2, all_to_all, 30),
                           collective(3, barrier, 0),
                           {.id = 4,
                            .type = send,
                            .after = {0, 3},
                            .numbers = {{"comm_size", 64}, {"comm_dst", (r + 1) % 3}, {"comm_tag", 2}}},
                           {.id = 5,
                            .type = recv,
                            .after = {1},
                            .numbers = {{"comm_size", 64}, {"comm_src", (r + 2) % 3}, {"comm_tag", 2}}}}));
  std::mt19937_64 random(1);
  const auto below = [&](size_t n) { return size_t(random() % n); };
  size_t plans = 0, refused = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    auto files = good;
    for (size_t n = below(4); n != ~size_t{0}; --n) {
      std::string& f = files[below(3)];
      if (f.empty()) continue;
      const size_t at = below(f.size());
      switch (below(4)) {
        case 0:
          f[at] = char(random());
          break;
        case 1:
          f[at] ^= char(1 << below(8));
          break;
        case 2:
          f.erase(at, below(20));
          break;
        case 3:
          f.insert(at, f.substr(below(f.size()), below(40)));
          break;
      }
    }
    const auto p = plan(files);
    p ? ++plans : ++refused;
    if (!p) {
      EXPECT_NE(p.error().find(": byte "), std::string::npos) << p.error();
      continue;
    }
    for (const auto& ops : p->ranks)
      for (const schedule_op& op : ops) {
        for (const uint32_t next : op.at_end) ASSERT_LT(next, ops.size());
        ASSERT_TRUE(op.what == schedule_op::kind::calc || (op.peer < 3 && op.amount > 0));
      }
  }
  EXPECT_GT(plans, 100u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace ggas::bench
