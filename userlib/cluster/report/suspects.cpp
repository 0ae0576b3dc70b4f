// SPDX-License-Identifier: Apache-2.0
// The cause of failed waits: not the members that wait, but a member that did not arrive, or called something else than
// the others. Rules: docs/failures.md. Each is a function here; the first one with a result decides.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "ggas/report.hpp"
#include "ggas/status.hpp"
#include "ggas/words.hpp"
#include "userlib/cluster/report/text.hpp"

namespace ggas {
namespace {

using nodes = std::set<int>;

// Where members meet: a kind of counter, and the word that holds it on every node.
using meeting_place = std::tuple<uint32_t, uint64_t>;
meeting_place place_of(const wait_record& r) { return {r.kind, r.counted}; }

bool is_of(const wait_record& r, std::initializer_list<waited_for> kinds) {
  return std::ranges::find(kinds, static_cast<waited_for>(r.kind)) != kinds.end();
}
bool meets_nodes(const wait_record& r) {
  return is_of(r, {waited_for::members, waited_for::lines, waited_for::parts, waited_for::unit});
}

std::string text_of(const nodes& all) {
  std::string text = all.size() == 1 ? "node " : "nodes ";
  for (const int n : all) text += (n == *all.begin() ? "" : ", ") + std::to_string(n);
  return text;
}

struct verdict {
  nodes suspects;
  std::string why;
};

// What a call was called with, as far as members must agree.
auto arguments_of(const wait_record& r) {
  return std::tuple(r.call, r.n, r.bytes, r.op, r.method, r.root, r.team, r.first, r.stride, r.size);
}

class inquiry {
 public:
  inquiry(std::vector<failed_wait> waits, const context& any, const word_reader& word)
      : waits_(std::move(waits)), layout_(layout::of(static_cast<uint64_t>(any.nodes), any.reserved)), word_(word) {
    for (failed_wait& w : waits_) {
      if (is_of(w.record, {waited_for::unit})) name_members(w);
      by_node_[w.node].push_back(&w.record);
    }
  }

  const std::vector<failed_wait>& waits() const { return waits_; }
  verdict find() const {
    for (const auto rule : {&inquiry::absent, &inquiry::other_arguments, &inquiry::less_than_others,
                            &inquiry::fewer_than_others, &inquiry::somewhere_else, &inquiry::full_rings}) {
      if (auto found = (this->*rule)()) return *found;
    }
    return {{}, "only the program knows who writes the words, or tells the queues, that nodes wait for"};
  }

 private:
  // The NIC's unit names no process: who did not come is who does not wait.
  void name_members(failed_wait& w) {
    wait_record& r = w.record;
    r.missing_count = 0;
    for (int i = 0; i < r.size; ++i) {
      const int node = r.first + i * r.stride;
      const auto same = [&](const failed_wait& o) {
        return o.node == node && o.record.kind == r.kind && o.record.expected == r.expected;
      };
      if (std::ranges::any_of(waits_, same) || r.missing_count == wait_record::most_missing) continue;
      r.missing[r.missing_count++] = wait_record::missing_one(node);
      w.text += (r.missing_count == 1 ? "; not started by node " : ", ") + std::to_string(node);
    }
  }

