// SPDX-License-Identifier: Apache-2.0
// A graph of requests that was recorded: its memory stays, so that it can be launched again.
#pragma once

#include "userlib/cluster/work/dispatcher.hpp"

namespace ggas {

struct dispatcher::parts::recorded {
  // Memory of the host that is not pinned, and the pinned memory that stands for it in the graph. Several requests may
  // use it: the data that one copied out are copied in by the next one.
  struct range {
    size_t bytes = 0;
    std::byte* staged = nullptr;
    bool in = false, out = false;  // filled before the graph, copied back after it
  };
  // Adds the ranges of a request; false, and nothing is added: one of them lies over a part of another one.
  bool add(const detail::request_state& r, const detail::pools& memory);
  bool fits(const detail::request_buffer& b) const;
  bool is_of(const std::vector<request_pointer>& chain) const;
  bool outdated() const;  // a member is no more
  void fill_staging() const;
  void copy_out() const;

  int node = 0;
  std::vector<std::weak_ptr<detail::request_state>> members = {};
  std::vector<size_t> buffers = {};         // of each member, when it was recorded
  std::map<std::byte*, range> ranges = {};  // by the host's address
  std::byte* device = nullptr;              // buffers of one member after the other: they run in order
  size_t bytes = 0;                         // of `device` and of all that is staged
  uint64_t launches = 0, copies = 0;
  graph made = {0, 0};
};

}  // namespace ggas
