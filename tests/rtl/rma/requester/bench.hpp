// SPDX-License-Identifier: Apache-2.0
// The Verilated rma_requester with its environment: a dispatcher with a queue of descriptors for each context, a fetch
// engine, the network with targets that answer, notification rings. All of them pause at random; `policy` chooses their
// answers. Everything that crosses a port is reported to an observer.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "sim/nic/packet.hpp"
#include "sim/nic/rma_format.hpp"
#include "sim/nic/rtl/tlp_pins.hpp"
#include "tests/rtl/beat_pins.hpp"
#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/harness/rng.hpp"
#include "tests/rtl/rma/answer_pins.hpp"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test::requester {

using nic::desc_op;
using nic::descriptor;
using nic::net_status;
using nic::packet;

constexpr uint16_t own_node = 1, peer_node = 2;

struct command {
  uint64_t nla = 0;
  uint16_t pd = 0;
  unsigned bytes = 0;
  packet hdr;
};

struct answer {
  nic::op op = nic::op::rma_ack;
  uint8_t vpid = 0, epoch = 0, dvpid = 0;
  bool asked = true;
  net_status status = net_status::ok;
  uint64_t addr = 0;
  uint16_t node = 0;
};

struct record {
  uint8_t vpid = 0;
  bool drop = false;
  uint64_t w0 = 0;
  nic::note w1;
};

struct counts {
  uint8_t vpid = 0;
  unsigned local = 0, remote = 0;
  bool error = false;
  net_status status = net_status::ok;
};

// As rma_pkg::note_t and rma_counts_t.
template <class Port>
record record_of(const Port& p) {
  const auto word = [&](unsigned i) { return p[i] | uint64_t{p[i + 1]} << 32; };
  return {uint8_t(p[4]), bool(p[4] >> 8 & 1), word(2), nic::note::of(word(0))};
}
inline counts counts_of(uint32_t p) {
  return {uint8_t(p >> 14), p >> 13 & 1, p >> 5 & 0xff, bool(p >> 4 & 1), net_status(p & 15)};
}

enum class event { bad_descriptor, protection, timeout, unreachable, retry_limit, unexpected, number };

// An observer. It is called at the clock edge at which an event happens.
struct observer {
  virtual ~observer() = default;
  virtual void taken(uint8_t, const descriptor&) {}
  virtual void done(uint8_t) {}
  virtual void commanded(const command&) {}
  virtual void fetched(const command&, net_status) {}
  virtual void sent(const packet&) {}
  virtual void answered(const answer&) {}
  virtual void noted(const record&, net_status) {}
  virtual void counted(const counts&) {}
  virtual void gave_up(uint8_t, uint8_t) {}
  virtual void happened(event, uint16_t, uint64_t) {}
};

// What the surroundings say.
struct policy {
  std::function<net_status(const command&)> fetch = [](const command&) { return net_status::ok; };
  std::function<std::optional<answer>(const packet&)> target = [](const packet&) { return std::nullopt; };
  std::function<net_status(const record&)> ring = [](const record&) { return net_status::ok; };
};

// Probabilities in percent that a port moves in a cycle, and delays in cycles.
struct pace {
  unsigned desc = 100, tx = 100, cmd = 100, status = 100, note = 100, answer = 100;
  unsigned fetch_delay = 20, answer_delay = 50, note_delay = 3, fetch_room = 8;
};

// The answer a target gives to a packet, all well.
inline answer answer_to(const packet& p, net_status s = net_status::ok) {
  const nic::op o = p.is(nic::op::rma_get)      ? nic::op::rma_get_done
                    : p.is(nic::op::rma_atomic) ? nic::op::rma_atomic_rsp
                                                : nic::op::rma_ack;
  return {.op = o,
          .vpid = p.svpid(),
          .epoch = p.epoch(),
          .dvpid = p.dvpid(),
          .asked = o != nic::op::rma_ack || (p.flags() & nic::rma_wants_ack),
          .status = s,
          .addr = p.addr,
          .node = p.dst};
}

template <class V, unsigned W>
class bench {
 public:
  static constexpr unsigned words = W / 32;

  explicit bench(uint64_t seed, observer& o) : random(seed), watch(o) {
    v.cfg_node_i = own_node;
    v.peer_node_i = peer_node;
    v.peer_valid_i = v.link_up_i = 1;
    v.cfg_mtu_i = 2;
    v.cfg_retry_ticks_i = 1;
    v.cfg_timeout_i = 2000;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
    edge();
  }
  ~bench() { end_model(v); }

  void enable(uint8_t vpid, bool on = true) {
    pins::write_context(v.context_i, vpid, 0, on);
    step();
    pins::end_write(v.context_i);
  }
  void post(uint8_t vpid, const descriptor& d, uint16_t pd = 0) { posts[vpid].push_back({d, pd ? pd : domain(vpid)}); }
  static uint16_t domain(uint8_t vpid) { return uint16_t(0xa000 + vpid); }