  // f(who waits, its record, whom it names, whether that one has sent something)
  template <class F>
  void for_each_missing(F f) const {
    for (const failed_wait& w : waits_) {
      const wait_record& r = w.record;
      if (!meets_nodes(r)) continue;
      for (uint32_t i = 0; i < std::min(r.missing_count, wait_record::most_missing); ++i) {
        const bool sent = (r.missing[i] & wait_record::has_sent) != 0;
        if ((r.missing[i] & wait_record::like_all) == 0) f(w.node, r, r.whom(i), sent);
        for (int k = 0; (r.missing[i] & wait_record::like_all) != 0 && k < r.size; ++k)
          if (const int node = r.first + k * r.stride; node != w.node) f(w.node, r, node, sent);
      }
    }
  }
  // What the node has ended there; nothing: it cannot be read.
  bool has_ended(int node, const wait_record& r) const {
    constexpr uint64_t failed = uint64_t{1} << 63;  // of a channel's word, which counts the failed exchange, too
    if (is_of(r, {waited_for::unit})) return false;
    const auto count = word_(node, r.counted);
    return count && (*count & failed ? (*count & ~failed) > r.expected : *count >= r.expected);
  }
  // Whether the node has reported since then that it came to the barrier.
  bool has_come_since(int who, const wait_record& r, int whom) const {
    if (!is_of(r, {waited_for::members})) return false;
    const auto said = word_(who, layout_.check_in(r.team, static_cast<uint64_t>(whom)));
    return said && *said >= r.expected;
  }
  const wait_record* waits_there(int node, const wait_record& r) const {
    return first_of(node, [&](const wait_record& o) { return place_of(o) == place_of(r) && o.expected <= r.expected; });
  }
  template <class F>
  const wait_record* first_of(int node, F f) const {
    const auto at = by_node_.find(node);
    if (at == by_node_.end()) return nullptr;
    const auto found = std::ranges::find_if(at->second, [&](const wait_record* o) { return f(*o); });
    return found == at->second.end() ? nullptr : *found;
  }
  bool waits_for_own_blocks(int node) const {
    return first_of(node, [](const wait_record& o) {
      return is_of(o, {waited_for::blocks, waited_for::count, waited_for::workers});
    });
  }
  bool waits_at_all(int node) const { return by_node_.contains(node); }

  // ---- members that did not arrive and wait for no other member, members that arrived after the others had timed
  // out, and members whose blocks are missing
  std::optional<verdict> absent() const {
    nodes silent, late, incomplete, asking;
    uint64_t members = 0;
    for_each_missing([&](int who, const wait_record& r, int whom, bool has_sent) {
      asking.insert(who);
      members = std::max<uint64_t>(members, static_cast<uint64_t>(r.size));
      if (waits_for_own_blocks(whom))
        incomplete.insert(whom);
      else if (has_come_since(who, r, whom))
        late.insert(whom);
      else if (has_ended(whom, r))
        has_sent ? void() : void(late.insert(whom));
      else if (!has_sent && !waits_at_all(whom))
        silent.insert(whom);
    });
    for (const auto& [node, records] : by_node_)
      if (waits_for_own_blocks(node)) incomplete.insert(node);
    if (!incomplete.empty()) return verdict{incomplete, "blocks of its grid did not arrive" + blocks_of(incomplete)};
    if (!silent.empty()) {
      if (asking.size() == 1 && silent.size() > 1 && silent.size() + 1 == members)
        return verdict{{},
                       text_of(silent) + " did not arrive, and " + text_of(asking) +
                           " alone did: they are late, or it has called once more than they"};
      return verdict{silent, "waited for, and waiting for no member"};
    }
    if (!late.empty()) return verdict{late, "came when the time of those who waited was up"};
    return {};
  }
  std::string blocks_of(const nodes& all) const {
    std::string text;
    for (const failed_wait& w : waits_) {
      if (!all.contains(w.node) || !is_of(w.record, {waited_for::blocks})) continue;
      for (uint32_t i = 0; i < std::min(w.record.missing_count, wait_record::most_missing); ++i)
        text += (text.empty() ? ": " : ", ") + std::to_string(w.record.whom(i)) + " of node " + std::to_string(w.node);
    }
    return text;
  }

  // ---- members that wait at one place for the same number, with arguments that differ: who is alone with its own
  std::optional<verdict> other_arguments() const {
    using arguments = decltype(arguments_of(wait_record{}));
    std::map<std::pair<meeting_place, uint64_t>, std::map<arguments, nodes>> all;
    for (const auto& [node, records] : by_node_)
      for (const wait_record* r : records)
        if (meets_nodes(*r)) all[{place_of(*r), r->expected}][arguments_of(*r)].insert(node);
    for (const auto& [where, groups] : all) {
      if (groups.size() < 2) continue;
      std::vector<nodes> of_each;
      for (const auto& [_, group] : groups) of_each.push_back(group);
      return smaller_groups(of_each, "called with other arguments than the others");
    }
    return {};
  }
  // All but the largest group; no process if no group is largest.
  static verdict smaller_groups(std::vector<nodes> groups, const std::string& why) {
    std::ranges::sort(groups, std::greater{}, &nodes::size);
    if (groups[0].size() == groups[1].size()) {
      std::string text;
      for (const nodes& g : groups) text += (text.empty() ? "" : " against ") + text_of(g);
      return {{}, text + ": one side " + why + ", and none has more nodes"};
    }
    verdict v{{}, why};
    for (size_t i = 1; i < groups.size(); ++i) v.suspects.insert(groups[i].begin(), groups[i].end());
    return v;
  }

