// SPDX-License-Identifier: Apache-2.0
#include "gpu_api/simt/shared_stacks.hpp"

#include <cstring>
#include <utility>

#include "gpu_api/simt/lane.hpp"

namespace ggas::simt {

shared_stacks::~shared_stacks() {
  for (auto& [bytes, r] : rings_)
    for (const shared_stack& s : r.all) give_stack(s.memory);
}

shared_stack* shared_stacks::take(size_t bytes) {
  ring& r = rings_[bytes];
  shared_stack* s = nullptr;
  if (!r.unused.empty()) {
    s = r.unused.back();
    r.unused.pop_back();
  } else if (r.all.size() < most) {
    const stack memory = take_stack(bytes);
    if (!memory) return nullptr;
    s = &r.all.emplace_back(memory, &r.unused);
  } else {
    s = &r.all[r.next++ % r.all.size()];
  }
  ++s->users;
  return s;
}

void shared_stacks::give(shared_stack& s) {
  if (--s.users == 0) s.unused->push_back(&s);
}

size_t shared_stacks::stacks() const {
  size_t sum = 0;
  for (const auto& [bytes, r] : rings_) sum += r.all.size();
  return sum;
}

// ---------------------------------------------------------------------------------------------- fibers

void fiber::move_in() {
  if (shared_->here) shared_->here->move_out();
  shared_->here = this;
  if (saved_bytes_) std::memcpy(context_, saved_.get(), saved_bytes_);
}

// What lives on the stack of a fiber that waits begins where its context is.
void fiber::move_out() {
  saved_bytes_ = static_cast<size_t>(top_ - static_cast<std::byte*>(context_));
  if (saved_bytes_ > saved_room_) {
    saved_room_ = (saved_bytes_ + saved_step - 1) / saved_step * saved_step;
    saved_ = std::make_unique_for_overwrite<std::byte[]>(saved_room_);
  }
  std::memcpy(saved_.get(), context_, saved_bytes_);
}

void fiber::leave_shared() {
  if (shared_->here == this) shared_->here = nullptr;
  shared_stacks::give(*std::exchange(shared_, nullptr));
  saved_.reset();
  saved_bytes_ = saved_room_ = 0;
}

// ---------------------------------------------------------------------------------------------- blocks

void share_stacks(block& b, std::shared_ptr<shared_stacks> stacks) {
  if (!sanitizer::active) b.get().stacks = std::move(stacks);
}

}  // namespace ggas::simt
