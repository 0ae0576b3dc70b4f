// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/core/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace ggas::library {

namespace {

template <class T, class Operation>
void each(std::byte* to, const std::byte* more, size_t n, Operation operation) {
  T* const a = reinterpret_cast<T*>(to);
  const T* const b = reinterpret_cast<const T*>(more);
  for (size_t i = 0; i < n; ++i) a[i] = operation(a[i], b[i]);
}

// Integers wrap: signed ones are added as unsigned ones.
template <class T>
struct as_wrapping {
  using type = T;
};
template <>
struct as_wrapping<int32_t> {
  using type = uint32_t;
};
template <>
struct as_wrapping<int64_t> {
  using type = uint64_t;
};

// A NaN counts as missing, as in kernels and by the NIC.
template <class T>
T lesser(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmin(a, b);
  return std::min(a, b);
}
template <class T>
T greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmax(a, b);
  return std::max(a, b);
}

template <class T>
void apply(ggas_operation o, std::byte* to, const std::byte* more, size_t n) {
  using W = typename as_wrapping<T>::type;
  switch (o) {
    case GGAS_OP_SUM:
      return each<T>(to, more, n, [](T a, T b) { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); });
    case GGAS_OP_PRODUCT:
      return each<T>(to, more, n, [](T a, T b) { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); });
    case GGAS_OP_MIN:
      return each<T>(to, more, n, lesser<T>);
    case GGAS_OP_MAX:
      return each<T>(to, more, n, greater<T>);
  }
}

}  // namespace

size_t bytes_of(ggas_element t) {
  switch (t) {
    case GGAS_ELEMENT_INT32:
    case GGAS_ELEMENT_UINT32:
    case GGAS_ELEMENT_FLOAT:
      return 4;
    case GGAS_ELEMENT_INT64:
    case GGAS_ELEMENT_UINT64:
    case GGAS_ELEMENT_DOUBLE:
      return 8;
  }
  return 0;
}

ggas_rc reduction::add(std::byte* to, const std::byte* more, size_t n, limit until) const {
  if (reducer) {
    const int said = reducer(to, more, to, state, n, element_bytes, until.left());
    return said == 0 ? GGAS_OK : fail(static_cast<ggas_rc>(said), "the user's operation returned ", said);
  }
  switch (type) {
    case GGAS_ELEMENT_INT32:
      apply<int32_t>(operation, to, more, n);
      break;
    case GGAS_ELEMENT_UINT32:
      apply<uint32_t>(operation, to, more, n);
      break;
    case GGAS_ELEMENT_INT64:
      apply<int64_t>(operation, to, more, n);
      break;
    case GGAS_ELEMENT_UINT64:
      apply<uint64_t>(operation, to, more, n);
      break;
    case GGAS_ELEMENT_FLOAT:
      apply<float>(operation, to, more, n);
      break;
    case GGAS_ELEMENT_DOUBLE:
      apply<double>(operation, to, more, n);
      break;
  }
  return GGAS_OK;
}

}  // namespace ggas::library
