// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/matcher.hpp"

namespace ggas::bench {

namespace {

bool fits(uint32_t a, uint32_t b, uint32_t any) { return a == b || a == any || b == any; }

}  // namespace

template <class T>
std::optional<T> matcher::take_first(queues<T>& from, flow wanted) {
  auto best = from.end();
  const auto offer = [&](auto at) {
    if (at != from.end() && (best == from.end() || at->second.front().first < best->second.front().first)) best = at;
  };
  const auto [sender, tag] = wanted;
  if (sender != any_rank && tag != any_tag) {
    for (const flow& f : {flow{sender, tag}, {any_rank, tag}, {sender, any_tag}, {any_rank, any_tag}})
      offer(from.find(f));
  } else {
    for (auto at = from.begin(); at != from.end(); ++at)
      if (fits(at->first.first, sender, any_rank) && fits(at->first.second, tag, any_tag)) offer(at);
  }
  if (best == from.end()) return {};
  const T found = best->second.front().second;
  best->second.pop_front();
  if (best->second.empty()) from.erase(best);
  return found;
}

std::optional<message> matcher::receive(uint32_t op, uint32_t from, uint32_t tag) {
  auto found = take_first(arrived_, {from, tag});
  if (!found) waiting_[{from, tag}].emplace_back(count_++, op);
  return found;
}

std::optional<uint32_t> matcher::arrive(const message& m) {
  auto found = take_first(waiting_, {m.from, m.tag});
  if (!found) arrived_[{m.from, m.tag}].emplace_back(count_++, m);
  return found;
}

}  // namespace ggas::bench
