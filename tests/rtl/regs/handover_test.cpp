// SPDX-License-Identifier: Apache-2.0
// Interrupt vectors go from owner to owner, with messages that wait for the host or for the mask.
#include <random>

#include "tests/rtl/handover.hpp"
#include "tests/rtl/regs/suite.hpp"

namespace ggas::test {
namespace {

class vectors : public regs_test {
 public:
  void TestBody() override {}
  two_owners play(uint64_t seed, uint64_t secret) {
    std::mt19937_64 rng(seed);
    two_owners seen;
    for (view* now : {&seen.former, &seen.next}) {
      const uint64_t key = now == &seen.former ? secret & ~uint64_t{3} : 0;
      for (unsigned n = 0; n < GGAS_MSIX_NUM; ++n) {
        write(uint16_t(GGAS_REG_MSIX_ADDR(n)), (0xfee00000 + 16 * n) ^ key);
        write(uint16_t(GGAS_REG_MODERATION(n)), (rng() % 3) * 300 | (rng() % 4) << 32);
        write(uint16_t(GGAS_REG_MSIX_CTRL(n)), uint32_t((0x4000 + n) ^ key));
      }
      for (unsigned i = 0; i < 4000; ++i) {
        v.msg_ready_i = rng() % 8 == 0;
        if (rng() % 8 == 0) fire(unsigned(rng() % GGAS_MSIX_NUM));
        cycle();
        now->see(v.msg_valid_o, v.msg_addr_o, v.msg_data_o);
      }
      for (unsigned n = 0; n < GGAS_MSIX_NUM; ++n) write(uint16_t(GGAS_REG_MSIX_CTRL(n)), uint64_t{1} << 32, 0xf0);
      read(GGAS_REG_MSIX_PBA);
    }
    return seen;
  }
};

TEST(VectorsHandover, NothingIsLeft) {
  for (unsigned turn = 0; turn < 10; ++turn)
    expect_nothing_left([&](uint64_t secret) { return vectors().play(1 + turn, secret); });
}

}  // namespace
}  // namespace ggas::test
