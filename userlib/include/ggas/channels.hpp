// SPDX-License-Identifier: Apache-2.0
// The kernel of channels (ggas/channel.hpp), for one file with kernels of a program. The workers' function is
// channel_move_work.
#pragma once

#include "ggas/channel.hpp"
#include "ggas/workers.hpp"

namespace ggas {

// Each block moves a share, in whole lines of memory.
static GGAS_DEVICE ggas_status channel_move_share(const work_block& b, int to, uint64_t offset, const std::byte* from,
                                                  uint64_t bytes) {
  constexpr uint64_t line = 128;
  const uint64_t share = ((bytes + b.nx - 1) / b.nx + line - 1) / line * line, begin = b.x * share;
  if (begin >= bytes) return ggas_ok;
  const uint64_t n = bytes - begin < share ? bytes - begin : share;
  constexpr uint64_t ten_seconds = 10'000'000'000;
  return ggas_put_block(global_ptr<char>(to, offset + begin), reinterpret_cast<const char*>(from) + begin, n,
                        ten_seconds);
}
GGAS_DEFINE_WORK(channel_move, channel_move_share);

}  // namespace ggas
