// SPDX-License-Identifier: Apache-2.0
// The rules of docs/rma.md for a requester, as an observer: the packets and fetch commands of each context in the order
// of its descriptors; at the end, exactly the counts and notifications that follow from the outcomes.
#pragma once

#include <algorithm>
#include <map>

#include "tests/rtl/rma/requester/bench.hpp"

namespace ggas::test::requester {

class checker : public observer {
 public:
  unsigned mtu = 256;
  uint64_t packets = 0, chunks = 0, notes = 0;

  static bool reachable(uint16_t node) { return node == own_node || node == peer_node; }

  void taken(uint8_t vpid, const descriptor& d) override {
    job j{.d = d};
    j.live = d.good() && d.op != desc_op::nop && reachable(d.node);
    if (j.live && d.op != desc_op::put) j.packets = express(vpid, d);
    context& c = contexts_[vpid];
    EXPECT_TRUE(c.jobs.empty() || c.jobs.back().given_back) << "second descriptor of context " << +vpid;
    c.jobs.push_back(std::move(j));
  }

  void done(uint8_t vpid) override { contexts_[vpid].jobs.back().given_back = true; }

  void commanded(const command& k) override {
    ++chunks;
    const uint8_t vpid = k.hdr.svpid();
    context& c = contexts_[vpid];
    // The command is the next one of the oldest put that is not through, or has failed.
    while (c.command < c.jobs.size() && !c.jobs[c.command].continues(k)) ++c.command;
    ASSERT_LT(c.command, c.jobs.size()) << "fetch command out of nothing: " << to_text(k.hdr);
    job& j = c.jobs[c.command];
    const auto n = unsigned(std::min<uint64_t>(j.d.size - j.issued, mtu - (j.d.w2 + j.issued) % mtu));
    EXPECT_EQ(k.bytes, n);
    EXPECT_EQ(k.pd, domain(vpid));
    packet p = request(vpid, j.d, nic::op::rma_put);
    p.addr = j.d.w2 + j.issued;
    nic::put_payload(p, std::vector<uint8_t>(n));
    p.set_flags(put_flags(j.d, uint32_t(j.issued), n));
    expect_header(k.hdr, p);
    j.issued += n;
    c.fetching.push_back({c.command, j.issued == j.d.size});
  }

  void fetched(const command& k, net_status s) override {
    context& c = contexts_[k.hdr.svpid()];
    ASSERT_FALSE(c.fetching.empty());
    const auto [at, last] = c.fetching.front();
    c.fetching.pop_front();
    job& j = c.jobs[at];
    c.expect_left(at);
    if (j.fail == net_status::ok) j.fail = s;
    j.chunks_done |= last;
    c.latest = at;
  }

  void sent(const packet& p) override {
    ++packets;
    context& c = contexts_[p.svpid()];
    // A job of the newest descriptor: the next of its packets, its NOTIFY, or the packet that found a full target.
    c.latest = c.express_job();
    job& j = c.jobs.at(c.latest);
    c.expect_left(c.latest);
    packet want;
    if (j.full) {
      want = j.repeat;
      j.full = false;
    } else if (j.sent < j.packets.size()) {
      want = j.packets[j.sent++];
    } else {
      ASSERT_TRUE(j.d.puts() && j.d.notify_completer && !j.tail_sent) << "packet out of nothing: " << to_text(p);
      EXPECT_TRUE(c.fetching.empty()) << "NOTIFY before its put";
      j.tail_sent = true;
      want = notify(p.svpid(), j.d, j.fail);
    }
    j.repeat = want;
    expect_header(p, want);
    EXPECT_EQ(p.data, want.data) << to_text(p);
  }

  // Reported by the test: the target has answered the packet that left last, or the put that did.
  void outcome(const packet& p, net_status s) {
    job& j = contexts_[p.svpid()].jobs.at(contexts_[p.svpid()].latest);
    j.answers.push_back(s);
    j.full = s == net_status::full && j.repeats() && (!retry_limit || ++j.repetitions <= retry_limit);
  }
  unsigned retry_limit = 0;

  void noted(const record& r, net_status s) override {
    if (s == net_status::full) return;
    EXPECT_EQ(r.drop, r.w1.kind == nic::note_kind::error);
    contexts_[r.vpid].notes.push_back({r.w0, r.w1.word()});
    ++notes;
  }

  void counted(const counts& n) override {
    context& c = contexts_[n.vpid];
    c.local += n.local;
    c.remote += n.remote;
    c.errors += n.error;
    EXPECT_LE(c.remote, c.jobs.size());
    EXPECT_LE(c.local, c.jobs.size());
    EXPECT_EQ(n.error, n.status != net_status::ok);
  }

