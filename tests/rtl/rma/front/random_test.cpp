// SPDX-License-Identifier: Apache-2.0
// Random page writes, split and shuffled in every way by writers of many contexts, and work queues; contexts go off and
// come back.
#include <algorithm>

#include "tests/rtl/rma/front/bench.hpp"

namespace ggas::test::rma {
namespace {

template <class B>
class writers {
 public:
  explicit writers(B& b) : b_(b) {}
  unsigned overlap_percent = 5;

  void start(unsigned vpid) {
    dice& d = b_.d;
    setup s;
    s.queue = d.chance(40);
    s.log2 = 4 + unsigned(d.below(3));
    s.pd = uint16_t(d.bits());
    s.ring = (d.bits() << 20 | vpid) << 12;
    // The writer of a queue must see how much was consumed.
    s.status = s.queue || d.chance(85) ? d.bits() << 12 | (vpid + 1) << 4 : 0;
    b_.start(vpid, s);
    announced_[vpid] = 0;
  }
  void act(unsigned vpid) {
    if (b_.ctx[vpid].queue)
      ring(vpid);
    else
      paper(vpid);
    dice& d = b_.d;
    if (d.chance(10)) b_.doorbell(1 + unsigned(d.below(4)), vpid, uint32_t(d.bits()), d.chance(50));
    if (d.chance(5)) nonsense(vpid);
  }
  void announce(unsigned vpid) {
    context& c = b_.ctx[vpid];
    if (!c.on || !c.queue || announced_[vpid] == c.issued) return;
    announced_[vpid] = c.issued;
    b_.doorbell(0, vpid, c.issued, b_.d.chance(50));
  }

 private:
  // A batch of slots as writes of any length in any order.
  void paper(unsigned vpid) {
    dice& d = b_.d;
    context& c = b_.ctx[vpid];
    const unsigned n = unsigned(std::min<uint64_t>(b_.room(vpid), d.below(5)));
    if (n == 0) return;
    std::vector<uint32_t> dws;
    const unsigned first = c.issued % page_slots * 8;
    for (unsigned i = 0; i < n; ++i) {
      const slot s = random_slot(d);
      c.stream.push_back(s);
      dws.insert(dws.end(), s.begin(), s.end());
    }
    c.issued += n;
    struct piece {
      unsigned at, count;
    };
    std::vector<piece> pieces;
    for (unsigned at = 0; at < dws.size();) {
      const unsigned to_end = page_slots * 8 - (first + at) % (page_slots * 8);
      const unsigned most = std::min<unsigned>({unsigned(dws.size()) - at, to_end, d.chance(50) ? 8u : 32u});
      const unsigned count = d.chance(40) ? most : 1 + unsigned(d.below(most));
      pieces.push_back({at, count});
      at += count;
    }
    for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[d.below(i)]);
    for (const piece& p : pieces) {
      const uint64_t to = vpid * 8192 + 0x1000 + 4 * ((first + p.at) % (page_slots * 8));
      const bool last = &p == &pieces.back();
      // Once more what is there already.
      if (last && pieces.size() > 1 && d.chance(overlap_percent) && waits_for(pieces[0].at, p.at))
        b_.write(vpid * 8192 + 0x1000 + 4 * ((first + pieces[0].at) % (page_slots * 8)), {1}, true);
      b_.write(to, {dws.begin() + p.at, dws.begin() + p.at + p.count});
    }
  }
  // A DW still to come lies in front of another, which so cannot have been consumed.
  static bool waits_for(unsigned written, unsigned missing) { return missing / 8 <= written / 8; }

  void ring(unsigned vpid) {
    dice& d = b_.d;
    for (uint64_t n = std::min<uint64_t>(b_.room(vpid), d.below(12)); n > 0; --n) b_.produce(vpid, random_slot(d));
    if (d.chance(60)) announce(vpid);
  }
  // Writes that mean nothing.
  void nonsense(unsigned vpid) {
    dice& d = b_.d;
    const uint64_t page = vpid * 8192;
    std::vector<uint32_t> dws(1 + d.below(8), 7);
    switch (d.below(3)) {
      case 0:
        b_.write(page + 0x38, {6, 7}, true);
        break;
      case 1:
        if (b_.ctx[vpid].queue) b_.write(page + 0x1000 + 4 * d.below(100), dws, true);
        break;
      default:
        if (!b_.ctx[vpid].queue) b_.write(page + 0x10, {1, 2}, true);
    }
  }
  B& b_;
  std::array<uint32_t, 256> announced_{};
};

TYPED_TEST(front, random_traffic) {
  auto& b = this->b;
  dice& d = b.d;
  writers w(b);
  std::vector<unsigned> vpids;
  for (unsigned i = 0; i < 24; ++i) vpids.push_back(i < 20 ? i * 13 : 255 - i);
  for (unsigned v : vpids) w.start(v);
  b.count_errors = true;
  b.mrrs = 128u << d.below(4);
  for (unsigned round = 0; round < 24; ++round) {
    b.page.percent = round % 3 ? 100 : 40;
    b.desc_percent = round % 4 == 1 ? 20 : 100;
    b.wr.percent = round % 5 == 2 ? 5 : 90;
    b.rd_percent = round % 2 ? 100 : 30;
    b.hold = round % 3 == 1 ? 60 : 4;
    b.reads.percent = round % 2 ? 100 : 5;
    b.fail_percent = round % 4 == 3 ? 10 : 0;
    b.gate = round % 2;
    b.requester = true;
    for (unsigned i = 0; i < 60; ++i) {
      if (d.chance(4)) b.requester = !b.requester;
      w.act(vpids[d.below(vpids.size())]);
      for (uint64_t n = d.below(30); n > 0; --n) b.step();
    }
    b.requester = true;
    // Everything the host wrote arrives; then some contexts go off in the middle of their work, and others go on.
    for (unsigned i = 0; i < 5000 && !b.page.empty(); ++i) b.step();
    std::vector<unsigned> off;
    for (unsigned v : vpids)
      if (d.chance(15)) off.push_back(v);
    for (unsigned v : off) b.stop(v);
    for (unsigned v : off)
      if (d.chance(50)) b.write(v * 8192 + 0x1000, {1, 2, 3}, true);
    for (unsigned i = 0; i < 5000 && !b.page.empty(); ++i) b.step();
    for (unsigned v : off) ASSERT_TRUE(b.drained(v)) << "context " << v << " stays busy";
    for (unsigned v : off) w.start(v);
    if (this->HasFatalFailure() || this->HasFailure()) return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned v : vpids) w.announce(v);
    ASSERT_TRUE(b.settle());
  }
  b.check_nothing_left();
  b.check_blocks();
  EXPECT_GT(b.descriptors, 1500u);
  EXPECT_GT(b.failed_reads.size(), 0u);
  EXPECT_EQ(b.bad_doorbells.size(), 0u);
}

}  // namespace
}  // namespace ggas::test::rma
