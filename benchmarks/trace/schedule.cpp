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

// Each rank by itself; messages are told apart by their order, so they make no circle that this would not see as a
// rank that stops.
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

// The messages of one tag between two ranks as one of them sees them.
struct side {
  std::vector<uint64_t> sizes;
  uint32_t last = 0;  // operation
};

}  // namespace

std::optional<schedule_fault> check_schedule(schedule& plan) {
  if (auto circle = find_circle(plan)) return circle;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::array<side, 2>> flows;  // from, to, tag
  for (uint32_t r = 0; r < plan.ranks.size(); ++r)
    for (uint32_t i = 0; i < plan.ranks[r].size(); ++i) {
      const schedule_op& op = plan.ranks[r][i];
      if (op.what == schedule_op::kind::calc) continue;
      const bool sends = op.what == schedule_op::kind::send;
      side& s = flows[{sends ? r : op.peer, sends ? op.peer : r, op.tag}][sends];
      s.sizes.push_back(op.amount);
      s.last = i;
      if (!sends) continue;
      ++plan.messages;
      plan.bytes += op.amount;
      plan.largest = std::max(plan.largest, op.amount);
    }
  for (const auto& [flow, sides] : flows) {
    const auto& [from, to, tag] = flow;
    const auto& [recv, send] = sides;
    const bool at_sender = send.sizes.size() >= recv.sizes.size();
    const schedule_fault at{at_sender ? from : to, at_sender ? send.last : recv.last, {}};
    if (recv.sizes.size() != send.sizes.size())
      return schedule_fault{at.rank, at.op,
                            fmt::format("rank {} sends {} messages of tag {} to rank {}, which receives {}", from,
                                        send.sizes.size(), tag, to, recv.sizes.size())};
    if (recv.sizes != send.sizes)
      return schedule_fault{
          at.rank, at.op,
          fmt::format("messages of tag {} from rank {} to rank {}: sizes sent and received differ", tag, from, to)};
  }
  return {};
}

std::expected<schedule, std::string> read_schedule(const std::filesystem::path& file) {
  return file.extension() == ".et" ? read_chakra(file) : read_goal(file);
}

}  // namespace ggas::bench