  // All is over.
  void finish() {
    for (unsigned v = 0; v < 256; ++v) {
      context& c = contexts_[v];
      std::vector<std::pair<uint64_t, uint64_t>> want;
      for (const job& j : c.jobs) expected_notes(j, want);
      const auto errors = uint64_t(std::ranges::count_if(
          want, [](const auto& r) { return nic::note::of(r.second).kind == nic::note_kind::error; }));
      std::ranges::sort(want);
      std::ranges::sort(c.notes);
      EXPECT_EQ(c.notes, want) << "notifications of context " << v;
      EXPECT_EQ(c.local, c.jobs.size()) << "context " << v;
      EXPECT_EQ(c.remote, c.jobs.size()) << "context " << v;
      EXPECT_EQ(c.errors, errors) << "context " << v;
      for (const job& j : c.jobs) {
        EXPECT_TRUE(j.given_back);
        EXPECT_TRUE(j.left()) << "a packet is missing, context " << v;
      }
    }
  }

 private:
  struct job {
    descriptor d;
    bool live = false;                 // good, and its node can be reached
    std::vector<packet> packets = {};  // express ones, but for the NOTIFY of a put
    size_t sent = 0;
    uint64_t issued = 0;
    bool chunks_done = false, tail_sent = false, given_back = false;
    bool full = false;  // its packet will be repeated
    unsigned repetitions = 0;
    net_status fail = net_status::ok;  // of the first fetch that failed
    packet repeat = {};
    std::vector<net_status> answers = {};

    bool remote() const { return d.ack || d.always_answered(); }
    bool repeats() const {
      return d.op == desc_op::notify || d.op == desc_op::send || (d.puts() && d.notify_completer);
    }
    bool continues(const command& k) const {
      return live && d.op == desc_op::put && issued < d.size && k.nla == d.w1 + issued && k.hdr.addr == d.w2 + issued;
    }
    bool left() const {  // nothing of it may still leave, but a repetition
      if (!live) return true;
      if (d.op != desc_op::put) return sent == packets.size() && (!d.puts() || !d.notify_completer || tail_sent);
      return (chunks_done || fail != net_status::ok) && (!d.notify_completer || tail_sent);
    }
  };
  struct context {
    std::vector<job> jobs;
    size_t command = 0;  // the put whose commands come
    size_t latest = 0;   // whose packet left last
    size_t floor = 0;    // everything of the jobs before it has left
    struct fetch {
      size_t job;
      bool last;
    };
    std::deque<fetch> fetching;
    uint64_t local = 0, remote = 0, errors = 0;
    std::vector<std::pair<uint64_t, uint64_t>> notes;

    void expect_left(size_t before) {
      while (floor < before && jobs[floor].left()) ++floor;
      EXPECT_GE(floor, before) << "a packet passed an earlier one of its context";
    }
    size_t express_job() {
      if (!jobs.empty() && jobs.back().full) return jobs.size() - 1;
      while (floor < jobs.size() && jobs[floor].left()) ++floor;
      return floor;
    }
  };

  static uint16_t domain(uint8_t vpid) { return uint16_t(0xa000 + vpid); }

  static void expect_header(const packet& got, const packet& want) {
    EXPECT_EQ(got.header(), want.header()) << to_text(got) << "\nexpected " << to_text(want);
  }

  static bool awaited(const descriptor& d) { return d.ack || d.always_answered() || d.notify_completer; }

