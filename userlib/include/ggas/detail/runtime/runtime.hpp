// SPDX-License-Identifier: Apache-2.0
// Bodies of the templates of ggas/runtime.hpp, which includes this.
#pragma once

namespace ggas {

template <class Body>
void runtime::send(int to, int priority, Body&& body) {
  if (!valid(to)) return;
  detail::processor* const from = own();
  detail::message* const m = detail::make_message(from, std::forward<Body>(body));
  m->priority = priority;
  if (from)
    from->sent.add();
  else
    outside_sent_.fetch_add(1, std::memory_order_release);
  if (from && from->number() == to)
    from->queue(m);
  else
    processors_[static_cast<size_t>(to)]->push(m);
}

namespace detail {

template <class T, class... A>
std::unique_ptr<T> make_object(size_t index, const A&... arguments) {
  if constexpr (std::is_constructible_v<T, size_t, const A&...>)
    return std::make_unique<T>(index, arguments...);
  else
    return std::make_unique<T>(arguments...);
}

}  // namespace detail

template <class T, class... A>
result<object_array<T>> runtime::make_array(size_t n, const std::function<int(size_t)>& place, const A&... arguments) {
  auto objects = std::make_shared<detail::objects_of<T>>(n);
  for (size_t i = 0; i < n; ++i) {
    const int where = place ? place(i) : static_cast<int>(i % static_cast<size_t>(processors()));
    if (where < 0 || where >= processors())
      return error{errc::bad_argument, "make_array: object " + std::to_string(i) + " is placed on processor " +
                                           std::to_string(where) + "; processors are 0 ... " +
                                           std::to_string(processors() - 1)};
    objects->slots[i].object = detail::make_object<T>(i, arguments...);
    objects->slots[i].where.store(where, std::memory_order_release);
  }
  const std::lock_guard lock(mutex_);
  objects_.push_back(objects);
  return object_array<T>(*this, objects.get());
}

template <class T, class... A>
object_group<T> runtime::make_group(const A&... arguments) {
  auto objects = std::make_shared<std::vector<std::unique_ptr<T>>>();
  for (int p = 0; p < processors(); ++p)
    objects->push_back(detail::make_object<T>(static_cast<size_t>(p), arguments...));
  const std::lock_guard lock(mutex_);
  objects_.push_back(objects);
  return object_group<T>(*this, objects.get());
}

template <class T>
template <class V, class Op>
void element<T>::contribute(V value, Op op, const std::function<void(V)>& then) const {
  const uint64_t number = in_->slots[index_].contributed++;
  std::unique_lock lock(in_->mutex);
  auto& found = in_->rounds[number];
  if (!found) {
    found = std::make_unique<detail::round_of<V>>(std::move(value));
    found->left = in_->slots.size();
  } else if (auto* const round = dynamic_cast<detail::round_of<V>*>(found.get())) {
    round->value = op(std::move(round->value), std::move(value));
  } else {
    return runtime_->fail("contribution " + std::to_string(number) + " of object " + std::to_string(index_) +
                          ": another type than that of the other objects");
  }
  if (--found->left != 0) return;
  V all = std::move(static_cast<detail::round_of<V>&>(*found).value);
  in_->rounds.erase(number);
  lock.unlock();
  then(std::move(all));
}

}  // namespace ggas
