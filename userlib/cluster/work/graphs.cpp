// SPDX-License-Identifier: Apache-2.0
// executor::graph: a request and those after it on its node are recorded once, and launched as one piece.
#include "userlib/cluster/work/graphs.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "userlib/cluster/providers.hpp"

namespace ggas {

using detail::request_buffer;
using detail::request_state;
using userlib::round_up;

namespace {

constexpr size_t most_in_graph = 1024, most_graphs = 16;
constexpr size_t device_alignment = 256;

size_t device_bytes(const request_state& r) {
  size_t sum = 0;
  for (const request_buffer& b : r.buffers) sum += b.of_pool() ? round_up(b.bytes, device_alignment) : 0;
  return sum;
}

}  // namespace

// ---- what is recorded

bool dispatcher::parts::recorded::add(const request_state& r, const detail::pools& memory) {
  std::vector<std::pair<std::byte*, range>> old;
  for (const request_buffer& b : r.buffers) {
    if (b.bytes == 0 || !(b.copied_in || b.copied_out) || memory.is_pinned(r.node, b.host, b.bytes)) continue;
    if (!fits(b)) {
      while (!old.empty()) {
        if (old.back().second.bytes == 0)
          ranges.erase(old.back().first);
        else
          ranges[old.back().first] = old.back().second;
        old.pop_back();
      }
      return false;
    }
    range& one = ranges[b.host];
    old.emplace_back(b.host, one);
    one.bytes = b.bytes;
    one.in |= b.copied_in;
    one.out |= b.copied_out;
  }
  return true;
}

bool dispatcher::parts::recorded::fits(const request_buffer& b) const {
  const auto at = ranges.lower_bound(b.host);
  if (at != ranges.end() && at->first == b.host) return at->second.bytes == b.bytes;
  if (at != ranges.end() && b.host + b.bytes > at->first) return false;
  return at == ranges.begin() || std::prev(at)->first + std::prev(at)->second.bytes <= b.host;
}

bool dispatcher::parts::recorded::is_of(const std::vector<request_pointer>& chain) const {
  if (members.size() != chain.size()) return false;
  for (size_t i = 0; i < chain.size(); ++i)
    if (members[i].lock() != chain[i] || buffers[i] != chain[i]->buffers.size()) return false;
  return true;
}

bool dispatcher::parts::recorded::outdated() const {
  return std::ranges::any_of(members, [](const auto& m) { return m.expired(); });
}

void dispatcher::parts::recorded::fill_staging() const {
  for (const auto& [host, r] : ranges)
    if (r.in) std::memcpy(r.staged, host, r.bytes);
}

void dispatcher::parts::recorded::copy_out() const {
  for (const auto& [host, r] : ranges)
    if (r.out) std::memcpy(host, r.staged, r.bytes);
}

// ---- what belongs together

bool dispatcher::parts::joins(const request_state& r, int node) {
  // One before it that is idle has ended, and may have failed.
  const auto failed = [](const auto& before) {
    return before->now == request_state::phase::idle && !before->failure.empty();
  };
  return r.node == node && !r.in_own_stream && r.events.empty() && r.signals.empty() &&
         std::ranges::none_of(r.after, failed);
}

std::vector<request_pointer> dispatcher::parts::chain_of(const request_pointer& head) {
  std::vector<request_pointer> chain = {head};
  recorded g;
  if (!g.add(*head, *memory)) return chain;
  std::unordered_map<const request_state*, size_t> missing;
  for (size_t i = 0; i < chain.size(); ++i) {
    const request_pointer at = chain[i];
    for (const request_pointer& f : at->followers) {
      const auto known = missing.try_emplace(f.get(), f->missing).first;
      if (--known->second != 0 || chain.size() == most_in_graph) continue;
      if (joins(*f, head->node) && g.add(*f, *memory)) chain.push_back(f);
    }
  }
  return chain;
}

// Its members wait for no request any more. Requests outside of the chain still wait for them.
void dispatcher::parts::detach(const std::vector<request_pointer>& chain) {
  const std::unordered_set<request_pointer> all(chain.begin(), chain.end());
  for (const request_pointer& r : chain) {
    std::erase_if(r->followers, [&](const request_pointer& f) { return all.contains(f); });
    waiting_.erase(r);
    r->missing = 0;
    r->failure.clear();
    r->now = request_state::phase::running;
  }
}

// ---- memory

bool dispatcher::parts::take_memory(recorded& g, const std::vector<request_pointer>& chain) {
  std::string why;
  size_t most = 0;
  for (const request_pointer& r : chain) most = std::max(most, device_bytes(*r));
  if (most != 0) g.device = memory->take_gpu(g.node, most, why);
  g.bytes = most;
  for (auto& [host, r] : g.ranges) {
    if (!why.empty()) break;
    r.staged = memory->take_staging(g.node, r.bytes, why);
    g.bytes += r.bytes;
  }
  if (why.empty()) return true;
  drop(g);
  return false;
}

// Idle graphs make room.
bool dispatcher::parts::make_room(recorded& g, const std::vector<request_pointer>& chain) {
  if (take_memory(g, chain)) return true;
  drop_graphs(0);
  return take_memory(g, chain);
}

void dispatcher::parts::drop(recorded& g) {
  if (g.made.id != 0) static_cast<void>(rt.cluster().drop_graph(std::exchange(g.made, {0, 0})));
  if (g.device) memory->give_gpu(g.node, std::exchange(g.device, nullptr));
  for (auto& [host, r] : g.ranges)
    if (r.staged) memory->give_staging(g.node, std::exchange(r.staged, nullptr));
}

// Until so many are left; those under way stay.
void dispatcher::parts::drop_graphs(size_t left) {
  for (auto i = recorded_.end(); i != recorded_.begin();) {
    --i;
    const bool idle = i->use_count() == 1;
    if (!idle || (recorded_.size() <= left && !(*i)->outdated())) continue;
    graph_bytes -= (*i)->bytes;
    drop(**i);
    i = recorded_.erase(i);
  }
}

void dispatcher::parts::keep(const std::shared_ptr<recorded>& g) {
  recorded_.push_front(g);
  ++graphs;
  graph_bytes += g->bytes;
  drop_graphs(most_graphs);
}

void dispatcher::parts::close() {
  const std::lock_guard lock(rt.cluster_mutex());
  drop_graphs(0);
}

// ---- recorded, launched

std::shared_ptr<dispatcher::parts::recorded> dispatcher::parts::known_graph(const std::vector<request_pointer>& chain) {
  const auto at = std::ranges::find_if(recorded_, [&](const auto& g) { return g->is_of(chain); });
  if (at == recorded_.end()) return nullptr;
  recorded_.splice(recorded_.begin(), recorded_, at);
  return *at;
}

void dispatcher::parts::place(const recorded& g, request_state& r) {
  r.places.assign(r.buffers.size(), {});
  std::byte* next = g.device;
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    const request_buffer& b = r.buffers[i];
    if (b.kept) r.places[i].device = b.kept->address;
    if (b.of_pool()) r.places[i].device = std::exchange(next, next + round_up(b.bytes, device_alignment));
    if (const auto at = g.ranges.find(b.host); b.bytes != 0 && at != g.ranges.end())
      r.places[i].staged = at->second.staged;
  }
}

