// SPDX-License-Identifier: Apache-2.0
// A rank as a program of its simulated processor: it executes the requests of the rank's process, and stops simulated
// time until the process makes the next one. So one process runs at a time, in the order of simulated time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "programs/simulator/gpu.hpp"
#include "sim/cpu/core.hpp"
#include "sim/mem/memory.hpp"
#include "userlib/libggas/base/transport.hpp"
#include "userlib/libggas/sim/protocol.hpp"
#include "userlib/start/message.hpp"

namespace ggas::simulator {

class rank;

// What ranks know of each other.
struct job_of_ranks {
  std::vector<std::unique_ptr<rank>> all;
  unsigned ended = 0;
  uint64_t begin_ps = 0;         // of simulated time, as ranks see it
  uint64_t end_ps = 0;           // when the last one ended
  std::chrono::seconds timeout;  // of real time, for a process that runs and asks for nothing
  uint64_t signs = 0;            // of life

  // Informs all processes that the simulator works, or waits.
  void show_life();
};

class rank {
 public:
  struct node {
    mem::sparse_memory* memory;
    node_gpu* gpu;  // null: none
  };
  struct process {
    std::span<std::byte> memory;
    uint64_t gpu_bytes;  // after it in the rank's file
    node of;
    userlib::file link, end;  // end: readable when it has ended
  };
  rank(job_of_ranks& job, unsigned number, process p)
      : job_(job),
        number_(number),
        memory_(p.memory),
        gpu_bytes_(p.gpu_bytes),
        node_(p.of),
        link_(std::move(p.link)),
        process_(std::move(p.end)) {}

  // The program of the node's processor: until the process has left, has ended or has broken a rule.
  void run(cpu::core& c);

  std::unique_ptr<cpu::core> core;  // runs it
  ggas_state state() const { return state_; }
  void show_life(uint64_t sign);

 private:
  std::optional<library::sim::request> next();
  std::string rule_broken_by(const library::sim::request& q) const;
  void pay(cpu::core& c, const library::sim::request& q);
  void pause(cpu::core& c, const library::sim::request& q);
  int32_t perform(cpu::core& c, const library::sim::request& q);
  ssize_t receive(library::sim::request& q);
  int32_t bind(const library::sim::request& q);
  void unbind(uint64_t offset);
  enum class side { host, gpu };
  std::optional<side> side_of(uint64_t offset, uint64_t bytes) const;
  int32_t copy(cpu::core& c, const library::sim::request& q);
  void await_copy(cpu::core& c);
  void end(ggas_state how);
  void process_has_ended();
  void say(const std::string& text) const;

  job_of_ranks& job_;
  unsigned number_;
  std::span<std::byte> memory_;
  uint64_t gpu_bytes_;
  node node_;
  std::map<uint64_t, uint64_t> bound_;  // parts of the memory that are the program's own: offset, bytes
  userlib::file handed_;                // with the last request
  userlib::file link_, process_;
  std::shared_ptr<gpu::mark> copied_;  // the last copy; null: there was none
  uint64_t known_ps_ = 0;              // when the host knows that it is done
  ggas_state state_ = GGAS_STATE_HEALTHY;
  bool gone_ = false;  // the process has ended, which the program of the processor has yet to see
};

}  // namespace ggas::simulator
