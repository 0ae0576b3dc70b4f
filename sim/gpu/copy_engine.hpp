// SPDX-License-Identifier: Apache-2.0
// The copy engine of a GPU: moves bytes between the GPU's memory and memory of the host, in PCIe packets of the
// negotiated sizes, in addition to the traffic of kernels and the NIC. Copies are done one by one, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/gpu/config.hpp"
#include "sim/gpu/host_interface.hpp"
#include "sim/kernel/agenda.hpp"

namespace ggas::gpu {

class copy_engine final : public sim::task {
 public:
  // `agenda` outlives the engine; its clear() comes with forget().
  copy_engine(host_interface& host, const gpu_config& cfg, sim::agenda& agenda)
      : host_(host), cfg_(cfg), agenda_(agenda) {}

  struct side {
    std::byte* own = nullptr;  // in the GPU's memory; null: over PCIe, at `bus`
    uint64_t bus = 0;
  };
  struct job {
    side to, from;
    uint64_t bytes = 0;
    std::function<void()> moved;                // the bytes are where they belong
    std::function<void(uint64_t bus)> refused;  // a read of the host's memory failed; `moved` comes all the same
  };
  void push(job j);
  // Largest payload of a write and of a read.
  void packets(unsigned mps, unsigned mrrs) {
    mps_ = mps;
    mrrs_ = mrrs;
  }
  // There is room in the store queue again.
  void resume();
  // Ends every copy where it is.
  void forget();

 private:
  void begin();
  void run() override;  // the memory's time for a copy within the GPU is over
  void send(const std::byte* from);
  void fetch(std::byte* to);
  void fetched();
  void end();
  uint64_t piece(uint64_t bus, uint64_t most) const;

  host_interface& host_;
  gpu_config cfg_;
  sim::agenda& agenda_;
  unsigned mps_ = 128, mrrs_ = 512;
  std::deque<job> jobs_;            // the first one is under way
  std::vector<std::byte> between_;  // from memory of the host to memory of the host
  const std::byte* sending_ = nullptr;
  uint64_t begun_ = 0;  // bytes in flight, or there
  unsigned reads_ = 0;  // in flight
  uint64_t epoch_ = 0;  // of forget(): what was in flight before finds no copy
};

}  // namespace ggas::gpu
