// SPDX-License-Identifier: Apache-2.0
// Integers of known size, and type traits. NVRTC has no standard library, so headers for kernels do not use it. Host
// and device.
#pragma once

#ifdef __CUDACC_RTC__
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
using size_t = unsigned long;
using ptrdiff_t = long;
#else
#include <stddef.h>
#include <stdint.h>
#endif

namespace ggas::detail {

template <bool Condition, class Yes, class No>
struct either {
  using type = Yes;
};
template <class Yes, class No>
struct either<false, Yes, No> {
  using type = No;
};
template <bool Condition, class Yes, class No>
using either_t = typename either<Condition, Yes, No>::type;

// A parameter of this type takes what converts to T, and is not what T is deduced from.
template <class T>
struct same {
  using type = T;
};
template <class T>
using same_t = typename same<T>::type;

template <class A, class B>
constexpr bool is_same = false;
template <class T>
inline constexpr bool is_same<T, T> = true;

template <class T>
constexpr bool is_floating = is_same<T, float> || is_same<T, double>;
template <class T>
constexpr bool is_integer = false;
template <>
inline constexpr bool is_integer<bool> = true;
template <>
inline constexpr bool is_integer<char> = true;
template <>
inline constexpr bool is_integer<signed char> = true;
template <>
inline constexpr bool is_integer<unsigned char> = true;
template <>
inline constexpr bool is_integer<short> = true;
template <>
inline constexpr bool is_integer<unsigned short> = true;
template <>
inline constexpr bool is_integer<int> = true;
template <>
inline constexpr bool is_integer<unsigned> = true;
template <>
inline constexpr bool is_integer<long> = true;
template <>
inline constexpr bool is_integer<unsigned long> = true;
template <>
inline constexpr bool is_integer<long long> = true;
template <>
inline constexpr bool is_integer<unsigned long long> = true;
template <class T>
struct drop_const {
  using type = T;
};
template <class T>
struct drop_const<const T> {
  using type = T;
};
template <class T>
using without_const = typename drop_const<T>::type;

// Whether an integer type has a sign.
template <class T>
constexpr bool has_sign = false;
template <>
inline constexpr bool has_sign<char> = static_cast<char>(-1) < 0;
template <>
inline constexpr bool has_sign<signed char> = true;
template <>
inline constexpr bool has_sign<short> = true;
template <>
inline constexpr bool has_sign<int> = true;
template <>
inline constexpr bool has_sign<long> = true;
template <>
inline constexpr bool has_sign<long long> = true;

}  // namespace ggas::detail
