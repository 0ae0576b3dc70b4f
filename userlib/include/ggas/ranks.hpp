// SPDX-License-Identifier: Apache-2.0
// Ranks made by the host: words and slots of their collectives are in the heap. docs/ranks.md. C++20.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ggas/detail/ranks/handle.hpp"
#include "ggas/heap.hpp"

namespace ggas {

class cluster;

// The blocks and the memory of the ranks.
struct rank_shape {
  unsigned blocks = 1;                  // of each node that are ranks: 1 ... 1024
  unsigned first = 0;                   // block of the grid that is the node's first rank
  unsigned slot_bytes = 4096;           // of a message of reducescatter and scan: a multiple of 16
  unsigned credits = 2;                 // messages that may be on the way from a rank to another one: 1 ... 65536
  std::optional<ggas_team> nodes = {};  // nothing: all. The team's id does not count
  // Buffers for data that do not lie in the segment (docs/ranks.md#schemes). A dynamic buffer holds a whole call; with
  // 0 bytes there is none. A static buffer holds a packet, and has at least 8 KB and at most `most_buffer` bytes. Sizes
  // are rounded up to 64.
  ggas_scheme scheme = ggas_dynamic;
  uint64_t buffer_bytes = 0;
  uint64_t most_buffer = 64 << 10;
  // Between nodes ranks meet by ggas_barrier of blocks at this index, which no other code uses meanwhile. 0: they use
  // separate words.
  unsigned native_barrier = 0;
};

// `shape` as the environment changes it (docs/settings.md): GGAS_RANK_BUFFER and GGAS_RANK_BUFFER_MOST choose the
// scheme and its buffers, GGAS_RANK_NATIVE_BARRIER the barrier. Nothing: `why` names variable and rule.
std::optional<rank_shape> settled(const rank_shape& shape, std::string& why);

// The ranks of a cluster, whose words lie in its heap. Used by one thread at a time while no kernel runs; in a job all
// processes make the same calls in the same order. Errors are texts; on an error nothing has changed, and kernels
// refuse the returned ranks. Ranks are a value: pass them to kernels. They are valid until they are freed, which
// kernels do not check. cluster::reset() also resets ranks.
class rank_space {
 public:
  // Both outlive it.
  rank_space(cluster& c, heap& memory);
  ~rank_space();  // frees what is left
  rank_space(const rank_space&) = delete;
  rank_space& operator=(const rank_space&) = delete;

  ggas_ranks make(const rank_shape& shape, std::string& why);
  std::string free(const ggas_ranks& r);

  // Bytes that ranks of that shape need in every segment (docs/ranks.md has the formula).
  uint64_t bytes(const rank_shape& shape) const;

 private:
  cluster& cluster_;
  heap& memory_;
  std::map<uint64_t, std::shared_ptr<void>> kept_;  // by place: zero after a reset
};

}  // namespace ggas
