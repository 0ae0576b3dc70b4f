// SPDX-License-Identifier: Apache-2.0
// GGAS device API: the calls for kernels. One source for nvcc (tested on sm_90; older GPUs are supported where this
// costs nothing) and for any C++20 compiler, where kernels run on the host SIMT engine or in the simulator. Guide:
// docs/device-api.md; orders: docs/memory-model.md.
//
// * Names: ggas_x is called by one thread for itself, ggas_x_warp by all threads of a warp, ggas_x_block by all threads
//   of a block, with the same arguments; ggas_x(group, ...) by the group: ggas::thread{}, ggas::warp{}, ggas::block{}.
// * Every wait has a time-out in ns and returns a status that is the same in all threads of the group.
// * Addresses are pointers or ggas::global_ptr. A value may have any type that converts to the type at the address.
#pragma once

#include "ggas/atomic.cuh"
#include "ggas/collective.cuh"
#include "ggas/memory.cuh"
#include "ggas/notify.cuh"
#include "ggas/queue.cuh"
#include "ggas/rma.cuh"
#include "ggas/team.cuh"
#include "ggas/wait.cuh"
#include "ggas/words.hpp"
#ifndef GGAS_LINKED
#include "ggas/detail/long.cuh"
#endif
