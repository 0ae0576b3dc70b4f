// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic/holds.hpp"

#include <cmath>
#include <vector>

#include "benchmarks/nic/rig.hpp"
#include "ggas_regs.h"

namespace ggas::bench {

namespace {

using nic::desc_op;
using nic::flit;
using nic::flit_kind;
using pcie::tlp;
using pcie::tlp_kind;

constexpr unsigned line_dws = 16, many = 400;
constexpr uint64_t settled = 4'000;  // cycles
constexpr uint64_t at = nic_rig::segment_nla;

// Cycles of the reads that leave NIC n from now on, with a host that answers none.
std::vector<uint64_t> times_of_reads(nic_rig& rig, unsigned n) {
  std::vector<uint64_t> times;
  rig.silence(n);
  rig.on_tlp = [&](unsigned side, const tlp& t) {
    if (side == n && t.kind == tlp_kind::mrd) times.push_back(rig.now());
  };
  rig.run(settled);
  rig.on_tlp = nullptr;
  return times;
}
unsigned reads_of(nic_rig& rig, unsigned n) { return unsigned(times_of_reads(rig, n).size()); }

unsigned loads(unsigned width) {
  nic_rig rig(width, 1);
  unsigned packets = 0;
  rig.on_flit = [&](unsigned side, const flit& f) { packets += side == 0 && f.kind == flit_kind::sop; };
  for (unsigned i = 0; i < many; ++i) rig.load(0, 64 * i, 2);
  reads_of(rig, 1);
  return packets;
}

// One node alone may not have that many.
unsigned loads_served(unsigned width) {
  nic_rig rig(width, 1);
  for (unsigned i = 0; i < many; ++i) {
    rig.load(0, 64 * i, 2);
    rig.load(1, 64 * i, 2, true);
  }
  return reads_of(rig, 1);
}

// Reads for one put or get; the translations are there from another one.
std::vector<uint64_t> fetches(unsigned width, desc_op op) {
  nic_rig rig(width, 1);
  rig.post(0, 1, {.op = op, .node = 1, .size = 8, .w1 = at, .w2 = at});
  rig.drain();
  rig.post(0, 0, {.op = op, .node = 1, .size = nic_rig::segment_bytes, .w1 = at, .w2 = at});
  return times_of_reads(rig, op == desc_op::put ? 0 : 1);
}

unsigned queue_reads(unsigned width) {
  nic_rig rig(width, 1);
  for (unsigned v = nic_rig::first_queue; v < nic_rig::end_of_queues; ++v) rig.ring_queue(0, v, 1);
  return reads_of(rig, 0);
}

// All words of one page, whose translation is there.
unsigned atomics(unsigned width) {
  nic_rig rig(width, 1);
  const auto post = [&](unsigned v) {
    rig.post(0, v, {.op = desc_op::atomic, .node = 1, .size = 8, .w1 = 1, .w2 = at + 64 * v});
  };
  post(0);
  rig.drain();
  for (unsigned v = 0; v < nic_rig::contexts; ++v) post(v);
  return reads_of(rig, 1);
}

// Packets on the wire, less those in progress and those in the receive buffer, which takes another one while it has
// room for the longest packet.
unsigned atomics_held(unsigned width) {
  nic_rig rig(width, 1);
  const nic::descriptor add{.op = desc_op::atomic, .node = 1, .size = 8, .w1 = 1, .w2 = at};
  rig.post(0, 0, add);
  rig.drain();
  unsigned packets = 0, dws = 0;
  nic::flit_decoder decoder(width);
  rig.on_flit = [&](unsigned side, const flit& f) {
    if (side != 0) return;
    if (const auto p = decoder.push(f)) ++packets, dws = p->len_dw;
  };
  rig.silence(1);
  for (unsigned i = 0; i < nic::rma_slots / add.slots(); ++i)
    for (unsigned v = 0; v < nic_rig::contexts; ++v) rig.post(0, v, add);
  rig.run(settled);
  const auto units = [&](unsigned bits) { return 1 + (bits + width - 1) / width; };
  const unsigned buffered = (nic::buffer_units - units(8 * nic_rig::mtu_bytes)) / units(32 * dws) + 1;
  return packets - atomics(width) - buffered;
}

// Stores with a register read after each, which waits until they are out of the way.
unsigned stores_passed(unsigned width, unsigned dws) {
  nic_rig rig(width, 1);
  rig.stop_wire(0);
  for (unsigned passed = 0;; ++passed) {
    rig.store(0, 64 * passed, dws);
    rig.read_register(0, GGAS_REG_NODE);
    rig.run(settled);
    if (rig.waiting(0) || passed == many) return passed;
  }
}

unsigned stores_taken(unsigned width) {
  nic_rig rig(width, 1);
  rig.stop_wire(0);
  for (unsigned i = 0; i < many; ++i) rig.store(0, 64 * i, line_dws);
  rig.run(settled);
  return many - unsigned(rig.posted_queued(0));
}

unsigned packets_held(unsigned width) {
  nic_rig rig(width, 1);
  rig.stop_wire(0);
  unsigned held = 0;
  for (unsigned v = 0; v < nic_rig::contexts; ++v)
    for (unsigned i = 0; i < 4; ++i) rig.post(0, v, {.op = desc_op::imm, .node = 1, .size = 8, .w1 = 7, .w2 = at});
  rig.run(settled);
  for (unsigned v = 0; v < nic_rig::contexts; ++v) held += rig.free_slots(0, v) - (nic::rma_slots - 4);
  return held;
}

unsigned control_gap(unsigned width) {
  nic_rig rig(width, 1);
  unsigned packet_flits = 0, control = 0;
  for (unsigned i = 0; i < 8 * many; ++i)
    for (unsigned n = 0; n < 2; ++n) rig.store(n, 64 * (i % 1024), line_dws);
  rig.until([&] { return rig.queued() < 12 * many; });
  rig.on_flit = [&](unsigned side, const flit& f) {
    if (side == 0) (f.kind == flit_kind::ctrl ? control : packet_flits) += 1;
  };
  rig.until([&] { return rig.queued() < 4 * many; });
  return control ? unsigned(std::lround(double(packet_flits) / control)) : 0;
}

}  // namespace

nic::nic_limits measure_limits(unsigned width) {
  return {.loads = loads(width),
          .loads_served = loads_served(width),
          .fetches = unsigned(fetches(width, desc_op::put).size()),
          .get_fetches = unsigned(fetches(width, desc_op::get).size()),
          .queue_reads = queue_reads(width),
          .atomics = atomics(width),
          .atomics_held = atomics_held(width),
          .atomic_gap = 0,
          .atomic_kept = 0,
          .stores_passed = stores_passed(width, 1),
          .stores_held = stores_taken(width) - stores_passed(width, line_dws),
          .packets_held = packets_held(width),
          .control_gap = control_gap(width)};
}

std::vector<nic::pace_row> measure_cuts(unsigned width) {
  constexpr unsigned mtu_dws = 64;
  const auto distance = [&](desc_op op) {
    const auto times = fetches(width, op);
    const double each = double(times.back() - times.front()) / double(times.size() - 1);
    return float(std::round(each * 10) / 10);
  };
  return {{nic::cause::slot, false, nic::effect::read, mtu_dws, distance(desc_op::put)},
          {nic::cause::get, false, nic::effect::read, mtu_dws, distance(desc_op::get)}};
}

}  // namespace ggas::bench
