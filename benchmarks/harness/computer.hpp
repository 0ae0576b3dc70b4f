// SPDX-License-Identifier: Apache-2.0
// This computer, for the key `platform` of records that are measured on its processor.
#pragma once

#include <string>

namespace ggas::bench {

// "AMD EPYC 7543, Linux 6.1.0": processor and kernel.
std::string computer_text();

}  // namespace ggas::bench
