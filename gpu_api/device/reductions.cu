// SPDX-License-Identifier: Apache-2.0
// libggas_device: reductions of one type of number, GGAS_NUMBER, given to the compiler.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ggas/ggas.cuh"

namespace ggas::detail {

using number = GGAS_NUMBER;
template __device__ ggas_status reduce_long<number>(piece<number>, ggas_method, unsigned, unsigned, ggas_team,
                                                    uint64_t);
template __device__ ggas_status reduce_by_bundle<number>(piece<number>, ggas_team, uint64_t);
template __device__ ggas_status reducescatter<number>(piece<number>, unsigned, unsigned, ggas_team, uint64_t);

}  // namespace ggas::detail
