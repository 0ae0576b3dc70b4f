// SPDX-License-Identifier: Apache-2.0
#include "sim/cpu/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace ggas::cpu {

using pcie::now_ps;

core::core(processor& p, mem::sparse_memory& memory, cache& c, const core_config& cfg,
           std::function<void(core&)> program)
    : cpu_(p), memory_(memory), cache_(c), cfg_(cfg), thread_(p.agenda(), [this, program = std::move(program)] {
        const in_state working(cpu_.states(), state_, doing::working);
        program(*this);
      }) {}

void core::sleep(uint64_t ps) {
  const in_state asleep(cpu_.states(), state_, doing::asleep);
  thread_.wait(ps);
  thread_.wait(cfg_.timer_slack_ps);
}

void core::await_wake(doing meanwhile, uint64_t until_ps) {
  const in_state waiting(cpu_.states(), state_, meanwhile);
  thread_.block(until_ps);
}

void core::pay(uint64_t addr, uint64_t bytes) {
  const auto [lines, stale] = cache_.touch(addr, bytes);
  thread_.wait(lines * cfg_.poll_ps + stale * cfg_.miss_ps);
}

void core::read(uint64_t addr, std::span<std::byte> to) {
  if (!cache_.holds(addr, to.size())) return read_device(addr, to);
  pay(addr, to.size());
  memory_.read(addr, to);
}

void core::write(uint64_t addr, std::span<const std::byte> from) {
  if (!cache_.holds(addr, from.size())) {
    cpu_.write(addr, from);
    thread_.wait(cfg_.store_ps);
    return;
  }
  pay(addr, from.size());
  memory_.write(addr, from);
  cache_.changed();
}

// Uncached loads of at most 8 bytes, one after the other. Each load gets an answer, because the processor's completion
// time-out ends it. The program may have ended by then.
void core::read_device(uint64_t addr, std::span<std::byte> to) {
  struct answer {
    bool wanted = true;
    std::optional<uint64_t> value;
  };
  struct interest {
    std::shared_ptr<answer> of = std::make_shared<answer>();
    ~interest() { of->wanted = false; }
  };
  at_device_ = true;
  while (!to.empty()) {
    const unsigned n = unsigned(std::min<uint64_t>(to.size(), 8 - addr % 8));
    const interest load;
    cpu_.load(addr, n, [this, a = load.of](std::optional<uint64_t> v) {
      a->value = v;
      if (a->wanted) thread_.wake(now_ps());
    });
    thread_.block(~uint64_t{0});
    if (!load.of->value) throw bus_error(fmt::format("load of {} bytes from bus address {:#x}: no data", n, addr));
    std::memcpy(to.data(), &*load.of->value, n);
    to = to.subspan(n);
    addr += n;
  }
}

void core::await_change(uint64_t seen, uint64_t end_ps) {
  if (cache_.version() != seen) return;
  struct membership {
    cache& c;
    thread& t;
    membership(cache& c, thread& t) : c(c), t(t) { c.join(t); }
    ~membership() { c.leave(t); }
  } member(cache_, thread_);
  thread_.block(end_ps);
}

bool core::wait_until(const std::function<bool()>& done, uint64_t timeout_ps) {
  const in_state polling(cpu_.states(), state_, doing::polling);
  const uint64_t begin = now_ps(), end = timeout_ps > ~begin ? ~uint64_t{0} : begin + timeout_ps;
  for (;;) {
    const uint64_t turn_ps = now_ps(), seen = cache_.version();
    at_device_ = false;
    if (done()) return true;
    if (now_ps() == turn_ps) thread_.wait(std::max<uint64_t>(cfg_.poll_ps, 1));
    if (now_ps() >= end) return false;
    if (cfg_.sleep_ps) {
      sleep(std::min(cfg_.sleep_ps, end - now_ps()));
      continue;
    }
    if (at_device_) continue;
    const uint64_t turn = now_ps() - turn_ps;
    await_change(seen, end);
    if (const uint64_t late = (now_ps() - turn_ps) % turn) thread_.wait(turn - late);
  }
}

}  // namespace ggas::cpu
