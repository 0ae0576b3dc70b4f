// SPDX-License-Identifier: Apache-2.0
// Device API: random collectives, in sequence and without anything between them: kind, form, method, team, length,
// places, shape and operation change from call to call, so every one meets state left by any other.
#include "tests/gpu_api/collective_plan.cuh"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

class RandomCollectives : public api_test {
 public:
  void SetUp() override {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = static_cast<uint64_t>(cfg.nodes) << 22;  // channels enough, whose slots hold rows of lines
    make(cfg);
  }

  // A grid form finds its source complete and leaves its result to the next kernel.
  void queue(int node, const collective_call& c) {
    const auto fill_it = [=] { fill(c); };
    const auto make_it = [=, this] {
      EXPECT_EQ(c.grid ? make_call<true>(c, enough()) : make_call<false>(c, enough()), ggas_ok) << c.text();
    };
    const auto check_it = [=] { EXPECT_EQ(count_wrong(c), 0u) << c.text() << ", node " << ggas_node(); };
    if (c.grid) {
      for (const auto& kernel : std::array<std::function<void()>, 3>{fill_it, make_it, check_it})
        on(node, c.blocks, c.threads, kernel);
      return;
    }
    on(node, 1, c.threads, [=] {
      fill_it();
      __syncthreads();
      make_it();
      check_it();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, RandomCollectives, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(RandomCollectives, AnyBehindAnyOther) {
  collective_draw draw(nodes(), base(), simulated(), 1);
  for (int i = simulated() ? 60 : 150; i > 0; --i) {
    const collective_call c = draw.next();
    for (int node = 0; node < nodes(); ++node)
      if (c.rank_of(node) >= 0) queue(node, c);
  }
  run();
}

}  // namespace
}  // namespace ggas::test
