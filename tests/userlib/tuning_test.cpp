// SPDX-License-Identifier: Apache-2.0
// The table of tuned collectives: what it gives, and what it says of what is wrong.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ggas/tuning_table.hpp"
#include "tests/support/mangled.hpp"

namespace ggas {
namespace {

const std::string good = R"(
[[nodes]]
count = 2
block = { one_shot = 100, two_shot = 200 }
grid = { one_shot = 300, two_shot = 300 }
on_stream = [ { bytes = 64, method = "one_shot", blocks = 1, threads = 32 },
              { bytes = 128, method = "two_shot", blocks = 2, threads = 64 },
              { method = "direct", blocks = 3, threads = 96 } ]
[[nodes]]
count = 6
block = { one_shot = 1, two_shot = 2, direct = 3 }
grid = { one_shot = 3, two_shot = 4 }
on_stream = [{bytes = 8, method = "push", blocks = 4, threads = 512}, {method = "two_shot", blocks = 4, threads = 512}]
reduce = [ { bytes = 9, method = "tree", blocks = 1, threads = 64 }, { method = "direct", blocks = 5, threads = 512 } ]
broadcast = [ { bytes = 10, blocks = 6, threads = 512 }, { blocks = 7, threads = 512 } ]
spread = [ { blocks = 8, threads = 512 } ]
root_sends = 11
by_nic = 64
typed = [ { bytes = 12, blocks = 9, threads = 64 }, { blocks = 600, threads = 512 } ]
engine_rows = { host = 13 }
staged = { up_to_8 = 14, up_to_32 = 15, structs = 16 }
)";

tuning read(int nodes) {
  const auto t = read_tuning(good, "table", nodes);
  EXPECT_TRUE(t) << t.error().text;
  return t ? *t : tuning{};
}

std::string replaced(const std::string& what, const std::string& by) {
  std::string s = good;
  s.replace(s.find(what), what.size(), by);
  return s;
}

TEST(Tuning, OfTheNumberOfNodesOrTheNextSmallerOne) {
  EXPECT_EQ(read(2).block.one_shot, 100u);
  EXPECT_EQ(read(5).block.one_shot, 100u);
  EXPECT_EQ(read(6).block.two_shot, 2u);
  EXPECT_EQ(read(6).block.direct, 3u);
  EXPECT_EQ(read(6).grid.direct, uint64_t{tuning::any});
  EXPECT_EQ(read(1000).grid.two_shot, 4u);
  EXPECT_EQ(read(1).grid.one_shot, 300u);  // none is smaller
}

TEST(Tuning, RowsOnAStream) {
  const tuning t = read(2);
  EXPECT_EQ(t.allreduce.of(1).blocks, 1u);
  EXPECT_EQ(t.allreduce.of(64).threads, 32u);
  EXPECT_EQ(t.allreduce.of(65).method, 3u);  // ggas_two_shot
  EXPECT_EQ(t.allreduce.of(129).blocks, 3u);
  EXPECT_EQ(t.allreduce.of(~uint64_t{0}).method, 4u);
  EXPECT_EQ(read(6).allreduce.of(5).method, 5u);  // ggas_push
  EXPECT_EQ(read(6).allreduce.of(9).threads, 512u);
}

// Other collectives may have rows of their own; else a reduce goes by those of an allreduce, as far as it can.
TEST(Tuning, RowsOfOtherCollectives) {
  const tuning own = read(6), none = read(2), usual = tuning::usual();
  EXPECT_EQ(own.reduce.of(9).method, 7u);  // ggas_tree
  EXPECT_EQ(own.reduce.of(10).blocks, 5u);
  EXPECT_EQ(own.broadcast.of(10).blocks, 6u);
  EXPECT_EQ(own.broadcast.of(11).blocks, 7u);
  EXPECT_EQ(own.broadcast.of(11).method, 0u);
  EXPECT_EQ(own.spread.of(1).blocks, 8u);
  EXPECT_EQ(own.root_sends, 11u);
  EXPECT_EQ(own.by_nic, 64u);
  EXPECT_EQ(own.typed.of(12).blocks, 9u);
  EXPECT_EQ(own.typed.of(13).blocks, 600u);
  EXPECT_EQ(own.engine.host, 13u);
  EXPECT_EQ(own.engine.gpu, uint64_t{tuning::any});
  EXPECT_EQ(own.staged.of(1), 14u);
  EXPECT_EQ(own.staged.of(8), 14u);
  EXPECT_EQ(own.staged.of(9), uint64_t{tuning::any});
  EXPECT_EQ(own.staged.of(17), 15u);
  EXPECT_EQ(own.staged.of(33), uint64_t{tuning::any});
  EXPECT_EQ(own.staged.of(65), uint64_t{tuning::any});
  EXPECT_EQ(own.staged.structs, 16u);
  EXPECT_EQ(none.reduce.of(128).blocks, 2u);
  EXPECT_EQ(none.reduce.of(128).method, 2u);  // ggas_one_shot for ggas_two_shot
  EXPECT_EQ(none.broadcast.of(1 << 20).blocks, usual.broadcast.of(1 << 20).blocks);
  EXPECT_EQ(none.spread.of(1).threads, usual.spread.of(1).threads);
  EXPECT_EQ(none.root_sends, usual.root_sends);
  EXPECT_EQ(none.by_nic, usual.by_nic);
  EXPECT_EQ(none.typed.of(1 << 20).blocks, usual.typed.of(1 << 20).blocks);
  EXPECT_EQ(none.engine.host, usual.engine.host);
  EXPECT_EQ(none.staged.of(8), uint64_t{tuning::any});
  EXPECT_EQ(none.staged.structs, uint64_t{tuning::any});
}

TEST(Tuning, WhatIsWrittenIsRead) {
  for (int nodes : {2, 6}) {
    const tuning t = read(nodes);
    const auto again = read_tuning(tuning_text(t, nodes), "again", nodes);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(tuning_text(*again, nodes), tuning_text(t, nodes));
  }
}

TEST(Tuning, SaysWhatIsWrong) {
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "table: needs an array of tables 'nodes', each with count = 1 or more"},
      {good + "# \u00e9\nname = \"\u00e9\"\nn\u00e9 = 1",
       "table:24: only strings and comments may have letters outside"},
      {good + "name = \'\'\'\n\u00e9\'\'\' # \u00e9", "table:22: nodes, count 6: name: unknown key"},
      {"nodes = 3", "table: needs an array of tables 'nodes', each with count = 1 or more"},
      {replaced("count = 2", "count = 2 3"), "table:3: "},
      {"[[nodes]]\nblock = 1", "table:1: nodes: count: must be a whole number"},
      {replaced("count = 6", "count = 0"), "table:10: nodes: count: 0 is not in 1 ... "},
      {replaced("count = 6", "count = 6\nfoo = 1"), "table:11: nodes, count 6: foo: unknown key"},
      {"foo = 1\n" + good, "table:1: foo: unknown key"},
      {replaced("one_shot = 3, two_shot = 4", "one_shot = 5, two_shot = 4"),
       "table:12: nodes, count 6: two_shot: 4 is not in 5 ... "},
      {replaced("direct = 3", "direct = 1"), "table:11: nodes, count 6: direct: 1 is not in 2 ... "},
      {replaced("{ bytes = 64, method", "{ method"), "table:6: nodes, count 2: on_stream: the last row, and no other"},
      {replaced("threads = 64", "threads = 64, warps = 2"), "table:7: nodes, count 2: warps: unknown key"},
      {replaced("one_shot = 100", "one_shot = -1"), "table:4: nodes, count 2: one_shot: -1 is not in 0 ... "},
      {replaced("two_shot = 200", "two_shot = 50"), "nodes, count 2: two_shot: 50 is not in 100 ... "},
      {replaced("two_shot = 200", "two_shot = 2.5"), "nodes, count 2: two_shot: must be a whole number"},
      {replaced("grid", "gird"), "table:5: nodes, count 2: gird: unknown key"},
      {replaced("grid = { one_shot = 300, two_shot = 300 }", ""),
       "table:2: nodes, count 2: grid: must be a table with one_shot and two_shot"},
      {replaced("\"one_shot\"", "\"ring\""), "method: must be one_shot, two_shot, direct, push, read or tree"},
      {replaced("bytes = 128", "bytes = 64"), "bytes: 64 is not in 65 ... "},
      {replaced("threads = 32", "threads = 1024"), "threads: 1024 is not in 32 ... 512"},
      {replaced("blocks = 1,", ""), "blocks: must be a whole number"},
      {replaced("{ method", "{ bytes = 256, method"), "on_stream: the last row, and no other, must be without bytes"},
      {replaced("method = \"direct\", blocks = 5", "method = \"push\", blocks = 5"),
       "method: must be one_shot, direct, read or tree"},
      {replaced("{ bytes = 10, blocks", "{ bytes = 10, method = \"tree\", blocks"), "method: unknown key"},
      {replaced("root_sends = 11", "root_sends = -1"), "root_sends: -1 is not in 0 ... "},
      {replaced("by_nic = 64", "by_nic = 257"), "by_nic: 257 is not in 0 ... 256"},
      {replaced("typed = [", "typed = [ 5,"), "typed: must be an array of 1 ... 9 tables"},
      {replaced("engine_rows = { host = 13 }", "engine_rows = 3"), "engine_rows: must be a table with host and gpu"},
      {replaced("host = 13", "host = 0"), "host: 0 is not in 1 ... "},
      {replaced("host = 13", "wide = 13"), "wide: unknown key"},
      {replaced("staged = {", "staged = [] #"), "staged: must be a table with up_to_8 ... up_to_64 and structs"},
      {replaced("up_to_8 = 14", "up_to_8 = 0"), "up_to_8: 0 is not in 1 ... "},
      {replaced("up_to_8", "up_to_9"), "up_to_9: unknown key"},
      {replaced("spread = [", "spread = [ 5,"), "spread: must be an array of 1 ... 9 tables"},
      {replaced("on_stream = [", "on_stream = [ 5,"), "on_stream: must be an array of 1 ... 9 tables"},
  };
  for (const auto& c : cases) {
    const auto t = read_tuning(c.text, "table", 2);
    ASSERT_FALSE(t) << c.message;
    EXPECT_NE(t.error().text.find(c.message), std::string::npos) << t.error().text << "\nshould say: " << c.message;
  }
}

