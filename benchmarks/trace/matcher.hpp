// SPDX-License-Identifier: Apache-2.0
// Which receive of a rank takes which message: by sender and tag, either of which may be any; of several the first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "benchmarks/trace/schedule.hpp"

namespace ggas::bench {

struct message {
  uint32_t from, tag;
  uint64_t bytes;
};

class matcher {
 public:
  // A receive begins: the message it takes, the earliest that fits; nothing: it waits.
  std::optional<message> receive(uint32_t op, uint32_t from, uint32_t tag);
  // A message has arrived: the receive that takes it, the one that waits longest; nothing: it is kept.
  std::optional<uint32_t> arrive(const message& m);

 private:
  using flow = std::pair<uint32_t, uint32_t>;  // sender, tag
  template <class T>
  using queues = std::map<flow, std::deque<std::pair<uint64_t, T>>>;  // in the order in which they came

  // The first of all flows that fit. Flows with a definite sender and tag are looked up; only of others each is tried.
  template <class T>
  std::optional<T> take_first(queues<T>& from, flow wanted);

  queues<uint32_t> waiting_;
  queues<message> arrived_;
  uint64_t count_ = 0;
};

}  // namespace ggas::bench
