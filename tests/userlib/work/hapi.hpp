// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hapi.h"

namespace ggas::test {

// y += a x, of n numbers, in that stream. The forms of one source; null: the program is not linked with it.
__attribute__((weak)) void invoke_saxpy_on_engine(float a, const float* x, float* y, int n, hapiStream_t stream);
__attribute__((weak)) void invoke_saxpy_on_cuda(float a, const float* x, float* y, int n, hapiStream_t stream);

}  // namespace ggas::test
