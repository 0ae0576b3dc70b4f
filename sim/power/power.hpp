// SPDX-License-Identifier: Apache-2.0
// Energy of a simulated node: watts of the states its parts were in, and joules of bytes and operations
// (docs/energy.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ggas::power {

// The table [power] of a platform file. Watts of a state are what it adds to idle.
struct coefficients {
  struct {
    double idle_w, working_w, polling_w;  // all sockets, every thread asleep; a thread that works; one that polls
  } processor{};
  struct {
    double idle_w, awake_w;  // every thread asleep; some thread is not
    double byte_pj;
  } dram{};
  struct {
    double idle_w, resident_w, sm_w, computing_w;  // blocks are there; a multiprocessor has some; warps compute
    double flop_pj, l2_byte_pj;
  } gpu{};
  struct {
    double byte_pj;  // of declared traffic; its idle power is the GPU's
  } gpu_memory{};
  struct {
    double lane_w, byte_pj;  // both ends
  } pcie{};
  struct {
    double idle_w;
  } nic{};
  struct {
    double port_w, flit_pj;
  } link{};
};

// What the parts of a node did since it was made: by names of its counters, times in ps.
using activity = std::map<std::string, uint64_t, std::less<>>;

struct part {
  const char* name;
  double idle_j = 0, above_j = 0;  // what the time takes when nothing runs; the rest
};

// The energy of a node until now. Its parts are always the same, in the same order.
std::vector<part> energy(const coefficients& c, const activity& a);

}  // namespace ggas::power
