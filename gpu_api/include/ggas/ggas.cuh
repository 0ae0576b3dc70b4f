// SPDX-License-Identifier: Apache-2.0
// GGAS device API: what a kernel calls. One source for nvcc (sm_90 and later; older GPUs work where free) and for any
// C++20 compiler, where kernels run on the host SIMT engine or in the simulator. Guide: docs/device-api.md; orders:
// docs/memory-model.md.
//
// Names: ggas_x is called by one thread for itself, ggas_x_warp by all threads of a warp, ggas_x_block by all threads
// of a block, with the same arguments; ggas_x(group, ...) by the group: ggas::thread{}, ggas::warp{}, ggas::block{}.
// Every wait takes a time-out in ns and returns a status that is the same in all threads of the group. Places are
// pointers or ggas::global_ptr; a value may be whatever converts to what lies at the place.
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
