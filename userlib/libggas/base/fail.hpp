// SPDX-License-Identifier: Apache-2.0
// Errors are values; the text of the last one of a thread is kept for ggas_error_text().
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "ggas/ggas.h"

namespace ggas::library {

ggas_rc fail_with(ggas_rc code, const std::string& text);
const char* last_text();

template <class T>
std::string word(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(value);
  else
    return std::string(value);
}

// Number of an enum that a caller in C gives, which may be any: as an enum it could not even be looked at.
template <class E>
unsigned enum_number(const E& e) {
  unsigned n;
  std::memcpy(&n, &e, sizeof n);
  return n;
}

// Remembers a text, made of words and numbers, that names value and rule.
template <class... Values>
ggas_rc fail(ggas_rc code, const Values&... values) {
  return fail_with(code, (word(values) + ...));
}

// An error that leaves by an exception; a call returns it as its code.
struct failure : std::runtime_error {
  failure(ggas_rc code, const std::string& text) : std::runtime_error(text), code(code) {}
  ggas_rc code;
};

// The same for a system call that has just set errno.
ggas_rc fail_system(const std::string& what);

}  // namespace ggas::library
