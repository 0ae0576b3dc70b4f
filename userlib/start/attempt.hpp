// SPDX-License-Identifier: Apache-2.0
// What something that may fail returns.
#pragma once

#include <expected>
#include <string>

namespace ggas::userlib {

template <class T = void>
using attempt = std::expected<T, std::string>;  // the error is a text for people

}  // namespace ggas::userlib
