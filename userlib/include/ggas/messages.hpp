// SPDX-License-Identifier: Apache-2.0
// Ranks that exchange messages, made by the host: their rings and state are in the heap. docs/messages.md. C++20.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ggas/detail/message/handle.hpp"
#include "ggas/ranks.hpp"

namespace ggas {

class cluster;

// The kind of the ranks, and the room for their messages. Blocks `first` ... `first` + `blocks` - 1 of a grid of each
// node.
struct message_config {
  ggas_rank_kind kind = ggas_rank_is_thread;
  unsigned blocks = 1, threads = 32;  // of each node, and of a block: multiples of 32 where warps are ranks
  unsigned first = 0;
  unsigned lines = 64;        // of the ring from a node to a rank: a power of two, 4 ... 2^20
  unsigned short_bytes = 64;  // of the longest message that goes in one record: a multiple of 16
  unsigned waiting = 64;      // messages that may wait at a rank: a power of two, 4 ... 32768
  unsigned requests = 8;      // of a rank that have not ended, with those of calls that wait: 1 ... 64
  unsigned stage_bytes = 64;  // of a rank, for collectives of MPI: a multiple of 64
};

// Used by one thread at a time while no kernel runs; in a job all processes make the same calls in the same order.
// Errors are texts; on an error nothing has changed, and kernels refuse the returned value. ggas_messages is a value:
// pass it to kernels. It is valid until it is freed, which kernels do not check.
class message_space {
 public:
  // Both outlive it.
  message_space(cluster& c, heap& memory);
  ~message_space();  // frees what is left
  message_space(const message_space&) = delete;
  message_space& operator=(const message_space&) = delete;

  ggas_messages make(const message_config& config, std::string& why);
  // Those that kernels find are found no more; if that fails, nothing is freed.
  std::string free(const ggas_messages& m);
  // MPI_Init() of kernels finds these from now on, also after those of another space.
  std::string use(const ggas_messages& m);

  // Bytes needed in every segment (docs/messages.md has the formula).
  uint64_t bytes(const message_config& config) const;

 private:
  struct kept {
    ggas_ranks blocks;
    std::shared_ptr<void> place;  // zero after a reset
  };
  std::string point_kernels_at(uint64_t place);
  cluster& cluster_;
  heap& memory_;
  rank_space ranks_;
  std::map<uint64_t, kept> kept_;  // by place
  uint64_t used_ = 0;              // place of what use() has made known; 0: nothing
};

}  // namespace ggas
