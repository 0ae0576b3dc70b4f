// SPDX-License-Identifier: Apache-2.0
// Members that play random operations of several groups, what must come of each, and who leads them around what dies.
#pragma once
#include "tests/rtl/coll/tree.hpp"

namespace ggas::test::coll {

// An operation of a group as each of its members asks for it, and what must come of it.
struct round_of {
  std::map<unsigned, demand> asked;
  std::map<unsigned, unsigned> found = {};  // by the quiet of a fenced one
  std::vector<uint64_t> result = {};
  bool any = false;
  unsigned status = ok, kind = int32;

  // Own first, then child by child, each with the subtree below it. The first failure in this order is sent to all.
  unsigned fold(const std::map<unsigned, group_config>& tree, unsigned at, std::optional<demand>& here) {
    const demand& own = asked.at(at);
    unsigned s = !own.valid() ? bad : own.fenced ? found.at(at) : ok;
    if (s == ok && own.contributes) here = own;
    for (unsigned c : tree.at(at).children) {
      std::optional<demand> below;
      const unsigned s_below = fold(tree, c, below);
      if (s == ok) s = s_below;
      if (s_below != ok || !below) continue;
      if (!here)
        here = below;
      else if (!here->alike(*below))
        s = s == ok ? bad : s;
      else
        for (unsigned i = 0; i < here->words; ++i)
          here->data[i] = combine(here->op, here->kind, here->data[i], below->data[i]);
    }
    return s;
  }
  void work_out(const std::map<unsigned, group_config>& tree) {
    std::optional<demand> total;
    for (const auto& [n, g] : tree)
      if (!g.parent) status = fold(tree, n, total);
    any = total.has_value();
    if (total) result = total->data, kind = total->kind;
  }
};

inline demand random_demand(dice& d) {
  demand x;
  x.op = unsigned(d.below(6));
  do x.kind = unsigned(d.below(6));
  while (!meaningful(x.op, x.kind));
  x.words = 1 + unsigned(d.chance(50) ? d.below(most_words) : d.below(3));
  x.contributes = true;
  return x;
}
inline uint64_t random_word(dice& d, unsigned kind) {
  const double small = double(int64_t(d.below(2001)) - 1000) / double(1 + d.below(7));
  if (kind == float64) return std::bit_cast<uint64_t>(small);
  if (kind == float32) return std::bit_cast<uint32_t>(float(small)) * 0x1'0000'0001u;
  return d.bits();
}

inline round_of random_round(dice& d, const std::map<unsigned, group_config>& tree, unsigned most_fences) {
  round_of r;
  const bool barrier = d.chance(20), faulty = d.chance(10);
  const unsigned share = d.chance(50) ? 100 : unsigned(d.below(100));
  const unsigned fences = d.chance(50) ? 0 : unsigned(d.below(most_fences + 1)), dead = d.chance(20) ? 30 : 0;
  const demand common = random_demand(d);
  for (const auto& [n, g] : tree) {
    demand x = common;
    x.contributes = !barrier && d.chance(share);
    x.wants = d.chance(70);
    if (faulty && d.chance(20)) x = random_demand(d);
    if (faulty && d.chance(10)) x.words = d.chance(50) ? 0 : 33 + unsigned(d.below(31));
    if (!x.contributes)
      x.words = x.words > most_words ? x.words : unsigned(d.below(33));
    else if (x.valid())
      for (unsigned i = 0; i < x.words; ++i) x.data.push_back(random_word(d, x.kind));
    x.fenced = d.chance(fences);
    r.asked[n] = x;
    r.found[n] = d.chance(dead) ? 1 + unsigned(d.below(15)) : ok;
  }
  r.work_out(tree);
  return r;
}

// A member of a group on its way through the rounds.
struct member {
  size_t started = 0, ended = 0;
  bool broken = false;
};

// The network manager's steps around ways that die, as often as it is informed (docs/network.md).
template <class Network>
class manager {
 public:
  manager(Network& net, unsigned changes) : net_(net), left_(changes) { wait(2000); }
  void step() {
    if (left_ == 0 || ++cycle_ < until_) return;
    const bool all =
        std::ranges::all_of(net_.nodes, [this](auto& n) { return n->v.route_i == unsigned(at_ == going); });
    if (at_ == calm) {
      for (unsigned a = 0; a < net_.nodes.size(); ++a)
        for (unsigned b = 0; b < net_.nodes.size(); ++b)
          if (net_.d.chance(20)) net_.dead.insert({a, b});
      at_ = stopping;
      haste_ = net_.d.chance(50) ? 20'000 : net_.d.chance(50) ? 2'000 : 100;
      wait(net_.d.chance(50) ? 300 : 1);
    } else if (!all) {
      for (auto& n : net_.nodes)
        if (net_.d.below(100'000) < haste_) n->v.route_i = at_ == going;
    } else if (at_ == stopping) {
      at_ = draining;
      until_ = cycle_ + 1000;
    } else if (at_ == draining && net_.drained()) {
      net_.dead.clear();
      at_ = going;
    } else if (at_ == going) {
      at_ = calm;
      --left_;
      wait(net_.d.chance(50) ? 4000 : 100);  // sometimes at once: neighbours are being informed
    }
  }
  bool done() const { return left_ == 0; }

 private:
  void wait(unsigned most) { until_ = cycle_ + net_.d.below(most); }
  Network& net_;
  unsigned left_, haste_ = 0;  // chance a cycle that a node changes, in 100,000
  uint64_t cycle_ = 0, until_ = 0;
  enum { calm, stopping, draining, going } at_ = calm;
};

template <class Network>
class players {
 public:
  // Each with a chance of being fenced, in every round of which the dice want fences.
  players(Network& net, std::vector<std::map<unsigned, group_config>> groups, size_t rounds, unsigned fences = 100)
      : net_(net), groups_(std::move(groups)) {
    for (const auto& tree : groups_) {
      std::vector<round_of> all;
      for (size_t i = 0; i < rounds; ++i) all.push_back(random_round(net.d, tree, fences));
      rounds_.push_back(std::move(all));
      for (const auto& [n, g] : tree) {
        net.nodes[n]->configure(net.d, g);
        net.nodes[n]->quiet_answer = [this, n](unsigned page) { return answer(n, page); };
        at_[&g] = {};
      }
    }
  }
  ~players() {
    for (auto& n : net_.nodes) n->quiet_answer = [](unsigned) { return bad; };
  }
  // With a manager operations may fail after a contribution that a node's stop met.
  bool play(unsigned limit, manager<Network>* around = nullptr) {
    may_break_ = around;
    for (unsigned cycle = 0; cycle < limit; ++cycle) {
      if (around) around->step(), look();
      bool done = true;
      for (size_t k = 0; k < groups_.size(); ++k)
        for (const auto& [n, g] : groups_[k]) done = move(k, n, g) && done;
      if (done && (!around || around->done())) return true;
      net_.step();
    }
    return false;
  }
  // Groups that failed for that, and the others.
  size_t broken() const { return broken_.size(); }
  size_t whole() const { return groups_.size() - broken_.size(); }

 private:
  bool waits(unsigned n, const group_config& g) const {
    return net_.nodes[n]->ups[g.number] > uint32_t(net_.nodes[n]->mem.qword(g.result + 0x200));
  }
  void look() {
    for (size_t k = 0; k < groups_.size(); ++k)
      for (const auto& [n, g] : groups_[k])
        if (!net_.nodes[n]->v.route_i && waits(n, g)) exposed_.insert(k);
  }
  // Answers the quiet that the owner's member waits for.
  unsigned answer(unsigned n, unsigned page) {
    for (size_t k = 0; k < groups_.size(); ++k) {
      const auto g = groups_[k].find(n);
      if (g == groups_[k].end() || g->second.owner != page) continue;
      const member& m = at_[&g->second];
      return m.started > m.ended ? rounds_[k][m.ended].found.at(n) : bad;  // bad: of a former life, to be dropped
    }
    return bad;
  }
  bool move(size_t k, unsigned n, const group_config& g) {
    member& m = at_[&g];
    auto& here = *net_.nodes[n];
    if (m.started > m.ended) {
      const uint64_t flag = here.mem.qword(g.result + 0x200);
      if (uint32_t(flag) == m.ended) return false;
      EXPECT_EQ(uint32_t(flag), m.ended + 1);
      const auto status = unsigned(flag >> 32);
      if (m.broken || (may_break_ && status != rounds_[k][m.ended].status))
        fails(k, n, m, status);
      else
        check(rounds_[k][m.ended], here.mem, g, n, m.ended + 1, status);
      for (const auto& [other, c] : groups_[k])
        EXPECT_TRUE(status != ok || at_[&c].started > m.ended) << "node " << other << " had not come";
      ++m.ended;
    }
    if (m.started == rounds_[k].size()) return true;
    const unsigned haste = may_break_ && k % 2 ? 4 : 100;  // some are idle as the route goes or comes
    if (net_.d.chance(10) && net_.d.chance(haste)) here.start(net_.d, g, rounds_[k][m.started++].asked.at(n));
    return false;
  }
  void fails(size_t k, unsigned n, member& m, unsigned status) {
    EXPECT_EQ(status, link_down) << "node " << n << " group " << k << " operation " << m.ended + 1;
    EXPECT_TRUE(exposed_.contains(k)) << "node " << n << " group " << k << ": nobody waited";
    m.broken = true;
    broken_.insert(k);
  }
  void check(const round_of& r, const memory& mem, const group_config& g, unsigned n, size_t count, unsigned status) {
    EXPECT_EQ(status, r.status) << "node " << n << " group " << g.number << " operation " << count;
    if (r.status != ok || !r.any || !r.asked.at(n).wants) return;
    for (size_t i = 0; i < r.result.size(); ++i) {
      const uint64_t got = mem.qword(g.result + (count % 2 ? 0 : 0x100) + 8 * i);
      EXPECT_TRUE(got == r.result[i]) << "node " << n << " group " << g.number << " operation " << count << " word "
                                      << i << std::hex << ": " << got << ", not " << r.result[i];
    }
  }

  Network& net_;
  std::vector<std::map<unsigned, group_config>> groups_;
  std::vector<std::vector<round_of>> rounds_;
  std::map<const group_config*, member> at_;
  bool may_break_ = false;
  std::set<size_t> exposed_, broken_;  // groups of which a member waited without a route; that failed
};

}  // namespace ggas::test::coll
