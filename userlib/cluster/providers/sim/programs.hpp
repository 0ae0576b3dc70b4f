// SPDX-License-Identifier: Apache-2.0
// Host programs of the sim provider: ggas::host on a simulated processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "sim/gpu/device.hpp"
#include "sim/system.hpp"

namespace ggas::userlib {

// A time; what picoseconds cannot count is the longest they can.
constexpr uint64_t ps_of(uint64_t ns) {
  constexpr uint64_t most = std::numeric_limits<uint64_t>::max() / 1000;
  return std::min(ns, most) * 1000;
}

// The view of a node's programs: addresses of this process and their bus addresses; contexts of the NIC.
struct host_view {
  struct range {
    const std::byte* base;
    size_t bytes;
    uint64_t bus;
  };
  std::vector<range> ranges;
  std::vector<ggas_rma_context> queues;  // each counts on from program to program, as the NIC does
  // Throws std::out_of_range.
  uint64_t bus(const void* at, size_t bytes) const;
};

// The GPU that a program drives.
class driven_gpu {
 public:
  // The work queued for the node's streams begins; what the launching calls take of the processor.
  virtual uint64_t start_streams_ps(int node) = 0;
  // The last record of an event; null: there is none.
  virtual std::shared_ptr<gpu::mark> last_record(const event& e) const = 0;
  // What the processor does while it waits for the node's GPU, and how long it takes to learn the end.
  struct waiting {
    cpu::doing meanwhile;
    uint64_t learns_ps;
  };
  virtual waiting waiting_for(int node, host_sync how) const = 0;

 protected:
  ~driven_gpu() = default;
};

// A context that was enabled, at its beginning. Set-up: costs no simulated time.
ggas_rma_context started(const rma_queue& q);

class host_programs {
 public:
  explicit host_programs(driven_gpu& gpus);
  ~host_programs();
  void add(int node, std::function<void(host&)> body, std::string name) {
    queued_.push_back({node, std::move(body), std::move(name), 0});
  }
  // Starts the added programs. `view` gives a node's addresses, `processor` the processor that runs them. Returns false
  // if there is no memory for their stacks.
  bool start(sim::system& s, const std::function<host_view&(int node)>& view,
             const std::function<unsigned(int node)>& processor);
  bool idle() const;    // all have ended
  bool failed() const;  // one ended with an exception
  // What those that still run, or those that failed, are; for people.
  std::string describe(bool failed) const;
  // Ends what still runs; what runs on a processor.
  void reset(sim::system& s);
  void end_on(unsigned processor);

 private:
  struct program {
    int node;
    std::function<void(host&)> body;
    std::string name;
    unsigned processor = 0;
  };
  struct runner;

  driven_gpu& gpus_;
  std::vector<program> queued_;
  std::vector<std::unique_ptr<runner>> running_;
};

}  // namespace ggas::userlib
