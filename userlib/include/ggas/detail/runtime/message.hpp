// SPDX-License-Identifier: Apache-2.0
// Messages of ggas::runtime: a call with its arguments, in one piece of memory. Included by processor.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace ggas::detail {

class processor;

struct message {
  message* next = nullptr;
  // Runs what the message is for; by null: only destroys it. False: the message goes on to another processor.
  bool (*act)(message& m, processor* by) = nullptr;
  int priority = 0;
  uint32_t size_class = 0;
};

template <class Body>
struct message_with final : message {
  Body body;
  explicit message_with(Body&& b) : body(std::move(b)) { act = run; }
  static bool run(message& m, processor* by) {
    auto& self = static_cast<message_with&>(m);
    if (by && !self.body(self, *by)) return false;
    self.~message_with();
    return true;
  }
};

// First in, first out.
class message_queue {
 public:
  bool empty() const { return !first_; }
  void push(message* m) {
    m->next = nullptr;
    *(first_ ? &last_->next : &first_) = m;
    last_ = m;
  }
  message* pop() {
    message* const m = first_;
    first_ = m->next;
    return m;
  }

 private:
  message *first_ = nullptr, *last_ = nullptr;
};

// The most urgent first, of equal ones the first to come. Most have priority 0.
class ranked_messages {
 public:
  void push(message* m) {
    if (m->priority == 0) [[likely]]
      plain_.push(m);
    else
      ranked_[m->priority].push(m);
  }
  bool empty() const { return plain_.empty() && ranked_.empty(); }
  message* pop() {  // null: none is left
    if (ranked_.empty()) [[likely]]
      return plain_.empty() ? nullptr : plain_.pop();
    const auto top = ranked_.begin();
    if (top->first < 0 && !plain_.empty()) return plain_.pop();
    message* const m = top->second.pop();
    if (top->second.empty()) ranked_.erase(top);
    return m;
  }

 private:
  message_queue plain_;
  std::map<int, message_queue, std::greater<>> ranked_;
};

}  // namespace ggas::detail
