// SPDX-License-Identifier: Apache-2.0
// Host programs of the providers without simulated processors: a thread each.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"

namespace ggas {

class host_programs {
 public:
  // Copies between memory that the processor does not reach and its own; empty: done, else why not.
  using copier = std::function<std::string(void* to, const void* from, size_t bytes)>;
  // Memory that the programs of a node may touch: by loads and stores, and what is copied for them.
  struct memory {
    std::vector<std::span<std::byte>> near = {};
    std::span<std::byte> far = {};
    copier read = {}, write = {};
  };

  host_programs();
  ~host_programs();
  void add(int node, memory m, std::function<void(host&)> program, std::string name);
  // Starts the added programs; waits until all have ended, the time-out, or go_on(), called some times a second,
  // returns false, and ends them. No program runs after that.
  void start();
  bool ended() const;
  result<> finish(uint64_t deadline_ns, const std::function<bool()>& go_on);

  static uint64_t clock_ns();
  // So long after a time of the clock; beyond its end: its end, which is never.
  static uint64_t after(uint64_t from_ns, uint64_t ns) { return ns > ~from_ns ? ~uint64_t{0} : from_ns + ns; }

 private:
  struct program {
    int node;
    memory reach;
    std::function<void(host&)> body;
    std::string name;
    std::string fault = {};
  };
  struct runner;

  std::vector<program> queued_;
  std::vector<std::unique_ptr<runner>> running_;
  std::atomic<bool> stop_ = false;
};

}  // namespace ggas
