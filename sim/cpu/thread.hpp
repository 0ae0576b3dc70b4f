// SPDX-License-Identifier: Apache-2.0
// A thread of host code in simulated time: it runs natively, in a fiber, until it waits for a time or for someone.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "gpu_api/simt/fiber.hpp"
#include "sim/kernel/agenda.hpp"

namespace ggas::cpu {

class thread final : public sim::task {
 public:
  // `agenda` must have forgotten the thread (clear()) before it is destroyed.
  thread(sim::agenda& agenda, std::function<void()> body);
  ~thread();
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;

  // False: no memory for its stack.
  bool start();
  bool ended() const { return ended_; }
  // The exception that left the body, or empty.
  const std::string& fault() const { return fault_; }
  // Called when the body has returned.
  std::function<void()> on_end;
  // Ends it where it waits; destructors of the body's objects run.
  void kill();

  // ---- inside the body
  void wait(uint64_t ps);
  // Until wake() or that point in time.
  void block(uint64_t until_ps);

  // Ends its block() at that time; a wait() goes on.
  void wake(uint64_t at_ps);
  void run() override;

 private:
  struct killed {};
  void body();
  void suspend_until(uint64_t ps);

  sim::agenda& agenda_;
  std::function<void()> body_;
  simt::fiber fiber_;
  uint64_t due_ps_ = ~uint64_t{0};
  bool waiting_ = false;  // for due_ps_ ...
  bool blocked_ = false;  // ... or for wake()
  bool killing_ = false, ended_ = false;
  std::string fault_;
};

}  // namespace ggas::cpu
