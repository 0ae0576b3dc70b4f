// SPDX-License-Identifier: Apache-2.0
// libggas_device: copies, and what broadcast, gather, scatter, allgather and alltoall do that is not short, for each
// size of unit.
#include "ggas/ggas.cuh"

namespace ggas::detail {

#define GGAS_MOVES_BY(By)                                                                            \
  template __device__ void move_aligned<origin::own>(word_pair*, const word_pair*, uint64_t, By);    \
  template __device__ void move_aligned<origin::remote>(word_pair*, const word_pair*, uint64_t, By); \
  template __device__ void move_long<origin::own>(void*, const void*, uint64_t, By);                 \
  template __device__ void move_misaligned<origin::own>(char*, const char*, uint64_t, By);           \
  template __device__ void move_misaligned<origin::remote>(char*, const char*, uint64_t, By);
GGAS_MOVES_BY(movers)
GGAS_MOVES_BY(movers_of_warp)

#define GGAS_MOVES_OF(U)                                                                                        \
  template __device__ ggas_status broadcast_long<U>(channel, broadcast_call<U>, channel_call<U>, uint64_t);     \
  template __device__ ggas_status spread_long<U>(channel, spread<U>, channel_call<U>, uint64_t);                \
  template __device__ ggas_status run_rooted<direction::to_root, U>(channel, rooted<direction::to_root, U>,     \
                                                                    channel_call<U>, uint64_t);                 \
  template __device__ ggas_status run_rooted<direction::from_root, U>(channel, rooted<direction::from_root, U>, \
                                                                      channel_call<U>, uint64_t);
GGAS_MOVES_OF(uint8_t)
GGAS_MOVES_OF(uint16_t)
GGAS_MOVES_OF(uint32_t)

}  // namespace ggas::detail