// How many of the chain were queued: all, or the next one was refused; 0: there is no graph.
size_t dispatcher::parts::record(recorded& g, const std::vector<request_pointer>& chain, const stream& s) {
  size_t queued = 0;
  const auto made = rt.cluster().make_graph(s, [&]() -> result<> {
    for (; queued < chain.size(); ++queued) {
      request_state& r = *chain[queued];
      place(g, r);
      const auto ok = queue(r, s);
      r.places.clear();
      if (!ok) return ok;
    }
    return {};
  });
  if (!made) return queued == chain.size() ? 0 : queued;
  g.made = *made;
  return queued;
}

// A refused launch ends the chain before it: its request then begins alone, and reports the reason. Returns null if the
// chain is not launched as a graph; `room` says whether there was memory for it.
std::shared_ptr<dispatcher::parts::recorded> dispatcher::parts::new_graph(std::vector<request_pointer>& chain,
                                                                          const stream& s, bool& room) {
  room = true;
  while (chain.size() > 1) {
    auto g = std::make_shared<recorded>();
    g->node = s.node;
    for (const request_pointer& r : chain) g->add(*r, *memory);
    room = make_room(*g, chain);
    if (!room) return nullptr;
    const uint64_t launched = launches, copied = copies;
    const size_t queued = record(*g, chain, s);
    g->launches = launches - launched;
    g->copies = copies - copied;
    launches = launched;
    copies = copied;
    if (g->made.id != 0) {
      for (const request_pointer& r : chain) {
        g->members.push_back(r);
        g->buffers.push_back(r->buffers.size());
      }
      keep(g);
      return g;
    }
    drop(*g);
    chain.resize(queued);
  }
  return nullptr;
}

bool dispatcher::parts::begin_graph(std::vector<request_pointer> chain, lane& l) {
  const request_pointer head = chain.front();
  bool room = true;
  auto g = known_graph(chain);
  if (!g) g = new_graph(chain, l.s, room);
  if (!room && anything_under_way(l.s.node)) return false;
  if (!g) return begin_alone(head, l);
  detach(chain);
  g->fill_staging();
  launches += g->launches;
  copies += g->copies;
  const auto launched = rt.cluster().launch_graph(g->made, l.s);
  piece_of_work w{.first = head, .followers = {chain.begin() + 1, chain.end()}, .with = std::move(g)};
  if (launched)
    static_cast<void>(record_end(std::move(w), l));
  else
    end(w, launched);
  return true;
}

}  // namespace ggas
