// SPDX-License-Identifier: Apache-2.0
// The result of a call of the host interface: a value, or an error with code and text. Nothing is thrown. C++20, so
// that nvcc can include it.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace ggas {

// A code to branch on, and a text that names the input and the rule it broke.
enum class errc {
  bad_argument,
  bad_platform,
  no_file,
  no_space,  // a file does not fit on the disk
  timed_out,
  cancelled,
  out_of_memory,
  device_fault,  // a kernel, a GPU, CUDA, or another process of the job failed
  unsupported    // not with this provider, or not with the kernels that this program was compiled with
};
struct error {
  errc code;
  std::string text;
};

#ifdef __CUDACC__
#define GGAS_RESULT result  // nvcc 13.0 warns of assignments, too
#else
#define GGAS_RESULT [[nodiscard]] result
#endif

template <class T = void>
class GGAS_RESULT {
 public:
  template <class U = T>
  requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, result> &&
           !std::same_as<std::remove_cvref_t<U>, ggas::error>) result(U&& value)
      : either_(std::in_place_index<0>, std::forward<U>(value)) {}
  result(ggas::error e) : either_(std::in_place_index<1>, std::move(e)) {}

  explicit operator bool() const { return either_.index() == 0; }
  bool has_value() const { return either_.index() == 0; }
  // The value; the result must have one.
  T& operator*() { return *std::get_if<0>(&either_); }
  const T& operator*() const { return *std::get_if<0>(&either_); }
  T* operator->() { return std::get_if<0>(&either_); }
  const T* operator->() const { return std::get_if<0>(&either_); }
  // The error; the result must have no value.
  ggas::error& error() { return *std::get_if<1>(&either_); }
  const ggas::error& error() const { return *std::get_if<1>(&either_); }

 private:
  std::variant<T, ggas::error> either_;
};

template <>
class GGAS_RESULT<void> : public result<std::monostate> {
 public:
  result() : result<std::monostate>(std::monostate{}) {}
  result(ggas::error e) : result<std::monostate>(std::move(e)) {}
};

#undef GGAS_RESULT

// "", or the text of the error.
template <class T>
std::string text_of(const result<T>& r) {
  return r ? std::string() : r.error().text;
}

}  // namespace ggas
