// SPDX-License-Identifier: Apache-2.0
// Operations of contexts: puts and gets, atomics, messages; some at once, checked when all of them have ended.
#include <algorithm>

#include "tests/rtl/pairs/feature.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;

constexpr unsigned most_at_once = 4, message_words = nic::message_bytes / 4;

class context_feature : public feature {
 public:
  context_feature(kind k, world& w, const users_of& who) : feature(w, who), kind_(k) {
    for (unsigned d : who.domains)
      for (unsigned n : who.nodes) users_.push_back({d, n});
    for (unsigned d : who.domains) {
      w.checks[d][region::counters] = [this](unsigned n, uint64_t offset, uint32_t dw) {
        return offset < 8 * triangle::size && (offset % 8 ? dw == 0 : dw <= added_[n][offset / 8]);
      };
      w.checks[d][region::results] = [this, d](unsigned n, uint64_t offset, uint32_t dw) {
        if (offset % 16 >= 8) return dw == (offset % 16 == 8 ? n : domain_number[d]);
        return offset % 16 ? dw == 0 : std::ranges::any_of(added_, [&](const auto& of) { return dw < of[n]; });
      };
    }
  }
  void set_up(unsigned) override {}
  void work() override {
    for (user& u : users_) {
      rma_user& r = w_.user(u.d, u.n);
      r.pump();
      read_messages(u.d, r);
      if (!u.spans.empty() || u.open) {
        if (!r.done()) continue;
        ended(u, r);
      }
      begin(u, r);
    }
  }
  void recover() override {
    for (user& u : users_) {
      u.spans.clear();
      u.open = 0;
      restart_context(u.d, u.n);
    }
  }
  void stop_and_start(unsigned d, unsigned n) override {
    for (user& u : users_)
      if (u.d == d && u.n == n) {
        u.spans.clear();
        u.open = 0;
      }
    restart_context(d, n);
  }
  std::vector<uint64_t> progress() const override {
    std::vector<uint64_t> all;
    for (const user& u : users_) all.push_back(u.well);
    return all;
  }

 private:
  struct span {
    unsigned n;  // where
    uint64_t bus, bytes;
    unsigned as_node;
  };
  struct user {
    unsigned d, n;
    std::vector<span> spans = {};  // of puts and gets
    unsigned open = 0, errors = 0, epoch = 0;
    uint64_t well = 0;
  };
  void begin(user& u, rma_user& r) {
    u.open = unsigned(w_.random.range(1, most_at_once));
    u.epoch = w_.epoch;
    u.errors = r.errors();
    for (unsigned k = 0; k < u.open; ++k) {
      descriptor d{.ack = true};
      const unsigned target = unsigned(w_.random.below(triangle::size));
      d.node = uint16_t(target);
      if (kind_ == kind::put_get) put_or_get(u, d, target);
      if (kind_ == kind::atomics) add(u, d, target, k);
      if (kind_ == kind::messages) message(u, d);
      r.post(d);
    }
  }
  void put_or_get(user& u, descriptor& d, unsigned target) {
    d.op = w_.random.chance(0.5) ? desc_op::put : desc_op::get;
    d.size = uint32_t(w_.random.range(1, w_.random.chance(0.5) ? 64 : 1'500));
    const bool put = d.op == desc_op::put;
    const uint64_t offset = world::share(u.n) + w_.random.below(world::share_bytes - d.size);
    const span s{put ? target : u.n, world::at(u.d, put ? region::puts : region::gets, offset), d.size,
                 put ? target : world::any_node};
    d.w1 = world::logical(put ? world::source(u.d, target, offset) : world::at(u.d, region::gives, offset));
    d.w2 = world::logical(s.bus);
    w_.clear(s.n, s.bus, s.bytes);
    u.spans.push_back(s);
  }
  void add(user& u, descriptor& d, unsigned target, unsigned k) {
    d.op = desc_op::atomic;
    d.size = 8;
    d.w1 = 1;
    d.w2 = world::logical(world::at(u.d, region::counters, 8 * u.n));
    d.second = {0, world::logical(world::at(u.d, region::results, 16 * k)), uint64_t(nic::amo::add), 0};
    d.cookie = u.n | uint64_t{domain_number[u.d]} << 32;
    added_[target][u.n] = std::max(added_[target][u.n], ++count_[u.d][target][u.n]);
  }
  void message(user& u, descriptor& d) {
    d.op = desc_op::send;
    d.dvpid = uint8_t(world::vpid + u.d);
    d.size = nic::message_bytes;
    for (unsigned i = 0; i < d.size; ++i) d.data.push_back(uint8_t(text(u.d, u.n, i / 4) >> 8 * (i & 3)));
  }
  static uint32_t text(unsigned d, unsigned n, unsigned i) { return world::value(0x100 + d * triangle::size + n, i); }
  void read_messages(unsigned d, rma_user& r) {
    for (const user_message& m : r.messages) {
      bool right = m.n.node < triangle::size && m.data.size() == nic::message_bytes;
      for (unsigned i = 0; right && i < nic::message_bytes; ++i)
        right = m.data[i] == uint8_t(text(d, m.n.node, i / 4) >> 8 * (i & 3));
      if (!right) w_.wrong(d, "domain {}: a foreign message", d);
    }
    r.messages.clear();
  }
  void ended(user& u, rma_user& r) {
    done_ += u.open;
    const bool calm = w_.calm && u.epoch == w_.epoch && u.errors == r.errors();
    for (const span& s : u.spans)
      if (calm && !w_.holds(s.n, s.bus, s.bytes, s.as_node))
        w_.wrong(u.d, "domain {}: {} bytes of node {} at {:#x} of node {} are not there behind their end", u.d, s.bytes,
                 u.n, s.bus, s.n);
    u.spans.clear();
    u.well += calm ? u.open : 0;
    u.open = 0;
  }

  kind kind_;
  std::vector<user> users_;
  std::array<std::array<uint64_t, triangle::size>, triangle::size> added_{};  // by target, initiator: most of a domain
  std::array<std::array<std::array<uint64_t, triangle::size>, triangle::size>, domains> count_{};
};

}  // namespace

std::unique_ptr<feature> make_context_feature(kind k, world& w, const users_of& who) {
  return std::make_unique<context_feature>(k, w, who);
}

}  // namespace ggas::test
