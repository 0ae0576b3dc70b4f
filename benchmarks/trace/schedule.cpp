// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <tuple>

#include "benchmarks/trace/chakra.hpp"
#include "benchmarks/trace/goal.hpp"

namespace ggas::bench {

namespace {

// Checks each rank separately. That is enough, because messages are matched by their order: a cycle through messages
// shows as a rank that stops.
std::optional<schedule_fault> find_circle(const schedule& plan) {
  for (uint32_t r = 0; r < plan.ranks.size(); ++r) {
    const auto& ops = plan.ranks[r];
    std::vector<uint32_t> waits;
    std::deque<uint32_t> free;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      waits.push_back(ops[i].waits);
      if (ops[i].waits == 0) free.push_back(i);
    }
    for (; !free.empty(); free.pop_front())
      for (const auto* list : {&ops[free.front()].at_end, &ops[free.front()].at_begin})
        for (const uint32_t next : *list)
          if (--waits[next] == 0) free.push_back(next);
    const auto left = std::ranges::find_if(waits, [](uint32_t n) { return n != 0; });
    if (left != waits.end())
      return schedule_fault{r, uint32_t(left - waits.begin()),
                            fmt::format("rank {}: this operation waits for itself", r)};
  }
  return {};
}

// The messages of one tag between two ranks, on one side; of all tags and ranks if a receive accepts any.
struct side {
  std::vector<uint64_t> sizes;
  uint32_t rank = 0, op = 0;  // the last
};
using flow = std::tuple<uint32_t, uint32_t, uint32_t>;  // from, to, tag
using flows = std::map<flow, std::array<side, 2>>;      // receives, sends

// Ranks with receives of any rank or tag, or to which messages of any tag go.
std::vector<bool> find_undecided(const schedule& plan) {
  std::vector<bool> out(plan.ranks.size());
  for (uint32_t r = 0; r < plan.ranks.size(); ++r)
    for (const schedule_op& op : plan.ranks[r]) {
      if (op.what == schedule_op::kind::recv && (op.peer == any_rank || op.tag == any_tag)) out[r] = true;
      if (op.what == schedule_op::kind::send && op.tag == any_tag) out[op.peer] = true;
    }
  return out;
}

flows find_flows(const schedule& plan) {
  flows out;
  const std::vector<bool> undecided = find_undecided(plan);
  for (uint32_t r = 0; r < plan.ranks.size(); ++r)
    for (uint32_t i = 0; i < plan.ranks[r].size(); ++i) {
      const schedule_op& op = plan.ranks[r][i];
      if (op.what == schedule_op::kind::calc) continue;
      const bool sends = op.what == schedule_op::kind::send;
      const uint32_t from = sends ? r : op.peer, to = sends ? op.peer : r;
      side& s = out[undecided[to] ? flow{any_rank, to, any_tag} : flow{from, to, op.tag}][sends];
      s.sizes.push_back(op.amount);
      s.rank = r;
      s.op = i;
    }
  return out;
}

std::optional<schedule_fault> check_flow(const flow& f, const side& recv, const side& send) {
  const auto& [from, to, tag] = f;
  const side& more = send.sizes.size() >= recv.sizes.size() ? send : recv;
  const schedule_fault at{more.rank, more.op, {}};
  if (recv.sizes.size() != send.sizes.size())
    return schedule_fault{
        at.rank, at.op,
        from == any_rank
            ? fmt::format("rank {} gets {} messages and receives {}", to, send.sizes.size(), recv.sizes.size())
            : fmt::format("rank {} sends {} messages of tag {} to rank {}, which receives {}", from, send.sizes.size(),
                          tag, to, recv.sizes.size())};
  if (from == any_rank) return {};
  for (size_t i = 0; i < send.sizes.size(); ++i)
    if (recv.sizes[i] < send.sizes[i])
      return schedule_fault{at.rank, at.op,
                            fmt::format("message {} of tag {} from rank {} to rank {} has {} bytes, its receive {}",
                                        i + 1, tag, from, to, send.sizes[i], recv.sizes[i])};
  return {};
}

void count(schedule& plan) {
  for (const auto& rank : plan.ranks)
    for (const schedule_op& op : rank) {
      if (op.what == schedule_op::kind::calc) plan.computing_ns += op.amount;
      if (op.what != schedule_op::kind::send) continue;
      ++plan.messages;
      plan.bytes += op.amount;
      plan.largest = std::max(plan.largest, op.amount);
    }
}

}  // namespace

std::optional<schedule_fault> check_schedule(schedule& plan) {
  if (auto circle = find_circle(plan)) return circle;
  count(plan);
  for (const auto& [f, sides] : find_flows(plan))
    if (auto fault = check_flow(f, sides[0], sides[1])) return fault;
  return {};
}

std::expected<schedule, std::string> read_schedule(const std::filesystem::path& file) {
  const auto end = file.extension();
  return end == ".et" || end == ".json" ? read_chakra(file) : read_goal(file);
}

}  // namespace ggas::bench
