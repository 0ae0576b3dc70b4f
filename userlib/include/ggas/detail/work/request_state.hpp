// SPDX-License-Identifier: Apache-2.0
// What a request is made of, after its handle. Included by ggas/work.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ggas/kernel.hpp"

namespace ggas::detail {

struct pools;

// A piece of a node's segment.
struct gpu_block {
  std::shared_ptr<pools> of;
  int node = 0;
  uint64_t offset = 0;
  std::byte* address = nullptr;
  size_t bytes = 0;
  std::atomic<bool> freed = false;
  ~gpu_block();
  void free();
};

struct request_buffer {
  bool copied_in = false, copied_out = false;
  std::byte* host = nullptr;  // of a constant one nothing is written there
  size_t bytes = 0;
  std::shared_ptr<gpu_block> kept;  // null: the pool's, while the request is under way
  bool of_pool() const { return !kept && bytes != 0; }
};

// What a kernel gets as a parameter: a value, or the place on the GPU of a buffer.
template <class P>
struct bound_argument {
  P value{};
  int buffer = -1;
  P get(std::span<void* const> device) const {
    if constexpr (std::is_pointer_v<P>)
      if (buffer >= 0) return static_cast<P>(device[static_cast<size_t>(buffer)]);
    return value;
  }
};

// Appends an argument to those of an order to workers: from a word on.
template <class P>
void append_argument(std::vector<uint64_t>& words, const P& value) {
  static_assert(std::is_trivially_copyable_v<P>);
  const size_t at = words.size();
  words.resize(at + (sizeof(P) + 7) / 8);
  std::memcpy(words.data() + at, &value, sizeof(P));
}

// What workers need of a request to run it: the kernel, by which they know their function, and its arguments.
struct work_form {
  const void* kernel = nullptr;  // null: only a launch can carry it out
  extent grid = {};
  block_shape block = {};
  std::function<void(std::span<void* const> device, std::vector<uint64_t>& words)> arguments = {};
};

struct signal_word {
  const uint64_t* word;
  uint64_t least;
};

using request_end = std::function<void(const result<>&)>;

struct request_state {
  // Set by the program, before the request is enqueued.
  std::string name;
  int node = 0;
  bool in_own_stream = false;
  int priority = 0;
  std::vector<request_buffer> buffers;
  std::function<result<>(cluster&, const stream&, std::span<void* const>)> launch;
  work_form form;
  std::vector<std::shared_ptr<request_state>> after;
  std::vector<event> events;
  std::vector<signal_word> signals;
  request_end then;

  enum class phase { idle, waiting, running };
  std::atomic<phase> now = phase::idle;

  // For the dispatcher only, which holds its lock.
  struct place {
    std::byte *device = nullptr, *staged = nullptr;  // staged null: the host's memory is pinned
  };
  int owner = 0;            // processor
  bool ended = false;       // once, at least
  std::string failure;      // of the last time; empty: it went well
  size_t missing = 0;       // requests that must end before
  size_t after_always = 0;  // of `after`: the rest are for this time only
  std::vector<std::shared_ptr<request_state>> followers;
  std::vector<place> places;  // of its buffers, while it is under way
  std::vector<void*> device;
  // While it is queued on a stream, so that what is queued after it needs nothing of the host.
  bool in_order = false;
  stream on = 0;
  event recorded = {};  // at its end

  // Whether a request after this one has to wait.
  bool holds_up() const { return now != phase::idle || !ended; }
};

}  // namespace ggas::detail