// ggas-tune adds what it measures at the end of a file.
TEST(Tuning, OfTwoEntriesForANumberTheLaterOneCounts) {
  const std::string again = good + R"(
[[nodes]]
count = 2
block = { one_shot = 7, two_shot = 8 }
grid = { one_shot = 7, two_shot = 8 }
on_stream = [ { method = "direct", blocks = 4, threads = 512 } ]
)";
  for (int nodes : {1, 2, 5}) EXPECT_EQ(read_tuning(again, "table", nodes)->block.one_shot, 7u) << nodes;
  EXPECT_EQ(read_tuning(again, "table", 6)->block.one_shot, 1u);
}

// Mangled tables either load or give a message with the file; never a crash.
TEST(Tuning, SurvivesMangledTables) {
  constexpr unsigned seed = 20142;
  std::mt19937 rng(seed);
  RecordProperty("seed", seed);
  unsigned loaded = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = test::mangled(good, rng, 4);
    const auto t = read_tuning(text, "fuzz.toml", 1 + static_cast<int>(rng() % 8));
    ++(t ? loaded : refused);
    if (t)
      ASSERT_EQ(t->allreduce.row[tuning::rows - 1].bytes, uint64_t{tuning::any});
    else
      ASSERT_TRUE(t.error().text.starts_with("fuzz.toml:")) << t.error().text;
  }
  EXPECT_GT(loaded, 0u);
  EXPECT_GT(refused, 1000u);
}

TEST(Tuning, FilesThatCannotBeTables) {
  const auto of_file = [](const char* file) {
    setenv("GGAS_TUNING", file, 1);
    const auto t = tuning_for(2);
    unsetenv("GGAS_TUNING");
    return t ? std::string("read") : t.error().text;
  };
  EXPECT_EQ(of_file("/nowhere/at/all.toml"), "GGAS_TUNING = /nowhere/at/all.toml: cannot be read");
  EXPECT_EQ(of_file("/tmp"), "GGAS_TUNING = /tmp: cannot be read");
  EXPECT_EQ(of_file("/dev/zero"), "GGAS_TUNING = /dev/zero: is longer than 1 MiB");
  EXPECT_EQ(of_file("/dev/null"), "/dev/null: needs an array of tables 'nodes', each with count = 1 or more");
}

TEST(Tuning, TheBuiltInTableIsForAnyNumber) {
  for (int nodes = 1; nodes <= 72; ++nodes) {
    const auto t = tuning_for(nodes);
    ASSERT_TRUE(t) << t.error().text;
    EXPECT_GT(t->allreduce.of(4).threads, 0u);
  }
}

}  // namespace
}  // namespace ggas
