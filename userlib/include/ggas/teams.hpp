// SPDX-License-Identifier: Apache-2.0
// Teams made by the host: any number, which can be freed, also by splitting a team. docs/device-api.md, "Teams". C++20.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ggas/detail/sync/team_handle.hpp"
#include "ggas/heap.hpp"

namespace ggas {

class cluster;

// The teams of a cluster whose flags and channels lie in its heap: bytes() for each call of `make` or `split`. Used by
// one thread at a time while no kernel runs; in a job all processes make the same calls in the same order. Errors are
// texts; on an error nothing has changed, and kernels refuse the returned team. A team is a value: pass it to kernels.
// It is valid until it is freed, which kernels do not check. cluster::reset() also resets teams.
class team_space {
 public:
  // Both outlive it.
  team_space(cluster& c, heap& memory);
  ~team_space();  // frees what is left
  team_space(const team_space&) = delete;
  team_space& operator=(const team_space&) = delete;

  // A team of the nodes first, first + stride, ... : `size` of them, all in the cluster; stride 1 or more.
  ggas_team make(int first, int stride, int size, std::string& why);
  // A team for each color, in the order of colors. `colors` has one for each member of `parent`, in the order of ranks;
  // a negative one is in no team. The members of a color must be evenly spaced. `parent` stays as it is.
  std::vector<ggas_team> split(const ggas_team& parent, const std::vector<int>& colors, std::string& why);
  std::string free(const ggas_team& t);

  uint64_t bytes() const;  // of every segment that the flags and channels of a team take
  uint64_t teams() const;  // that were made and not freed

 private:
  std::string place(std::vector<ggas_team>& teams, const std::string& call);

  cluster& cluster_;
  heap& memory_;
  struct placed {
    std::vector<ggas_team> teams;  // those of one split share a place
    std::shared_ptr<void> kept;    // flags and channels, at a reset
  };
  std::map<unsigned, placed> placed_;  // by id
};

}  // namespace ggas
