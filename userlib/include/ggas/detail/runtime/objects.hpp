// SPDX-License-Identifier: Apache-2.0
// Objects of ggas::runtime: where they are, what they have contributed. Included by ggas/runtime.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ggas/detail/runtime/processor.hpp"

namespace ggas::detail {

template <class Method>
struct method_of;
template <class T, class... P>
struct method_of<void (T::*)(P...)> {
  using object = T;
  using arguments = std::tuple<std::decay_t<P>...>;
};
template <class T, class... P>
struct method_of<void (T::*)(P...) noexcept> : method_of<void (T::*)(P...)> {};

// Contributions of all objects to one number. The last one to come hands the result on.
struct round_of_any {
  virtual ~round_of_any() = default;
  size_t left = 0;
};
template <class V>
struct round_of final : round_of_any {
  V value;
  explicit round_of(V v) : value(std::move(v)) {}
};

struct objects_of_any {
  virtual ~objects_of_any() = default;
  std::mutex mutex;
  std::map<uint64_t, std::unique_ptr<round_of_any>> rounds;  // that have begun, by number
};

template <class T>
struct objects_of final : objects_of_any {
  struct slot {
    std::atomic<int> where = 0;  // the processor that the object is of, and that alone looks at the rest
    std::unique_ptr<T> object;   // null: it was destroyed
    uint64_t contributed = 0;
  };
  explicit objects_of(size_t n) : slots(n) {}
  std::vector<slot> slots;
};

// A message to an object that has moved; false.
bool forward(message& m, processor& by, int to);

// A method of an object of an array, which may have moved since the message was sent.
template <auto Method>
struct call_of_element {
  using method = method_of<decltype(Method)>;
  objects_of<typename method::object>* in;
  size_t index;
  typename method::arguments arguments;

  bool operator()(message& m, processor& by) {
    auto& slot = in->slots[index];
    const int where = slot.where.load(std::memory_order_acquire);
    if (where != by.number()) [[unlikely]]
      return forward(m, by, where);
    if (!slot.object) [[unlikely]] {
      by.dropped.add();
      return true;
    }
    std::apply([&](auto&... a) { (slot.object.get()->*Method)(std::move(a)...); }, arguments);
    return true;
  }
};

// A method of the object of a processor that a group has there.
template <auto Method>
struct call_of_member {
  using method = method_of<decltype(Method)>;
  typename method::object* object;
  typename method::arguments arguments;

  bool operator()(message&, processor&) {
    std::apply([&](auto&... a) { (object->*Method)(std::move(a)...); }, arguments);
    return true;
  }
};

template <class F>
struct call_of_function {
  F function;
  bool operator()(message&, processor&) {
    function();
    return true;
  }
};

}  // namespace ggas::detail
