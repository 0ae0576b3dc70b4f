// SPDX-License-Identifier: Apache-2.0
// One fiber: a stack, a saved context and the information for the sanitizers. Boost.Context's assembly switches; the
// class around it adds no cost.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <memory>

#include "gpu_api/simt/sanitizer.hpp"
#include "gpu_api/simt/shared_stacks.hpp"
#include "gpu_api/simt/stack_pool.hpp"

namespace ggas::simt {

class fiber {
 public:
  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  // `body(arg)` runs at the first resume(); when it returns the fiber is done and must not be resumed.
  bool start(stack s, unsigned color, void (*body)(void*), void* arg) {
    stack_ = s;
    body_ = body;
    arg_ = arg;
    // Tops of equal stacks lie a power of two apart and would fight for the same cache sets.
    const size_t bytes = s.bytes - (color % 32) * 192;
    top_ = s.bottom + bytes;
    context_ = boost::context::detail::make_fcontext(top_, bytes, &fiber::entry);
    tsan_ = sanitizer::tsan_create();
    return context_ != nullptr;
  }

  // The same, with a place on a shared stack.
  bool start(shared_stack& s, unsigned color, void (*body)(void*), void* arg) {
    shared_ = &s;
    move_in();
    return start(s.memory, color, body, arg);
  }

  // Owner: runs the fiber until it suspends or ends.
  void resume() {
    if (shared_ && shared_->here != this) move_in();
    void* fake = nullptr;
    tsan_owner_ = sanitizer::tsan_current();
    sanitizer::leave(&fake, stack_.bottom, stack_.bytes);
    sanitizer::tsan_switch(tsan_);
    auto t = boost::context::detail::jump_fcontext(context_, this);
    sanitizer::arrive(fake);
    context_ = t.fctx;
  }

  // Inside the fiber: back to the owner until the next resume().
  void suspend() {
    void* fake = nullptr;
    sanitizer::leave(&fake, owner_bottom_, owner_bytes_);
    sanitizer::tsan_switch(tsan_owner_);
    auto t = boost::context::detail::jump_fcontext(owner_, nullptr);
    sanitizer::arrive(fake, &owner_bottom_, &owner_bytes_);
    owner_ = t.fctx;
  }

  // Gives the stack back; a fiber that has not ended is abandoned.
  void release() {
    sanitizer::tsan_destroy(tsan_);
    tsan_ = nullptr;
    if (shared_)
      leave_shared();
    else
      give_stack(stack_);
    stack_ = {};
  }

  bool started() const { return static_cast<bool>(stack_); }
  bool is_on_stack(const void* p) const {
    const auto* at = static_cast<const std::byte*>(p);
    return at >= stack_.bottom && at < stack_.bottom + stack_.bytes;
  }
  // Where it cannot be while the fiber waits.
  bool is_on_shared_stack(const void* p) const { return shared_ && is_on_stack(p); }
  // Inside the fiber: bytes of stack left below the caller's frame.
  size_t room() const { return static_cast<std::byte*>(__builtin_frame_address(0)) - stack_.bottom; }

 private:
  static constexpr size_t saved_step = 64;
  void move_in();
  void move_out();
  void leave_shared();

  static void entry(boost::context::detail::transfer_t t) {
    fiber& f = *static_cast<fiber*>(t.data);
    sanitizer::arrive(nullptr, &f.owner_bottom_, &f.owner_bytes_);
    f.owner_ = t.fctx;
    f.body_(f.arg_);
    sanitizer::leave(nullptr, f.owner_bottom_, f.owner_bytes_, true);
    sanitizer::tsan_switch(f.tsan_owner_);
    boost::context::detail::jump_fcontext(f.owner_, nullptr);
    __builtin_unreachable();
  }

  boost::context::detail::fcontext_t context_ = nullptr, owner_ = nullptr;
  stack stack_;
  void (*body_)(void*) = nullptr;
  void* arg_ = nullptr;
  const void* owner_bottom_ = nullptr;
  size_t owner_bytes_ = 0;
  shared_stack* shared_ = nullptr;  // where stack_ is, unless it is the fiber's own
  std::byte* top_ = nullptr;
  std::unique_ptr<std::byte[]> saved_;  // what is on the stack while another fiber uses it
  size_t saved_bytes_ = 0, saved_room_ = 0;
  void *tsan_ = nullptr, *tsan_owner_ = nullptr;
};

}  // namespace ggas::simt
