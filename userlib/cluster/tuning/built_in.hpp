// SPDX-License-Identifier: Apache-2.0
// The text of tuning.toml next to it, put into the library by CMake.
#pragma once

namespace ggas {
extern const char* const built_in_tuning;
}
