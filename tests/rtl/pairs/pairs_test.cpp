// SPDX-License-Identifier: Apache-2.0
// Every feature with every disturbance: a cell each of the table in docs/rtl-tests.md.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/rtl/pairs/disturbance.hpp"

namespace ggas::test {
namespace {

class Pairs : public testing::TestWithParam<std::tuple<kind, disturbance>> {
 protected:
  void run(unsigned rounds) {
    const auto [k, d] = GetParam();
    pair_run r(k, d, base_seed());
    bool good = r.set_up();
    for (unsigned i = 0; i < rounds && good; ++i) {
      r.round();
      good = r.w.t.fail.none();
    }
    if (good) r.check_finished();
    EXPECT_TRUE(r.w.t.fail.none()) << to_text(k) << ", " << to_text(d) << ", seed " << base_seed() << ", cycle "
                                   << r.w.t.now() << "\n"
                                   << r.w.t.fail.text();
    EXPECT_GE(r.events(), rounds);
    EXPECT_GT(r.operations(), 0u);
    RecordProperty("feature", to_text(k));
    RecordProperty("disturbance", to_text(d));
    RecordProperty("seed", std::to_string(base_seed()));
    RecordProperty("events", std::to_string(r.events()));
    RecordProperty("operations", std::to_string(r.operations()));
    RecordProperty("cycles", std::to_string(r.w.t.now()));
  }
};

TEST_P(Pairs, NoForeignWordNoHealthyLinkDead) { run(2); }
TEST_P(Pairs, Long) { run(test_rounds(100)); }

std::string name(const testing::TestParamInfo<std::tuple<kind, disturbance>>& i) {
  std::string all = std::string(to_text(std::get<0>(i.param))) + "_" + to_text(std::get<1>(i.param));
  for (char& c : all)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return all;
}

template <class T>
std::vector<T> all(unsigned n) {
  std::vector<T> v;
  for (unsigned i = 0; i < n; ++i) v.push_back(T(i));
  return v;
}

INSTANTIATE_TEST_SUITE_P(All, Pairs,
                         testing::Combine(testing::ValuesIn(all<kind>(kinds)),
                                          testing::ValuesIn(all<disturbance>(disturbances))),
                         name);

}  // namespace
}  // namespace ggas::test