  bool queued() const {
    for (const auto& q : posts)
      if (!q.empty()) return true;
    return !beats_.empty();
  }
  // The surroundings owe nothing.
  bool quiet() const { return !queued() && commands.empty() && answers.empty() && !note_; }

  void step() {
    drive();
    v.eval();
    v.ans_writes_i = writing[v.ans_look_vpid_o];
    v.eval();
    const bool asked =
        v.desc_valid_i || v.done_valid_i || v.nt_rsp_valid_i || v.ans_valid_i || pins::is_written(v.context_i);
    if (!gate || asked || v.busy_o || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
      if (accepted_desc_) v.desc_valid_i = v.desc_sop_i = 0;
      if (accepted_ans_) v.ans_valid_i = 0;
      accepted_desc_ = accepted_ans_ = false;
    }
    ++now;
  }
  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) step();
  }
  // Until no one owes anything, also not at a tick; false after `limit` cycles.
  bool settle(uint64_t limit = 1'000'000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (quiet() && !v.busy_o && !v.timer_o) return true;
    }
    return false;
  }
  bool busy(uint8_t vpid) {
    v.look_vpid_i = vpid;
    v.eval();
    return v.look_busy_o;
  }
  void say(const answer& a, uint64_t delay = 0) { answers.push_back({a, now + delay}); }

  struct posted {
    descriptor d;
    uint16_t pd;
  };
  template <class T>
  struct timed {
    T t;
    uint64_t at;
  };
  std::array<std::deque<posted>, 256> posts;
  std::array<bool, 256> held{};         // a descriptor is with the requester
  std::array<bool, 256> writing{};      // an answer is about to be written
  std::deque<timed<command>> commands;  // at the fetch engine
  std::deque<timed<answer>> answers;    // on their way
  struct policy policy;
  struct pace pace;
  bool gate = false;
  uint64_t now = (1 << 27) - 5000;  // ticks are kept in 17 bits: they wrap soon
  std::array<uint64_t, size_t(event::number)> events{};
  uint64_t descriptors = 0, retries = 0, acks = 0;
  uint64_t tx_beats = 0, desc_first = 0, tx_first = 0, done_at = 0;  // cycles of the latest
  rng random;
  observer& watch;
  V v;

 private:
  bool chance(unsigned percent) { return random.below(100) < percent; }
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }

  // ---------------------------------------------------------------- inputs
  void offer_descriptor() {
    if (beats_.empty()) {
      if (!chance(pace.desc)) return;
      for (unsigned i = 0; i < 256 && beats_.empty(); ++i) {
        const auto vpid = uint8_t(turn_++);
        if (posts[vpid].empty() || held[vpid]) continue;
        for (const auto& slot : posts[vpid].front().d.encode()) beats_.push_back(slot);
        v.desc_vpid_i = vpid;
        v.desc_pd_i = posts[vpid].front().pd;
        v.desc_sop_i = 1;
      }
    }
    if (beats_.empty() || (!v.desc_valid_i && !chance(pace.desc))) return;
    v.desc_valid_i = 1;
    v.desc_eop_i = beats_.size() == 1;
    for (unsigned i = 0; i < 8; ++i) v.desc_data_i[i] = beats_.front()[i];
  }

  void drive() {
    v.time_i = now;
    offer_descriptor();
    v.tx_ready_i = chance(pace.tx);
    v.cmd_ready_i = commands.size() < pace.fetch_room && chance(pace.cmd);
    v.st_ready_i = chance(pace.status);
    v.nt_ready_i = !note_ && chance(pace.note);
    v.done_valid_i = !commands.empty() && commands.front().at <= now;
    if (v.done_valid_i) {
      fetch_status_ = policy.fetch(commands.front().t);
      v.done_status_i = uint8_t(fetch_status_);
      v.done_meta_i = commands.front().t.hdr.svpid();
    }
    v.nt_rsp_valid_i = note_ && note_->at <= now;
    if (v.nt_rsp_valid_i) {
      note_status_ = policy.ring(note_->t);
      v.nt_rsp_status_i = uint8_t(note_status_);
    }
    if (!v.ans_valid_i && !answers.empty() && answers.front().at <= now) v.ans_valid_i = chance(pace.answer);
    if (v.ans_valid_i) {
      const answer& a = answers.front().t;
      pins::put_answer(v.ans_i, {.op = uint8_t(a.op),
                                 .vpid = a.vpid,
                                 .epoch = a.epoch,
                                 .status = uint8_t(a.status),
                                 .dvpid = a.dvpid,
                                 .node = a.node,
                                 .addr = a.addr,
                                 .asked = a.asked});
    }
  }

  // ---------------------------------------------------------------- outputs
  static packet header(const auto& h) {
    packet p;
    nic::packet_header bits;
    for (unsigned i = 0; i < nic::header_dws; ++i) bits[i] = h[i];
    p.set_header(bits);
    return p;
  }
  void reply(const packet& p) {
    if (const auto a = policy.target(p)) {
      const uint64_t last = answers.empty() ? 0 : answers.back().at;
      answers.push_back({*a, std::max(last, now + 1 + random.below(pace.answer_delay + 1))});
    }
  }

  void sample_descriptor() {
    if (!v.desc_valid_i || !v.desc_ready_o) return;
    if (v.desc_sop_i) desc_first = now;
    beats_.pop_front();
    accepted_desc_ = true;
    if (!beats_.empty()) return;
    const uint8_t vpid = v.desc_vpid_i;
    held[vpid] = true;
    const descriptor d = posts[vpid].front().d;
    posts[vpid].pop_front();
    watch.taken(vpid, d);
  }

  void sample_packet() {
    const bool valid = pins::get(v.tx_o, pins::valid), sop = pins::get(v.tx_o, pins::sop);
    const bool eop = pins::get(v.tx_o, pins::eop);
    EXPECT_TRUE(valid || !tx_held_) << "tx dropped valid, cycle " << now;
    if (!valid) return;
    std::vector<uint32_t> bits{uint32_t(sop), uint32_t(eop)};
    for (unsigned i = 0; i < nic::header_dws; ++i) bits.push_back(v.tx_o[i]);
    for (unsigned i = 0; i < words; ++i) bits.push_back(nic::pins::get_word<W>(v.tx_data_o, i));
    EXPECT_TRUE(!tx_held_ || bits == tx_bits_) << "tx changed while waiting, cycle " << now;
    if (sop && !tx_held_) tx_first = now;
    tx_held_ = !v.tx_ready_i;
    tx_bits_ = bits;
    if (!v.tx_ready_i) return;
    ++tx_beats;
    EXPECT_EQ(sop, !inside_) << "framing, cycle " << now;
    if (sop) open_ = header(v.tx_o);
    const size_t left = open_.len_dw - open_.data.size();
    EXPECT_EQ(eop, left <= words) << "length, cycle " << now;
    for (size_t i = 0; i < words; ++i) {
      const uint32_t w = nic::pins::get_word<W>(v.tx_data_o, i);
      if (i < left)
        open_.data.push_back(w);
      else
        EXPECT_EQ(w, 0u) << "padding, cycle " << now;
    }
    inside_ = !eop;
    if (!eop) return;
    watch.sent(open_);
    reply(open_);
  }

  void sample_fetch() {
    if (v.done_valid_i) {
      const command c = commands.front().t;
      commands.pop_front();
      watch.fetched(c, fetch_status_);
      if (fetch_status_ == net_status::ok) reply(c.hdr);
    }
    if (!v.cmd_valid_o || !v.cmd_ready_i) return;
    const command c{.nla = v.cmd_nla_o, .pd = v.cmd_pd_o, .bytes = v.cmd_bytes_o, .hdr = header(v.cmd_hdr_o)};
    EXPECT_EQ(v.cmd_meta_o, c.hdr.svpid());
    const uint64_t last = commands.empty() ? 0 : commands.back().at + 1;
    commands.push_back({c, std::max(last, now + 1 + random.below(pace.fetch_delay + 1))});
    watch.commanded(c);
  }

  void sample_notes() {
    if (v.nt_rsp_valid_i) {
      watch.noted(note_->t, note_status_);
      note_.reset();
    }
    if (v.nt_valid_o && v.nt_ready_i) note_ = {record_of(v.nt_o), now + 1 + random.below(pace.note_delay + 1)};
    if (v.st_valid_o && v.st_ready_i) watch.counted(counts_of(v.st_o));
  }

  void sample() {
    sample_descriptor();
    sample_packet();
    sample_fetch();
    sample_notes();
    if (v.ans_valid_i && v.ans_ready_o) {
      watch.answered(answers.front().t);
      answers.pop_front();
      accepted_ans_ = true;
    }
    for (size_t i = 0; i < size_t(event::number); ++i) {
      if (!(v.ev_o >> i & 1)) continue;
      ++events[i];
      watch.happened(event(i), v.ev_node_o, v.ev_info_o);
    }
    descriptors += v.cnt_o & 1;
    retries += v.cnt_o >> 1 & 1;
    acks += v.cnt_o >> 2 & 1;
    if (v.ep_valid_o) {
      EXPECT_FALSE(written_[v.ep_vpid_o]) << "given up while it is written, cycle " << now;
      watch.gave_up(v.ep_vpid_o, v.ep_epoch_o);
    }
    written_ = writing;
    if (v.desc_done_o) {
      EXPECT_TRUE(held[v.desc_done_vpid_o]) << "nothing to give back, cycle " << now;
      held[v.desc_done_vpid_o] = false;
      done_at = now;
      watch.done(v.desc_done_vpid_o);
    }
  }

  std::deque<std::array<uint32_t, 8>> beats_;
  unsigned turn_ = 0;
  std::array<bool, 256> written_{};  // `writing` a cycle ago
  bool accepted_desc_ = false, accepted_ans_ = false, tx_held_ = false, inside_ = false;
  std::vector<uint32_t> tx_bits_;
  packet open_;
  std::optional<timed<record>> note_;
  net_status fetch_status_ = net_status::ok, note_status_ = net_status::ok;
};

}  // namespace ggas::test::requester