  // ---- who has sent less than others wait for, though it is further on or waits for the same
  struct complaint {
    int who;
    const wait_record* record;
    nodes about;
  };
  std::vector<complaint> complaints() const {
    std::map<const wait_record*, complaint> all;
    for_each_missing([&](int who, const wait_record& r, int whom, bool has_sent) {
      if (!has_sent || !is_of(r, {waited_for::lines})) return;
      complaint& c = all.try_emplace(&r, complaint{who, &r, {}}).first->second;
      c.about.insert(whom);
    });
    std::vector<complaint> found;
    for (auto& [_, c] : all) found.push_back(std::move(c));
    return found;
  }
  // Whether the call takes data of every other member.
  static bool takes_of_all(const wait_record& r) {
    const auto call = static_cast<call_id>(r.call);
    return call != call_id::ggas_broadcast && call != call_id::ggas_scatter && r.method != ggas_tree;
  }
  // A member that has lines of some and not of others is right: one that made a different call has lines of none.
  std::optional<verdict> less_than_others() const {
    nodes charged;
    for (const complaint& c : complaints()) {
      const auto others = static_cast<size_t>(c.record->size) - 1;
      if (!takes_of_all(*c.record) || others < 2) continue;
      if (c.about.size() < others)
        charged.insert(c.about.begin(), c.about.end());
      else
        charged.insert(c.who);
    }
    if (charged.empty()) return {};
    return verdict{charged, "its call is not that of the others: other numbers of elements, root or method"};
  }
  // Else those who wait against those who have ended the exchange.
  std::optional<verdict> fewer_than_others() const {
    for (const complaint& c : complaints()) {
      nodes waiting, ended;
      for (int i = 0; i < c.record->size; ++i) {
        const int node = c.record->first + i * c.record->stride;
        if (waits_there(node, *c.record))
          waiting.insert(node);
        else if (has_ended(node, *c.record))
          ended.insert(node);
      }
      if (!ended.empty())
        return smaller_groups({waiting, ended}, "called with another number of elements, root or method");
      return verdict{{}, text_of(waiting) + " lack data of each other: stores are lost, or their methods differ"};
    }
    return {};
  }

  // ---- members that wait at different places
  std::optional<verdict> somewhere_else() const {
    bool found = false;
    for_each_missing([&](int, const wait_record& r, int whom, bool) { found |= !waits_there(whom, r); });
    if (!found) return {};
    std::map<meeting_place, nodes> places;
    for (const auto& [node, records] : by_node_) {
      const wait_record* const meets = first_of(node, meets_nodes);
      if (!meets) return verdict{{node}, "did not arrive: it waits for another event, which only the program knows"};
      places[place_of(*meets)].insert(node);
    }
    std::vector<nodes> groups;
    for (const auto& [_, group] : places) groups.push_back(group);
    if (groups.size() < 2) return {};
    return smaller_groups(groups, "waits in another call than the others");
  }

  std::optional<verdict> full_rings() const {
    nodes full;
    for (const failed_wait& w : waits_)
      if (is_of(w.record, {waited_for::ring}) && !waits_at_all(w.record.whom(0))) full.insert(w.record.whom(0));
    if (full.empty()) return {};
    return verdict{full, "no thread there reads notifications"};
  }

  std::vector<failed_wait> waits_;  // those of the report first
  const layout layout_;
  const word_reader& word_;
  std::map<int, std::vector<const wait_record*>> by_node_;
};

}  // namespace

void find_suspects(hang_report& r, const std::vector<failed_wait>& elsewhere, const context& any,
                   const word_reader& word) {
  if (std::ranges::all_of(r.waits, [](const failed_wait& w) { return w.record.status == ggas_bad_argument; })) return;
  std::vector<failed_wait> all = r.waits;
  all.insert(all.end(), elsewhere.begin(), elsewhere.end());
  const inquiry made(std::move(all), any, word);
  std::copy_n(made.waits().begin(), r.waits.size(), r.waits.begin());
  verdict found = made.find();
  r.suspects.assign(found.suspects.begin(), found.suspects.end());
  r.why = std::move(found.why);
}

}  // namespace ggas
