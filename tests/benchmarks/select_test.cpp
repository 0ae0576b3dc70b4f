// SPDX-License-Identifier: Apache-2.0
// What names on the command line mean.
#include <gtest/gtest.h>

#include "benchmarks/harness/common_line.hpp"

namespace ggas::bench {
namespace {

const description list[] = {{.name = "a", .text = "first", .params = "", .variants = {{"x", "how"}}},
                            {.name = "b", .text = "second", .params = "bytes", .variants = {}}};

selection chosen(const std::vector<std::string>& names) {
  const auto found = select(names, descriptions(list), "all");
  if (const auto* wrong = std::get_if<std::string>(&found)) throw std::runtime_error(*wrong);
  return std::get<selection>(found);
}

std::string wrong(const std::vector<std::string>& names) {
  return std::get<std::string>(select(names, descriptions(list), "all"));
}

TEST(select, names_in_their_order_each_once) {
  EXPECT_EQ(chosen({"b", "a", "b"}).chosen, (std::vector<size_t>{1, 0}));
  EXPECT_FALSE(chosen({"b"}).suite);
}

TEST(select, a_suite_is_every_benchmark) {
  EXPECT_EQ(chosen({"b", "all"}).chosen, (std::vector<size_t>{1, 0}));
  EXPECT_TRUE(chosen({"all"}).suite);
}

TEST(select, list_stands_alone) {
  EXPECT_TRUE(chosen({"list"}).list);
  EXPECT_NE(wrong({"a", "list"}).find("'list'"), std::string::npos);
}

TEST(select, an_unknown_name_is_reported_with_those_there_are) {
  for (const char* word : {"'c'", "all", "a, b"}) EXPECT_NE(wrong({"a", "c"}).find(word), std::string::npos) << word;
}

TEST(select, the_list_names_everything) {
  const std::string text = list_text(descriptions(list), "all");
  for (const char* word : {"all", "a  first", "x ", "how", "b  second", "params: bytes"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

TEST(finish_common, without_names_the_quick_suite_with_a_report) {
  common_line line;
  EXPECT_EQ(finish_common(line, "all"), "");
  EXPECT_EQ(line.names, std::vector<std::string>{"all"});
  EXPECT_TRUE(line.quick);
  EXPECT_EQ(line.report, "report");
  common_line named;
  named.names = {"a"};
  EXPECT_EQ(finish_common(named, "all"), "");
  EXPECT_FALSE(named.quick);
  EXPECT_EQ(named.report, "");
  common_line both;
  both.no_report = true;
  both.report = "r";
  EXPECT_NE(finish_common(both, "all"), "");
}

}  // namespace
}  // namespace ggas::bench