  static packet request(uint8_t vpid, const descriptor& d, nic::op o) {
    packet p{.dst = d.node, .src = own_node, .vc = 3, .op = uint8_t(o), .vpid = d.dvpid};
    p.set_initiator(vpid, d.holds() && awaited(d) ? 0 : uint8_t(d.op));
    p.set_pd(domain(vpid));
    return p;
  }
  static void append(packet& p, uint64_t word) {
    p.data.push_back(uint32_t(word));
    p.data.push_back(uint32_t(word >> 32));
    p.len_dw = uint16_t(p.data.size());
  }
  static packet notify(uint8_t vpid, const descriptor& d, net_status s) {
    packet p = request(vpid, d, nic::op::rma_notify);
    p.addr = d.strong ? d.w2 : 0;
    p.status = uint8_t(s);
    p.set_flags(nic::rma_last | nic::rma_wants_ack | (d.strong ? nic::rma_strong : 0) |
                (d.puts() ? 0 : nic::rma_first));
    append(p, d.cookie);
    append(p, d.size | uint64_t(d.op) << 32);
    return p;
  }
  static unsigned put_flags(const descriptor& d, uint32_t at, uint32_t n) {
    const unsigned last = nic::rma_last | (d.ack ? nic::rma_wants_ack : 0);
    return (at == 0 ? unsigned{nic::rma_first} : 0u) | (at + n == d.size && !d.notify_completer ? last : 0u);
  }
  std::vector<packet> express(uint8_t vpid, const descriptor& d) const {
    std::vector<packet> out;
    if (d.puts()) {
      for (uint32_t at = 0; at < d.size;) {
        const auto n = uint32_t(std::min<uint64_t>(d.size - at, mtu - (d.w2 + at) % mtu));
        packet p = request(vpid, d, nic::op::rma_put);
        p.addr = d.w2 + at;
        nic::put_payload(p, std::span(d.data).subspan(at, n));
        p.set_flags(put_flags(d, at, n));
        at += n;
        out.push_back(p);
      }
    } else if (d.op == desc_op::notify) {
      out.push_back(notify(vpid, d, net_status::ok));
    } else {
      packet p = request(vpid, d,
                         d.op == desc_op::get      ? nic::op::rma_get
                         : d.op == desc_op::atomic ? nic::op::rma_atomic
                                                   : nic::op::velo_msg);
      p.set_flags(nic::rma_last | nic::rma_wants_ack);
      if (d.op == desc_op::get) {
        p.addr = d.w1;
        if (d.notify_responder) p.set_flags(p.flags() | nic::rma_responder);
        append(p, d.w2);
        append(p, d.cookie);
        append(p, d.size);
      } else if (d.op == desc_op::atomic) {
        p.addr = d.w2;
        if (d.second[1]) p.set_flags(p.flags() | nic::rma_result);
        append(p, d.w1);
        append(p, d.second[0]);
        append(p, d.second[1]);
        append(p, d.cookie);
        append(p, d.second[2] | (d.size == 8 ? uint64_t{1} << 31 : 0));
      } else {
        append(p, d.cookie);
        append(p, d.size);
        for (size_t i = 0; i < d.data.size(); ++i) {
          if (i % 4 == 0) p.data.push_back(0);
          p.data.back() |= uint32_t{d.data[i]} << 8 * (i % 4);
        }
        p.len_dw = uint16_t(p.data.size());
      }
      out.push_back(p);
    }
    return out;
  }

  using notes_t = std::vector<std::pair<uint64_t, uint64_t>>;
  static void note(const descriptor& d, nic::note_kind kind, net_status s, uint64_t w0, notes_t& out) {
    out.push_back(
        {w0,
         nic::note{
             .kind = kind, .status = uint8_t(s), .op = uint8_t(d.op), .vpid = d.dvpid, .node = d.node, .size = d.size}
             .word()});
  }

  // The old value that answers an atomic, the address that answers anything else.
  static uint64_t answered_word(const descriptor& d, uint64_t addr) {
    return d.op == desc_op::atomic ? ~d.cookie : addr;
  }

  void expected_notes(const job& j, notes_t& out) const {
    const descriptor& d = j.d;
    using enum nic::note_kind;
    if (!j.live) {
      if (!d.good()) return note(d, error, net_status::bad, d.cookie, out);
      if (d.op != desc_op::nop) return note(d, error, net_status::unreachable, d.cookie, out);
      if (d.notify_requester) note(d, requester, net_status::ok, d.cookie, out);
      return;
    }
    const bool tail = d.puts() && d.notify_completer;
    const net_status last = j.answers.empty() ? net_status::ok : j.answers.back();
    const uint64_t addr = d.op == desc_op::get ? d.w1 : d.op == desc_op::send ? 0 : j.repeat.addr;
    if (j.fail == net_status::ok && d.holds() && !j.remote() && d.notify_requester)
      note(d, requester, net_status::ok, d.cookie, out);
    if (j.fail != net_status::ok) note(d, error, j.fail, d.cookie, out);
    const bool waits = d.holds() && (j.remote() || tail);
    if (waits && j.fail == net_status::ok) {
      if (last == net_status::full) return note(d, error, last, d.cookie, out);
      if (last != net_status::ok)
        return note(d, error, last, d.op == desc_op::atomic ? d.cookie : put_addr(j, addr), out);
      if (d.notify_requester && j.remote())
        note(d, requester, net_status::ok, d.op == desc_op::atomic ? ~d.cookie : d.cookie, out);
      if (d.op == desc_op::get && d.notify_completer) note(d, completer, net_status::ok, d.cookie, out);
    }
    if (!waits && last != net_status::ok) {
      const nic::note n{.kind = error, .status = uint8_t(last), .op = uint8_t(d.op), .vpid = d.dvpid, .node = d.node};
      out.push_back({answered_word(d, put_addr(j, addr)), n.word()});
    }
  }
  // A put is answered with the address of its last packet.
  uint64_t put_addr(const job& j, uint64_t otherwise) const {
    if (j.d.op != desc_op::put || j.d.notify_completer) return otherwise;
    return std::max(j.d.w2, (j.d.w2 + j.d.size - 1) / mtu * mtu);
  }

  std::array<context, 256> contexts_;
};

}  // namespace ggas::test::requester
