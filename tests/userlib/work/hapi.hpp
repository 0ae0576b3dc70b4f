// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hapi.h"

namespace ggas::test {

// y += a x, of n numbers, in that stream.
void invoke_saxpy(float a, const float* x, float* y, int n, hapiStream_t stream);

}  // namespace ggas::test
