// SPDX-License-Identifier: Apache-2.0
// libggas_device: what messages of kernels do, for each kind of rank.
#include "ggas/message.cuh"

namespace ggas::detail {

#define GGAS_MESSAGES_OF(G)                                                                                         \
  template __device__ ggas_status send_now<G>(message_rank, const char*, uint64_t, int, int, uint32_t, uint64_t);   \
  template __device__ received_message receive_now<G>(message_rank, char*, uint64_t, int, int, uint32_t, uint64_t); \
  template __device__ ggas_status begin_request<G>(message_rank, message_request::stage, void*, uint64_t, int, int, \
                                                   uint32_t);                                                       \
  template __device__ ggas_status wait_for_requests<G>(message_rank, uint64_t, bool, uint64_t);                     \
  template __device__ ggas_status wait_for_message<G>(message_rank, int, int, uint64_t);
GGAS_MESSAGES_OF(thread_group)
GGAS_MESSAGES_OF(warp_group)
GGAS_MESSAGES_OF(block_group)
template __device__ ggas_status send_long_record<block_group>(message_rank, const char*, uint64_t, int, int, uint32_t,
                                                              uint64_t);

}  // namespace ggas::detail
