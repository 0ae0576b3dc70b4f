// SPDX-License-Identifier: Apache-2.0
#include "sim/cpu/thread.hpp"

#include <algorithm>
#include <utility>

namespace ggas::cpu {

namespace {
constexpr size_t stack_bytes = 256 << 10;
constexpr uint64_t never = ~uint64_t{0};
}  // namespace

thread::thread(sim::agenda& agenda, std::function<void()> body) : agenda_(agenda), body_(std::move(body)) {}

thread::~thread() {
  kill();
  if (fiber_.started()) fiber_.release();
}

bool thread::start() {
  const simt::stack s = simt::take_stack(stack_bytes);
  if (!s) return false;
  fiber_.start(
      s, 0, [](void* self) { static_cast<thread*>(self)->body(); }, this);
  waiting_ = blocked_ = true;
  wake(pcie::now_ps());
  return true;
}

void thread::body() {
  try {
    body_();
  } catch (const killed&) {
  } catch (const std::exception& e) {
    fault_ = e.what();
  } catch (...) {
    fault_ = "an exception of unknown type";
  }
  ended_ = true;
}

void thread::kill() {
  if (ended_ || !fiber_.started()) return;
  killing_ = true;
  waiting_ = blocked_ = false;
  fiber_.resume();
}

// A time that has been overtaken finds the thread running or waiting for a later one.
void thread::run() {
  if (!waiting_ || due_ps_ > pcie::now_ps()) return;
  waiting_ = blocked_ = false;
  fiber_.resume();
  if (ended_ && on_end) on_end();
}

void thread::suspend_until(uint64_t ps) {
  due_ps_ = ps;
  if (ps != never) agenda_.at(ps, *this);
  if (!killing_) {
    waiting_ = true;
    fiber_.suspend();
  }
  if (killing_) throw killed();
}

void thread::wait(uint64_t ps) {
  const uint64_t now = pcie::now_ps();
  if (ps) suspend_until(ps > never - now ? never : now + ps);
}

void thread::block(uint64_t until_ps) {
  blocked_ = true;
  suspend_until(std::max(until_ps, pcie::now_ps()));
}

void thread::wake(uint64_t at_ps) {
  if (!blocked_) return;
  due_ps_ = std::min(due_ps_, std::max(at_ps, pcie::now_ps()));
  agenda_.at(due_ps_, *this);
}

}  // namespace ggas::cpu
