// SPDX-License-Identifier: Apache-2.0
// Everything that is not short: part of each program, or of libggas_device (GGAS_LINKED). Included by ggas.cuh.
#pragma once

#include "ggas/detail/access/move_long.cuh"
#include "ggas/detail/collective/allreduce_long.cuh"
#include "ggas/detail/collective/alltoall_long.cuh"
#include "ggas/detail/collective/broadcast_long.cuh"
#include "ggas/detail/collective/reducescatter_long.cuh"
#include "ggas/detail/collective/rooted_long.cuh"
