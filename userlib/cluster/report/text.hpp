// SPDX-License-Identifier: Apache-2.0
// Words for what the parts of a report have in common.
#pragma once

#include <string>

#include "ggas/detail/platform/call.hpp"

namespace ggas::userlib {

// The call of a record, with its team and what it was called with.
std::string text_of_call(const wait_record& r);

}  // namespace ggas::userlib
