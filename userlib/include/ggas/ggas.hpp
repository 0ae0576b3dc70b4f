// SPDX-License-Identifier: Apache-2.0
// libggas for C++20: a process that stops automatically, codes that cannot be ignored, and spans instead of offsets
// where that is shorter. A thin layer: everything is a call of ggas.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ggas/ggas.h"

namespace ggas::rma {

using timeout = std::chrono::nanoseconds;
inline constexpr timeout block = timeout::max();

// A code, with the text it came with.
class [[nodiscard]] outcome {
 public:
  outcome(ggas_rc code)
      : code_(code), text_(code < 0 ? ggas_error_text() : ggas_rc_text(code)) {}  // NOLINT: a code is one
  explicit operator bool() const { return code_ == GGAS_OK; }
  bool timed_out() const { return code_ == GGAS_TIMEOUT; }
  ggas_rc code() const { return code_; }
  const std::string& text() const { return text_; }

 private:
  ggas_rc code_;
  std::string text_;
};

class process {
 public:
  outcome start(timeout t) {
    ggas_process* p = nullptr;
    const outcome o = ggas_process_start(&p, ns(t));
    if (o) p_.reset(p);
    return o;
  }
  void stop() { p_.reset(); }
  // For the functions of ggas.h; null before start().
  ggas_process* get() const { return p_.get(); }

  // UINT32_MAX before start().
  uint32_t rank() const { return number(ggas_process_rank); }
  uint32_t size() const { return number(ggas_process_size); }

  outcome create(uint32_t segment, uint64_t bytes, timeout t = block, uint32_t group = GGAS_GROUP_ALL) {
    return ggas_segment_create(get(), segment, bytes, group, ns(t));
  }
  // A segment of this rank as elements; empty: it is not there.
  template <class T>
  std::span<T> memory(uint32_t segment) const {
    void* at = nullptr;
    uint64_t bytes = 0;
    if (ggas_segment_pointer(get(), segment, &at) != GGAS_OK) return {};
    if (ggas_segment_size(get(), segment, rank(), &bytes) != GGAS_OK) return {};
    return {static_cast<T*>(at), bytes / sizeof(T)};
  }
  outcome write(const ggas_part& part, uint32_t to, uint32_t queue = 0, timeout t = block) {
    return ggas_queue_write(get(), &part, to, queue, ns(t));
  }
  outcome read(const ggas_part& part, uint32_t from, uint32_t queue = 0, timeout t = block) {
    return ggas_queue_read(get(), &part, from, queue, ns(t));
  }
  outcome notify(uint32_t segment, uint32_t to, uint32_t slot, uint32_t value, uint32_t queue = 0, timeout t = block) {
    return ggas_queue_notify(get(), segment, to, slot, value, queue, ns(t));
  }
  outcome wait(uint32_t queue = 0, timeout t = block) { return ggas_queue_wait(get(), queue, ns(t)); }
  // Waits for one of the slots and takes its value; found and value are set when it is ok.
  outcome take(uint32_t segment, uint32_t first, uint32_t count, uint32_t& found, uint32_t& value, timeout t = block) {
    for (value = 0; value == 0;) {  // 0: another thread was faster
      if (const ggas_rc rc = ggas_notification_waitsome(get(), segment, first, count, &found, ns(t)); rc != GGAS_OK)
        return rc;
      if (const ggas_rc rc = ggas_notification_reset(get(), segment, found, &value); rc != GGAS_OK) return rc;
    }
    return GGAS_OK;
  }
  outcome barrier(timeout t = block, uint32_t group = GGAS_GROUP_ALL) {
    return ggas_group_barrier(get(), group, ns(t));
  }

 private:
  struct stopper {
    void operator()(ggas_process* p) const { ggas_process_stop(p); }
  };
  static uint64_t ns(timeout t) {
    return t == block ? GGAS_BLOCK : t.count() < 0 ? GGAS_TEST : static_cast<uint64_t>(t.count());
  }
  uint32_t number(ggas_rc ask(const ggas_process*, uint32_t*)) const {
    uint32_t n = UINT32_MAX;
    static_cast<void>(ask(get(), &n));
    return n;
  }

  std::unique_ptr<ggas_process, stopper> p_;
};

}  // namespace ggas::rma
