// SPDX-License-Identifier: Apache-2.0
// Threads of a rank take turns at its NIC, in the order in which they came: a lock that none can be kept out of.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace ggas::library::nic {

class turns {
 public:
  // waiting: called by a thread that has to wait, for the one whose turn it is.
  explicit turns(std::function<void()> waiting) : waiting_(std::move(waiting)) {}
  void take() {
    std::unique_lock held(lock_);
    const uint64_t mine = next_++;
    if (mine != now_) waiting_();
    called_.wait(held, [&] { return mine == now_; });
  }
  void give() {
    {
      const std::lock_guard held(lock_);
      ++now_;
    }
    called_.notify_all();
  }

 private:
  const std::function<void()> waiting_;
  std::mutex lock_;
  std::condition_variable called_;
  uint64_t next_ = 0, now_ = 0;
};

// A turn, for the time of a call.
class turn {
 public:
  explicit turn(turns& of) : of_(of) { of_.take(); }
  ~turn() { of_.give(); }
  turn(const turn&) = delete;
  // Lets others go first.
  void pass() {
    of_.give();
    of_.take();
  }

 private:
  turns& of_;
};

}  // namespace ggas::library::nic
