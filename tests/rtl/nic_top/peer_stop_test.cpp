// SPDX-License-Identifier: Apache-2.0
// LINK_PEER.valid is written 0 and 1 while stores are in flight: each word of memory contains the value stored to it,
// or is unchanged. A lost store has no effect on another one.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

constexpr uint8_t other_export = 4;
constexpr uint16_t other_domain = 0x0b0b;
constexpr uint64_t other_window = uint64_t{1} << 40, other_base = 0x8'0000;  // of the second domain
constexpr unsigned places = 64, place_bytes = 128;

uint32_t word_at(unsigned domain, unsigned place, unsigned word) {
  return (domain ? 0xb0000000u : 0xa0000000u) | place << 8 | word;
}

// Width, number of domains.
class PeerStop : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {
 protected:
  void set_up() {
    ASSERT_TRUE(r.set_up()) << r.report();
    r.scoreboards(false);
    r.give_out(1, other_export, r.bus(1, other_base), 0x1'0000, other_domain);
    r.map(0, 50,
          {.start = other_window,
           .end = other_window + 0x1'0000,
           .node = r.cfg.id[1],
           .number = other_export,
           .domain = other_domain});
    for (const uint64_t base : {uint64_t{0}, other_base})
      for (unsigned at = 0; at < places * place_bytes; at += 4) r.s[1].host->mem.store32(r.bus(1, base + at), 0, 15);
  }
  void peer(bool valid) {
    const uint32_t value = r.cfg.id[1] | uint32_t(valid) << 16;
    r.write(0, make_write(bar_registers, GGAS_REG_LINK_PEER, {value, 0}));
  }
  void store() {
    const unsigned domain = unsigned(random.below(domains)), place = unsigned(random.below(places));
    std::vector<uint32_t> words(random.range(1, place_bytes / 4));
    for (unsigned w = 0; w < words.size(); ++w) words[w] = word_at(domain, place, w);
    const uint64_t at = place * place_bytes;
    r.write(0, make_write(bar_window, domain ? other_window + at : r.window(1, at), words));
  }
  // Words that were stored; each of the others is nothing.
  unsigned stored() {
    unsigned n = 0;
    for (unsigned domain = 0; domain < domains; ++domain)
      for (unsigned place = 0; place < places; ++place)
        for (unsigned w = 0; w < place_bytes / 4; ++w) {
          const uint64_t at = r.bus(1, (domain ? other_base : 0) + place * place_bytes + 4 * w);
          const uint32_t got = r.s[1].host->mem.load32(at);
          n += got == word_at(domain, place, w);
          if (got && got != word_at(domain, place, w))
            r.fail.add("{:#x} in domain {}, place {}, word {}", got, domain, place, w);
        }
    return n;
  }
  void play(unsigned stops) {
    set_up();
    for (unsigned done = 0; done < stops && r.fail.none();) {
      for (unsigned i = 0; i < 12; ++i) {
        store();
        if (i % 4 == 1) peer(false), ++done;
        if (i % 4 == 3) peer(true);
      }
      r.run(random.below(300));
      if (done % 900 == 0) stored();
    }
    peer(true);
    ASSERT_TRUE(r.settle()) << r.report();
    EXPECT_GT(stored(), places);
    ASSERT_TRUE(r.fail.none()) << r.report();
    for (unsigned n = 0; n < 2; ++n) {
      EXPECT_EQ(r.events(n, GGAS_EV_LINK_DEAD), 0u);
      EXPECT_EQ(r.events(n, GGAS_EV_BAD_PACKET), 0u);
    }
    EXPECT_GT(r.events(0, GGAS_EV_STORE_UNREACHABLE) + r.events(0, GGAS_EV_STORE_LOST), 0u);
    for (unsigned n = 0; n < 2; ++n) r.quiet(n);  // takes the errors
    expect_alive(r);
  }

  unsigned domains = std::get<1>(GetParam());
  rig r{{.width = std::get<0>(GetParam()), .behaviour = fast_host(), .seed = base_seed()}};
  rng random{base_seed()};
};

TEST_P(PeerStop, NoStoreTakesTheWordsOfAnother) { play(450); }
TEST_P(PeerStop, MillionLong) { play(test_rounds(1'000'000)); }

INSTANTIATE_TEST_SUITE_P(Widths, PeerStop, testing::Combine(testing::Values(64u, 256u, 512u), testing::Values(1u, 2u)));

}  // namespace
}  // namespace ggas::test
