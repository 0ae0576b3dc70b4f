// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nic/cycles.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "benchmarks/nic/rig.hpp"

namespace ggas::bench {

namespace {

using nic::flit;
using nic::flit_kind;
using pcie::tlp;
using pcie::tlp_kind;

constexpr unsigned line_bytes = 64;

class measurement {
 public:
  measurement(unsigned width, uint64_t seed, const std::function<bool()>& cancelled, std::vector<nic_cycle_record>& out)
      : width_(width), seed_(seed), out_(out), rig_(width, seed, cancelled) {}
  std::expected<void, std::string> all() {
    if (!rig_.wrong().empty()) return std::unexpected(rig_.wrong());
    latencies();
    store_rate("store_8", 8, width_ == 64 ? packet_flits(width_, 8) / 0.9 : 4);
    for (bool both : {false, true}) store_efficiency(both);
    load_rate();
    speed();
    return {};
  }

 private:
  void add(const char* name, const char* text, double value, double bound, bool at_most, const char* unit,
           bool wall = false) {
    out_.push_back({name, text, width_, value, bound, at_most, unit, rig_.cycles() - counted_, wall});
    counted_ = rig_.cycles();
  }

  // The worst of some tries at different phases.
  void latencies() {
    double to_flit = 0, to_tlp = 0, one_way = 0, round_trip = 0, quiet = 0;
    for (unsigned i = 0; i < 16; ++i) {
      rig_.run(100 + 61 * i);
      uint64_t flit_at = 0, tlp_at = 0;
      rig_.on_flit = [&](unsigned from, const flit& f) {
        if (from == 0 && f.kind == flit_kind::sop && !flit_at) flit_at = rig_.now();
      };
      rig_.on_tlp = [&](unsigned at, const tlp& t) {
        if (at == 1 && t.kind == tlp_kind::mwr) tlp_at = rig_.now();
      };
      rig_.store(0, 8 * (i + seed_ % 64), 2);
      const uint64_t begin = rig_.now();
      rig_.until([&] { return tlp_at != 0; });
      to_flit = std::max(to_flit, double(flit_at - begin));
      to_tlp = std::max(to_tlp, double(tlp_at - flit_at - nic_cycles_wire));
      one_way = std::max(one_way, double(tlp_at - begin));
      rig_.on_flit = nullptr;
      quiet = std::max(quiet, answered([&] { rig_.quiet(0); }));
      round_trip = std::max(round_trip, answered([&] { rig_.load(0, 8 * i, 2); }));
    }
    rig_.on_tlp = nullptr;
    add("store_to_flit", "8-byte store TLP in to first flit out", to_flit, 12, true, "cycles");
    add("flit_to_tlp", "first flit in to store TLP out", to_tlp, 12, true, "cycles");
    add("store_one_way", "store, node to node, wire of 20 cycles included", one_way, 45, true, "cycles");
    add("load_round_trip", "8-byte load, two wires of 20 cycles included, host answers at once", round_trip, 0, true,
        "cycles");
    add("quiet_round_trip", "quiet behind a store, same", quiet, 0, true, "cycles");
  }
  double answered(const std::function<void()>& ask) {
    rig_.run(200);
    ask();
    const uint64_t begin = rig_.now();
    rig_.step();
    rig_.until([&] { return rig_.waiting(0) == 0; });
    return double(rig_.now() - begin - 1);
  }

  // Cycles per store in the middle of a burst.
  double burst(unsigned bytes, bool both) {
    constexpr unsigned stores = 2'000, skipped = 500;
    uint64_t arrived = 0, begin = 0, end = 0;
    rig_.on_tlp = [&](unsigned at, const tlp& t) {
      if (at != 1 || t.kind != tlp_kind::mwr) return;
      if (++arrived == skipped) begin = rig_.now();
      if (arrived == stores) end = rig_.now();
    };
    for (unsigned i = 0; i < stores; ++i)
      for (unsigned n = 0; n < (both ? 2u : 1u); ++n)
        rig_.store(n, (uint64_t{bytes} * i) % nic_rig::segment_bytes, bytes / 4);
    rig_.until([&] { return end != 0; });
    rig_.on_tlp = nullptr;
    rig_.drain();
    return double(end - begin) / (stores - skipped);
  }
  void store_rate(const char* name, unsigned bytes, double bound) {
    add(name, "cycles per back-to-back 8-byte store", burst(bytes, false), bound, true, "cycles");
  }
  void store_efficiency(bool both) {
    const double cycles = burst(line_bytes, both);
    add(both ? "store_64_both" : "store_64",
        both ? "64-byte stores in both directions, part of the payload bound of the link"
             : "64-byte stores, part of the payload bound of the link",
        packet_flits(width_, line_bytes) / cycles, 0.9, false, "1");
    if (!both)
      add("store_64_cycles", "cycles per 64-byte store", cycles, packet_flits(width_, line_bytes), true, "cycles");
  }
  void load_rate() {
    constexpr unsigned loads = 1'500, skipped = 300;
    uint64_t answers = 0, begin = 0, end = 0;
    rig_.on_tlp = [&](unsigned at, const tlp& t) {
      if (at != 0 || t.kind != tlp_kind::cpld) return;
      if (++answers == skipped) begin = rig_.now();
      if (answers == loads) end = rig_.now();
    };
    for (unsigned i = 0; i < loads; ++i)
      rig_.load(0, (uint64_t{line_bytes} * i) % nic_rig::segment_bytes, line_bytes / 4);
    rig_.until([&] { return end != 0; });
    rig_.on_tlp = nullptr;
    rig_.drain();
    const double cycles = double(end - begin) / (loads - skipped);
    add("load_64", "64-byte loads in flight, part of the payload bound of the link",
        packet_flits(width_, line_bytes) / cycles, 0, false, "1");
  }

  // Two busy NICs, wall clock.
  void speed() {
    const uint64_t before = rig_.cycles();
    const auto begin = std::chrono::steady_clock::now();
    burst(line_bytes, true);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double rate = double(rig_.cycles() - before) / 2 / std::max(wall, 1e-9);
    add("simulation_speed", "cycles of each of two busy NICs simulated per second, one core", rate,
        width_ == 64 ? 300e3 : 0, false, "1/s", true);
  }

  unsigned width_;
  uint64_t seed_;
  std::vector<nic_cycle_record>& out_;
  nic_rig rig_;
  uint64_t counted_ = 0;
};

}  // namespace

std::expected<std::vector<nic_cycle_record>, std::string> run_nic_cycles(uint64_t seed, unsigned width,
                                                                         const std::function<bool()>& cancelled) {
  std::vector<nic_cycle_record> out;
  if (const auto done = measurement(width, seed, cancelled, out).all(); !done) return std::unexpected(done.error());
  run_rma_cycles(width, seed, cancelled, out);
  return out;
}

}  // namespace ggas::bench
