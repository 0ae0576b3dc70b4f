// SPDX-License-Identifier: Apache-2.0
// Everything that is not short: part of each program, or of libggas_device (GGAS_LINKED). Included by ggas.cuh.
#pragma once

#include "ggas/detail/allreduce_long.cuh"
#include "ggas/detail/alltoall_long.cuh"
#include "ggas/detail/broadcast_long.cuh"
#include "ggas/detail/move_long.cuh"
#include "ggas/detail/reducescatter_long.cuh"
#include "ggas/detail/rooted_long.cuh"
