// SPDX-License-Identifier: Apache-2.0
// Two links joined by two channels with delay and faults, and a scoreboard.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "tests/rtl/link/link_node.hpp"

namespace ggas::test {

// One direction. `fault` sees each flit with its index and returns what arrives: none, one or two flits.
class channel {
 public:
  using fault_fn = std::function<std::vector<flit>(const flit&, uint64_t index)>;
  explicit channel(unsigned delay) : delay_(delay) {}
  void fault(fault_fn f) { fault_ = std::move(f); }

  void push(const flit& f, uint64_t now) {
    const uint64_t index = flits_++;
    for (const flit& g : fault_ ? fault_(f, index) : std::vector<flit>{f}) {
      last_ = std::max(last_ + 1, now + delay_);  // one flit a cycle
      queue_.push_back({last_, g});
    }
  }
  std::optional<flit> pop(uint64_t now) {
    if (queue_.empty() || queue_.front().first > now) return std::nullopt;
    auto f = queue_.front().second;
    queue_.pop_front();
    if (auto c = nic::parse_control(f); c && c->nak) ++naks_;
    return f;
  }
  // A flit from elsewhere, after those under way.
  void inject(const flit& f, uint64_t now) {
    last_ = std::max(last_ + 1, now + delay_);
    queue_.push_back({last_, f});
  }
  void delay(unsigned cycles) { delay_ = cycles; }  // of what is sent from now on
  bool empty() const { return queue_.empty(); }
  uint64_t flits() const { return flits_; }
  uint64_t naks() const { return naks_; }

 private:
  unsigned delay_;
  fault_fn fault_;
  std::deque<std::pair<uint64_t, flit>> queue_;
  uint64_t flits_ = 0, last_ = 0, naks_ = 0;
};

template <class Model, unsigned Width>
class link_pair {
 public:
  using node = link_node<Model, Width>;
  explicit link_pair(uint64_t seed, unsigned delay = 7) : delay_(delay) {
    for (unsigned i = 0; i < 2; ++i) nodes_[i] = std::make_unique<node>(seed * 2 + i);
    reset();
  }

  void reset() {
    for (unsigned i = 0; i < 2; ++i) {
      nodes_[i]->reset();
      nodes_[i]->pins().link_rx_up_i = 1;
      wires_[i] = std::make_unique<channel>(delay_);
      nodes_[i]->expect_np_after(&nodes_[1 - i]->sent(1));
    }
    time_ = 1;
    log.clear();
  }

  node& operator[](unsigned i) { return *nodes_[i]; }
  channel& wire(unsigned from) { return *wires_[from]; }
  uint64_t time() const { return time_; }

  void step() {
    std::array<std::optional<flit>, 2> out;
    for (unsigned i = 0; i < 2; ++i) {
      states[i] |= 1u << nodes_[i]->state();
      out[i] = nodes_[i]->step(time_, wires_[1 - i]->pop(time_));
    }
    for (unsigned i = 0; i < 2; ++i) {
      if (!out[i]) continue;
      wires_[i]->push(*out[i], time_);
      if (keep_log) log.push_back({time_, i, *out[i]});
    }
    ++time_;
  }

  // For clocks that are gated: to the cycle of the next tick, as nothing happens before it.
  void skip_to_tick() { time_ = (time_ + nic::nic_core::tick_cycles - 1) & ~(nic::nic_core::tick_cycles - 1); }

  // Steps until `done` holds; false if it does not within `limit` cycles.
  bool run(uint64_t limit, const std::function<bool()>& done) {
    for (const uint64_t end = time_ + limit; time_ < end; step())
      if (done()) return true;
    return done();
  }
  bool drained() {
    return nodes_[0]->quiet() && nodes_[1]->quiet() && wires_[0]->empty() && wires_[1]->empty() &&
           nodes_[0]->state() == link_up && nodes_[1]->state() == link_up;
  }
  bool run_until_drained(uint64_t limit) {
    return run(limit, [this] { return drained(); });
  }

  // Every packet a unit handed over on one side came out on the other, once, in order, unchanged.
  void check_all() {
    for (unsigned i = 0; i < 2; ++i) {
      EXPECT_EQ(nodes_[i]->order_errors(), 0u) << "NP packets passed P packets at node " << i;
      for (unsigned v = 0; v < channels; ++v) {
        const auto& sent = nodes_[i]->sent(v);
        const auto& got = nodes_[1 - i]->received(v);
        ASSERT_EQ(got.size(), sent.size()) << "node " << i << " channel " << v;
        for (size_t k = 0; k < got.size(); ++k)
          ASSERT_TRUE(same(sent[k].p, got[k])) << "channel " << v << " packet " << k;
      }
    }
  }

  static bool same(const packet& a, const packet& b) { return a.header() == b.header() && a.data == b.data; }

  std::array<unsigned, 2> states{};  // bit per state seen
  struct record {
    uint64_t time;
    unsigned from;
    flit f;
    bool operator==(const record&) const = default;
  };
  bool keep_log = false;
  std::vector<record> log;  // every flit sent

 private:
  unsigned delay_;
  std::array<std::unique_ptr<node>, 2> nodes_;
  std::array<std::unique_ptr<channel>, 2> wires_;
  uint64_t time_ = 1;
};

// A packet with random content that the link accepts on `vc`.
inline packet random_packet(std::mt19937_64& rng, unsigned vc, unsigned max_dw = 64) {
  packet p;
  p.dst = uint16_t(rng());
  p.src = uint16_t(rng());
  p.vc = uint8_t(vc);
  p.op = uint8_t(rng());
  p.status = rng() & 15;
  p.first_be = rng() & 15;
  p.last_be = rng() & 15;
  p.tag = uint16_t(rng());
  p.vpid = uint8_t(rng());
  p.detail = rng() & 0x1ff;
  p.domain = uint16_t(rng());
  p.export_no = uint8_t(rng());
  p.hops = uint8_t(rng());
  p.reserved = rng() & 0x7ff;
  p.req_dw = rng() & 0x7ff;
  p.addr = rng();
  p.len_dw = rng() % 4 == 0 ? 0 : uint16_t(1 + rng() % max_dw);
  for (unsigned i = 0; i < p.len_dw; ++i) p.data.push_back(uint32_t(rng()));
  return p;
}

}  // namespace ggas::test
