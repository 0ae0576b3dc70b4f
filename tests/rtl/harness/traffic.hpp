// SPDX-License-Identifier: Apache-2.0
// Random accesses of both hosts, and an end-to-end check that does not depend on packets: the expected contents of each
// segment at the end, and the permitted values of each load. A segment is divided between the sources, so a byte has
// one writer; a load of it returns a value that its writer stored last before the load, or during it.
#pragma once

#include <array>
#include <list>
#include <unordered_map>

#include "tests/rtl/harness/rig.hpp"

namespace ggas::test {

struct traffic_config {
  unsigned stores = 60, loads = 35, quiets = 1, registers = 4;  // weights
  unsigned max_load = 600;                                      // bytes of one load; a store is bounded by MPS
  double small = 0.6;                                           // chance of an access of at most 16 bytes
  double own_node = 0.1;                                        // chance that an access goes to the own segment
  double burst = 0.98;                                          // chance per cycle to go on while active
  unsigned queue = 4;                                           // requests a host keeps ready
};

class traffic {
 public:
  traffic(rig& r, const traffic_config& cfg, uint64_t seed);
  // Makes `accesses` more accesses in all, stepping the rig, then settles it.
  bool run(uint64_t accesses);
  // Compares memories and, for good measure, counters with the model.
  void check();

  struct counts {
    uint64_t stores = 0, loads = 0, quiets = 0, registers = 0;
    uint64_t all() const { return stores + loads + quiets + registers; }
  };
  const counts& made() const { return made_; }

 private:
  struct open_load {
    unsigned target;
    uint64_t offset;
    std::vector<uint8_t> expected;
    std::vector<std::pair<uint64_t, uint8_t>> later;  // stores during the load: segment offset, value
    bool checked;
  };
  struct shape {
    unsigned target;
    uint64_t offset;
    unsigned dws;
    uint8_t first_be, last_be;
  };
  void make(unsigned n);
  shape choose(unsigned n, bool own_half, unsigned max_bytes);
  void store(unsigned n);
  void load(unsigned n);
  void quiet(unsigned n);
  void register_access(unsigned n);
  void loaded(const std::list<open_load>::iterator& l, const pcie::tlp& request, const read_result& r, unsigned n);

  rig& rig_;
  traffic_config cfg_;
  rng rng_;
  std::array<memory, 2> shadow_;                                  // of each segment, by bus address
  std::array<std::unordered_map<uint64_t, uint32_t>, 2> stored_;  // how often each byte of a segment was stored
  std::array<std::list<open_load>, 2> open_;
  std::array<bool, 2> active_{true, true};
  std::array<bool, 2> quiet_open_{};
  std::array<uint64_t, 16> busy_registers_{};
  counts made_;
};

}  // namespace ggas::test
