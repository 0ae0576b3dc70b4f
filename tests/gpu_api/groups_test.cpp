// SPDX-License-Identifier: Apache-2.0
// Every call of a group by every group, with the lanes of the others elsewhere, on the host engine and in the
// simulator; on GPUs: cuda/groups.cu.
#include "tests/gpu_api/groups_run.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

using namespace ggas::groups;

std::vector<target> group_targets() {
  std::vector<target> all{{.nodes = 1}, {.nodes = 2}, {.nodes = 3}, {.nodes = 2, .threads = true}};
#ifdef GGAS_TEST_SIM
  all.push_back({.provider = "sim", .nodes = 2, .label = "model", .nic = "model"});
#endif
  return all;
}

class Groups : public api_test {
 public:
  // Lanes of a warp that wait for each other: the simulated GPU must be one that schedules them apart.
  void SetUp() override {
    cluster_config c = GetParam().config();
    if (simulated()) c.platform = "modern";
    make(c);
  }
  template <class T>
  std::vector<T> read(int node, uint64_t offset, size_t n) {
    const auto* const at = reinterpret_cast<const T*>(cluster_->segment(node) + offset);
    return {at, at + n};
  }
  // Polls a lane makes until others give up: few seconds, and in the simulator as long as all calls take.
  uint64_t timeout() const { return simulated() ? enough() : 5'000'000'000; }

  template <class G>
  void make_all_calls() {
    for (unsigned who = 0; who < actings; ++who) {
      const args a{base(), static_cast<acting>(who), timeout()};
      for (int n = 0; n < nodes(); ++n) {
        std::memset(user<char>(n), 0, a.end() - a.base);
        std::ranges::copy(source_of(n), user<uint8_t>(n));
      }
      on_all(1, threads, [=] { make_calls<G>(a); });
      run();
      SCOPED_TRACE("acting " + std::to_string(who));
      for (int n = 0; n < nodes(); ++n) check_node(*this, a, n, in_block<G>::groups);
      if (HasFatalFailure()) return;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, Groups, testing::ValuesIn(group_targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(Groups, Threads) { make_all_calls<thread>(); }
TEST_P(Groups, TilesOfTwo) { make_all_calls<tile<2>>(); }
TEST_P(Groups, TilesOfFour) { make_all_calls<tile<4>>(); }
TEST_P(Groups, TilesOfEight) { make_all_calls<tile<8>>(); }
TEST_P(Groups, TilesOfSixteen) { make_all_calls<tile<16>>(); }
TEST_P(Groups, Warps) { make_all_calls<warp>(); }
TEST_P(Groups, SomeWarps) { make_all_calls<warps>(); }
TEST_P(Groups, Blocks) { make_all_calls<block>(); }

}  // namespace
}  // namespace ggas::test
