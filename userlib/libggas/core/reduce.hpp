// SPDX-License-Identifier: Apache-2.0
// What a reduction does with two vectors.
#pragma once

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/base/limit.hpp"

namespace ggas::library {

struct reduction {
  size_t elements = 0, element_bytes = 0;
  ggas_element type{};
  ggas_operation operation{};
  ggas_reducer reducer = nullptr;  // of the user, in place of the operation
  void* state = nullptr;

  bool operator==(const reduction&) const = default;

  // to = to op more, for n elements.
  ggas_rc add(std::byte* to, const std::byte* more, size_t n, limit until) const;
};

// Bytes of a type, 0: there is none.
size_t bytes_of(ggas_element t);

}  // namespace ggas::library
