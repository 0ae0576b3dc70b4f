// SPDX-License-Identifier: Apache-2.0
// reducescatter: a one_shot or a direct in which each member gets its own part. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce.cuh"

namespace ggas::detail {

template <class T>
GGAS_APART ggas_status reducescatter(piece<T> p, unsigned block, unsigned blocks, ggas_team team, uint64_t timeout_ns);

}  // namespace ggas::detail
