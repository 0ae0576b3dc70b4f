// SPDX-License-Identifier: Apache-2.0
// nic_cycles of the one-sided communication: latency of the first flit, put bandwidth, rate of immediate puts.
#include <algorithm>

#include "benchmarks/nic/cycles.hpp"
#include "benchmarks/nic/rig.hpp"

namespace ggas::bench {

namespace {

using nic::desc_op;
using nic::descriptor;
using nic::flit;
using nic::flit_kind;
using pcie::tlp;
using pcie::tlp_kind;

class rma_measurement {
 public:
  rma_measurement(unsigned width, uint64_t seed, const std::function<bool()>& cancelled,
                  std::vector<nic_cycle_record>& out)
      : width_(width), out_(out), rig_(width, seed, cancelled) {}
  void all() {
    if (!rig_.wrong().empty()) return;
    imm_latency();
    put_latency();
    put_efficiency("put_256", "puts of 256 bytes from 8 contexts, part of the payload bound of the link",
                   nic_rig::mtu_bytes, 8);
    put_efficiency("put_64k", "puts of 64 KB from one context, part of the payload bound of the link", 64 << 10, 1);
    imm_rate("imm_rate", "cycles per immediate put, one context", 1, imm_bound(8));
    imm_rate("imm_rate_all", "cycles per immediate put, 32 contexts", nic_rig::contexts, imm_bound(4));
  }

 private:
  void add(const char* name, const char* text, double value, double bound, bool at_most, const char* unit) {
    out_.push_back({name, text, width_, value, bound, at_most, unit, rig_.cycles() - counted_, false});
    counted_ = rig_.cycles();
  }
  unsigned beats(unsigned bytes) const { return (8 * bytes + width_ - 1) / width_; }

  static descriptor put(uint32_t bytes, uint64_t offset) {
    return {.op = desc_op::put,
            .node = 1,
            .size = bytes,
            .w1 = nic_rig::segment_nla + offset,
            .w2 = nic_rig::segment_nla + offset};
  }
  static descriptor imm(uint64_t offset) {
    return {.op = desc_op::imm, .node = 1, .size = 8, .w1 = offset, .w2 = nic_rig::segment_nla + offset};
  }

  // Cycle of the first flit of a packet that leaves NIC 0 after `act`.
  template <class Act>
  uint64_t first_flit(Act act) {
    uint64_t at = 0;
    rig_.on_flit = [&](unsigned from, const flit& f) {
      if (from == 0 && f.kind == flit_kind::sop && !at) at = rig_.now();
    };
    act();
    rig_.until([&] { return at != 0; });
    rig_.on_flit = nullptr;
    return at;
  }

  // The worst of some tries at different phases, one context after the other.
  void imm_latency() {
    double from_last = 0;
    for (unsigned i = 0; i < 16; ++i) {
      rig_.run(500 + 61 * i);
      const uint64_t begin = rig_.now();
      const uint64_t flit_at = first_flit([&] { rig_.post(0, i, imm(8 * i)); });
      from_last = std::max(from_last, double(flit_at - begin) - (beats(nic::rma_slot_bytes) - 1));
    }
    rig_.run(500);
    const double beats_before = beats(nic::rma_slot_bytes) - 1;
    add("imm_to_flit", "last beat of an immediate put's descriptor in to first flit out", from_last,
        width_ == 64 ? 16 : 0, true, "cycles");
    add("imm_first_to_flit", "the same from the first beat", from_last + beats_before, 0, true, "cycles");
  }
  void put_latency() {
    double worst = 0;
    for (unsigned i = 0; i < 16; ++i) {
      rig_.run(500 + 61 * i);
      uint64_t data_at = 0;
      rig_.on_completion = [&](unsigned n, const tlp& c) {
        if (n == 0) data_at = rig_.now() + beats(4u * c.len_dw);
      };
      const uint64_t flit_at = first_flit([&] { rig_.post(0, i, put(64, 64 * i)); });
      worst = std::max(worst, double(flit_at) - double(data_at));
    }
    rig_.on_completion = nullptr;
    rig_.run(500);
    add("put_data_to_flit", "last beat of a 64-byte put's data in to first flit out", worst, width_ == 64 ? 12 : 0,
        true, "cycles");
  }

  // Cycles per write that arrives at node 1, in the middle of a flow from `contexts` contexts.
  template <class Make>
  double cycles_per_write(unsigned contexts, unsigned writes, Make make) {
    uint64_t arrived = 0, begin = 0, end = 0;
    const unsigned skipped = writes / 4;
    rig_.on_tlp = [&](unsigned at, const tlp& t) {
      if (at != 1 || t.kind != tlp_kind::mwr) return;
      if (++arrived == skipped) begin = rig_.now();
      if (arrived == writes) end = rig_.now();
    };
    unsigned next = 0, posted = 0;
    rig_.until([&] {
      while (end == 0 && rig_.queued() < 8) {
        unsigned tried = 0;
        while (tried < contexts && rig_.free_slots(0, next) == 0) next = (next + 1) % contexts, ++tried;
        if (tried == contexts) break;
        rig_.post(0, next, make(posted++));
        next = (next + 1) % contexts;
      }
      return end != 0;
    });
    rig_.on_tlp = nullptr;
    rig_.until([&] {
      for (unsigned v = 0; v < contexts; ++v)
        if (rig_.queued() || rig_.free_slots(0, v) != nic::rma_slots) return false;
      return true;
    });
    rig_.run(2'000);
    return double(end - begin) / (writes - skipped);
  }
  void put_efficiency(const char* name, const char* text, uint32_t bytes, unsigned contexts) {
    const double cycles = cycles_per_write(
        contexts, 1'500, [&](unsigned i) { return put(bytes, uint64_t{bytes} * i % nic_rig::segment_bytes); });
    add(name, text, packet_flits(width_, nic_rig::mtu_bytes) / cycles, 0.95, false, "1");
  }
  // At 64 bit the link is full: a put of 8 bytes is five flits. At 256 bit a promise.
  double imm_bound(double promised) const {
    return width_ == 64 ? packet_flits(width_, 8) : width_ == 256 ? promised : 0;
  }
  void imm_rate(const char* name, const char* text, unsigned contexts, double bound) {
    const double cycles = cycles_per_write(contexts, 2'000, [](unsigned i) { return imm(8 * (i % 4096)); });
    add(name, text, cycles, bound, true, "cycles");
  }

  unsigned width_;
  std::vector<nic_cycle_record>& out_;
  nic_rig rig_;
  uint64_t counted_ = 0;
};

}  // namespace

void run_rma_cycles(unsigned width, uint64_t seed, const std::function<bool()>& cancelled,
                    std::vector<nic_cycle_record>& out) {
  rma_measurement(width, seed, cancelled, out).all();
}

}  // namespace ggas::bench
