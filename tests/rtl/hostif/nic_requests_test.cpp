// SPDX-License-Identifier: Apache-2.0
// Requests of the NIC: their order at the output, their completions, also broken ones, and reads that the host does not
// accept.
#include <algorithm>
#include <array>
#include <map>

#include "ggas_regs.h"
#include "tests/rtl/hostif/suite.hpp"

namespace ggas::test {
namespace {

TYPED_TEST(hostif_test, RequestLatency) {
  auto& b = *this->b;
  for (auto& beat : beats_of<TestFixture::width>(this->make(tlp_kind::mwr, 7, 0x1000, 2))) b.tgt_req.push_back(beat);
  const uint64_t start = b.now;
  ASSERT_TRUE(b.drain(100));
  ASSERT_EQ(b.tx_req.size(), 1u);
  EXPECT_LE(b.tx_req[0].first - start, 2u);
  EXPECT_EQ(b.tx_req[0].t.requester, 0x1234);
}

template <class Seen>
void same_completions(const Seen& seen, const std::vector<tlp>& want) {
  ASSERT_EQ(seen.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const tlp& got = seen[i].t;
    // A header that claims no data may come with a stray word in its one beat.
    ASSERT_TRUE(got.tag == want[i].tag && got.kind == want[i].kind && got.status == want[i].status &&
                got.poisoned == want[i].poisoned && got.byte_count == want[i].byte_count &&
                got.lower_addr == want[i].lower_addr && got.len_dw == want[i].len_dw)
        << "completion " << i;
    for (size_t d = 0; d < std::min<size_t>(want[i].len_dw, want[i].data.size()); ++d)
      ASSERT_EQ(got.data[d], want[i].data[d]) << "completion " << i;
  }
}

// Completions of the NIC's reads: the right ones arrive, the broken ones leave an event each.
TYPED_TEST(hostif_test, CompletionFuzz) {
  auto& b = *this->b;
  std::vector<tlp> want_smfu, want_rma;
  uint64_t malformed = 0, unexpected = 0;
  auto random = [&](unsigned n) { return this->random(n); };
  for (int i = 0; i < 20000; ++i) {
    tlp t = this->make(random(5) ? tlp_kind::cpld : tlp_kind::cpl, 7, 0, 1 + random(64));
    if (t.kind == tlp_kind::cpl) t.len_dw = 0;
    t.tag = static_cast<uint16_t>(random(8) ? random(512) : random(1024));
    t.byte_count = static_cast<uint16_t>(1 + random(4096));
    t.lower_addr = static_cast<uint8_t>(random(128));
    t.status = random(4) ? pcie::cpl_status::sc : pcie::cpl_status::ca;
    t.poisoned = random(10) == 0;
    bool cut = false;
    const unsigned fault = random(12);
    if (fault == 0) t.len_dw = static_cast<uint16_t>(random(2048));
    if (fault == 1) t.kind = static_cast<tlp_kind>(random(16));
    cut = fault == 2;
    auto beats = beats_of<TestFixture::width>(t);
    if (cut && beats.size() > 1 && random(2)) beats.pop_back();
    if (cut) beats.back().eop = false;
    for (auto& beat : beats) b.rx_cpl.push_back(beat);
    if (!cut && random(40) == 0) {  // a beat out of nowhere
      b.rx_cpl.push_back({.sop = false, .eop = true, .hdr = {}, .words = {1, 2}});
      ++malformed;
    }
    const bool data = t.kind == tlp_kind::cpld, none = t.kind == tlp_kind::cpl;
    const size_t right = none ? 1 : (t.len_dw * 32u + TestFixture::width - 1) / TestFixture::width;
    const bool len_ok = none ? t.len_dw == 0 : t.len_dw >= 1 && t.len_dw <= 1024;
    // A foreign tag is noticed with the first beat; what comes after no longer matters.
    if (!len_ok || !(data || none) || beats[0].eop != (right == 1))
      ++malformed;
    else if (t.tag >= 512)
      ++unexpected;
    else if (cut || beats.size() != right)
      ++malformed;
    else
      (t.tag < 128 ? want_smfu : want_rma).push_back(t);
    if (i % 64 == 0) b.pace = {.rx = 20 + random(81), .tgt_cpl = 20 + random(81), .rma_cpl = 20 + random(81)};
    while (b.rx_cpl.size() > 200) b.cycle();
  }
  // The end of one that was cut off shows with the next.
  const tlp end = this->make(tlp_kind::cpld, 7, 0, 1);
  for (auto& beat : beats_of<TestFixture::width>(end)) b.rx_cpl.push_back(beat);
  (end.tag < 128 ? want_smfu : want_rma).push_back(end);
  b.pace = {};
  ASSERT_TRUE(b.drain(100000)) << "hangs";
  same_completions(b.tgt_cpl, want_smfu);
  same_completions(b.rma_cpl, want_rma);
  EXPECT_EQ(b.pulses[GGAS_EV_MALFORMED_TLP], malformed);
  EXPECT_EQ(b.pulses[GGAS_EV_UNEXPECTED_CPL], unexpected);
  EXPECT_GT(malformed, 1000u);
  EXPECT_GT(unexpected, 500u);
}

// Outbound: nothing lost or mixed up, each source in order, completions after the writes taken before them.
TYPED_TEST(hostif_test, OutboundOrder) {
  auto& b = *this->b;
  auto random = [&](unsigned n) { return this->random(n); };
  std::vector<tlp> reqs, writes, reads, cpls;
  std::vector<uint64_t> evts, msgs;
  for (unsigned i = 0; i < 20000; ++i) {
    switch (random(8)) {
      case 0:
      case 1: {
        tlp t = this->make(random(3) ? tlp_kind::mwr : tlp_kind::mrd, 7, 0x100000 + 256 * i,
                           1 + random(random(4) ? 4 : 64));
        reqs.push_back(t);
        for (auto& beat : beats_of<TestFixture::width>(t)) b.tgt_req.push_back(beat);
        break;
      }
      case 2:
      case 3: {
        tlp t = this->make(tlp_kind::cpld, 7, 0, 1 + random(random(4) ? 4 : 64));
        t.tag = static_cast<uint16_t>(512 + i % 512);
        cpls.push_back(t);
        for (auto& beat : beats_of<TestFixture::width>(t)) b.ld_cpl.push_back(beat);
        break;
      }
      case 4:
        evts.push_back(0x40000000 + 16 * i), b.evt.push_back(evts.back());
        break;
      case 6: {
        writes.push_back(this->make(tlp_kind::mwr, 7, 0x20000000 + 256 * i, 1 + random(random(4) ? 4 : 64)));
        for (auto& beat : beats_of<TestFixture::width>(writes.back())) b.rma_wr.push_back(beat);
        break;
      }
      case 7:
        reads.push_back(this->make(tlp_kind::mrd, 7, 0x30000000 + 256 * i, 1 + random(64)));
        b.rma_rd.push_back(beats_of<TestFixture::width>(reads.back()).front());
        break;
      case 5:
        msgs.push_back(0x50000000 + 4 * i), b.msix.push_back(msgs.back());
        break;
    }
    if (random(10) == 0) this->send(this->make(tlp_kind::mrd, 0, 8 * random(16), 2));
    if (i % 64 == 0) b.pace = {.rx = 100, .tx_req = 5 + random(96), .tx_cpl = 5 + random(96), .units = 20 + random(81)};
    b.pace.np_ok = random(50) ? b.pace.np_ok : random(2);
    while (b.tgt_req.size() + b.rma_wr.size() + b.ld_cpl.size() + b.evt.size() + b.msix.size() > 100) b.cycle();
  }
  b.pace = {};
  ASSERT_TRUE(b.drain(100000)) << "hangs";
  EXPECT_EQ(b.order_errors, 0u);
  size_t r = 0, w = 0, n = 0, e = 0, m = 0;
  for (auto& s : b.tx_req) {
    if (s.t.addr >= 0x50000000) {
      ASSERT_LT(m, msgs.size());
      ASSERT_TRUE(s.t.addr == msgs[m] && s.t.len_dw == 1 && s.t.data[0] == static_cast<uint32_t>(msgs[m]))
          << "message " << m;
      ++m;
    } else if (s.t.addr >= 0x40000000) {
      ASSERT_LT(e, evts.size());
      ASSERT_TRUE(s.t.addr == evts[e] && s.t.len_dw == 4) << "record " << e;
      for (unsigned d = 0; d < 4; ++d) ASSERT_EQ(s.t.data[d], static_cast<uint32_t>(evts[e]) + d);
      ++e;
    } else if (s.t.addr >= 0x30000000) {
      ASSERT_LT(n, reads.size());
      ASSERT_TRUE(s.t.addr == reads[n].addr && s.t.kind == tlp_kind::mrd && s.t.len_dw == reads[n].len_dw &&
                  s.t.tag == reads[n].tag && s.t.requester == 0x1234)
          << "read " << n;
      ++n;
    } else if (s.t.addr >= 0x20000000) {
      ASSERT_LT(w, writes.size());
      ASSERT_TRUE(s.t.addr == writes[w].addr && s.t.data == writes[w].data && s.t.requester == 0x1234) << "write " << w;
      ++w;
    } else {
      ASSERT_LT(r, reqs.size());
      ASSERT_TRUE(s.t.addr == reqs[r].addr && s.t.kind == reqs[r].kind && s.t.data == reqs[r].data) << "request " << r;
      ++r;
    }
  }
  EXPECT_EQ(r, reqs.size());
  EXPECT_EQ(w, writes.size());
  EXPECT_EQ(n, reads.size());
  EXPECT_EQ(e, evts.size());
  EXPECT_EQ(m, msgs.size());
  size_t c = 0;
  for (auto& s : b.tx_cpl) {
    if (s.t.tag < 512) continue;
    ASSERT_LT(c, cpls.size());
    ASSERT_TRUE(s.t.tag == cpls[c].tag && s.t.data == cpls[c].data) << "completion " << c;
    ++c;
  }
  EXPECT_EQ(c, cpls.size());
  EXPECT_EQ(b.tx_cpl.size(), c + b.read_marks.size());
}

// Bus master is switched off, and resets close the output, at any time: A request leaves whole, or is dropped whole and
// counted. While the output is closed no request begins; requests that have begun end. Completions wait only for the
// close.
TYPED_TEST(hostif_test, WholeRequestsAreDropped) {
  auto& b = *this->b;
  auto random = [&](unsigned n) { return this->random(n); };
  std::map<uint64_t, tlp> sent;  // by address
  std::vector<tlp> cpls;
  for (unsigned i = 0; i < 12000; ++i) {
    const unsigned len = 1 + random(random(4) ? 4 : 64);
    const uint64_t addr = 0x10000000 * (1 + random(5)) + 256 * i;
    switch (addr >> 28) {
      case 1: {
        const tlp t = sent[addr] = this->make(random(3) ? tlp_kind::mwr : tlp_kind::mrd, 7, addr, len);
        for (auto& beat : beats_of<TestFixture::width>(t)) b.tgt_req.push_back(beat);
        break;
      }
      case 2:
        sent[addr] = this->make(tlp_kind::mwr, 7, addr, len);
        for (auto& beat : beats_of<TestFixture::width>(sent[addr])) b.rma_wr.push_back(beat);
        break;
      case 3:
        sent[addr] = this->make(tlp_kind::mrd, 7, addr, len);
        b.rma_rd.push_back(beats_of<TestFixture::width>(sent[addr]).front());
        break;
      case 4:
        sent[addr].data = {uint32_t(addr), uint32_t(addr) + 1, uint32_t(addr) + 2, uint32_t(addr) + 3};
        sent[addr].kind = tlp_kind::mwr;
        b.evt.push_back(addr);
        break;
      default:
        sent[addr].data = {uint32_t(addr)};
        sent[addr].kind = tlp_kind::mwr;
        b.msix.push_back(addr);
    }
    if (random(3) == 0) {
      cpls.push_back(this->make(tlp_kind::cpld, 7, 0, 1 + random(random(4) ? 4 : 64)));
      cpls.back().tag = uint16_t(512 + i % 512);
      for (auto& beat : beats_of<TestFixture::width>(cpls.back())) b.ld_cpl.push_back(beat);
    }
    if (random(10) == 0) this->send(this->make(tlp_kind::mrd, 0, 8 * random(16), 2));
    if (i % 64 == 0) b.pace = {.rx = 100, .tx_req = 5 + random(96), .tx_cpl = 5 + random(96), .units = 20 + random(81)};
    while (b.tgt_req.size() + b.rma_wr.size() + b.ld_cpl.size() + b.evt.size() + b.msix.size() > 60) {
      if (random(20) == 0) b.v.bus_master_i = random(4) != 0;
      if (random(20) == 0) b.v.closing_i = random(4) == 0;
      b.cycle();
    }
  }
  // Closed, what has begun ends, and then nothing is open.
  b.pace = {};
  b.v.closing_i = 1;
  for (unsigned i = 0; i < 400; ++i) b.cycle();
  EXPECT_FALSE(b.v.open_o);
  b.v.closing_i = 0;
  b.v.bus_master_i = 1;
  ASSERT_TRUE(b.drain(100000)) << "hangs";
  EXPECT_EQ(b.begin_errors, 0u);
  std::array<uint64_t, 6> last{};  // address, by source
  for (const auto& s : b.tx_req) {
    ASSERT_TRUE(sent.contains(s.t.addr)) << std::hex << s.t.addr;
    const tlp& t = sent[s.t.addr];
    ASSERT_TRUE(s.t.kind == t.kind && s.t.data == t.data) << std::hex << s.t.addr;
    ASSERT_GT(s.t.addr, last[s.t.addr >> 28]) << "out of order";
    last[s.t.addr >> 28] = s.t.addr;
  }
  const uint64_t dropped = b.pulses[GGAS_EV_REQUEST_DROPPED];
  EXPECT_EQ(b.tx_req.size() + dropped, sent.size());
  EXPECT_GT(dropped, 1000u);
  EXPECT_GT(b.tx_req.size(), 3000u);
  size_t c = 0;
  for (const auto& s : b.tx_cpl)
    if (s.t.tag >= 512) {
      ASSERT_LT(c, cpls.size());
      ASSERT_TRUE(s.t.tag == cpls[c].tag && s.t.data == cpls[c].data) << "completion " << c;
      ++c;
    }
  EXPECT_EQ(c, cpls.size());
  EXPECT_EQ(b.tx_cpl.size(), c + b.read_marks.size());
}

// A host that takes no reads gets the writes after them, and one read at most that was in flight.
TYPED_TEST(hostif_test, ReadsWaitForTheHost) {
  auto& b = *this->b;
  b.rma_rd.push_back(beats_of<TestFixture::width>(this->make(tlp_kind::mrd, 7, 0x1000, 4)).front());
  ASSERT_TRUE(b.drain(100));
  EXPECT_EQ(b.tx_req.size(), 1u);
  b.pace.np_ok = false;
  for (unsigned i = 0; i < 20; ++i) {
    b.rma_rd.push_back(beats_of<TestFixture::width>(this->make(tlp_kind::mrd, 7, 0x2000, 4)).front());
    for (auto& beat : beats_of<TestFixture::width>(this->make(tlp_kind::mwr, 7, 0x3000, 16))) b.rma_wr.push_back(beat);
  }
  for (int i = 0; i < 1000; ++i) b.cycle();
  EXPECT_EQ(b.rma_rd.size(), 20u);
  EXPECT_EQ(b.tx_req.size(), 21u);
  b.pace.np_ok = true;
  ASSERT_TRUE(b.drain(1000));
  EXPECT_EQ(b.tx_req.size(), 41u);
}

// While bus master is off reads are dropped like any request, even if the host accepts none: the unit that waits for
// one notices by its time-out, and nothing waits for a host that is gone.
TYPED_TEST(hostif_test, ReadsAreDroppedWithoutBusMaster) {
  auto& b = *this->b;
  b.pace.np_ok = false;
  b.v.bus_master_i = 0;
  for (unsigned i = 0; i < 20; ++i) {
    b.rma_rd.push_back(beats_of<TestFixture::width>(this->make(tlp_kind::mrd, 7, 0x2000, 4)).front());
    for (auto& beat : beats_of<TestFixture::width>(this->make(tlp_kind::mwr, 7, 0x3000, 16))) b.rma_wr.push_back(beat);
  }
  b.cycle();
  EXPECT_TRUE(b.v.reads_ok_o);
  ASSERT_TRUE(b.drain(1000)) << "neither sent nor dropped";
  EXPECT_EQ(b.tx_req.size(), 0u);
  EXPECT_EQ(b.pulses[GGAS_EV_REQUEST_DROPPED], 40u);
  b.v.bus_master_i = 1;
  b.rma_rd.push_back(beats_of<TestFixture::width>(this->make(tlp_kind::mrd, 7, 0x2000, 4)).front());
  EXPECT_FALSE(b.drain(1000));
  EXPECT_FALSE(b.v.reads_ok_o);
  b.pace.np_ok = true;
  ASSERT_TRUE(b.drain(1000));
  EXPECT_EQ(b.tx_req.size(), 1u);
}

}  // namespace
}  // namespace ggas::test
