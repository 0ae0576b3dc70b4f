// SPDX-License-Identifier: Apache-2.0
// Shared by the benchmarks of put, get and atomics: the controller of a transfer and its queues, buffers, checks, and
// the cost of a message on PCIe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/cluster/runner.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/kernels/one_sided/one_sided.cuh"

namespace ggas::bench {

// A way to control transfers.
struct controller {
  const char* name;
  bool by_host;  // a program of the processor
  bool needs_nic;
  control how;
  queue_config::place rings;       // of notifications and status
  queue_config::place work_queue;  // none: descriptors go to the page
  unsigned threads;                // of a block

  queue_config queues(int count = 1) const;
};
extern const controller controllers[7];
const controller& find_controller(std::string_view name);

// The original system ran these measurements at 157 MHz. So does its platform here, unless the command line sets a
// clock.
std::vector<std::string> measured_clock(const session& s);
// Adds that clock to the parameters of a point.
nlohmann::ordered_json with_clock(const session& s, nlohmann::ordered_json params);
// C5, C6: for runs as published, that clock included.
bool published_conditions(const session& s);

// Buffers and places for findings after the reserved part.
struct plan_of_buffers {
  one_sided_args args{};
  size_t bytes = 0;  // of each buffer
};
plan_of_buffers plan_buffers(session& s, size_t bytes, size_t samples, size_t blocks);
size_t room_for(size_t bytes, size_t samples, size_t blocks);
// Where kernels find the words they share with the processor.
uint64_t* host_word(session& s, int node);

// Fills every node's source with a pattern that begins with `round`, clears the target.
void fill_buffers(session& s, const plan_of_buffers& p, uint64_t round);
// Words of `target` on `node` that differ from what was in the source.
result<> check_target(session& s, int node, uint64_t offset, size_t bytes, uint64_t round, const std::string& what);

// Counters of the first node's GPU; costs() is what a message took.
class pcie_meter {
 public:
  explicit pcie_meter(session& s) : session_(s) {}
  void begin();
  void end(uint64_t messages);
  // Adds a record for each counter, if the GPU took part.
  void emit(const std::string& variant, const nlohmann::ordered_json& params);

 private:
  static constexpr const char* names[3] = {"gpu.instructions", "gpu.pcie_reads", "gpu.pcie_writes"};
  session& session_;
  uint64_t before_[3] = {}, sum_[3] = {}, messages_ = 0;
};

// A node as descriptors of host programs name it: by its NIC.
inline uint16_t nic_of(session& s, int node) {
  const nic_place* const all = s.machine().device_context(node).places;
  return static_cast<uint16_t>(all ? all[node].nic : node);
}

// Bound of payloads cut into packets of at most the MTU; `peer_read`: the NIC reads a GPU's memory.
std::optional<limit> payload_bound(const session& s, size_t bytes, bool peer_read);

}  // namespace ggas::bench
