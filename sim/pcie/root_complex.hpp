// SPDX-License-Identifier: Apache-2.0
// Root complex: a router whose own address range is host memory. Message-signalled interrupts are writes to a separate
// window and reach the CPU model by a callback.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/mem/memory.hpp"
#include "sim/pcie/router.hpp"

namespace ggas::pcie {

struct root_complex_config {
  router_config router;
  unsigned mps = 256;  // bytes, of its completions
  unsigned rcb = 64;   // bytes
  uint64_t memory_base = 0;
  uint64_t memory_bytes = 1ull << 30;
  uint64_t memory_latency_ps = 0;      // from a request's arrival to the data at the root port
  double memory_bytes_per_second = 0;  // 0: no limit
  uint64_t msi_base = 0xfee00000, msi_bytes = 0x100000;
};

class root_complex : public router {
 public:
  root_complex(sc_core::sc_module_name name, const root_complex_config& cfg, mem::sparse_memory& memory);

  // A message-signalled interrupt: address and data as written.
  std::function<void(uint64_t addr, uint32_t data)> on_msi;
  // A device wrote host memory: offset in it, bytes from the first to the last.
  std::function<void(uint64_t offset, uint64_t bytes)> on_memory_write;
  const root_complex_config& config() const { return cfg_; }
  uint64_t memory_bytes() const { return memory_bytes_; }  // read and written so far

 protected:
  bool local_request(unsigned from, tlp& t) override;

 private:
  struct memory_answer {
    unsigned to;
    tlp completion;
  };
  void memory_access(unsigned from, tlp& t);
  void memory_write(const tlp& t);
  uint64_t memory_slot(uint64_t bytes);

  root_complex_config cfg_;
  mem::sparse_memory& memory_;
  uint64_t memory_free_ps_ = 0, memory_bytes_ = 0;
  timed_queue<memory_answer> pipe_;
};

}  // namespace ggas::pcie
