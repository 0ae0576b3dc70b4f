// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/timer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/pcie/port.hpp"
#include "sim/pcie/process.hpp"

namespace ggas::pcie {

timer::timer(std::function<void()> body, turn when) : all_(timers::current()), body_(std::move(body)), turn_(when) {}

timer::~timer() { all_.forget(*this); }

void timer::notify(const sc_core::sc_time& delay) {
  const uint64_t at_ps = now_ps() + delay.value();
  if (at_ps < at_ps_) all_.add(*this, at_ps);
}

timers::timers() {
  spawn_method("timers", event_, [this] { drain(); });
}

bool timers::later(const entry& a, const entry& b) {
  return std::tie(a.at_ps, a.turn, a.seq) > std::tie(b.at_ps, b.turn, b.seq);
}

void timers::add(timer& t, uint64_t at_ps) {
  t.at_ps_ = at_ps;
  t.seq_ = seq_++;
  ++t.entries_;
  heap_.push_back({at_ps, t.turn_, t.seq_, &t});
  std::ranges::push_heap(heap_, later);
  if (!draining_ && heap_.front().what == &t) schedule();
}

void timers::forget(timer& t) {
  if (t.entries_ == 0) return;
  std::erase_if(heap_, [&t](const entry& e) { return e.what == &t; });
  std::ranges::make_heap(heap_, later);
}

void timers::drain() {
  draining_ = true;
  while (!heap_.empty() && heap_.front().at_ps <= now_ps()) {
    std::ranges::pop_heap(heap_, later);
    const entry e = heap_.back();
    heap_.pop_back();
    timer& t = *e.what;
    --t.entries_;
    if (t.at_ps_ == timer::never || t.seq_ != e.seq) continue;  // cancelled, or an earlier time was asked for since
    t.at_ps_ = timer::never;
    t.body_();
  }
  draining_ = false;
  if (!heap_.empty()) schedule();
}

void timers::schedule() { event_.notify(sc_core::sc_time::from_value(heap_.front().at_ps - now_ps())); }

}  // namespace ggas::pcie
